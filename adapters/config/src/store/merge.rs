//! Changes a JSON object in a text without losing comments and unknown members.

use jsonc_parser::cst::{CstInputValue, CstObject};
use serde_json::{Map, Value};

/// Changes a JSON object in the text of the configuration file: applies the differences between `old` and `new` to `object`.
/// Other members of `object` stay as they are.
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

/// The members that a new entry in the configuration file starts with, because people look for these first.
const FIRST: [&str; 6] = ["id", "name", "enabled", "source", "package", "transport"];

/// Converts the JSON of a new server for the syntax tree of the configuration file. The members in [`FIRST`] come first.
pub(super) fn entry(value: &Value) -> CstInputValue {
    let Value::Object(members) = value else { return input(value) };
    let first = FIRST.iter().filter_map(|name| members.get_key_value(*name));
    let others = members.iter().filter(|(name, _)| !FIRST.contains(&name.as_str()));
    CstInputValue::Object(first.chain(others).map(|(name, value)| (name.clone(), input(value))).collect())
}

/// Converts a JSON value for the syntax tree of the configuration file.
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
