//! Reads the members of JSON objects.

use serde_json::{Map, Value};

use super::builder::Builder;
use crate::HubError;

/// Returns whether the JSON object has a member `name` that is neither `null` nor an empty text.
pub(super) fn present(members: &Map<String, Value>, name: &str) -> bool {
    members.get(name).is_some_and(|value| !value.is_null() && value != "")
}

/// Returns the text of the member `name`. Returns an error if the member is missing or is not a text.
pub(super) fn text(members: &Map<String, Value>, name: &str) -> Result<String, HubError> {
    match members.get(name) {
        Some(Value::String(text)) => Ok(text.clone()),
        _ => Err(HubError::validation(name, "this must be text")),
    }
}

/// Converts a JSON list to texts, or returns `None` if that is not possible. Numbers and booleans are converted too, because
/// people forget the quotes.
pub(super) fn texts(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(scalar).collect()
}

/// Returns the strings in the JSON array `name` of `members`, or an empty list if there is no such member. Numbers and booleans count as
/// strings. Returns an error for other elements, and for a member that is not an array.
pub(super) fn texts_of(members: &Map<String, Value>, name: &str) -> Result<Vec<String>, HubError> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(value) => texts(value).ok_or_else(|| HubError::validation(name, "this must be a list of texts")),
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

/// Returns the names and texts in the object `name`, such as the environment variables in `env`. Empty if the member is
/// missing. Returns an error if the member is not an object of texts.
///
/// In some programs, `null` removes a variable that the server would inherit. Here, `null` is ignored, and a warning names such
/// variables.
pub(super) fn pairs(
    builder: &mut Builder<'_>,
    members: &Map<String, Value>,
    name: &str,
) -> Result<Vec<(String, String)>, HubError> {
    let values = match members.get(name) {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Object(values)) => values,
        Some(_) => return Err(HubError::validation(name, "this must be an object whose values are texts")),
    };
    let mut pairs = Vec::new();
    for (key, value) in values {
        let field = format!("{name}.{key}");
        match scalar(value) {
            Some(text) => pairs.push((key.clone(), text)),
            None if value.is_null() && mcpwire_client::inherited_env_names().contains(&key.as_str()) => {
                builder.warn(field, "the server inherits this variable: `null` does not remove it");
            }
            None if value.is_null() => {}
            None => return Err(HubError::validation(field, "this must be text")),
        }
    }
    Ok(pairs)
}

/// Returns the text of the member `name` of a JSON object, or `None` if the member is missing or is not a text.
pub(super) fn text_of<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name)?.as_str()
}

/// Returns a member of a registry's `server.json` by its current name, or else by its name in earlier versions of the schema.
pub(super) fn either<'v>(value: &'v Value, name: &str, earlier: &str) -> Option<&'v Value> {
    value.get(name).or_else(|| value.get(earlier)).filter(|value| !value.is_null())
}

/// Returns the items of the list in the member `name`, or no items if there is no such list.
pub(super) fn list<'v>(value: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    value.get(name).and_then(Value::as_array).into_iter().flatten()
}
