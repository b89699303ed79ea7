//! Reads the members of an entry of the registry.

use serde_json::Value;

/// A member that is text.
pub(super) fn text<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name)?.as_str()
}

/// A member by its name of today, or by its name before.
pub(super) fn either<'v>(value: &'v Value, name: &str, before: &str) -> Option<&'v Value> {
    value.get(name).or_else(|| value.get(before)).filter(|value| !value.is_null())
}

pub(super) fn list<'v>(value: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    value.get(name).and_then(Value::as_array).into_iter().flatten()
}
