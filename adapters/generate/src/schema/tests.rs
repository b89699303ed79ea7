//! Tests of simplified schemas: what stays, and what becomes any value.

use serde_json::json;

use super::*;

fn simplified(schema: &Value) -> Value {
    simplify(schema, "Arguments", &mut TypeNames::default()).schema
}

#[test]
fn a_property_keeps_its_type() {
    for (schema, simple) in [
        (json!({ "type": "string", "pattern": "^a" }), json!({ "type": "string", "description": "Pattern ^a." })),
        (json!({ "type": "integer" }), json!({ "type": "integer", "format": "int64" })),
        (
            json!({ "type": "integer", "minimum": 0 }),
            json!({ "type": "integer", "format": "uint64", "description": "At least 0." }),
        ),
        (json!({ "type": ["string", "null"] }), json!({ "oneOf": [{ "type": "null" }, { "type": "string" }] })),
        (
            json!({ "anyOf": [{ "type": "null" }, { "type": "number" }] }),
            json!({ "oneOf": [{ "type": "null" }, { "type": "number" }] }),
        ),
        (json!({ "anyOf": [{ "type": "integer" }, { "type": "number" }] }), json!({ "type": "number" })),
        (json!({ "const": true }), json!({ "type": "boolean", "description": "Always true." })),
        (json!({ "enum": ["a", "b", "a"] }), json!({ "type": "string", "enum": ["a", "b"] })),
        (json!({ "enum": ["a-b", "a_b"] }), json!({ "type": "string", "description": "One of \"a-b\", \"a_b\"." })),
        (json!({ "x-rust-type": { "crate": "evil" } }), json!({})),
        (json!(true), json!({})),
    ] {
        assert_eq!(simplified(&schema), simple, "{schema}");
    }
}

#[test]
fn what_has_no_type_says_why() {
    for (schema, reason) in [
        (json!({ "$ref": "https://a.example/" }), "its schema is elsewhere, and was not fetched: https://a.example/"),
        (json!({ "$ref": "#/nowhere" }), "its schema refers to a part that does not exist"),
        (json!({ "$ref": "#" }), "its schema refers to itself"),
        (json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/a" } } }), "its schema refers to itself"),
        (
            json!({ "properties": { "a-b": {}, "a_b": {} } }),
            "these properties have the same name in Rust: \"a-b\" and \"a_b\"",
        ),
    ] {
        let simple = simplify(&schema, "Arguments", &mut TypeNames::default());
        assert_eq!((simple.is_untyped(), simple.reason()), (true, Some(reason)), "{schema}");
    }
}
