//! Reads the files of VS Code: `servers` and `inputs`.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::builder::{Builder, Input, read_servers};
use super::members::{items, text_of, texts};
use super::model::{Import, ImportOptions};
use crate::HubError;
use crate::config::EnvVarSpec;

pub(super) fn read(whole: &Value, options: &ImportOptions, import: &mut Import) -> Result<(), HubError> {
    let servers = whole.get("servers").or_else(|| whole.get("mcpServers"));
    read_servers(servers, "servers", &inputs(whole), options, import, entry)
}

/// Returns the entries of `inputs` in a file of VS Code by their ids. An input is a value that the user has to enter.
fn inputs(whole: &Value) -> BTreeMap<String, Input> {
    let input = |input: &Value| {
        let of = |name: &str| text_of(input, name).map(str::to_owned);
        // A choice is a text, or an object with a `value`.
        let choice = |option: &Value| option.as_str().or_else(|| text_of(option, "value")).map(str::to_owned);
        let spec = EnvVarSpec {
            description: of("description"),
            is_required: true,
            default: of("default"),
            choices: items(input.get("options")).filter_map(choice).collect(),
            ..EnvVarSpec::default()
        };
        Some((of("id")?, Input { is_secret: input.get("password") == Some(&Value::Bool(true)), spec }))
    };
    items(whole.get("inputs")).filter_map(input).collect()
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
