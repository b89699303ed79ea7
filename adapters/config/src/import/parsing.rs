//! Parses the texts of imported files as JSON, TOML or YAML. Errors quote nothing of a file, which may contain secrets.

use serde_json::Value;

use crate::disk::parse_json;

/// Maximum depth of nested values in a YAML file.
const MAX_YAML_DEPTH: usize = 128;

/// Parses a JSON object, which may have comments. The error says why this is not possible.
pub(super) fn parse_object(text: &str) -> Result<Value, String> {
    object(parse_json(text).unwrap_or_else(|| Err("it is empty".to_owned())))
}

/// Parses a TOML document. The error says why this is not possible.
pub(super) fn parse_toml(text: &str) -> Result<Value, String> {
    toml::from_str(text).map_err(|error| error.message().to_owned())
}

/// Parses a YAML document that is an object. The error says why this is not possible.
pub(super) fn parse_yaml(text: &str) -> Result<Value, String> {
    let budget = serde_saphyr::budget! { max_depth: MAX_YAML_DEPTH };
    let parsed = serde_saphyr::from_str_with_options(text, serde_saphyr::options! { budget: budget });
    let line = |error: serde_saphyr::Error| error.location().map_or(0, |place| place.line());
    object(parsed.map_err(|error| format!("line {} is not valid YAML", line(error))))
}

fn object(parsed: Result<Value, String>) -> Result<Value, String> {
    parsed.and_then(|value| if value.is_object() { Ok(value) } else { Err("it is not an object".to_owned()) })
}
