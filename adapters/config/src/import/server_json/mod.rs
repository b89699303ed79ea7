//! Reads entries of the official registry: `server.json`, schema 2025-12-11 and earlier.
//!
//! The first package that the hub can run is imported, or else the first remote. No shell is used for commands. The registry's
//! requirements for values become an [`EnvVarSpec`](crate::config::EnvVarSpec), by which values are validated.

mod inputs;
mod package;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::builder::Builder;
use super::members::{either, list, text_of};
use super::model::{Import, ImportOptions, Refused, Warning};
use crate::HubError;
use crate::config::{McpPackage, McpPackageType, McpSource, McpTransport, Origin};
use inputs::Scope;

pub(super) fn read(whole: &Value, options: &ImportOptions, import: &mut Import) -> Result<(), HubError> {
    // Responses of the registry contain the entry in the member `server`.
    let entry = whole.get("server").filter(|server| server.is_object()).unwrap_or(whole);
    let name = text_of(entry, "name").unwrap_or_default();
    status(whole, name, import)?;
    let version =
        text_of(entry, "version").or_else(|| entry.pointer("/version_detail/version").and_then(Value::as_str));
    let source = McpSource::Official { name: name.to_owned(), version: version.unwrap_or_default().to_owned() };
    let short = text_of(entry, "title").unwrap_or_else(|| name.rsplit('/').next().unwrap_or_default());
    let mut reasons = Vec::new();
    let candidates = list(entry, "packages").map(|package| (true, package));
    let candidates = candidates.chain(list(entry, "remotes").map(|remote| (false, remote)));
    for (at, (is_package, candidate)) in candidates.enumerate() {
        let mut trial =
            Import { dialect: import.dialect, servers: Vec::new(), refused: Vec::new(), warnings: Vec::new() };
        let none = BTreeMap::new();
        let mut builder = Builder::new(import.dialect, options, &none, short);
        builder.config.source = source.clone();
        builder.config.origin = Origin::Registry;
        builder.read(&mut trial, |builder| {
            let members = candidate.as_object().ok_or_else(|| HubError::validation("", "this must be an object"))?;
            if is_package { package::read(builder, members) } else { remote(builder, members) }
        });
        if let Some(refused) = trial.refused.pop() {
            let field = format!("{}.{at}.{}", if is_package { "packages" } else { "remotes" }, refused.error.field());
            reasons.push(refused.error.at(field.trim_end_matches('.')));
            continue;
        }
        import.servers.append(&mut trial.servers);
        import.warnings.append(&mut trial.warnings);
        return Ok(());
    }
    let error = match reasons.len() {
        0 => HubError::validation("packages", "the entry has no packages and no remotes"),
        1 => reasons.swap_remove(0),
        _ => {
            let all: Vec<String> =
                reasons.iter().map(|reason| format!("{}: {}", reason.field(), reason.message())).collect();
            HubError::validation(reasons[0].field().to_owned(), all.join("; "))
        }
    };
    import.refused.push(Refused { name: name.to_owned(), error });
    Ok(())
}

/// Returns an error if the registry has deleted the server `name`, and adds a warning if the server is deprecated.
fn status(whole: &Value, name: &str, import: &mut Import) -> Result<(), HubError> {
    let mut official = whole.get("_meta").and_then(Value::as_object).into_iter().flat_map(Map::values);
    let status = official.find_map(|meta| text_of(meta, "status")).or_else(|| text_of(whole, "status"));
    match status {
        Some("deleted") => {
            let message = "the registry has deleted this server. It may be harmful";
            Err(HubError::validation("status", message))
        }
        Some("deprecated") => {
            let message = "the author no longer recommends this server".to_owned();
            import.warnings.push(Warning { server: Some(name.to_owned()), field: "status".to_owned(), message });
            Ok(())
        }
        _ => Ok(()),
    }
}

fn remote(builder: &mut Builder<'_>, members: &Map<String, Value>) -> Result<(), HubError> {
    let remote = Value::Object(members.clone());
    if !matches!(
        either(&remote, "type", "transport_type").and_then(Value::as_str),
        Some("streamable-http" | "sse" | "streamable")
    ) {
        return Err(HubError::validation("type", "this transport is not supported"));
    }
    let url = text_of(&remote, "url").ok_or_else(|| HubError::validation("url", "an address is required"))?;
    let mut scope = Scope::default();
    scope.define(builder, remote.get("variables"))?;
    let url = scope.fill(url);
    for header in list(&remote, "headers") {
        let (name, value) = inputs::key_value(builder, header, "headers")?;
        builder.config.headers.insert(name, value);
    }
    builder.config.package = McpPackage::new(McpPackageType::Http, url.clone());
    builder.config.transport = McpTransport::Http { url };
    Ok(())
}
