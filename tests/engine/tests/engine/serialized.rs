//! Types that the client only reports can be written to logs and passed on, in any format.

use std::fmt::Debug;

use mcpwire_core::*;
use mcpwire_engine_tests::sim::{Pair, legacy, modern};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

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
    let legacy = Pair::open(Config::default(), legacy(|_, _| {}));
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
    let modern = Pair::open(Config::default(), modern(|_, _| {}));
    let server = modern.engine.session().server().expect("it is open").clone();
    assert_eq!(serde_json::to_value(&server).expect("it is written")["era"], "modern");
}

#[test]
fn counters_of_a_session() {
    let mut pair = Pair::open(Config::default(), legacy(|_, _| {}));
    pair.say("nonsense");
    let stats = pair.engine.session().stats();
    let expected = json!({"invalid": 1, "late": 0, "unmatched": 0, "cached": 0, "refused": 0});
    assert_round_trip(&stats, &expected);
    assert_eq!(serde_json::from_value::<Stats>(json!({"invalid": 1, "later": 2})).expect("it is read"), stats);
}

#[test]
fn notifications_are_written_as_the_server_sent_them() {
    let mut pair = Pair::open(Config::default(), legacy(|_, _| {}));
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
