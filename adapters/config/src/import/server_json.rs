//! Reads entries of the official registry: `server.json`, schema 2025-12-11 and earlier.
//!
//! The first package that the hub can run is imported, or else the first remote. No shell is used for commands. The registry's
//! requirements for values become an [`EnvVarSpec`](crate::config::EnvVarSpec), by which values are validated.

mod inputs;
mod package;

use serde_json::{Map, Value};

use super::builder::Builder;
use super::members::{either, items, text_of, wrong};
use super::model::{Import, ImportOptions};
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
    let mut reasons: Vec<HubError> = Vec::new();
    let candidates = items(entry.get("packages")).map(|package| ("packages", package));
    let candidates = candidates.chain(items(entry.get("remotes")).map(|remote| ("remotes", remote)));
    for (at, (list, candidate)) in candidates.enumerate() {
        let mut builder = Builder::new(import.dialect, options, whole, short);
        builder.config.source = source.clone();
        builder.config.origin = Origin::Registry;
        let read = if list == "packages" { package::read } else { remote };
        match builder.read(candidate, |builder, _| read(builder, candidate)) {
            Err(error) => {
                let field = format!("{list}.{at}.{}", error.field());
                reasons.push(error.at(field.trim_end_matches('.')));
            }
            outcome => {
                import.add(name, outcome);
                return Ok(());
            }
        }
    }
    let error = match reasons.as_slice() {
        [] => HubError::validation("packages", "the entry has no packages and no remotes"),
        [reason] => reason.clone(),
        [first, ..] => {
            let all: Vec<String> =
                reasons.iter().map(|reason| format!("{}: {}", reason.field(), reason.message())).collect();
            HubError::validation(first.field(), all.join("; "))
        }
    };
    import.add(name, Err(error));
    Ok(())
}

/// Returns an error if the registry has deleted the server `name`, and adds a warning if the server is deprecated.
fn status(whole: &Value, name: &str, import: &mut Import) -> Result<(), HubError> {
    let mut official = whole.get("_meta").and_then(Value::as_object).into_iter().flat_map(Map::values);
    let status = official.find_map(|meta| text_of(meta, "status")).or_else(|| text_of(whole, "status"));
    match status {
        Some("deleted") => return wrong("status", "the registry has deleted this server. It may be harmful"),
        Some("deprecated") => import.warn(Some(name), "status", "the author no longer recommends this server"),
        _ => {}
    }
    Ok(())
}

fn remote(builder: &mut Builder<'_>, remote: &Value) -> Result<(), HubError> {
    match either(remote, "type", "transport_type").and_then(Value::as_str) {
        Some("streamable-http" | "sse" | "streamable") => {}
        _ => return wrong("type", "this transport is not supported"),
    }
    let Some(url) = text_of(remote, "url") else { return wrong("url", "an address is required") };
    let mut scope = Scope::default();
    scope.define(builder, remote.get("variables"))?;
    let url = scope.fill(url);
    for header in items(remote.get("headers")) {
        let (name, value) = inputs::key_value(builder, header, "headers")?;
        builder.config.headers.insert(name, value);
    }
    builder.config.package = McpPackage::new(McpPackageType::Http, url.clone());
    builder.config.transport = McpTransport::Http { url };
    Ok(())
}
