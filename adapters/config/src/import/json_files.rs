//! Reads the files of programs that write their servers as JSON objects by name:
//!
//! | member | programs |
//! |---|---|
//! | `mcpServers` | Claude Desktop, Claude Code, Cursor, Windsurf, Gemini CLI, and others |
//! | `servers`, `inputs` | VS Code |
//! | `context_servers` | Zed |

use std::time::Duration;

use serde_json::{Map, Value};

use super::builder::Builder;
use super::entry::read_servers;
use super::members::{names, present, text_at, texts, wrong};
use super::model::{Import, ImportOptions};
use super::{Dialect, login};
use crate::HubError;

pub(super) fn read_mcp_servers(whole: &Value, options: &ImportOptions, import: &mut Import) -> Result<(), HubError> {
    let mut servers = match whole.get("mcpServers") {
        Some(servers) => servers.clone(),
        // The file may lack `mcpServers`, and be an object of servers by name.
        None if import.dialect == Dialect::McpServers => whole.clone(),
        None => Value::Object(Map::new()),
    };
    let Some(members) = servers.as_object_mut() else {
        return wrong("mcpServers", "this must be an object of servers by name");
    };
    if import.dialect == Dialect::ClaudeCode {
        add_project(whole, options, members, import);
    }
    read_servers(whole, Some(&servers), "mcpServers", options, import, mcp_servers_entry)?;
    if import.dialect == Dialect::GeminiCli {
        let list = |name: &str| whole.pointer(&format!("/mcp/{name}")).and_then(texts);
        let (allowed, excluded) = (list("allowed"), list("excluded").unwrap_or_default());
        for config in import.servers.iter_mut().map(|server| &mut server.config) {
            let is_allowed = allowed.as_ref().is_none_or(|allowed| allowed.contains(&config.name));
            config.enabled &= is_allowed && !excluded.contains(&config.name);
        }
    }
    Ok(())
}

/// Adds the servers that Claude Code has configured for the current project folder to `servers`. Warns if there are servers for
/// other folders.
fn add_project(whole: &Value, options: &ImportOptions, servers: &mut Map<String, Value>, import: &mut Import) {
    for (folder, project) in whole.get("projects").and_then(Value::as_object).into_iter().flatten() {
        let own = project.get("mcpServers").and_then(Value::as_object).filter(|own| !own.is_empty());
        let Some(own) = own else { continue };
        if options.workspace.as_ref().is_some_and(|workspace| workspace.as_os_str() == folder.as_str()) {
            servers.extend(own.clone());
        } else {
            let count = own.len();
            let message = format!("{count} servers of this folder were not imported. Import them with `--folder`");
            import.warn(None, format!("projects.{folder}"), message);
        }
    }
}

fn mcp_servers_entry(builder: &mut Builder<'_>, members: &Map<String, Value>) -> Result<(), HubError> {
    builder.connection(members, &["url", "serverUrl", "httpUrl"], "an address")?;
    let is_http = builder.is_http();
    for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
        match name.as_str() {
            // These members do not affect how the server is started.
            "type" | "transport" | "transportType" | "name" | "title" | "description" | "icon" | "iconPath"
            | "$schema" | "gallery" | "version" | "source" => {}
            "url" | "serverUrl" | "httpUrl" => {}
            "headers" if is_http => {}
            "command" | "args" | "env" if !is_http => {}
            "command" | "args" | "env" | "headers" => {
                builder.warn(name, "the transport of this server does not use this member, so it was omitted");
            }
            "unixSocket" if is_http => builder.config.unix_socket = Some(text_at(name, value)?.into()),
            "auth" if is_http && value.is_object() => login::read(builder, name, value)?,
            "disabledTools" | "excludeTools" => builder.config.tools.deny = tools(name, value)?,
            "includeTools" => builder.config.tools.allow = Some(tools(name, value)?),
            "timeout" => timeout(builder, value),
            _ => builder.setting(name, value)?,
        }
    }
    Ok(())
}

/// Sets the timeout of tool calls from the member `timeout`. Gemini CLI writes it in milliseconds. In other files, a number
/// below 1,000 is interpreted as seconds.
fn timeout(builder: &mut Builder<'_>, value: &Value) {
    let number = value.as_u64().filter(|number| *number > 0);
    builder.config.timeouts.call = match number {
        None => {
            builder.warn("timeout", "this is not a duration, and was omitted");
            return;
        }
        Some(number) if builder.dialect == Dialect::GeminiCli || number >= 1000 => Some(Duration::from_millis(number)),
        Some(number) => {
            builder.warn("timeout", "the number was taken for seconds, because it would be too short in milliseconds");
            Some(Duration::from_secs(number))
        }
    };
}

/// Converts a list of tool names. Gemini CLI allows entries of the form `name(arguments)`, of which only the name is used.
fn tools(field: &str, value: &Value) -> Result<Vec<String>, HubError> {
    let names = names(field, value)?;
    Ok(names.into_iter().map(|name| name.split('(').next().unwrap_or_default().to_owned()).collect())
}

pub(super) fn read_vs_code(whole: &Value, options: &ImportOptions, import: &mut Import) -> Result<(), HubError> {
    let servers = whole.get("servers").or_else(|| whole.get("mcpServers"));
    read_servers(whole, servers, "servers", options, import, vs_code_entry)
}

fn vs_code_entry(builder: &mut Builder<'_>, members: &Map<String, Value>) -> Result<(), HubError> {
    builder.connection(members, &["url"], "a `url`")?;
    for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
        match name.as_str() {
            "type" | "command" | "args" | "env" | "url" | "headers" | "gallery" | "version" | "dev" | "name" => {}
            "tools" if texts(value).is_some() => builder.config.tools.allow = texts(value),
            "sandboxEnabled" | "sandbox" => {
                builder.warn(name, "sandboxes are not supported: the server runs without one");
            }
            "enabled" => builder.warn_unsupported(name),
            _ => builder.setting(name, value)?,
        }
    }
    Ok(())
}

pub(super) fn read_zed(whole: &Value, options: &ImportOptions, import: &mut Import) -> Result<(), HubError> {
    read_servers(whole, whole.get("context_servers"), "context_servers", options, import, zed_entry)
}

fn zed_entry(builder: &mut Builder<'_>, members: &Map<String, Value>) -> Result<(), HubError> {
    match (members.get("command").filter(|command| !command.is_null()), present(members, "url")) {
        (Some(_), true) => return wrong("url", "the server has both a `command` and a `url`. Remove one of them"),
        // Earlier versions have an object for the command, whose member `path` is the program.
        (Some(Value::Object(command)), false) => builder.command(command, "path")?,
        (Some(_), false) => builder.command(members, "command")?,
        (None, true) => builder.http(members, "url", "headers")?,
        (None, false) if members.contains_key("settings") => {
            return wrong("settings", "the server belongs to an extension of Zed, and only Zed can start it");
        }
        (None, false) => return wrong("command", "the server needs a `command` or a `url`"),
    }
    for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
        match name.as_str() {
            "command" | "args" | "env" | "url" | "headers" | "source" => {}
            "timeout" => match value.as_u64().filter(|seconds| *seconds > 0) {
                Some(seconds) => builder.config.timeouts.call = Some(Duration::from_secs(seconds)),
                None => builder.warn(name, "this is not a duration, and was omitted"),
            },
            "remote" if value == &Value::Bool(false) => {}
            "cwd" | "envFile" | "disabled" => builder.warn_unsupported(name),
            _ => builder.setting(name, value)?,
        }
    }
    Ok(())
}
