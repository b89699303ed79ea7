//! Reads the files of Codex: `mcp_servers` in TOML.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value};

use super::builder::Builder;
use super::family::{read_each, servers_in};
use super::login;
use super::members::{pairs, present, text, texts, texts_of};
use super::model::{Import, ImportOptions, Warning};
use crate::HubError;
use crate::config::{EnvVarConfig, McpPackageType};

const OF_PROCESSES: [&str; 5] = ["command", "args", "env", "env_vars", "cwd"];
const OF_ADDRESSES: [&str; 6] =
    ["url", "bearer_token_env_var", "http_headers", "env_http_headers", "oauth", "http_headers_helper"];

pub(super) fn read(whole: &Value, options: &ImportOptions, import: &mut Import) -> Result<(), HubError> {
    let servers = servers_in(whole.get("mcp_servers"), "mcp_servers", "a table")?;
    for name in
        ["mcp_oauth_callback_port", "mcp_oauth_callback_url"].into_iter().filter(|name| whole.get(name).is_some())
    {
        let message =
            "this applies to all servers of Codex, and was omitted. Set `oauth.redirect_uri` of a server that needs it";
        import.warnings.push(Warning { server: None, field: name.to_owned(), message: message.to_owned() });
    }
    read_each(&servers, &BTreeMap::new(), options, import, entry);
    Ok(())
}

fn entry(builder: &mut Builder<'_>, members: &Map<String, Value>) -> Result<(), HubError> {
    // Codex refuses a token in the file too.
    if present(members, "bearer_token") {
        let message =
            "this file must not contain a token. Name the variable that contains it in `bearer_token_env_var`";
        return Err(HubError::validation("bearer_token", message));
    }
    let is_http = present(members, "url");
    let others = if is_http { &OF_PROCESSES[..] } else { &OF_ADDRESSES[..] };
    if let Some(other) = others.iter().find(|name| present(members, name)) {
        let kind = if is_http { "an address" } else { "a command" };
        return Err(HubError::validation(*other, format!("a server with {kind} cannot have `{other}`")));
    }
    if is_http {
        let headers = pairs(builder, members, "http_headers")?;
        builder.http(&text(members, "url")?, &headers)?;
        for (header, variable) in pairs(builder, members, "env_http_headers")? {
            let value =
                EnvVarConfig::secret(&header, format!("env:{variable}")).spec(crate::config::EnvVarSpec::default());
            builder.config.headers.insert(header, value);
        }
        if present(members, "bearer_token_env_var") {
            let variable = text(members, "bearer_token_env_var")?;
            let token =
                builder.variable(&format!("env.{variable}"), &EnvVarConfig::secret("", format!("env:{variable}")));
            let value = EnvVarConfig::value("Authorization", format!("Bearer {token}"));
            builder.config.headers.insert("Authorization".to_owned(), value);
        }
        if let Some(oauth) = members.get("oauth") {
            login::read(builder, "oauth", oauth)?;
        }
        if let Some(scopes) = members.get("scopes") {
            login::scopes(builder, "scopes", scopes)?;
        }
    } else if present(members, "command") {
        let (args, env) = (texts_of(members, "args")?, pairs(builder, members, "env")?);
        builder.command(&text(members, "command")?, &args, &env)?;
        passed_on(builder, members)?;
        if present(members, "cwd") {
            builder.config.cwd = Some(text(members, "cwd")?.into());
        }
    } else {
        return Err(HubError::validation("command", "the server needs a `command` or a `url`"));
    }
    for (name, value) in members {
        setting(builder, name, value)?;
    }
    Ok(())
}

/// Lets the server inherit the environment variables that the member `env_vars` of a Codex file names.
fn passed_on(builder: &mut Builder<'_>, members: &Map<String, Value>) -> Result<(), HubError> {
    for variable in members.get("env_vars").and_then(Value::as_array).into_iter().flatten() {
        let name = variable.as_str().or_else(|| variable.get("name")?.as_str());
        let name = name.ok_or_else(|| HubError::validation("env_vars", "this must be a list of names"))?;
        if variable.get("source").and_then(Value::as_str).is_some_and(|source| source != "local") {
            builder.warn(format!("env_vars.{name}"), "the variable is taken from the environment of this machine");
        }
        if !builder.config.env_vars.contains_key(name) {
            builder.passed_on(name);
        }
    }
    Ok(())
}

fn setting(builder: &mut Builder<'_>, name: &str, value: &Value) -> Result<(), HubError> {
    let tools = || texts(value).ok_or_else(|| HubError::validation(name, "this must be a list of names"));
    match name {
        name if OF_PROCESSES.contains(&name) || OF_ADDRESSES[..5].contains(&name) => {}
        "scopes" if builder.config.package.package_type == McpPackageType::Http => {}
        "auth" if value == "oauth" => {}
        "oauth_resource" => {
            builder.warn(name, "the client names the resource of the server's metadata. This one was omitted");
        }
        "enabled" => builder.config.enabled = value != &Value::Bool(false),
        "enabled_tools" => builder.config.tools.allow = Some(tools()?),
        "disabled_tools" => builder.config.tools.deny = tools()?,
        "startup_timeout_sec" | "startup_timeout_ms" | "tool_timeout_sec" => {
            let unit = if name.ends_with("_ms") { 0.001 } else { 1.0 };
            let time = value.as_f64().map(|number| number * unit).filter(|seconds| *seconds > 0.0);
            let Some(time) = time.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) else {
                builder.warn(name, "this is not a duration, and was omitted");
                return Ok(());
            };
            let times = &mut builder.config.timeouts;
            *(if name == "tool_timeout_sec" { &mut times.call } else { &mut times.start }) = Some(time);
        }
        _ => builder.warn(name, "this member is not supported, and was omitted"),
    }
    Ok(())
}
