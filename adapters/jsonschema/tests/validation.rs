//! Values against schemas, good ones and bad ones of either.

use mcpwire_core::{CallToolResult, Json, StructuredErrorKind, Tool, ValidationError, Validator};
use mcpwire_jsonschema::{JsonSchema, Limits};

fn json(text: &str) -> Json {
    Json::parse(text).expect("the test gives JSON")
}

fn check(schema: &str, value: &str) -> Result<(), ValidationError> {
    JsonSchema::new().validate(&json(schema), &json(value))
}

/// The reason why a schema cannot be used.
fn unusable(schema: &str) -> String {
    match check(schema, "{}") {
        Err(ValidationError::Schema { reason }) => reason,
        other => panic!("{schema}: {other:?}"),
    }
}

#[test]
fn values_are_held_against_schemas() {
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
fn the_dialect_is_2020_12_unless_the_schema_says_so() {
    // `prefixItems` is new in 2020-12, and means nothing in draft 7.
    let items = r#""prefixItems":[{"type":"string"}]"#;
    assert!(check(&format!("{{{items}}}"), "[1]").is_err());
    assert_eq!(check(&format!(r#"{{"$schema":"http://json-schema.org/draft-07/schema#",{items}}}"#), "[1]"), Ok(()));
    unusable(r#"{"$schema":"https://example.com/mine"}"#);
}

#[test]
fn nothing_is_fetched() {
    for reference in ["https://example.com/schema.json", "file:///etc/passwd", "other.json#/a", "urn:x"] {
        unusable(&format!(r#"{{"$ref":"{reference}"}}"#));
    }
    assert!(check(r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"string"}}}"##, "5").is_err());
}

#[test]
fn what_costs_too_much_is_refused() {
    let many = (0..11_000).map(|n| format!(r#""p{n}":{{}}"#)).collect::<Vec<_>>().join(",");
    assert!(unusable(&format!(r#"{{"properties":{{{many}}}}}"#)).contains("10000 parts"));
    assert!(unusable(&format!(r#"{{"description":"{}"}}"#, "x".repeat(300_000))).contains("bytes"));
    unusable(r#"{"pattern":"(?=a)b"}"#);
    unusable(r#"{"pattern":"(((a{1000}){1000}){1000}){1000}"}"#);
    let nested = format!("{}5{}", r#"{"not":"#.repeat(120), "}".repeat(120));
    unusable(&nested);

    let mut limits = Limits::default();
    limits.values = 3;
    let bounded = JsonSchema::with_limits(limits);
    assert_eq!(bounded.validate(&json("{}"), &json("[1,2]")), Ok(()));
    assert!(matches!(bounded.validate(&json("{}"), &json("[1,2,3]")), Err(ValidationError::Value { .. })));

    // A pattern that takes exponential time where patterns are tried one way after the other.
    let value = format!(r#""{}!""#, "a".repeat(50_000));
    assert!(check(r#"{"pattern":"^(a+)+$"}"#, &value).is_err());
}

#[test]
fn schemas_that_refer_to_themselves_end() {
    let list = r##"{"type":"object","properties":{"next":{"$ref":"#"}}}"##;
    let deep = format!("{}{}{}", r#"{"next":"#.repeat(100), "5", "}".repeat(100));
    assert!(check(list, &deep).is_err());
    // What it comes to is the crate's choice; that it comes to something is what counts.
    let _ = check(r##"{"$ref":"#"}"##, "5");
    let _ = check(r##"{"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"anyOf":[{"$ref":"#"}]}}}"##, "5");
}

#[test]
fn a_schema_that_is_no_good_concerns_its_own_check_only() {
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
    let absent = tool("{}").check_output(&none, &validator).expect_err("it was promised");
    assert!(absent.to_string().contains("`t`") && absent.to_string().contains("hello"), "{absent}");
    let failed = result(r#"{"content":[],"isError":true}"#);
    assert_eq!(tool("{}").check_output(&failed, &validator), Ok(()), "a tool that failed owes nothing");
    let promises_nothing: Tool = json(r#"{"name":"t","inputSchema":{}}"#).decode().expect("it is a tool");
    assert_eq!(promises_nothing.check_output(&none, &validator), Ok(()));
}

#[test]
fn compiled_schemas_are_kept_up_to_a_limit() {
    let mut limits = Limits::default();
    limits.kept = 2;
    let validator = JsonSchema::with_limits(limits);
    for round in 0..3 {
        for n in 0..5 {
            let schema = json(&format!(r#"{{"const":{n}}}"#));
            assert_eq!(validator.validate(&schema, &json(&n.to_string())), Ok(()), "round {round}");
            assert!(validator.validate(&schema, &json("null")).is_err());
        }
    }
}
