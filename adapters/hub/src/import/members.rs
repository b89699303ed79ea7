//! Reads the members of an entry.

use serde_json::{Map, Value};

use super::builder::Builder;
use crate::HubError;

pub(super) fn present(members: &Map<String, Value>, name: &str) -> bool {
    members.get(name).is_some_and(|value| !value.is_null() && value != "")
}

/// A member that has to be text.
pub(super) fn text(members: &Map<String, Value>, name: &str) -> Result<String, HubError> {
    match members.get(name) {
        Some(Value::String(text)) => Ok(text.clone()),
        _ => Err(HubError::validation(name, "It is not a text")),
    }
}

/// A list of texts, and numbers as people write them.
pub(super) fn texts(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(scalar).collect()
}

pub(super) fn texts_of(members: &Map<String, Value>, name: &str) -> Result<Vec<String>, HubError> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(value) => texts(value).ok_or_else(|| HubError::validation(name, "It is not a list of texts")),
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}

/// Names with texts. A null, by which some take a variable away, is left out: there is nothing to take away.
pub(super) fn pairs(
    builder: &mut Builder<'_>,
    members: &Map<String, Value>,
    name: &str,
) -> Result<Vec<(String, String)>, HubError> {
    let values = match members.get(name) {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Object(values)) => values,
        Some(_) => return Err(HubError::validation(name, "It is not an object of texts by name")),
    };
    let mut pairs = Vec::new();
    for (key, value) in values {
        let field = format!("{name}.{key}");
        match scalar(value) {
            Some(text) => pairs.push((key.clone(), text)),
            None if value.is_null() && mcpwire_client::inherited_env_names().contains(&key.as_str()) => {
                builder.warn(field, "The server gets this variable of yours all the same");
            }
            None if value.is_null() => {}
            None => return Err(HubError::validation(field, "It is not a text")),
        }
    }
    Ok(pairs)
}
