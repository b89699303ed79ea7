//! Changes a JSON object in a text, and keeps comments and unknown members.

use jsonc_parser::cst::{CstInputValue, CstObject};
use serde_json::{Map, Value};

/// Applies the differences between `old` and `new` to an object. Members that neither of them has stay.
pub(super) fn object(object: &CstObject, old: &Map<String, Value>, new: &Map<String, Value>) {
    for (name, value) in new {
        if old.get(name) == Some(value) {
            continue;
        }
        let Some(member) = object.get(name) else {
            object.append(name, input(value));
            continue;
        };
        match (member.object_value(), old.get(name), value) {
            (Some(inner), Some(Value::Object(old)), Value::Object(new)) => self::object(&inner, old, new),
            _ => member.set_value(input(value)),
        }
    }
    for name in old.keys().filter(|name| !new.contains_key(*name)) {
        if let Some(member) = object.get(name) {
            member.remove();
        }
    }
}

/// The members that a new entry starts with, because people look for them first.
const FIRST: [&str; 6] = ["id", "name", "enabled", "source", "package", "transport"];

/// Converts a new entry for the tree of the text, with [`FIRST`] at its start.
pub(super) fn entry(value: &Value) -> CstInputValue {
    let Value::Object(members) = value else { return input(value) };
    let first = FIRST.iter().filter_map(|name| members.get_key_value(*name));
    let others = members.iter().filter(|(name, _)| !FIRST.contains(&name.as_str()));
    CstInputValue::Object(first.chain(others).map(|(name, value)| (name.clone(), input(value))).collect())
}

/// Converts a value for the tree of the text.
pub(super) fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(value) => CstInputValue::Number(value.to_string()),
        Value::String(value) => CstInputValue::String(value.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(members) => {
            CstInputValue::Object(members.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}
