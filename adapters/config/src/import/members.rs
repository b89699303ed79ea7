//! Reads the members of JSON objects.

use serde_json::{Map, Value};

use crate::HubError;

/// Returns the error that the member `field` is wrong, with a message for the user.
pub(super) fn wrong<T>(field: &str, message: impl Into<String>) -> Result<T, HubError> {
    Err(HubError::validation(field, message))
}

/// Returns whether the JSON object has a member `name` that is neither `null` nor an empty text.
pub(super) fn present(members: &Map<String, Value>, name: &str) -> bool {
    members.get(name).is_some_and(|value| !value.is_null() && value != "")
}

/// Returns the text of the member `name`. Returns an error if the member is missing or is not a text.
pub(super) fn text<'v>(members: &'v Map<String, Value>, name: &str) -> Result<&'v str, HubError> {
    text_at(name, members.get(name).unwrap_or(&Value::Null))
}

/// Returns the text `value`. Returns an error that names `field` if the value is not a text.
pub(super) fn text_at<'v>(field: &str, value: &'v Value) -> Result<&'v str, HubError> {
    value.as_str().ok_or_else(|| HubError::validation(field, "this must be text"))
}

/// Converts a JSON list to texts. Converts numbers and booleans too, because people forget the quotes. Returns `None` if `value` is
/// not a list, or contains other values.
pub(super) fn texts(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(scalar).collect()
}

/// Converts the JSON list `value` to names. Returns an error that names `field` if the value is not a list of names.
pub(super) fn names(field: &str, value: &Value) -> Result<Vec<String>, HubError> {
    texts(value).ok_or_else(|| HubError::validation(field, "this must be a list of names"))
}

/// Returns the strings in the JSON array `name` of `members`, or an empty list if there is no such member. Numbers and booleans count as
/// strings. Returns an error for other elements, and for a member that is not an array.
pub(super) fn texts_of(members: &Map<String, Value>, name: &str) -> Result<Vec<String>, HubError> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(value) => texts(value).ok_or_else(|| HubError::validation(name, "this must be a list of texts")),
    }
}

/// Converts a text, a number or a boolean to text. Returns `None` for other values.
pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}

/// Returns the text of the member `name` of a JSON object, or `None` if the member is missing or is not a text.
pub(super) fn text_of<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name)?.as_str()
}

/// Returns a member of a registry's `server.json` by its current name, or else by its name in earlier versions of the schema.
/// Returns `None` if the member is missing or `null`.
pub(super) fn either<'v>(value: &'v Value, name: &str, earlier: &str) -> Option<&'v Value> {
    value.get(name).or_else(|| value.get(earlier)).filter(|value| !value.is_null())
}

/// Returns the items of the JSON array `value`, or no items if `value` is missing or is not an array.
pub(super) fn items(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}
