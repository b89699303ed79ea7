//! Reads the files of VS Code: `servers` and `inputs`.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::builder::{Builder, Input};
use super::env_file;
use super::family::{read_each, servers_in};
use super::members::{pairs, present, text, texts, texts_of};
use super::model::{Import, ImportOptions};
use crate::HubError;
use crate::config::EnvVarSpec;

pub(super) fn read(whole: &Value, options: &ImportOptions, import: &mut Import) -> Result<(), HubError> {
    let servers = servers_in(whole.get("servers").or_else(|| whole.get("mcpServers")), "servers", "an object")?;
    read_each(&servers, &inputs(whole), options, import, entry);
    Ok(())
}

/// Returns the entries of `inputs` in a file of VS Code by their ids. An input is a value that the user has to enter.
fn inputs(whole: &Value) -> BTreeMap<String, Input> {
    let mut inputs = BTreeMap::new();
    for input in whole.get("inputs").and_then(Value::as_array).into_iter().flatten() {
        let of = |name: &str| input.get(name).and_then(Value::as_str).map(str::to_owned);
        let Some(id) = of("id") else { continue };
        let choices = input.get("options").map(options_of).unwrap_or_default();
        let spec = EnvVarSpec {
            description: of("description"),
            is_required: true,
            default: of("default"),
            choices,
            ..EnvVarSpec::default()
        };
        inputs.insert(id, Input { is_secret: input.get("password") == Some(&Value::Bool(true)), spec });
    }
    inputs
}

/// Returns the values that the user can choose for a VS Code input. In the file, each is a text or an object with a `value`.
fn options_of(options: &Value) -> Vec<String> {
    let value = |option: &Value| option.as_str().or_else(|| option.get("value")?.as_str()).map(str::to_owned);
    options.as_array().into_iter().flatten().filter_map(value).collect()
}

fn entry(builder: &mut Builder<'_>, members: &Map<String, Value>) -> Result<(), HubError> {
    let is_http = present(members, "url");
    match (present(members, "command"), is_http) {
        (true, true) => {
            let message = "the server has both a `command` and a `url`. Remove one of them";
            return Err(HubError::validation("url", message));
        }
        (true, false) => {
            let (program, args) = (text(members, "command")?, texts_of(members, "args")?);
            let env = pairs(builder, members, "env")?;
            builder.command(&program, &args, &env)?;
        }
        (false, true) => {
            let headers = pairs(builder, members, "headers")?;
            builder.http(&text(members, "url")?, &headers)?;
        }
        (false, false) => return Err(HubError::validation("command", "the server needs a `command` or a `url`")),
    }
    for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
        match name.as_str() {
            "type" | "command" | "args" | "env" | "url" | "headers" | "gallery" | "version" | "dev" | "name" => {}
            "cwd" if !is_http => {
                let cwd = builder.text("cwd", &text(members, "cwd")?)?;
                builder.config.cwd = Some(cwd.into());
            }
            "envFile" if !is_http => env_file::read(builder, members)?,
            "oauth" if is_http => super::login::read(builder, name, value)?,
            "disabled" => builder.config.enabled = value != &Value::Bool(true),
            "tools" if texts(value).is_some() => builder.config.tools.allow = texts(value),
            "sandboxEnabled" | "sandbox" => {
                builder.warn(name, "sandboxes are not supported: the server runs without one");
            }
            _ => builder.warn(name, "this member is not supported, and was omitted"),
        }
    }
    Ok(())
}
