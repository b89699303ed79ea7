//! `mcpServers`: Claude Desktop, Claude Code, Cursor, Windsurf, Gemini CLI, and all that do as they do.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value};

use super::builder::{Builder, Input};
use super::{Dialect, Import, ImportOptions, Warning};
use crate::HubError;

/// Members that say nothing about how a server is started, and can go without a word.
const SILENT: [&str; 12] = [
    "type",
    "transport",
    "transportType",
    "name",
    "title",
    "description",
    "icon",
    "iconPath",
    "$schema",
    "gallery",
    "version",
    "source",
];

pub(super) fn read(whole: &Value, options: &ImportOptions, import: &mut Import) -> Result<(), HubError> {
    let mut servers = match (whole.get("mcpServers"), whole) {
        (Some(Value::Object(servers)), _) => servers.clone(),
        (Some(_), _) => return Err(HubError::validation("mcpServers", "It is not an object of servers by name")),
        // Servers by name, without anything around them.
        (None, Value::Object(members)) if import.dialect == Dialect::McpServers => members.clone(),
        (None, _) => Map::new(),
    };
    if import.dialect == Dialect::ClaudeCode {
        add_project(whole, options, &mut servers, import);
    }
    let lists = (import.dialect == Dialect::GeminiCli).then(|| gemini_lists(whole));
    let none = BTreeMap::new();
    for (name, entry) in &servers {
        let builder = Builder::new(import.dialect, options, &none, name);
        builder.read(import, |builder| {
            let members = object(entry)?;
            if let Some((allowed, excluded)) = &lists {
                let is_in = |list: &Vec<String>| list.contains(name);
                builder.config.enabled = allowed.as_ref().is_none_or(is_in) && !is_in(excluded);
            }
            self::entry(builder, members)
        });
    }
    Ok(())
}

/// The servers by their names that stand in this member; none where it is absent. `kind` is what they are to be in, such as "an
/// object".
pub(super) fn servers_in(member: Option<&Value>, name: &str, kind: &str) -> Result<Map<String, Value>, HubError> {
    match member {
        None => Ok(Map::new()),
        Some(Value::Object(servers)) => Ok(servers.clone()),
        Some(_) => Err(HubError::validation(name, format!("It is not {kind} of servers by name"))),
    }
}

/// Reads servers, each with `entry`.
pub(super) fn read_each(
    servers: &Map<String, Value>,
    inputs: &BTreeMap<String, Input>,
    options: &ImportOptions,
    import: &mut Import,
    entry: impl Fn(&mut Builder<'_>, &Map<String, Value>) -> Result<(), HubError>,
) {
    for (name, server) in servers {
        let builder = Builder::new(import.dialect, options, inputs, name);
        builder.read(import, |builder| entry(builder, object(server)?));
    }
}

fn object(entry: &Value) -> Result<&Map<String, Value>, HubError> {
    entry.as_object().ok_or_else(|| HubError::validation("", "It is not an object"))
}

/// Servers that Claude Code keeps for one folder.
fn add_project(whole: &Value, options: &ImportOptions, servers: &mut Map<String, Value>, import: &mut Import) {
    let Some(Value::Object(projects)) = whole.get("projects") else { return };
    for (folder, project) in projects {
        let Some(Value::Object(own)) = project.get("mcpServers").filter(|own| own != &&Value::Object(Map::new()))
        else {
            continue;
        };
        if options.workspace.as_ref().is_some_and(|workspace| workspace.as_os_str() == folder.as_str()) {
            servers.extend(own.clone());
        } else {
            let field = format!("projects.{folder}");
            let message =
                format!("{} servers of this folder were not taken over: say which folder is meant", own.len());
            import.warnings.push(Warning { server: None, field, message });
        }
    }
}

/// Which servers Gemini CLI uses, and which not.
fn gemini_lists(whole: &Value) -> (Option<Vec<String>>, Vec<String>) {
    let list = |name: &str| whole.pointer(&format!("/mcp/{name}")).and_then(texts);
    (list("allowed"), list("excluded").unwrap_or_default())
}

fn entry(builder: &mut Builder<'_>, members: &Map<String, Value>) -> Result<(), HubError> {
    let is_gemini = builder.config.origin == crate::config::Origin::Imported { from: "gemini".into() };
    let urls = ["url", "serverUrl", "httpUrl"];
    let url = urls.iter().find(|name| present(members, name));
    match (present(members, "command"), url) {
        (true, Some(url)) => {
            let message = format!("It has both a `command` and a `{url}`, so it cannot be told what it is");
            return Err(HubError::validation(*url, message));
        }
        (true, None) => {
            let (program, args) = (text(members, "command")?, texts_of(members, "args")?);
            let env = pairs(builder, members, "env")?;
            builder.command(&program, &args, &env)?;
        }
        (false, Some(name)) => {
            let headers = pairs(builder, members, "headers")?;
            builder.http(&text(members, name)?, &headers)?;
        }
        (false, None) => {
            return Err(HubError::validation("command", "It has neither a `command` nor an address"));
        }
    }
    for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
        match name.as_str() {
            "command" | "args" | "env" | "headers" => not_used(builder, name, url.is_some()),
            name if urls.contains(&name) => {}
            name if SILENT.contains(&name) => {}
            "cwd" if url.is_none() => {
                let cwd = builder.text("cwd", &text(members, "cwd")?)?;
                builder.config.cwd = Some(cwd.into());
            }
            "envFile" if url.is_none() => super::env_file::read(builder, members)?,
            "unixSocket" if url.is_some() => builder.config.unix_socket = Some(text(members, name)?.into()),
            "disabled" => builder.config.enabled &= value != &Value::Bool(true),
            "enabled" => builder.config.enabled &= value != &Value::Bool(false),
            "disabledTools" | "excludeTools" => builder.config.tools.deny = tools(value, name)?,
            "includeTools" => builder.config.tools.allow = Some(tools(value, name)?),
            "timeout" => timeout(builder, value, is_gemini),
            _ => builder.warn(name, "It means nothing here, and was left out"),
        }
    }
    Ok(())
}

fn not_used(builder: &mut Builder<'_>, name: &str, is_http: bool) {
    let belongs = if name == "headers" { is_http } else { !is_http };
    if !belongs {
        builder.warn(name, "A server of this kind has no use for it; it was left out");
    }
}

/// A number of milliseconds, as far as it can be told: other programs count in seconds.
fn timeout(builder: &mut Builder<'_>, value: &Value, is_gemini: bool) {
    match value.as_u64() {
        Some(number) if number > 0 && (is_gemini || number >= 1000) => {
            builder.config.timeouts.call = Some(Duration::from_millis(number));
        }
        Some(number) if number > 0 => {
            builder.config.timeouts.call = Some(Duration::from_secs(number));
            builder.warn("timeout", "It was taken for seconds, because it would be too short in milliseconds");
        }
        _ => builder.warn("timeout", "It is not a time; it was left out"),
    }
}

/// Names of tools. Gemini CLI can say `name(arguments)`, of which the name is taken.
fn tools(value: &Value, field: &str) -> Result<Vec<String>, HubError> {
    let names = texts(value).ok_or_else(|| HubError::validation(field, "It is not a list of names"))?;
    Ok(names.into_iter().map(|name| name.split('(').next().unwrap_or_default().to_owned()).collect())
}

pub(super) fn present(members: &Map<String, Value>, name: &str) -> bool {
    members.get(name).is_some_and(|value| !value.is_null() && value != "")
}

/// A member that has to be text.
pub(super) fn text(members: &Map<String, Value>, name: &str) -> Result<String, HubError> {
    match members.get(name) {
        Some(Value::String(text)) => Ok(text.clone()),
        _ => Err(HubError::validation(name, "It is not a text")),
    }
}

/// A list of texts, and numbers as people write them.
pub(super) fn texts(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(scalar).collect()
}

pub(super) fn texts_of(members: &Map<String, Value>, name: &str) -> Result<Vec<String>, HubError> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(value) => texts(value).ok_or_else(|| HubError::validation(name, "It is not a list of texts")),
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}

/// Names with texts. A null, by which some take a variable away, is left out: there is nothing to take away.
pub(super) fn pairs(
    builder: &mut Builder<'_>,
    members: &Map<String, Value>,
    name: &str,
) -> Result<Vec<(String, String)>, HubError> {
    let values = match members.get(name) {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Object(values)) => values,
        Some(_) => return Err(HubError::validation(name, "It is not an object of texts by name")),
    };
    let mut pairs = Vec::new();
    for (key, value) in values {
        let field = format!("{name}.{key}");
        match scalar(value) {
            Some(text) => pairs.push((key.clone(), text)),
            None if value.is_null() && mcpwire_client::inherited_env_names().contains(&key.as_str()) => {
                builder.warn(field, "The server gets this variable of yours all the same");
            }
            None if value.is_null() => {}
            None => return Err(HubError::validation(field, "It is not a text")),
        }
    }
    Ok(pairs)
}
