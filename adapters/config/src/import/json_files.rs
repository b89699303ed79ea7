//! Reads the files of programs that write their servers as JSON objects by name:
//!
//! | member | programs |
//! |---|---|
//! | `mcpServers` | Claude Desktop, Claude Code, Cursor, Windsurf, Gemini CLI, Cline, LM Studio, Amazon Q, and others |
//! | `servers`, `inputs` | VS Code |
//! | `context_servers` | Zed |
//! | `mcp` | opencode |
//! | `extensions` | Goose, in YAML |

use serde_json::{Map, Value};

use super::builder::Builder;
use super::entry::read_servers;
use super::members::{names, present, text, text_at, texts, texts_of, wrong};
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
    read_servers(whole, Some(&servers), "mcpServers", options, import, entry)?;
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

/// Reads the entry of a server with the members that most programs use.
fn entry(builder: &mut Builder<'_>, members: &Map<String, Value>) -> Result<(), HubError> {
    let dialect = builder.dialect;
    let (urls, urls_name): (&[&str], _) = match dialect {
        Dialect::VsCode | Dialect::Zed => (&["url"], "a `url`"),
        _ => (&["url", "serverUrl", "httpUrl"], "an address"),
    };
    builder.connection(members, urls, urls_name)?;
    let is_http = builder.is_http();
    for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
        match name.as_str() {
            // These members do not affect how the server is started.
            "type" | "transport" | "transportType" | "name" | "title" | "description" | "icon" | "iconPath"
            | "$schema" | "gallery" | "version" | "source" => {}
            // The members that let tools run without a question are settings of the other program.
            "autoApprove" | "alwaysAllow" => {}
            name if urls.contains(&name) => {}
            "headers" if is_http => {}
            "command" | "args" | "env" if !is_http => {}
            "command" | "args" | "env" | "headers" => {
                builder.warn(name, "the transport of this server does not use this member, so it was omitted");
            }
            "dev" if dialect == Dialect::VsCode => {}
            "tools" if dialect == Dialect::VsCode && texts(value).is_some() => {
                builder.config.tools.allow = texts(value);
            }
            "sandboxEnabled" | "sandbox" if dialect == Dialect::VsCode => {
                builder.warn(name, "sandboxes are not supported: the server runs without one");
            }
            "enabled" | "timeout" if dialect == Dialect::VsCode => builder.warn_unsupported(name),
            "remote" if dialect == Dialect::Zed && value == &Value::Bool(false) => {}
            "cwd" | "envFile" | "disabled" if dialect == Dialect::Zed => builder.warn_unsupported(name),
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

/// Reads the member `timeout`. If the unit of the program is not known, a number below 1,000 is interpreted as seconds.
fn timeout(builder: &mut Builder<'_>, value: &Value) {
    let unit = match builder.dialect {
        Dialect::GeminiCli | Dialect::AmazonQ | Dialect::Opencode => 0.001,
        Dialect::Cline | Dialect::Goose | Dialect::Zed => 1.0,
        _ if value.as_f64().is_some_and(|number| number > 0.0 && number < 1000.0) => {
            builder.warn("timeout", "the number was taken for seconds, because it would be too short in milliseconds");
            1.0
        }
        _ => 0.001,
    };
    let (start, call) = match (builder.dialect, value) {
        (Dialect::Opencode, Value::Object(times)) => (times.get("startup"), times.get("request")),
        (Dialect::Opencode, _) => (Some(value), None),
        _ => (None, Some(value)),
    };
    let times = [start, call].map(|value| value.and_then(|value| builder.duration("timeout", value, unit)));
    [builder.config.timeouts.start, builder.config.timeouts.call] = times;
}

/// Returns the members of an entry under the names that most programs use. Leaves out empty lists and objects.
fn renamed(members: &Map<String, Value>, names: &[(&str, &str)]) -> Map<String, Value> {
    let is_empty = |value: &Value| *value == Value::Array(Vec::new()) || *value == Value::Object(Map::new());
    let name =
        |name: &str| names.iter().find(|(theirs, _)| *theirs == name).map_or(name, |(_, common)| *common).to_owned();
    let filled = members.iter().filter(|(_, value)| !is_empty(value));
    filled.map(|(theirs, value)| (name(theirs), value.clone())).collect()
}

pub(super) fn read_opencode(whole: &Value, options: &ImportOptions, import: &mut Import) -> Result<(), HubError> {
    // The second version of the format has the servers one level deeper.
    let second = whole.pointer("/mcp/servers").filter(|servers| servers.get("type").is_none());
    read_servers(whole, second.or(whole.get("mcp")), "mcp", options, import, opencode_entry)
}

fn opencode_entry(builder: &mut Builder<'_>, members: &Map<String, Value>) -> Result<(), HubError> {
    let mut common = renamed(members, &[("environment", "env")]);
    let command = texts_of(members, "command")?;
    if let Some((program, args)) = command.split_first() {
        common.insert("command".to_owned(), program.as_str().into());
        common.insert("args".to_owned(), args.into());
    }
    entry(builder, &common)
}

pub(super) fn read_goose(whole: &Value, options: &ImportOptions, import: &mut Import) -> Result<(), HubError> {
    read_servers(whole, whole.get("extensions"), "extensions", options, import, goose_entry)
}

fn goose_entry(builder: &mut Builder<'_>, members: &Map<String, Value>) -> Result<(), HubError> {
    let kind = text(members, "type")?;
    match kind {
        "stdio" | "sse" | "streamable_http" => {}
        "builtin" | "platform" | "frontend" | "inline_python" => {
            return wrong("type", "the extension is a part of Goose, and only Goose can start it");
        }
        _ => return wrong("type", "this transport is not supported"),
    }
    builder.is_literal = kind == "stdio";
    let names = [("cmd", "command"), ("envs", "env"), ("uri", "url"), ("available_tools", "includeTools")];
    let mut common = renamed(members, &names);
    common.retain(|name, _| !["env_keys", "bundled", "display_name"].contains(&name.as_str()));
    entry(builder, &common)?;
    // Goose keeps the values of these variables in the keyring of the system.
    for key in texts_of(members, "env_keys")?.iter().filter(|_| kind == "stdio") {
        builder.stored_env(key)?;
    }
    Ok(())
}

/// Converts a list of tool names. Gemini CLI allows entries of the form `name(arguments)`, of which only the name is used.
fn tools(field: &str, value: &Value) -> Result<Vec<String>, HubError> {
    let names = names(field, value)?;
    Ok(names.into_iter().map(|name| name.split('(').next().unwrap_or_default().to_owned()).collect())
}

pub(super) fn read_vs_code(whole: &Value, options: &ImportOptions, import: &mut Import) -> Result<(), HubError> {
    let servers = whole.get("servers").or_else(|| whole.get("mcpServers"));
    read_servers(whole, servers, "servers", options, import, entry)
}

pub(super) fn read_zed(whole: &Value, options: &ImportOptions, import: &mut Import) -> Result<(), HubError> {
    read_servers(whole, whole.get("context_servers"), "context_servers", options, import, zed_entry)
}

fn zed_entry(builder: &mut Builder<'_>, members: &Map<String, Value>) -> Result<(), HubError> {
    if !["command", "url"].iter().any(|name| present(members, name)) && members.contains_key("settings") {
        return wrong("settings", "the server belongs to an extension of Zed, and only Zed can start it");
    }
    let mut common = members.clone();
    // Earlier versions have an object for the command, whose member `path` is the program.
    if let Some(Value::Object(command)) = members.get("command") {
        common.remove("command");
        common.extend(renamed(command, &[("path", "command")]));
    }
    entry(builder, &common)
}
