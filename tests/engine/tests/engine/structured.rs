//! Structured content as a type of the caller's, and what extensions put beside what the protocol has.

use mcpwire_core::{
    CallToolResult, ClientCapabilities, Json, Resource, ResourceContents, StructuredErrorKind, Tool, UI_EXTENSION,
    UI_MIME_TYPE, ValidationError, Validator,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;

fn read<T: DeserializeOwned>(text: &str) -> T {
    Json::parse(text).and_then(|json| json.decode()).expect("the test gives a good one")
}

#[derive(Debug, Deserialize, PartialEq)]
struct Rows {
    rows: Vec<Row>,
}

#[derive(Debug, Deserialize, PartialEq)]
struct Row {
    id: u32,
}

#[test]
fn structured_content_becomes_a_type() {
    let result: CallToolResult = read(r#"{"content":[],"structuredContent":{"rows":[{"id":1,"more":true},{"id":2}]}}"#);
    assert_eq!(result.structured(), Ok(Rows { rows: vec![Row { id: 1 }, Row { id: 2 }] }));
    // From 2026-07-28 on it may be any value.
    let list: CallToolResult = read(r#"{"content":[],"structuredContent":[1,2]}"#);
    assert_eq!(list.structured(), Ok(vec![1, 2]));
}

#[test]
fn the_error_says_which_tool_where_and_what() {
    let result: CallToolResult =
        read(r#"{"content":[],"structuredContent":{"rows":[{"id":1},{"id":"\u001b[2Jtwo"}]}}"#);
    let error = result.structured::<Rows>().expect_err("it is no number").of_tool("query\u{7}");
    assert!(matches!(&error.kind, StructuredErrorKind::Mismatch(place) if place.at == "rows[1].id"), "{error:?}");
    let text = error.to_string();
    for word in ["tool `query", "rows[1].id", "two"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    assert!(!text.contains(['\u{1b}', '\u{7}']), "{text}");

    let failed: CallToolResult = read(r#"{"content":[{"type":"text","text":"no such table"}],"isError":true}"#);
    let error = failed.structured::<Rows>().expect_err("it has none");
    assert!(error.to_string().contains("failed") && error.to_string().contains("no such table"), "{error}");
    let long: CallToolResult =
        read(&format!(r#"{{"content":[{{"type":"text","text":"{}"}}]}}"#, "x".repeat(1_000_000)));
    assert!(long.structured::<Rows>().expect_err("it has none").to_string().len() < 2000, "it is bounded");
}

#[test]
fn any_validator_can_be_used() {
    /// Takes nothing but objects.
    struct Objects;
    impl Validator for Objects {
        fn validate(&self, _: &Json, value: &Json) -> Result<(), ValidationError> {
            let reason = "no object".to_string();
            if value.is_object() { Ok(()) } else { Err(ValidationError::Value { at: String::new(), reason }) }
        }
    }
    let tool: Tool = read(r#"{"name":"t","inputSchema":{},"outputSchema":{}}"#);
    let object: CallToolResult = read(r#"{"content":[],"structuredContent":{}}"#);
    assert_eq!(tool.check_output(&object, &Objects), Ok(()));
    let list: CallToolResult = read(r#"{"content":[],"structuredContent":[]}"#);
    let error = tool.check_output(&list, &Objects).expect_err("it is none");
    assert!(error.to_string().contains("tool `t`") && error.to_string().contains("no object"), "{error}");
}

#[test]
fn pages_of_tools_and_resources_are_typed() {
    let tool: Tool = read(
        r#"{"name":"t","inputSchema":{},"_meta":{"ui":{"resourceUri":"ui://a/b.html","visibility":["app"],"x-new":1}}}"#,
    );
    let ui = tool.ui().expect("it has a page");
    assert_eq!((ui.resource_uri.as_deref(), ui.is_for_model()), (Some("ui://a/b.html"), false));
    assert!(ui.extra.get("x-new").is_some());
    let old: Tool = read(r#"{"name":"t","inputSchema":{},"_meta":{"ui/resourceUri":"ui://old"}}"#);
    let ui = old.ui().expect("it has a page");
    assert_eq!((ui.resource_uri.as_deref(), ui.is_for_model()), (Some("ui://old"), true));
    for none in ["", r#","_meta":null"#, r#","_meta":{"ui":5}"#, r#","_meta":{"ui":null}"#] {
        assert_eq!(read::<Tool>(&format!(r#"{{"name":"t","inputSchema":{{}}{none}}}"#)).ui(), None, "{none}");
    }

    let meta = r#"{"ui":{"csp":{"connectDomains":["https://api.example.com"]},"prefersBorder":true,"domain":null}}"#;
    let contents: ResourceContents =
        read(&format!(r#"{{"uri":"ui://a","mimeType":"{UI_MIME_TYPE}","text":"","_meta":{meta}}}"#));
    let resource: Resource = read(&format!(r#"{{"uri":"ui://a","name":"a","_meta":{meta}}}"#));
    assert_eq!(contents.ui(), resource.ui());
    let ui = contents.ui().expect("it says how");
    assert_eq!(ui.csp.expect("it loads something").connect_domains, ["https://api.example.com"]);
    assert_eq!((ui.prefers_border, ui.domain), (Some(true), None));
}

#[test]
fn extensions_are_declared_by_name() {
    let mut capabilities = ClientCapabilities::default();
    let json = |text: &str| Json::parse(text).expect("it is JSON");
    capabilities.declare_extension(UI_EXTENSION, json(r#"{"mimeTypes":["text/html;profile=mcp-app"]}"#));
    capabilities.declare_extension("com.example/\"x\"", json("{}"));
    capabilities.declare_extension(UI_EXTENSION, json(r#"{"mimeTypes":[]}"#));
    let declared = capabilities.extension(UI_EXTENSION).expect("it is declared");
    assert_eq!(declared.member::<Vec<String>>("mimeTypes"), Some(Vec::new()));
    assert_eq!(capabilities.extension("com.example/\"x\"").as_ref().map(Json::get), Some("{}"));
    let written: serde_json::Value = capabilities.extensions.expect("some").decode().expect("an object");
    assert_eq!(written.as_object().map(serde_json::Map::len), Some(2));
    capabilities.extensions = None;
    assert_eq!(capabilities.extension(UI_EXTENSION), None);
}
