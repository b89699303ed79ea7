//! Structured content of a program's own types, and results that programs store.

use std::fmt::Debug;

use mcpwire_core::{
    CallToolResult, ClientCapabilities, Json, Resource, ResourceContents, StructuredErrorKind, Tool, UI_EXTENSION,
    UI_MIME_TYPE, ValidationError, Validator, *,
};
use mcpwire_engine_tests::sim::Pair;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

// Types that the client only reports can be written to logs and passed on, in any format.

/// Checks that all formats agree on what a value is written as.
fn assert_written(value: &impl Serialize, expected: &Value) {
    let text = serde_json::to_string(value).expect("it is written");
    assert_eq!(Json::from_value(value).expect("it is written").get(), text);
    assert_eq!(&serde_json::from_str::<Value>(&text).expect("it is JSON"), expected);
    assert_eq!(&serde_json::to_value(value).expect("it is written"), expected);
    let yaml = serde_yaml_ng::to_string(value).expect("it is written");
    assert_eq!(&serde_yaml_ng::from_str::<Value>(&yaml).expect("it is YAML"), expected);
    let packed = rmp_serde::to_vec_named(value).expect("it is written");
    assert_eq!(&rmp_serde::from_slice::<Value>(&packed).expect("it is MessagePack"), expected);
    let mut cbor = Vec::new();
    ciborium::into_writer(value, &mut cbor).expect("it is written");
    assert_eq!(&ciborium::from_reader::<Value, _>(&*cbor).expect("it is CBOR"), expected);
}

/// Checks that a value is written as `expected`, and that all formats read it back.
fn assert_round_trip<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T, expected: &Value) {
    assert_written(value, expected);
    assert_eq!(&serde_json::from_value::<T>(expected.clone()).expect("it is read"), value);
    assert_eq!(&Json::from(expected).decode::<T>().expect("it is read"), value);
    let yaml = serde_yaml_ng::to_string(value).expect("it is written");
    assert_eq!(&serde_yaml_ng::from_str::<T>(&yaml).expect("it is read"), value);
    for packed in [rmp_serde::to_vec(value), rmp_serde::to_vec_named(value)] {
        assert_eq!(&rmp_serde::from_slice::<T>(&packed.expect("it is written")).expect("it is read"), value);
    }
}

#[test]
fn what_is_known_of_a_server() {
    let legacy = Pair::legacy(|_, _| {});
    let server = legacy.engine.session().server().expect("it is open").clone();
    assert_round_trip(
        &server,
        &json!({
            "era": "legacy",
            "protocolVersion": "2025-11-25",
            "serverInfo": server.implementation,
            "capabilities": server.capabilities,
            "instructions": server.instructions,
        }),
    );
    let modern = Pair::modern(|_, _| {});
    let server = modern.engine.session().server().expect("it is open").clone();
    assert_eq!(serde_json::to_value(&server).expect("it is written")["era"], "modern");
}

#[test]
fn counters_of_a_session() {
    let mut pair = Pair::legacy(|_, _| {});
    pair.say("nonsense");
    let stats = pair.engine.session().stats();
    let expected = json!({"invalid": 1, "late": 0, "unmatched": 0, "cached": 0, "refused": 0});
    assert_round_trip(&stats, &expected);
    assert_eq!(serde_json::from_value::<Stats>(json!({"invalid": 1, "later": 2})).expect("it is read"), stats);
}

#[test]
fn notifications_are_written_as_the_server_sent_them() {
    let mut pair = Pair::legacy(|_, _| {});
    let call = CallToolParams { name: "a", arguments: &() };
    let now = pair.now;
    let _ticket = pair.engine.calls().request::<CallTool>(&call, &RequestOptions::new().progress(), now);
    pair.drive();
    let token = pair.sent.pop().expect("it was sent").params()["_meta"]["progressToken"].clone();
    for notification in [
        json!({"method": "notifications/progress", "params": {"progressToken": token, "progress": 1, "total": 2}}),
        json!({"method": "notifications/message", "params": {"level": "info", "data": {"a": [1]}}}),
        json!({"method": "notifications/tools/list_changed"}),
        json!({"method": "notifications/prompts/list_changed"}),
        json!({"method": "notifications/resources/list_changed"}),
        json!({"method": "notifications/resources/updated", "params": {"uri": "file:///a"}}),
        json!({"method": "notifications/elicitation/complete", "params": {"elicitationId": "a"}}),
        json!({"method": "notifications/tasks/status", "params": {"taskId": "a", "status": "working", "ttl": 5}}),
        json!({"method": "notifications/acme", "params": {"a": null}}),
        json!({"method": "notifications/acme"}),
    ] {
        let mut message = notification.clone();
        message["jsonrpc"] = "2.0".into();
        pair.say(message.to_string());
        let Some((_, Event::Notification(event))) = pair.events.pop() else { panic!("not reported: {message}") };
        assert_eq!(notification["method"], event.method());
        assert_written(&event, &notification);
    }
}

#[test]
fn events_of_a_subscription() {
    let filter = SubscriptionFilter::new().tools().resource("file:///a");
    for (event, expected) in [
        (
            SubscriptionEvent::Acknowledged(filter),
            json!({"event": "acknowledged", "notifications": {
                "toolsListChanged": true, "resourceSubscriptions": ["file:///a"]
            }}),
        ),
        (SubscriptionEvent::ToolsChanged, json!({"event": "toolsChanged"})),
        (SubscriptionEvent::PromptsChanged, json!({"event": "promptsChanged"})),
        (SubscriptionEvent::ResourcesChanged, json!({"event": "resourcesChanged"})),
        (
            SubscriptionEvent::ResourceUpdated { uri: "file:///a".into() },
            json!({"event": "resourceUpdated", "uri": "file:///a"}),
        ),
        (SubscriptionEvent::ManyResourcesUpdated, json!({"event": "manyResourcesUpdated"})),
        (
            SubscriptionEvent::Ended(SubscriptionEnd::ByServer),
            json!({"event": "ended", "reason": "the server ended the subscription"}),
        ),
    ] {
        assert_written(&event, &expected);
    }
}

#[test]
fn errors_of_a_server() {
    let error: RpcError = serde_json::from_value(json!({"code": -32602, "message": "no", "data": {"a": [0.5, null]}}))
        .expect("it is read");
    assert_round_trip(&error, &json!({"code": -32602, "message": "no", "data": {"a": [0.5, null]}}));
    assert_round_trip(&RpcError::new(1, ""), &json!({"code": 1, "message": ""}));
}

#[test]
fn versions_and_eras() {
    assert_round_trip(&ProtocolVersion::LATEST, &json!("2026-07-28"));
    assert_round_trip(&Era::Legacy, &json!("legacy"));
}

#[test]
fn parts_of_results() {
    let result: ListToolsResult =
        serde_json::from_value(json!({"tools": [{"name": "a"}, {"title": "b"}]})).expect("it is read");
    assert_written(&result.tools.rejected, &json!([{"index": 1, "name": null, "reason": "`name` is missing"}]));
    let block: ContentBlock = serde_json::from_value(json!({"type": "odd", "x": [1]})).expect("it is read");
    let ContentBlock::Unknown(unknown) = &block else { panic!("{block:?}") };
    assert_written(unknown, &json!({"type": "odd", "x": [1]}));
    let tool: Tool = serde_json::from_value(json!({"name": "a", "y": {"b": 1}, "x": null})).expect("it is read");
    assert_written(&tool.extra, &json!({"x": null, "y": {"b": 1}}));
}

// Structured content as a type of the caller's, and what extensions put beside what the protocol has.

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
    let written: Value = capabilities.extensions.expect("some").decode().expect("an object");
    assert_eq!(written.as_object().map(serde_json::Map::len), Some(2));
    capabilities.extensions = None;
    assert_eq!(capabilities.extension(UI_EXTENSION), None);
}
