//! Schemas as the server sends them, and the forms of simplified schemas.

use serde_json::{Map, Value, json};

/// Returns the subschema at a JSON pointer, which may be percent-encoded.
pub(super) fn resolve<'s>(document: &'s Value, pointer: &str) -> Option<&'s Value> {
    document.pointer(pointer).or_else(|| {
        let mut at = document;
        for part in pointer.split('/').skip(1) {
            let part = decode_pointer(part);
            at = match at {
                Value::Array(items) => items.get(part.parse::<usize>().ok()?)?,
                other => other.get(&part)?,
            };
        }
        Some(at)
    })
}

pub(super) fn decode_pointer(part: &str) -> String {
    part.replace("%24", "$").replace("%20", " ").replace("%25", "%").replace("~1", "/").replace("~0", "~")
}

pub(super) fn reference_to(name: &str) -> Value {
    json!({ "$ref": format!("#/definitions/{name}") })
}

/// Returns the name of the definition that a simplified schema refers to.
pub(super) fn definition_of(simple: &Value) -> Option<&str> {
    simple.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix("#/definitions/"))
}

/// The keyword in a simplified schema that says why it accepts any value or any object.
pub(super) const REASON: &str = "x-reason";

/// Returns a schema that accepts any JSON value. `reason` says why it has no type in Rust. It is empty if the schema accepts any
/// value, too.
pub(super) fn any(reason: &str) -> Value {
    if reason.is_empty() { json!({}) } else { json!({ REASON: reason }) }
}

/// Returns a schema that accepts any JSON object. `reason` says why it has no type in Rust.
pub(super) fn any_object(reason: &str) -> Value {
    json!({ "type": "object", REASON: reason })
}

pub(super) fn is_any(simple: &Value) -> bool {
    simple.as_object().is_some_and(|keywords| keywords.keys().all(|key| key == "description" || key == REASON))
}

pub(super) fn is_any_object(simple: &Value) -> bool {
    simple.get("type").is_some_and(|only| only == "object")
        && ["properties", "additionalProperties"].iter().all(|key| simple.get(*key).is_none())
}

/// Returns whether a simplified schema needs a type of its own in Rust.
pub(super) fn needs_type(simple: &Value) -> bool {
    let is_union = |key| simple.get(key).and_then(Value::as_array).is_some_and(|branches| !is_nullable(branches));
    simple.get("properties").is_some() || simple.get("enum").is_some() || is_union("oneOf") || is_union("anyOf")
}

/// Returns whether these branches of a simplified schema make an `Option`.
pub(super) fn is_nullable(branches: &[Value]) -> bool {
    matches!(branches, [null, _] if null.get("type") == Some(&json!("null")))
}

/// Adds `null` to what a simplified schema accepts.
pub(super) fn or_null(simple: Value) -> Value {
    if is_any(&simple) || simple.get("oneOf").and_then(Value::as_array).is_some_and(|branches| is_nullable(branches)) {
        return simple;
    }
    json!({ "oneOf": [{ "type": "null" }, simple] })
}

/// Returns the types that a schema names, without repetitions.
pub(super) fn types(schema: &Map<String, Value>) -> Vec<String> {
    let mut types: Vec<String> = match schema.get("type") {
        Some(Value::String(only)) => vec![only.clone()],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    if !types.is_empty() && schema.get("nullable") == Some(&Value::Bool(true)) {
        types.push("null".into());
    }
    types.sort();
    types.dedup();
    types
}

pub(super) fn allows_null(schema: &Map<String, Value>) -> bool {
    types(schema).iter().any(|name| name == "null")
}

/// Returns whether a schema says more than a constraint for values of a type that is said elsewhere.
pub(super) fn has_type(schema: &Value) -> bool {
    ["$ref", "type", "enum", "const", "properties", "items", "anyOf", "oneOf", "allOf"]
        .iter()
        .any(|key| schema.get(*key).is_some())
}

/// Returns the branches of `anyOf` and `oneOf`.
pub(super) fn branches(schema: &Map<String, Value>) -> Vec<Value> {
    let lists = ["anyOf", "oneOf"].iter().filter_map(|key| schema.get(*key)?.as_array());
    lists.flatten().cloned().collect()
}

/// Returns the schema of an integer: of 64 bits without another format, and unsigned if it has no negative values.
pub(super) fn integer(schema: &Map<String, Value>) -> Value {
    let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
    let is_unsigned = schema.get("minimum").and_then(Value::as_f64).is_some_and(|minimum| minimum >= 0.0);
    match format {
        "int8" | "int16" | "int32" | "int64" | "uint8" | "uint16" | "uint32" | "uint64" => {
            json!({ "type": "integer", "format": format })
        }
        _ if is_unsigned => json!({ "type": "integer", "format": "uint64" }),
        _ => json!({ "type": "integer", "format": "int64" }),
    }
}
