//! Reads the files of VS Code: `servers` and `inputs`.

use serde_json::{Map, Value};

use super::builder::Builder;
use super::entry::read_servers;
use super::members::texts;
use super::model::{Import, ImportOptions};
use crate::HubError;

pub(super) fn read(whole: &Value, options: &ImportOptions, import: &mut Import) -> Result<(), HubError> {
    let servers = whole.get("servers").or_else(|| whole.get("mcpServers"));
    read_servers(whole, servers, "servers", options, import, entry)
}

fn entry(builder: &mut Builder<'_>, members: &Map<String, Value>) -> Result<(), HubError> {
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
