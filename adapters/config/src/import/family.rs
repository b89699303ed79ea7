//! Reads files with `mcpServers`: Claude Desktop, Claude Code, Cursor, Windsurf, Gemini CLI and similar programs.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value};

use super::Dialect;
use super::builder::{Builder, Input};
use super::members::{pairs, present, text, texts, texts_of};
use super::model::{Import, ImportOptions, Warning};
use crate::HubError;

/// Members of an imported server that do not affect how it is started. They are left out without a warning.
const IGNORED: [&str; 12] = [
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
        (Some(_), _) => return Err(HubError::validation("mcpServers", "this must be an object of servers by name")),
        // The whole file is an object of servers by name.
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

/// Returns the servers in `member`, a JSON object with one entry for each server. Returns an empty map if `member` is `None`.
/// `name` and `kind` are the name of the member and its expected type, such as "an object", for the error.
pub(super) fn servers_in(member: Option<&Value>, name: &str, kind: &str) -> Result<Map<String, Value>, HubError> {
    match member {
        None => Ok(Map::new()),
        Some(Value::Object(servers)) => Ok(servers.clone()),
        Some(_) => Err(HubError::validation(name, format!("this must be {kind} of servers by name"))),
    }
}

/// Calls `entry` to read each of `servers`, and adds the imported servers to `import`.
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
    entry.as_object().ok_or_else(|| HubError::validation("", "this must be an object"))
}

/// Adds the servers that Claude Code has configured for the current project folder to `servers`. Warns if there are servers for
/// other folders.
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
                format!("{} servers of this folder were not imported. Import them with `--folder`", own.len());
            import.warnings.push(Warning { server: None, field, message });
        }
    }
}

/// Returns two lists of server names in the settings of Gemini CLI: the allowed servers, or `None` if all are allowed, and the
/// excluded servers.
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
            let message = format!("the server has both a `command` and a `{url}`. Remove one of them");
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
            return Err(HubError::validation("command", "the server needs a `command` or an address"));
        }
    }
    for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
        match name.as_str() {
            "command" | "args" | "env" | "headers" => not_used(builder, name, url.is_some()),
            name if urls.contains(&name) => {}
            name if IGNORED.contains(&name) => {}
            "cwd" if url.is_none() => {
                let cwd = builder.text("cwd", &text(members, "cwd")?)?;
                builder.config.cwd = Some(cwd.into());
            }
            "envFile" if url.is_none() => super::env_file::read(builder, members)?,
            "unixSocket" if url.is_some() => builder.config.unix_socket = Some(text(members, name)?.into()),
            "oauth" if url.is_some() => super::login::read(builder, name, value)?,
            "auth" if url.is_some() && value.is_object() => super::login::read(builder, name, value)?,
            "disabled" => builder.config.enabled &= value != &Value::Bool(true),
            "enabled" => builder.config.enabled &= value != &Value::Bool(false),
            "disabledTools" | "excludeTools" => builder.config.tools.deny = tools(value, name)?,
            "includeTools" => builder.config.tools.allow = Some(tools(value, name)?),
            "timeout" => timeout(builder, value, is_gemini),
            _ => builder.warn(name, "this member is not supported, and was omitted"),
        }
    }
    Ok(())
}

/// Warns if the member `name` is not used by the transport of the server, such as `headers` of a process.
fn not_used(builder: &mut Builder<'_>, name: &str, is_http: bool) {
    let belongs = if name == "headers" { is_http } else { !is_http };
    if !belongs {
        builder.warn(name, "the transport of this server does not use this member, so it was omitted");
    }
}

/// Sets the timeout of tool calls from the member `timeout`. Gemini CLI writes it in milliseconds. In other files, a number
/// below 1,000 is interpreted as seconds.
fn timeout(builder: &mut Builder<'_>, value: &Value, is_gemini: bool) {
    match value.as_u64() {
        Some(number) if number > 0 && (is_gemini || number >= 1000) => {
            builder.config.timeouts.call = Some(Duration::from_millis(number));
        }
        Some(number) if number > 0 => {
            builder.config.timeouts.call = Some(Duration::from_secs(number));
            builder.warn("timeout", "the number was taken for seconds, because it would be too short in milliseconds");
        }
        _ => builder.warn("timeout", "this is not a duration, and was omitted"),
    }
}

/// Converts a list of tool names. Gemini CLI allows entries of the form `name(arguments)`, of which only the name is used.
fn tools(value: &Value, field: &str) -> Result<Vec<String>, HubError> {
    let names = texts(value).ok_or_else(|| HubError::validation(field, "this must be a list of names"))?;
    Ok(names.into_iter().map(|name| name.split('(').next().unwrap_or_default().to_owned()).collect())
}
