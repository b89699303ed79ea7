//! Reads the settings of Zed: `context_servers`.

use std::time::Duration;

use serde_json::{Map, Value};

use super::builder::Builder;
use super::entry::read_servers;
use super::members::{present, wrong};
use super::model::{Import, ImportOptions};
use crate::HubError;

pub(super) fn read(whole: &Value, options: &ImportOptions, import: &mut Import) -> Result<(), HubError> {
    read_servers(whole, whole.get("context_servers"), "context_servers", options, import, entry)
}

fn entry(builder: &mut Builder<'_>, members: &Map<String, Value>) -> Result<(), HubError> {
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
