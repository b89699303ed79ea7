//! `_meta`: what the modern era wants in each request, what progress needs, and what the caller puts there.

use mcpwire_core::{Config, Json, LoggingLevel, RequestOptions, SendError};
use mcpwire_engine_tests::sim::{Pair, Sent, legacy, modern};
use serde_json::{Value, json};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT: &str = "io.modelcontextprotocol/clientInfo";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

fn modern_pair() -> Pair {
    let mut config = Config::new("me", "3");
    config.capabilities.roots = Some(Json::parse("{}").expect("an object"));
    Pair::open(config, modern(|_, _| {}))
}

fn meta(text: &str) -> RequestOptions {
    RequestOptions::new().meta(Json::parse(text).expect("it is JSON"))
}

/// What a call becomes.
fn called(pair: &mut Pair, options: &RequestOptions) -> Sent {
    let _ticket = pair.call("echo", options).expect("it is sent");
    last(pair)
}

/// What a request of any method becomes.
fn asked(pair: &mut Pair, params: Option<&str>) -> Sent {
    let _ticket = pair.raw("x/y", params).expect("it is sent");
    last(pair)
}

fn last(pair: &mut Pair) -> Sent {
    pair.drive();
    pair.sent.last().expect("it was sent").clone()
}

#[test]
fn every_modern_request_says_who_asks_and_how() {
    let mut pair = modern_pair();
    called(&mut pair, &RequestOptions::new());
    asked(&mut pair, None);
    asked(&mut pair, Some("{\"a\":1}"));
    asked(&mut pair, Some("{\"_meta\":{},\"a\":1}"));
    pair.drive();
    assert_eq!(pair.sent.len(), 4);
    for sent in &pair.sent {
        assert_eq!(sent.meta()[VERSION], "2026-07-28");
        assert_eq!(sent.meta()[CLIENT], json!({"name": "me", "version": "3"}));
        assert_eq!(sent.meta()[CAPABILITIES], json!({"roots": {}}));
        assert_eq!(sent.meta().as_object().map(serde_json::Map::len), Some(3));
    }
}

#[test]
fn a_legacy_request_has_none() {
    let mut pair = Pair::open(Config::default(), legacy(|_, _| {}));
    assert_eq!(called(&mut pair, &RequestOptions::new()).params(), &json!({"name": "echo", "arguments": {}}));
    assert_eq!(asked(&mut pair, None).params(), &Value::Null, "no parameters are left out");
    let sent = called(&mut pair, &RequestOptions::new().progress());
    assert_eq!(sent.meta(), &json!({"progressToken": sent.id()}));
}

#[test]
fn the_log_level_is_asked_for_where_it_was_configured() {
    let mut config = Config::default();
    config.log_level = Some(LoggingLevel::Warning);
    let mut pair = Pair::open(config, modern(|_, _| {}));
    assert_eq!(asked(&mut pair, None).meta()["io.modelcontextprotocol/logLevel"], "warning");
}

#[test]
fn the_callers_members_are_merged() {
    let mut pair = modern_pair();
    let sent = called(&mut pair, &meta(r#"{"trace":"a\nb","x/y":{"z":[1]}}"#).progress());
    assert_eq!(sent.meta()["trace"], "a\nb");
    assert_eq!(sent.meta()["x/y"], json!({"z": [1]}));
    assert_eq!(sent.meta()["progressToken"], json!(sent.id()));
    assert_eq!(sent.meta()[VERSION], "2026-07-28");
}

#[test]
fn a_member_that_the_protocol_sets_is_set_once() {
    let mut pair = modern_pair();
    let options = meta(r#"{"progressToken":"mine","io.modelcontextprotocol/protocolVersion":"1","b":1}"#);
    let sent = called(&mut pair, &options.progress());
    for name in ["progressToken", VERSION, CLIENT, CAPABILITIES, "b", "_meta"] {
        assert_eq!(sent.text.matches(&format!("\"{name}\":")).count(), 1, "{name}: {}", sent.text);
    }
    assert_eq!((&sent.meta()[VERSION], &sent.meta()["progressToken"]), (&json!("2026-07-28"), &json!(sent.id())));
}

#[test]
fn a_callers_member_whose_name_only_resembles_stays() {
    let mut pair = modern_pair();
    assert_eq!(
        called(&mut pair, &meta(r#"{"io.modelcontextprotocol/client":1}"#)).meta()["io.modelcontextprotocol/client"],
        1
    );
}

#[test]
fn a_progress_token_of_the_callers_stays_if_none_is_asked_for() {
    let mut pair = Pair::open(Config::default(), legacy(|_, _| {}));
    assert_eq!(
        asked(&mut pair, Some(r#"{"_meta":{"progressToken":"mine"}}"#)).meta(),
        &json!({"progressToken": "mine"})
    );
}

#[test]
fn metadata_among_raw_parameters_and_in_the_options_make_one() {
    let mut pair = modern_pair();
    let params = Json::parse(r#"{"_meta":{"a":1,"b":1},"c":1}"#).expect("it is JSON");
    let _ticket =
        pair.engine.calls().request_raw("x/y", Some(&params), &meta(r#"{"b":2,"d":2}"#), pair.now).expect("it is sent");
    let sent = last(&mut pair);
    assert_eq!(sent.text.matches("\"_meta\"").count(), 1, "{}", sent.text);
    assert_eq!(sent.text.matches("\"b\"").count(), 1, "{}", sent.text);
    assert_eq!((&sent.meta()["a"], &sent.meta()["b"], &sent.meta()["d"]), (&json!(1), &json!(2), &json!(2)));
    assert_eq!(sent.params()["c"], 1);
}

#[test]
fn metadata_that_is_no_object_is_the_callers_mistake() {
    let mut pair = modern_pair();
    assert!(matches!(pair.call("echo", &meta("5")), Err(SendError::NotAnObject { .. })));
    assert!(matches!(pair.raw("x/y", Some(r#"{"_meta":[1]}"#)), Err(SendError::NotAnObject { .. })));
    assert!(matches!(pair.raw("x/y", Some("[1]")), Err(SendError::NotAnObject { .. })));
    pair.drive();
    assert!(pair.sent.is_empty());
}
