//! Reads the files of Codex: `mcp_servers` in TOML.

use serde_json::{Map, Value};

use super::builder::Builder;
use super::entry::read_servers;
use super::login;
use super::members::{items, names, present, text, text_of, wrong};
use super::model::{Import, ImportOptions};
use crate::HubError;
use crate::config::{EnvVarConfig, EnvVarSpec};

const OF_PROCESSES: [&str; 5] = ["command", "args", "env", "env_vars", "cwd"];
const OF_ADDRESSES: [&str; 6] =
    ["url", "bearer_token_env_var", "http_headers", "env_http_headers", "oauth", "http_headers_helper"];

pub(super) fn read(whole: &Value, options: &ImportOptions, import: &mut Import) -> Result<(), HubError> {
    for name in ["mcp_oauth_callback_port", "mcp_oauth_callback_url"] {
        if whole.get(name).is_some() {
            let message = "this applies to all servers of Codex, and was omitted. Set `oauth.redirect_uri` of a server that needs it";
            import.warn(None, name, message);
        }
    }
    read_servers(whole, whole.get("mcp_servers"), "mcp_servers", options, import, entry)
}

fn entry(builder: &mut Builder<'_>, members: &Map<String, Value>) -> Result<(), HubError> {
    // Codex also refuses a token in the file.
    if present(members, "bearer_token") {
        let message =
            "this file must not contain a token. Name the variable that contains it in `bearer_token_env_var`";
        return wrong("bearer_token", message);
    }
    let is_http = present(members, "url");
    let (kind, others) = if is_http { ("an address", &OF_PROCESSES[..]) } else { ("a command", &OF_ADDRESSES[..]) };
    if let Some(other) = others.iter().find(|name| present(members, name)) {
        return wrong(other, format!("a server with {kind} cannot have `{other}`"));
    }
    if is_http {
        http(builder, members)?;
    } else if present(members, "command") {
        builder.command(members, "command")?;
        pass_on(builder, members)?;
        if present(members, "cwd") {
            builder.config.cwd = Some(text(members, "cwd")?.into());
        }
    } else {
        return wrong("command", "the server needs a `command` or a `url`");
    }
    members.iter().try_for_each(|(name, value)| setting(builder, name, value))
}

fn http(builder: &mut Builder<'_>, members: &Map<String, Value>) -> Result<(), HubError> {
    builder.http(members, "url", "http_headers")?;
    for (header, variable) in builder.pairs(members, "env_http_headers")? {
        let value = EnvVarConfig::secret(&header, format!("env:{variable}")).spec(EnvVarSpec::default());
        builder.config.headers.insert(header, value);
    }
    if present(members, "bearer_token_env_var") {
        let variable = text(members, "bearer_token_env_var")?;
        let value = EnvVarConfig::secret("", format!("env:{variable}"));
        let token = builder.variable(&format!("env.{variable}"), &value);
        let value = EnvVarConfig::value("Authorization", format!("Bearer {token}"));
        builder.config.headers.insert("Authorization".to_owned(), value);
    }
    if let Some(oauth) = members.get("oauth") {
        login::read(builder, "oauth", oauth)?;
    }
    if let Some(scopes) = members.get("scopes") {
        builder.config.oauth.scopes = login::scopes("scopes", scopes)?;
    }
    Ok(())
}

/// Lets the server inherit the environment variables that the member `env_vars` of a Codex file names.
fn pass_on(builder: &mut Builder<'_>, members: &Map<String, Value>) -> Result<(), HubError> {
    for variable in items(members.get("env_vars")) {
        let Some(name) = variable.as_str().or_else(|| text_of(variable, "name")) else {
            return wrong("env_vars", "this must be a list of names");
        };
        if text_of(variable, "source").is_some_and(|source| source != "local") {
            builder.warn(format!("env_vars.{name}"), "the variable is taken from the environment of this machine");
        }
        builder.pass_on(name);
    }
    Ok(())
}

fn setting(builder: &mut Builder<'_>, name: &str, value: &Value) -> Result<(), HubError> {
    match name {
        "http_headers_helper" => builder.warn_unsupported(name),
        name if OF_PROCESSES.contains(&name) || OF_ADDRESSES.contains(&name) => {}
        "scopes" if builder.is_http() => {}
        "auth" if value == "oauth" => {}
        "oauth_resource" => {
            builder.warn(name, "the client names the resource of the server's metadata. This one was omitted");
        }
        "enabled" => builder.config.enabled = value != &Value::Bool(false),
        "enabled_tools" => builder.config.tools.allow = Some(names(name, value)?),
        "disabled_tools" => builder.config.tools.deny = names(name, value)?,
        "startup_timeout_sec" | "startup_timeout_ms" | "tool_timeout_sec" => {
            let time = builder.duration(name, value, if name.ends_with("_ms") { 0.001 } else { 1.0 });
            let times = &mut builder.config.timeouts;
            *(if name == "tool_timeout_sec" { &mut times.call } else { &mut times.start }) = time;
        }
        _ => builder.warn_unsupported(name),
    }
    Ok(())
}
