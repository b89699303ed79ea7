//! Output schemas that take minutes or gigabytes are refused at once, and those that are only large or recursive are not.
//!
//! Memory is counted, not measured: a program of its own, whose allocator counts.

use mcpwire_core::{Json, ValidationError, Validator};
use mcpwire_jsonschema::{JsonSchema, Limits};
use mcpwire_tests::{Allocated, Counting, allocated};
use serde_json::{Map, Value, json};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What may be held in memory before something is refused.
const REFUSED_WITHIN: usize = 16 << 20;

/// What an accepted schema may hold at the most while it is compiled and a small value is held against it.
const ACCEPTED_WITHIN: usize = 64 << 20;

fn check(schema: &Value, value: &Value) -> (Result<(), ValidationError>, Allocated) {
    let (schema, value) = (Json::parse(schema.to_string()), Json::parse(value.to_string()));
    let (schema, value) = (schema.expect("it is JSON"), value.expect("it is JSON"));
    // The metaschemas are compiled once in a program, and not for this schema.
    let _ = JsonSchema::new().validate(&Json::parse("{\"items\":{}}").expect("it is JSON"), &value);
    allocated(|| JsonSchema::new().validate(&schema, &value))
}

#[track_caller]
fn refused(schema: &Value, value: &Value) {
    let (result, allocated) = check(schema, value);
    let error = result.expect_err("it costs too much").to_string();
    assert!(["steps", "deep", "itself", "bytes", "parts"].iter().any(|why| error.contains(why)), "{error}");
    assert!(allocated.peak < REFUSED_WITHIN, "{allocated:?}: {error}");
}

#[track_caller]
fn accepted(schema: &Value, value: &Value) {
    let (result, allocated) = check(schema, value);
    assert_eq!(result, Ok(()), "{schema}");
    assert!(allocated.peak < ACCEPTED_WITHIN, "{allocated:?}");
}

/// A schema of so many levels, each of which refers to the next as `level` says.
fn levels(count: usize, level: impl Fn(Value) -> Value) -> Value {
    let mut defs: Map<String, Value> =
        (0..count).map(|n| (n.to_string(), level(json!({ "$ref": format!("#/$defs/{}", n + 1) })))).collect();
    defs.insert(count.to_string(), json!({ "type": "integer" }));
    json!({ "$ref": "#/$defs/0", "$defs": defs })
}

type Level = fn(Value) -> Value;

/// Levels that double what is applied to the same value.
const IN_PLACE: [(&str, Level); 15] = [
    ("anyOf", |next| json!({ "anyOf": [next, next] })),
    ("oneOf", |next| json!({ "oneOf": [next, next] })),
    ("allOf", |next| json!({ "allOf": [next, next] })),
    ("not", |next| json!({ "allOf": [{ "not": next }, { "not": next }] })),
    ("if", |next| json!({ "if": next, "then": next, "else": next })),
    ("dependentSchemas", |next| json!({ "dependentSchemas": { "a": next, "b": next } })),
    ("dependencies", |next| json!({ "dependencies": { "a": next, "b": next } })),
    ("unevaluatedProperties", |next| json!({ "anyOf": [next], "unevaluatedProperties": false })),
    ("unevaluatedProperties beside a reference", |mut next| {
        next["unevaluatedProperties"] = json!(false);
        json!({ "allOf": [next], "unevaluatedProperties": false })
    }),
    ("unevaluatedProperties of the next", |next| json!({ "allOf": [next], "unevaluatedProperties": next })),
    ("unevaluatedItems", |next| json!({ "oneOf": [next], "unevaluatedItems": false })),
    (
        "unevaluatedItems and dependentSchemas",
        |next| json!({ "dependentSchemas": { "a": next, "b": next }, "if": next, "unevaluatedItems": false }),
    ),
    (
        "unevaluatedProperties of what may be there",
        |next| json!({ "dependentSchemas": { "a": next, "b": next }, "unevaluatedProperties": false }),
    ),
    ("$dynamicRef", |next| json!({ "allOf": [{ "$dynamicRef": next["$ref"] }, { "$dynamicRef": next["$ref"] }] })),
    ("three ways in one", |next| json!({ "$ref": next["$ref"], "allOf": [next], "anyOf": [next] })),
];

/// Levels that double what is applied to parts of the value, and a value of such parts.
const IN_PARTS: [(&str, Level, Level); 10] = [
    ("properties", |next| json!({ "properties": { "a": { "allOf": [next, next] } } }), |inner| json!({ "a": inner })),
    (
        "additionalProperties",
        |next| json!({ "additionalProperties": { "allOf": [next, next] } }),
        |inner| json!({ "a": inner }),
    ),
    (
        "patternProperties",
        |next| json!({ "patternProperties": { "a": next, "^a": next } }),
        |inner| json!({ "a": inner }),
    ),
    ("items", |next| json!({ "items": { "allOf": [next, next] } }), |inner| json!([inner])),
    ("prefixItems", |next| json!({ "prefixItems": [{ "anyOf": [next, next] }] }), |inner| json!([inner])),
    ("contains", |next| json!({ "contains": next, "items": next }), |inner| json!([inner])),
    (
        "unevaluatedProperties",
        |next| json!({ "allOf": [{}], "unevaluatedProperties": next }),
        |inner| json!({ "a": inner }),
    ),
    ("unevaluatedItems", |next| json!({ "unevaluatedItems": { "anyOf": [next, next] } }), |inner| json!([inner])),
    (
        "if",
        |next| json!({ "if": { "items": next }, "then": { "items": next }, "else": { "items": next } }),
        |inner| json!([inner]),
    ),
    ("not", |next| json!({ "not": { "items": { "allOf": [next, next] } } }), |inner| json!([inner])),
];

fn nested(depth: usize, wrap: Level) -> Value {
    (0..depth).fold(json!(1), |inner, _| wrap(inner))
}

#[test]
fn levels_that_each_refer_twice_to_the_next_are_refused_whatever_refers() {
    let value = json!({ "a": 1, "b": [1] });
    for (_, level) in IN_PLACE {
        for count in [25, 200] {
            refused(&levels(count, level), &value);
        }
    }
    for (_, level, wrap) in IN_PARTS {
        refused(&levels(60, level), &nested(60, wrap));
    }
}

#[test]
fn what_is_accepted_of_few_levels_takes_little_memory() {
    for count in [2, 8, 14, 20] {
        for (keyword, level) in IN_PLACE {
            let (_, allocated) = check(&levels(count, level), &json!({ "a": 1, "b": [1] }));
            assert!(allocated.peak < ACCEPTED_WITHIN, "{keyword}, {count} levels: {allocated:?}");
        }
        for (keyword, level, wrap) in IN_PARTS {
            let (_, allocated) = check(&levels(count, level), &nested(count, wrap));
            assert!(allocated.peak < ACCEPTED_WITHIN, "{keyword}, {count} levels: {allocated:?}");
        }
    }
}

#[test]
fn recursion_that_doubles_with_each_level_of_the_value_is_refused_for_deep_values_alone() {
    for (_, level, wrap) in IN_PARTS {
        let mut schema = level(json!({ "$ref": "#" }));
        if schema.get("not").is_some() {
            // A schema and its opposite hold in turns.
            schema = json!({ "anyOf": [schema, {}] });
        }
        accepted(&schema, &nested(4, wrap));
        refused(&schema, &nested(100, wrap));
    }
}

#[test]
fn levels_within_each_other_without_references_are_refused_too() {
    let nest = |depth, level: Level| (0..depth).fold(json!({ "type": "integer" }), |inner, _| level(inner));
    for keyword in ["unevaluatedProperties", "unevaluatedItems"] {
        let level: Level = match keyword {
            "unevaluatedItems" => |inner| json!({ "anyOf": [inner], "unevaluatedItems": false }),
            _ => |inner| json!({ "anyOf": [inner], "unevaluatedProperties": false }),
        };
        refused(&nest(40, level), &json!({ "a": 1 }));
    }
}

#[test]
fn a_choice_that_is_looked_through_for_what_tells_it_apart_is_refused() {
    // Ten references on each level, and a cycle of them.
    let many = |n: usize| vec![json!({ "$ref": format!("#/$defs/{n}") }); 10];
    let mut defs: Map<String, Value> = (0..12).map(|n| (n.to_string(), json!({ "allOf": many(n + 1) }))).collect();
    defs.insert("12".to_owned(), json!({}));
    refused(&json!({ "anyOf": [{ "$ref": "#/$defs/0" }, {}, {}], "$defs": defs }), &json!({}));
    let cycle = json!({ "anyOf": [{ "$ref": "#/$defs/0" }, {}, {}], "$defs": { "0": { "allOf": many(0) } } });
    refused(&cycle, &json!({}));
}

#[test]
fn dynamic_scopes_that_double_with_each_level_are_refused() {
    let mut defs = Map::new();
    for n in 0..25 {
        for side in ["a", "b"] {
            let next =
                |side| json!({ "properties": { "x": { "$ref": format!("https://example.com/{side}{}", n + 1) } } });
            let resource = json!({ "$id": format!("https://example.com/{side}{n}"), "allOf": [next("a"), next("b")] });
            defs.insert(format!("{side}{n}"), resource);
        }
    }
    for side in ["a", "b"] {
        defs.insert(format!("{side}25"), json!({ "$id": format!("https://example.com/{side}25") }));
    }
    let schema = json!({ "$id": "https://example.com/", "$ref": "https://example.com/a0", "$defs": defs });
    refused(&schema, &json!({}));
}

#[test]
fn references_along_a_long_chain_do_not_overflow_the_stack() {
    for level in [
        (|next| next) as Level,
        |next| json!({ "allOf": [next] }),
        |next| json!({ "allOf": [next], "unevaluatedProperties": false }),
        |next| json!({ "not": next }),
        |next| json!({ "if": next, "then": next }),
    ] {
        for count in [100, 300, 450, 900, 1_500, 3_000] {
            let _ = check(&levels(count, level), &json!({ "a": 1 }));
            let mut schema = levels(count, level);
            schema["unevaluatedProperties"] = json!(false);
            let _ = check(&schema, &json!({ "a": 1 }));
        }
    }
    refused(&levels(1_500, |next| next), &json!(1));
    // Through all levels of a deep value, each of which goes through several subschemas.
    let defs: Map<String, Value> = (0..20)
        .map(|n| (n.to_string(), json!({ "allOf": [{ "$ref": format!("#/$defs/{}", n + 1) }] })))
        .chain([("20".to_owned(), json!({ "items": { "$ref": "#/$defs/0" } }))])
        .collect();
    let schema = json!({ "$ref": "#/$defs/0", "$defs": defs });
    for depth in [10, 20, 25, 60, 120] {
        let _ = check(&schema, &nested(depth, |inner| json!([inner])));
    }
}

#[test]
fn long_names_and_addresses_that_each_keyword_would_repeat_are_refused() {
    let many: Map<String, Value> = (0..3_000).map(|n| (format!("p{n}"), json!({ "type": "integer" }))).collect();
    let id = format!("https://example.com/{}", "x".repeat(150_000));
    refused(&json!({ "$id": id, "properties": many }), &json!({}));
    let name = "x".repeat(150_000);
    refused(&json!({ "properties": { name: { "properties": many } } }), &json!({}));
    let again: Vec<Value> = (0..500).map(|_| json!({ "$ref": "#/$defs/a", "unevaluatedProperties": false })).collect();
    let large = json!({ "anyOf": [{ "x-note": "x".repeat(150_000) }] });
    refused(&json!({ "prefixItems": again, "$defs": { "a": large } }), &json!({}));
}

#[test]
fn patterns_are_bounded_all_together_and_by_the_text_that_they_are_held_against() {
    let many: Map<String, Value> = (0..3_000).map(|n| (format!("[^a]{{99}}{n}"), json!({}))).collect();
    refused(&json!({ "patternProperties": many }), &json!({}));
    // Where the automaton does not fit into memory, each byte takes as many steps as the pattern has places.
    let slow = json!({ "pattern": "[ab]*a[ab]{2000}c" });
    let (result, _) = check(&slow, &json!("ab".repeat(100_000)));
    assert!(result.is_err_and(|error| error.to_string().contains("steps")));
    accepted(
        &json!({ "items": { "pattern": "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$" } }),
        &json!(vec!["01234567-89ab-cdef-0123-456789abcdef"; 20_000]),
    );
}

#[test]
fn large_arrays_are_compared_in_linear_time() {
    let elements: Vec<Value> = (0..100_000).map(|n| json!({ "n": n })).collect();
    let schema = json!({ "uniqueItems": true, "contains": { "properties": { "n": { "const": 99_999 } } } });
    assert_eq!(check(&schema, &json!(elements)).0, Ok(()));
}

#[test]
fn what_an_error_quotes_of_a_large_value_is_short() {
    let value = json!(["x".repeat(1 << 20)]);
    let (result, allocated) = check(&json!({ "type": "integer" }), &value);
    let Err(ValidationError::Value { reason, .. }) = result else { panic!("it does not fit") };
    assert!(reason.len() < 2_000 && allocated.bytes < 12 << 20, "{} {allocated:?}", reason.len());
}

#[test]
fn recursive_schemas_of_usual_kinds_are_held_against_deep_values() {
    let tree = json!({
        "$id": "https://example.com/tree", "type": "object", "required": ["name"],
        "properties": { "name": { "type": "string" }, "children": { "type": "array", "items": { "$ref": "#" } } },
        "unevaluatedProperties": false
    });
    accepted(&tree, &nested_tree(40));
    let json_value = json!({ "$dynamicAnchor": "value", "anyOf": [
        { "type": ["null", "boolean", "number", "string"] },
        { "type": "array", "items": { "$dynamicRef": "#value" } },
        { "type": "object", "additionalProperties": { "$ref": "#" } },
    ] });
    accepted(&json_value, &nested(60, |inner| json!({ "a": [inner, 1, null] })));
    let kinds = ["add", "sub", "mul", "div"].map(
        |kind| json!({ "required": ["kind"], "properties": { "kind": { "const": kind }, "left": { "$ref": "#" } } }),
    );
    let expression = json!({ "anyOf": [{ "type": "integer" }, { "oneOf": kinds }] });
    accepted(&expression, &nested(8, |inner| json!({ "kind": "add", "left": inner })));
    let list = json!({ "properties": { "next": { "$ref": "#" }, "value": true }, "required": ["value"] });
    accepted(&list, &nested(100, |inner| json!({ "next": inner, "value": 1 })));
}

fn nested_tree(depth: usize) -> Value {
    (0..depth).fold(
        json!({ "name": "leaf" }),
        |inner, n| json!({ "name": n.to_string(), "children": [inner, { "name": "other" }] }),
    )
}

#[test]
fn schemas_of_schemas_are_held_against_schemas() {
    let large: Map<String, Value> =
        (0..500).map(|n| (format!("p{n}"), nested(6, |inner| json!({ "items": inner })))).collect();
    let schema = json!({ "type": "object", "properties": large.into_iter().map(|(name, _)| (name, json!({
        "anyOf": [{ "type": "string" }, { "items": { "allOf": [{ "minimum": 1 }, { "not": {} }] } }]
    }))).collect::<Map<_, _>>() });
    for draft in ["draft/2020-12", "draft/2019-09", "draft-07", "draft-06", "draft-04"] {
        let protocol = if draft.starts_with("draft/") { "https" } else { "http" };
        let draft = format!("{protocol}://json-schema.org/{draft}/schema");
        accepted(&json!({ "$schema": draft, "$ref": draft }), &schema);
        accepted(&json!({ "$schema": draft, "items": { "$ref": draft } }), &json!([schema]));
    }
}

#[test]
fn the_largest_schemas_and_values_of_the_limits_are_accepted() {
    let properties: Map<String, Value> = (0..1_000)
        .map(|n| {
            (
                format!("a_property_with_a_long_name_{n}"),
                json!({ "type": "string", "description": "x".repeat(100), "maxLength": 9 }),
            )
        })
        .collect();
    accepted(&json!({ "type": "object", "properties": properties, "additionalProperties": false }), &json!({}));

    let columns: Map<String, Value> =
        (0..9).map(|n| (format!("c{n}"), json!({ "type": "integer", "minimum": 0 }))).collect();
    let row: Map<String, Value> = (0..9).map(|n| (format!("c{n}"), json!(n))).collect();
    let schema = json!({ "type": "array", "items": { "$ref": "#/$defs/row" }, "$defs": {
        "row": { "type": "object", "properties": columns, "required": ["c0", "c1"], "additionalProperties": false } } });
    let (result, _) = check(&schema, &json!(vec![Value::Object(row); 99_000]));
    assert_eq!(result, Ok(()));
}

#[test]
fn many_schemas_that_are_just_accepted_are_not_all_kept() {
    let validator = JsonSchema::new();
    let value = Json::parse("1").expect("it is JSON");
    let schema = |n: usize| {
        let mut schema =
            levels(11, |next| json!({ "dependentSchemas": { "a": next, "b": next }, "unevaluatedProperties": false }));
        schema["title"] = json!(n.to_string());
        Json::parse(schema.to_string()).expect("it is JSON")
    };
    let ((), once) = allocated(|| validator.validate(&schema(0), &value).unwrap_or_default());
    let ((), again) = allocated(|| (1..30).for_each(|n| validator.validate(&schema(n), &value).unwrap_or_default()));
    assert!(once.held > 1 << 20, "{once:?}");
    assert!(again.held < ACCEPTED_WITHIN.cast_signed(), "{again:?}");
}

#[test]
fn limits_can_be_raised() {
    let schema = Json::parse(levels(16, |next| json!({ "anyOf": [next, next] })).to_string()).expect("it is JSON");
    let value = Json::parse("1").expect("it is JSON");
    assert!(JsonSchema::new().validate(&schema, &value).is_err());
    let mut limits = Limits::default();
    limits.schema_steps = 1_000_000;
    assert_eq!(JsonSchema::with_limits(limits).validate(&schema, &value), Ok(()));
}
