//! Reads the settings of Zed: `context_servers`.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value};

use super::builder::Builder;
use super::family::{read_each, servers_in};
use super::members::{pairs, present, text, texts_of};
use super::model::{Import, ImportOptions};
use crate::HubError;

pub(super) fn read(whole: &Value, options: &ImportOptions, import: &mut Import) -> Result<(), HubError> {
    let servers = servers_in(whole.get("context_servers"), "context_servers", "an object")?;
    read_each(&servers, &BTreeMap::new(), options, import, entry);
    Ok(())
}

fn entry(builder: &mut Builder<'_>, members: &Map<String, Value>) -> Result<(), HubError> {
    let is_http = present(members, "url");
    match (members.get("command"), is_http) {
        (Some(command), false) if !command.is_null() => {
            // Earlier versions have an object for the command, whose member `path` is the program.
            let (program, members) = match command {
                Value::Object(command) => (text(command, "path")?, command),
                _ => (text(members, "command")?, members),
            };
            let (args, env) = (texts_of(members, "args")?, pairs(builder, members, "env")?);
            builder.command(&program, &args, &env)?;
        }
        (Some(command), true) if !command.is_null() => {
            let message = "the server has both a `command` and a `url`. Remove one of them";
            return Err(HubError::validation("url", message));
        }
        (_, true) => {
            let headers = pairs(builder, members, "headers")?;
            builder.http(&text(members, "url")?, &headers)?;
        }
        _ if members.contains_key("settings") => {
            let message = "the server belongs to an extension of Zed, and only Zed can start it";
            return Err(HubError::validation("settings", message));
        }
        _ => return Err(HubError::validation("command", "the server needs a `command` or a `url`")),
    }
    for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
        match name.as_str() {
            "command" | "args" | "env" | "url" | "headers" | "source" => {}
            "oauth" if is_http => super::login::read(builder, name, value)?,
            "enabled" => builder.config.enabled = value != &Value::Bool(false),
            "timeout" => match value.as_u64().filter(|seconds| *seconds > 0) {
                Some(seconds) => builder.config.timeouts.call = Some(Duration::from_secs(seconds)),
                None => builder.warn(name, "this is not a duration, and was omitted"),
            },
            "remote" if value == &Value::Bool(false) => {}
            _ => builder.warn(name, "this member is not supported, and was omitted"),
        }
    }
    Ok(())
}
