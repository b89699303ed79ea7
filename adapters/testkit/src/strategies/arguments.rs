//! A strategy for the arguments of a tool call that are valid by the tool's input schema.

use mcpwire_driver::protocol::Json;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::string::string_regex;
use serde_json::{Map, Number, Value, json as json_value};

use super::values::{name, text, value};

/// Maximum depth of the schemas that [`value_of`] follows. Below it, values are as simple as the schema allows.
const DEEPEST: usize = 8;
/// Maximum length of a generated array, and how much longer than `minLength` a text is.
const LONGEST: usize = 4;

/// Generates the arguments of a tool call that match the tool's input schema.
///
/// Follows the keywords that tools use: types, `enum`, `const`, `properties`, `items`, references within the schema, alternatives,
/// and limits of numbers, lengths and counts. Other keywords, such as `not`, are ignored, so a value may break them: check values
/// with a validator where that matters.
pub fn arguments(input_schema: &Json) -> BoxedStrategy<Json> {
    let root = input_schema.decode::<Value>().unwrap_or_else(|_| json_value!({}));
    let arguments = value_of(&root, &root, 0);
    arguments.prop_map(|value| Json::from(if value.is_object() { value } else { json_value!({}) })).boxed()
}

/// Returns the strategy for the values of a schema, which is a part of the schema `root`.
fn value_of(schema: &Value, root: &Value, depth: usize) -> BoxedStrategy<Value> {
    let schema = resolved(schema, root);
    if let Some(only) = schema.get("const") {
        return Just(only.clone()).boxed();
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array).filter(|values| !values.is_empty()) {
        return select(values.clone()).boxed();
    }
    let alternatives = ["anyOf", "oneOf"].iter().find_map(|keyword| schema.get(*keyword)?.as_array());
    if let Some(alternatives) = alternatives.filter(|alternatives| !alternatives.is_empty()) {
        let mut rest = schema.clone();
        rest.as_object_mut().map(|members| (members.remove("anyOf"), members.remove("oneOf")));
        let both = |alternative: &Value| merged(&rest, resolved(alternative, root));
        let strategies: Vec<_> = alternatives.iter().map(|one| value_of(&both(one), root, depth + 1)).collect();
        // Below the maximum depth, only the first alternative is used: it is often the simplest.
        let count = if depth < DEEPEST { strategies.len() } else { 1 };
        return proptest::strategy::Union::new(strategies.into_iter().take(count)).boxed();
    }
    if let Some(parts) = schema.get("allOf").and_then(Value::as_array).filter(|_| depth < DEEPEST) {
        let mut whole = schema.clone();
        whole.as_object_mut().map(|members| members.remove("allOf"));
        let whole = parts.iter().fold(whole, |whole, part| merged(&whole, resolved(part, root)));
        return value_of(&whole, root, depth + 1);
    }
    let kinds: Vec<&str> = match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    match kinds[..] {
        [] if schema.get("properties").is_some() => object(schema, root, depth),
        [] => value().boxed(),
        _ => proptest::strategy::Union::new(kinds.iter().map(|kind| of_kind(kind, schema, root, depth))).boxed(),
    }
}

fn of_kind(kind: &str, schema: &Value, root: &Value, depth: usize) -> BoxedStrategy<Value> {
    match kind {
        "string" => string(schema),
        "integer" => integer(schema),
        "number" => number(schema),
        "boolean" => any::<bool>().prop_map(Value::from).boxed(),
        "array" => array(schema, root, depth),
        "object" => object(schema, root, depth),
        _ => Just(Value::Null).boxed(),
    }
}

/// Follows the reference of a schema to another part of `root`.
pub(crate) fn resolved<'s>(schema: &'s Value, root: &'s Value) -> &'s Value {
    let mut at = schema;
    for _ in 0..DEEPEST {
        let Some(target) = at.get("$ref").and_then(Value::as_str) else { break };
        let Some(found) = target.strip_prefix('#').and_then(|pointer| root.pointer(pointer)) else { break };
        at = found;
    }
    at
}

/// Returns a schema with the keywords of both. Properties and required names are joined.
fn merged(one: &Value, other: &Value) -> Value {
    let mut whole = one.as_object().cloned().unwrap_or_default();
    for (keyword, value) in other.as_object().into_iter().flatten() {
        match (whole.get_mut(keyword), value) {
            (Some(Value::Object(members)), Value::Object(more)) if keyword == "properties" => {
                members.extend(more.clone());
            }
            (Some(Value::Array(names)), Value::Array(more)) if keyword == "required" => names.extend(more.clone()),
            _ => drop(whole.insert(keyword.clone(), value.clone())),
        }
    }
    whole.into()
}

fn size(schema: &Value, keyword: &str) -> Option<usize> {
    schema.get(keyword)?.as_u64()?.try_into().ok()
}

fn string(schema: &Value) -> BoxedStrategy<Value> {
    if let Some(pattern) = schema.get("pattern").and_then(Value::as_str)
        && let Ok(matching) = string_regex(pattern.trim_start_matches('^').trim_end_matches('$'))
    {
        return matching.prop_map(Value::from).boxed();
    }
    let fixed = match schema.get("format").and_then(Value::as_str).unwrap_or_default() {
        "email" => "a@example.com",
        "uri" | "url" | "iri" | "uri-reference" => "https://example.com/a",
        "date" => "2026-01-31",
        "date-time" => "2026-01-31T12:00:00Z",
        "time" => "12:00:00Z",
        "uuid" => "123e4567-e89b-12d3-a456-426614174000",
        "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "hostname" => "example.com",
        _ => "",
    };
    if !fixed.is_empty() {
        return Just(fixed.into()).boxed();
    }
    let (least, most) = (size(schema, "minLength"), size(schema, "maxLength"));
    if least.is_none() && most.is_none() {
        return text().prop_map(Value::from).boxed();
    }
    let least = least.unwrap_or(0).min(10_000);
    let most = most.unwrap_or(least + LONGEST).clamp(least, least + LONGEST);
    vec(proptest::char::range('a', 'z'), least..=most)
        .prop_map(|characters| Value::from(characters.into_iter().collect::<String>()))
        .boxed()
}

/// Returns the limits of a number, as far as the schema has them. `step` is added to an exclusive limit.
pub(crate) fn limits(schema: &Value, step: f64) -> (Option<f64>, Option<f64>) {
    let number = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
    let least = number("minimum").or_else(|| number("exclusiveMinimum").map(|limit| limit + step));
    let most = number("maximum").or_else(|| number("exclusiveMaximum").map(|limit| limit - step));
    (least, most)
}

#[expect(clippy::cast_possible_truncation, reason = "the limits are cut to a range that an `i64` has")]
fn integer(schema: &Value) -> BoxedStrategy<Value> {
    let (least, most) = limits(schema, 1.0);
    let whole = |limit: f64| limit.clamp(-1e15, 1e15) as i64;
    let least = least.map_or_else(|| most.map_or(-100, |most| whole(most.floor()) - 200), |least| whole(least.ceil()));
    let most = most.map_or(least + 200, |most| whole(most.floor())).max(least);
    let step = schema.get("multipleOf").and_then(Value::as_i64).filter(|step| *step > 0).unwrap_or(1);
    let fitting = move |number: i64| {
        let down = number - number.rem_euclid(step);
        Value::from(if down < least { down + step } else { down })
    };
    (least..=most).prop_map(fitting).boxed()
}

fn number(schema: &Value) -> BoxedStrategy<Value> {
    let (least, most) = limits(schema, 1e-6);
    let least = least.unwrap_or_else(|| most.map_or(-1000.0, |most| most - 1000.0));
    let most = most.unwrap_or(least + 2000.0).max(least);
    let whole = integer(schema);
    let fraction = (least..=most).prop_map(|number| Number::from_f64(number).map_or(Value::Null, Value::Number));
    if schema.get("multipleOf").is_some() { whole } else { prop_oneof![whole, fraction].boxed() }
}

fn array(schema: &Value, root: &Value, depth: usize) -> BoxedStrategy<Value> {
    let least = size(schema, "minItems").unwrap_or(0).min(1_000);
    let most = size(schema, "maxItems").unwrap_or(least + LONGEST).clamp(least, least + LONGEST);
    let most = if depth < DEEPEST { most } else { least };
    let first = schema.get("prefixItems").and_then(Value::as_array);
    if let Some(first) = first.filter(|first| first.len() >= least) {
        return first
            .iter()
            .map(|item| value_of(item, root, depth + 1))
            .collect::<Vec<_>>()
            .prop_map(Value::from)
            .boxed();
    }
    let item = schema.get("items").map_or_else(|| value().boxed(), |item| value_of(item, root, depth + 1));
    let is_set = schema.get("uniqueItems") == Some(&Value::Bool(true));
    vec(item, least..=most)
        .prop_map(move |mut items| {
            let mut seen: Vec<Value> = Vec::new();
            items.retain(|item| {
                !is_set
                    || !seen.contains(item) && {
                        seen.push(item.clone());
                        true
                    }
            });
            Value::from(items)
        })
        .boxed()
}

fn object(schema: &Value, root: &Value, depth: usize) -> BoxedStrategy<Value> {
    let empty = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map_or_else(Vec::new, |names| names.iter().filter_map(Value::as_str).collect());
    let mut members: Vec<BoxedStrategy<Option<(String, Value)>>> = Vec::new();
    for (key, property) in properties {
        let key = key.clone();
        let is_required = required.contains(&&*key);
        if !is_required && depth >= DEEPEST {
            continue;
        }
        let member = value_of(property, root, depth + 1).prop_map(move |value| (key.clone(), value));
        members.push(if is_required { member.prop_map(Some).boxed() } else { option::of(member).boxed() });
    }
    for key in required.into_iter().filter(|name| !properties.contains_key(*name)) {
        let key = key.to_owned();
        members.push(value().prop_map(move |value| Some((key.clone(), value))).boxed());
    }
    // An object of any members, such as a map from names to numbers.
    if properties.is_empty()
        && depth > 0
        && let Some(other) = schema.get("additionalProperties").filter(|other| other.is_object())
    {
        let member = (name(), value_of(other, root, depth + 1)).prop_map(Some);
        members.push(member.boxed());
    }
    members.prop_map(|members| Value::Object(members.into_iter().flatten().collect())).boxed()
}

#[cfg(test)]
mod tests {
    use mcpwire_driver::protocol::{Json, Validator as _};
    use mcpwire_jsonschema::JsonSchema;
    use proptest::strategy::ValueTree as _;
    use proptest::test_runner::TestRunner;
    use serde_json::json;

    use super::arguments;

    #[test]
    fn arguments_match_their_schema() {
        let schemas = [
            json!({"type": "object"}),
            json!({"properties": {"a": {"type": "string", "minLength": 3, "maxLength": 5}}, "required": ["a"]}),
            json!({"type": "object", "properties": {
                "count": {"type": "integer", "minimum": 1, "maximum": 3},
                "even": {"type": "integer", "multipleOf": 2, "exclusiveMinimum": 3},
                "share": {"type": "number", "minimum": 0, "maximum": 1},
                "kind": {"enum": ["a", 2, null]},
                "only": {"const": "x"},
                "code": {"type": "string", "pattern": "^[A-Z]{2}[0-9]$"},
                "tags": {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 3},
                "either": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                "node": {"$ref": "#/$defs/node"},
                "map": {"type": "object", "additionalProperties": {"type": "integer"}}
            }, "required": ["count", "even", "share", "kind", "only", "code", "tags", "either", "node", "map"],
                "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}, "id": {"type": "integer"}},
                    "required": ["id"], "additionalProperties": false}}}),
            json!({"allOf": [{"properties": {"a": {"type": "boolean"}}}, {"required": ["a"]}]}),
        ];
        let (mut runner, validator) = (TestRunner::deterministic(), JsonSchema::new());
        for schema in schemas.map(Json::from) {
            let strategy = arguments(&schema);
            for _ in 0..50 {
                let value = proptest::strategy::Strategy::new_tree(&strategy, &mut runner).expect("a value").current();
                validator.validate(&schema, &value).unwrap_or_else(|error| panic!("{}: {error}", value.get()));
            }
        }
    }
}
