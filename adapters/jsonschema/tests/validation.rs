//! Tests of the validation of valid and invalid values, with valid and invalid schemas.

use mcpwire_core::{CallToolResult, Json, StructuredErrorKind, Tool, ValidationError, Validator};
use mcpwire_jsonschema::{JsonSchema, Limits};

fn json(text: &str) -> Json {
    Json::parse(text).expect("the test gives JSON")
}

fn check(schema: &str, value: &str) -> Result<(), ValidationError> {
    JsonSchema::new().validate(&json(schema), &json(value))
}

/// Returns the reason why a schema is invalid.
fn invalid_schema(schema: &str) -> String {
    match check(schema, "{}") {
        Err(ValidationError::Schema { reason }) => reason,
        other => panic!("{schema}: {other:?}"),
    }
}

#[test]
fn values_are_validated() {
    let schema = r#"{"type":"object","properties":{"a":{"type":"array","items":{"type":"integer"}}},"required":["a"]}"#;
    assert_eq!(check(schema, r#"{"a":[1,2]}"#), Ok(()));
    let Err(ValidationError::Value { at, reason }) = check(schema, r#"{"a":[1,"x"]}"#) else {
        panic!("it does not fit")
    };
    assert_eq!(at, "/a/1");
    assert!(reason.contains("integer"), "{reason}");
    assert!(matches!(check(schema, "{}"), Err(ValidationError::Value { at, .. }) if at.is_empty()));
}

#[test]
fn the_default_dialect_is_2020_12() {
    // `prefixItems` is new in 2020-12, and means nothing in draft 7.
    let items = r#""prefixItems":[{"type":"string"}]"#;
    assert!(check(&format!("{{{items}}}"), "[1]").is_err());
    assert_eq!(check(&format!(r#"{{"$schema":"http://json-schema.org/draft-07/schema#",{items}}}"#), "[1]"), Ok(()));
    invalid_schema(r#"{"$schema":"https://example.com/mine"}"#);
}

#[test]
fn nothing_is_fetched() {
    for reference in ["https://example.com/schema.json", "file:///etc/passwd", "other.json#/a", "urn:x"] {
        invalid_schema(&format!(r#"{{"$ref":"{reference}"}}"#));
    }
    assert!(check(r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"string"}}}"##, "5").is_err());
}

#[test]
fn schemas_and_values_that_cost_too_much_are_rejected() {
    let many = (0..11_000).map(|n| format!(r#""p{n}":{{}}"#)).collect::<Vec<_>>().join(",");
    assert!(invalid_schema(&format!(r#"{{"properties":{{{many}}}}}"#)).contains("10000 parts"));
    assert!(invalid_schema(&format!(r#"{{"description":"{}"}}"#, "x".repeat(300_000))).contains("bytes"));
    invalid_schema(r#"{"pattern":"(?=a)b"}"#);
    invalid_schema(r#"{"pattern":"(((a{1000}){1000}){1000}){1000}"}"#);
    let nested = format!("{}5{}", r#"{"not":"#.repeat(120), "}".repeat(120));
    invalid_schema(&nested);

    let mut limits = Limits::default();
    limits.values = 3;
    let bounded = JsonSchema::with_limits(limits);
    assert_eq!(bounded.validate(&json("{}"), &json("[1,2]")), Ok(()));
    assert!(matches!(bounded.validate(&json("{}"), &json("[1,2,3]")), Err(ValidationError::Value { .. })));

    // This pattern takes exponential time in a backtracking engine.
    let value = format!(r#""{}!""#, "a".repeat(50_000));
    assert!(check(r#"{"pattern":"^(a+)+$"}"#, &value).is_err());
}

#[test]
fn recursive_schemas_terminate() {
    let list = r##"{"type":"object","properties":{"next":{"$ref":"#"}}}"##;
    let deep = format!("{}{}{}", r#"{"next":"#.repeat(100), "5", "}".repeat(100));
    assert!(check(list, &deep).is_err());
    // The test is that the validation returns, with whatever outcome.
    let _ = check(r##"{"$ref":"#"}"##, "5");
    let _ = check(r##"{"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"anyOf":[{"$ref":"#"}]}}}"##, "5");
}

#[test]
fn an_invalid_schema_affects_only_its_own_validation() {
    let validator = JsonSchema::new();
    let tool = |schema: &str| -> Tool {
        json(&format!(r#"{{"name":"t","inputSchema":{{}},"outputSchema":{schema}}}"#)).decode().expect("it is a tool")
    };
    let result = |text: &str| -> CallToolResult { json(text).decode().expect("it is a result") };
    let good = result(r#"{"content":[],"structuredContent":{"n":1}}"#);
    let bad = tool(r#"{"type":"no such type"}"#).check_output(&good, &validator).expect_err("it cannot be checked");
    assert!(
        matches!(&bad.kind, StructuredErrorKind::Invalid(ValidationError::Schema { .. })) && bad.tool == "t",
        "{bad}"
    );
    assert_eq!(tool(r#"{"required":["n"]}"#).check_output(&good, &validator), Ok(()));

    let none = result(r#"{"content":[{"type":"text","text":"hello"}]}"#);
    let absent = tool("{}").check_output(&none, &validator).expect_err("the schema requires it");
    assert!(absent.to_string().contains("`t`") && absent.to_string().contains("hello"), "{absent}");
    let failed = result(r#"{"content":[],"isError":true}"#);
    assert_eq!(
        tool("{}").check_output(&failed, &validator),
        Ok(()),
        "a failed tool need not return structured content"
    );
    let without_schema: Tool = json(r#"{"name":"t","inputSchema":{}}"#).decode().expect("it is a tool");
    assert_eq!(without_schema.check_output(&none, &validator), Ok(()));
}

#[test]
fn the_cache_of_compiled_schemas_is_bounded() {
    let mut limits = Limits::default();
    limits.cached_schemas = 2;
    let validator = JsonSchema::with_limits(limits);
    for round in 0..3 {
        for n in 0..5 {
            let schema = json(&format!(r#"{{"const":{n}}}"#));
            assert_eq!(validator.validate(&schema, &json(&n.to_string())), Ok(()), "round {round}");
            assert!(validator.validate(&schema, &json("null")).is_err());
        }
    }
}
