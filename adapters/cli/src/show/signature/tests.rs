//! Tests with common JSON Schemas, and with hostile ones.

use serde_json::{Value, json};

use super::*;

/// Returns the parameters of a tool as lines `name?: kind = default  description`, and then the remark below them.
fn lines(schema: &Value) -> Vec<String> {
    shown(&schema.to_string())
}

fn shown(schema: &str) -> Vec<String> {
    let signature = Signature::of(schema);
    let parameters = signature.parameters.into_iter().map(|parameter| {
        let mark = if parameter.optional { "?" } else { "" };
        let default = parameter.default.map(|default| format!(" = {default}")).unwrap_or_default();
        let description = parameter.description.map(|text| format!("  {text}")).unwrap_or_default();
        format!("{}{mark}: {}{default}{description}", parameter.name, parameter.kind)
    });
    parameters.chain(signature.note).collect()
}

fn kind(schema: &Value) -> String {
    let root = json!({ "type": "object", "properties": { "x": schema } });
    Signature::of(&root.to_string()).parameters.remove(0).kind
}

#[test]
fn parameters_keep_the_order_of_the_schema() {
    let schema = r#"{"type":"object","required":["path"],"properties":{
        "path":{"type":"string","description":"Where\n to look."},
        "depth":{"type":"integer","minimum":1,"maximum":9,"default":3},
        "all":{"type":"boolean","default":false}}}"#;
    assert_eq!(shown(schema), ["path: string  Where to look.", "depth?: integer<1..9> = 3", "all?: boolean = false"]);
}

#[test]
fn types_read_like_types() {
    for (schema, expected) in [
        (json!({ "type": "string" }), "string"),
        (json!({ "type": "string", "format": "date-time" }), "string<date-time>"),
        (json!({ "type": ["string", "null"] }), "string | null"),
        (json!({ "enum": ["fast", "slow", 3, null] }), r#""fast" | "slow" | 3 | null"#),
        (json!({ "const": "only" }), r#""only""#),
        (json!({ "type": "array", "items": { "type": "string" } }), "string[]"),
        (json!({ "type": "array", "items": { "type": ["string", "number"] } }), "(string | number)[]"),
        (json!({ "type": "array" }), "any[]"),
        (json!({ "prefixItems": [{ "type": "number" }, { "type": "string" }] }), "[number, string]"),
        (json!({ "type": "number", "minimum": 0.5 }), "number<0.5..>"),
        (json!({ "anyOf": [{ "type": "string" }, { "type": "string" }, { "type": "null" }] }), "string | null"),
        (json!({ "allOf": [{ "type": "string" }] }), "string"),
        (json!({ "type": "object" }), "object"),
        (
            json!({ "type": "object", "properties": { "a": { "type": "string" }, "b": {} }, "required": ["a"] }),
            "{ a: string, b?: any }",
        ),
        (json!({ "additionalProperties": { "type": "integer" } }), "{ [name]: integer }"),
        (json!(true), "any"),
        (json!(false), "never"),
        (json!({}), "any"),
        (json!(["nonsense"]), "any"),
        (json!({ "type": 7 }), "any"),
        (json!({ "type": [] , "anyOf": [] }), "any"),
        (json!({ "enum": [] }), "never"),
    ] {
        assert_eq!(kind(&schema), expected, "{schema}");
    }
}

#[test]
fn local_references_are_followed_and_others_named() {
    let schema = json!({
        "$defs": { "Color": { "enum": ["red"] }, "Tree": { "properties": { "kids": { "items": { "$ref": "#/$defs/Tree" } } } } },
        "properties": {
            "color": { "$ref": "#/$defs/Color" },
            "far": { "$ref": "https://example.com/schemas/Thing.json" },
            "lost": { "$ref": "#/$defs/Lost" },
            "self": { "$ref": "#" },
            "tree": { "$ref": "#/$defs/Tree" },
        },
    });
    let lines = lines(&schema);
    assert_eq!(lines[0], "color?: \"red\"");
    assert_eq!(lines[1], "far?: Thing.json");
    assert_eq!(lines[2], "lost?: Lost");
    assert!(lines[3].starts_with("self?: { color?: \"red\", "), "{}", lines[3]);
    assert_eq!(lines[4], "tree?: { kids?: Tree[] }");
}

#[test]
fn the_root_may_be_composed() {
    let schema = json!({
        "$ref": "#/definitions/Base",
        "definitions": { "Base": { "properties": { "a": { "type": "string" } }, "required": ["a"] } },
        "allOf": [{ "properties": { "b": { "type": "number" } } }],
    });
    assert_eq!(lines(&schema), ["a: string", "b?: number"]);
    let schema = json!({ "type": "object", "oneOf": [
        { "properties": { "id": { "type": "integer" } }, "required": ["id"] },
        { "properties": { "name": { "type": "string" } }, "required": ["name"] },
    ] });
    assert_eq!(lines(&schema), ["{ id: integer } | { name: string }"]);
}

#[test]
fn no_arguments_are_no_lines() {
    for schema in ["{}", "true", "null", "[]", "7", r#"{"type":"object"}"#, r#"{"properties":{}}"#] {
        let lines = shown(schema);
        assert!(lines.is_empty() || lines == ["any"], "{schema}: {lines:?}");
    }
    assert!(lines(&json!({ "type": "object", "additionalProperties": false })).is_empty());
    let named = json!({ "type": "object", "additionalProperties": { "type": "string" } });
    assert_eq!(lines(&named), ["{ [name]: string }"]);
}

#[test]
fn deep_schemas_are_cut_or_named() {
    let mut schema = json!({ "type": "string" });
    for _ in 0..30 {
        schema = json!({ "type": "array", "items": schema });
    }
    assert_eq!(kind(&schema), "array[][][][]");
    let deep = format!("{}{}", "{\"items\":".repeat(100_000), "1".to_owned() + &"}".repeat(100_000));
    assert_eq!(shown(&deep), ["a schema of 976 KiB, too long to show"]);
    let deep = format!("{}1{}", "{\"items\":".repeat(1_000), "}".repeat(1_000));
    assert_eq!(shown(&deep), ["a schema nested too deeply to show"]);
}

#[test]
fn wide_and_branching_schemas_are_bounded() {
    let many: serde_json::Map<_, _> = (0..1_000).map(|at| (format!("p{at:04}"), json!({ "type": "string" }))).collect();
    let signature = Signature::of(&json!({ "properties": many }).to_string());
    assert_eq!(signature.parameters.len(), MOST_PARAMETERS);
    assert_eq!(signature.note.as_deref(), Some("and 936 more"));

    // Each definition refers to the next one 12 times, so there are 12^n paths through n definitions.
    let mut definitions = serde_json::Map::new();
    for level in 0..40 {
        let next = json!({ "$ref": format!("#/$defs/d{}", level + 1) });
        definitions.insert(format!("d{level}"), json!({ "anyOf": vec![next; 12] }));
    }
    let schema = json!({ "$defs": definitions, "properties": { "x": { "$ref": "#/$defs/d0" } } });
    assert!(shown(&schema.to_string())[0].chars().count() < 200);

    let literals: Vec<String> = (0..100).map(|at| format!("{at}-{}", "y".repeat(1_000))).collect();
    assert!(kind(&json!({ "enum": literals })).chars().count() <= LONGEST_TYPE + 1);
}
