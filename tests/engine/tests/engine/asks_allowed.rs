//! What servers may ask is what was declared to them; and what they ask is a type.

use std::time::Duration;

use mcpwire_core::{
    CallError, ClientCapabilities, Config, ElicitParams, Event, Json, Notification, RequestOptions, RpcError,
    ServerRequest, ServerRequestKind,
};
use mcpwire_engine_tests::sim::{Pair, legacy, modern};
use serde_json::json;

const FORM: &str = r#"{"message":"?","requestedSchema":{"type":"object","properties":{}}}"#;
const URL: &str = r#"{"mode":"url","message":"?","url":"https://a.example"}"#;
const SAMPLE: &str = r#"{"messages":[],"maxTokens":1}"#;
const SAMPLE_WITH_TOOLS: &str = r#"{"messages":[],"maxTokens":1,"tools":[]}"#;

fn capabilities(text: &str) -> ClientCapabilities {
    Json::parse(text).unwrap().decode().unwrap()
}

#[test]
fn what_may_be_asked_is_what_was_declared() {
    const NOT_FOUND: i64 = RpcError::METHOD_NOT_FOUND;
    const INVALID: i64 = RpcError::INVALID_PARAMS;
    for (declared, method, params, code) in [
        ("{}", "elicitation/create", FORM, NOT_FOUND),
        ("{}", "sampling/createMessage", SAMPLE, NOT_FOUND),
        ("{}", "roots/list", "{}", NOT_FOUND),
        ("{}", "vendor/x", "{}", 0),
        (r#"{"roots":{}}"#, "roots/list", "{}", 0),
        (r#"{"elicitation":{}}"#, "elicitation/create", FORM, 0),
        (r#"{"elicitation":{}}"#, "elicitation/create", r#"{"mode":"form"}"#, 0),
        (r#"{"elicitation":{}}"#, "elicitation/create", URL, INVALID),
        (r#"{"elicitation":{"form":{}}}"#, "elicitation/create", URL, INVALID),
        (r#"{"elicitation":{"url":{}}}"#, "elicitation/create", URL, 0),
        (r#"{"elicitation":{"url":{}}}"#, "elicitation/create", FORM, INVALID),
        (r#"{"elicitation":{"url":null}}"#, "elicitation/create", FORM, 0),
        (r#"{"elicitation":{"form":{},"url":{}}}"#, "elicitation/create", FORM, 0),
        (r#"{"elicitation":{"form":{}}}"#, "elicitation/create", r#"{"mode":"voice"}"#, INVALID),
        (r#"{"elicitation":{"voice":{}}}"#, "elicitation/create", r#"{"mode":"voice"}"#, 0),
        (r#"{"sampling":{}}"#, "sampling/createMessage", SAMPLE, 0),
        (r#"{"sampling":{}}"#, "sampling/createMessage", SAMPLE_WITH_TOOLS, INVALID),
        (r#"{"sampling":{}}"#, "sampling/createMessage", r#"{"messages":[],"toolChoice":{}}"#, INVALID),
        (r#"{"sampling":{"tools":{}}}"#, "sampling/createMessage", SAMPLE_WITH_TOOLS, 0),
        (
            r#"{"sampling":{}}"#,
            "sampling/createMessage",
            r#"{"messages":[{"role":"user","content":{"type":"tool_result","toolUseId":"1"}}]}"#,
            INVALID,
        ),
    ] {
        let allowed = capabilities(declared).allow(method, Some(&Json::parse(params).unwrap()));
        assert_eq!(allowed.map_or_else(|error| error.code, |()| 0), code, "{declared} {method} {params}");
    }
}

#[test]
fn capabilities_are_declared_one_by_one() {
    let text = |capabilities: ClientCapabilities| Json::from_value(&capabilities).unwrap().get().to_owned();
    let none = ClientCapabilities::default;
    assert_eq!(text(none().with_elicitation(true, false)), r#"{"elicitation":{"form":{}}}"#);
    assert_eq!(text(none().with_elicitation(false, true)), r#"{"elicitation":{"url":{}}}"#);
    assert_eq!(
        text(capabilities(r#"{"elicitation":{}}"#).with_elicitation(false, true)),
        r#"{"elicitation":{"form":{},"url":{}}}"#
    );
    assert_eq!(text(none().with_sampling(false, false)), r#"{"sampling":{}}"#);
    assert_eq!(
        text(capabilities(r#"{"sampling":{"x":1}}"#).with_sampling(true, true)),
        r#"{"sampling":{"x":1,"tools":{},"context":{}}}"#
    );
    assert_eq!(text(none().with_roots(false)), r#"{"roots":{}}"#);
    assert_eq!(
        text(capabilities(r#"{"roots":{"listChanged":false,"x":1}}"#).with_roots(true)),
        r#"{"roots":{"x":1,"listChanged":true}}"#
    );
    assert_eq!(text(none().with_roots(true).with_roots(false)), r#"{"roots":{"listChanged":true}}"#);
}

#[test]
fn what_is_answered_is_declared() {
    let mut config = Config::default();
    config.answer("elicitation/create");
    config.answer("vendor/x");
    config.answer("elicitation/create");
    assert_eq!(config.answers(), ["elicitation/create", "vendor/x"]);
    assert_eq!(config.capabilities, ClientCapabilities::default().with_elicitation(true, false));
    config.answer_elicitation(false, true);
    assert_eq!(config.capabilities, ClientCapabilities::default().with_elicitation(true, true));
    config.capabilities = config.capabilities.with_sampling(true, false);
    config.answer_sampling();
    assert_eq!(config.capabilities.sampling, ClientCapabilities::default().with_sampling(true, false).sampling);
}

#[test]
fn a_question_that_was_not_declared_is_refused_at_once() {
    let mut config = Config::default();
    config.answer("elicitation/create");
    config.answer("roots/list");
    config.capabilities.roots = None;
    let mut pair = Pair::open(config, legacy(|_, _| {}));
    for (method, params, code, message) in [
        ("elicitation/create", URL, -32602, "this client has not declared elicitation of the mode `url`"),
        ("roots/list", "{}", -32601, "this client has not declared the capability `roots`"),
    ] {
        pair.say(format!(r#"{{"jsonrpc":"2.0","id":"q","method":"{method}","params":{params}}}"#));
        let answer = pair.sent.pop().expect("it is answered");
        assert_eq!(answer.message["error"], json!({"code": code, "message": message}));
        assert_eq!(
            pair.events.pop().map(|(_, event)| event),
            Some(Event::ServerRequestRefused { method: method.into() })
        );
    }
    pair.say(format!(r#"{{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{FORM}}}"#));
    assert!(matches!(pair.events.pop(), Some((_, Event::ServerRequest(_)))));
}

fn asked(pair: &mut Pair, method: &str, params: &str) -> ServerRequest {
    pair.say(format!(r#"{{"jsonrpc":"2.0","id":"q","method":"{method}"{params}}}"#));
    match pair.events.pop() {
        Some((_, Event::ServerRequest(ask))) => ask,
        other => panic!("no question: {other:?}"),
    }
}

fn all() -> Config {
    let mut config = Config::default();
    config.answer_elicitation(true, true);
    config.answer_sampling();
    config.answer_roots();
    config.answer("vendor/x");
    config
}

#[test]
fn a_question_is_a_type() {
    let mut pair = Pair::open(all(), legacy(|_, _| {}));
    let form = asked(&mut pair, "elicitation/create", &format!(r#","params":{FORM}"#)).request();
    assert!(matches!(form, Ok(ServerRequestKind::Elicit(ElicitParams::Form(_)))));
    let url = asked(&mut pair, "elicitation/create", &format!(r#","params":{URL}"#)).request();
    assert!(matches!(url, Ok(ServerRequestKind::Elicit(ElicitParams::Url(_)))));
    let sample = asked(&mut pair, "sampling/createMessage", &format!(r#","params":{SAMPLE}"#)).request();
    assert!(matches!(sample, Ok(ServerRequestKind::Sample(params)) if params.max_tokens == Some(1)));
    assert_eq!(asked(&mut pair, "roots/list", "").request(), Ok(ServerRequestKind::ListRoots));
    assert_eq!(asked(&mut pair, "vendor/x", "").request(), Ok(ServerRequestKind::Other));
    for (method, params) in [
        ("elicitation/create", ""),
        ("elicitation/create", r#","params":{"message":1}"#),
        ("sampling/createMessage", ""),
    ] {
        let error = asked(&mut pair, method, params).request().expect_err("it cannot be read");
        assert_eq!(error.code, RpcError::INVALID_PARAMS);
        assert!(error.message.starts_with(&format!("the parameters of `{method}` cannot be read: ")), "{error}");
    }
}

/// A person takes longer than the timeout of a request, and the server cannot go on meanwhile.
#[test]
fn a_server_that_waits_for_an_answer_is_given_its_time() {
    let mut pair = Pair::open(all(), legacy(|_, _| {}));
    let options = RequestOptions::new().timeout(Duration::from_secs(10)).total_timeout(Duration::from_secs(100));
    let ticket = pair.call("slow", &options).expect("it is sent");
    pair.drive();
    let ask = asked(&mut pair, "roots/list", "");
    pair.pass(Duration::from_secs(45));
    assert!(pair.engine.session().is_waiting(ticket.key()), "the server waits for us");
    let now = pair.now;
    assert_eq!(pair.engine.calls().answer(ask.key, &(), now), Ok(true));
    pair.drive();
    pair.pass(Duration::from_secs(9));
    assert!(pair.engine.session().is_waiting(ticket.key()), "it has its time anew");
    pair.pass(Duration::from_secs(15));
    assert!(!pair.engine.session().is_waiting(ticket.key()), "and no more than that");
    assert!(matches!(pair.take(ticket), Some(Err(CallError::Timeout { .. }))));
}

#[test]
fn a_server_that_asks_for_ever_is_given_no_more_than_the_total() {
    let mut pair = Pair::open(all(), legacy(|_, _| {}));
    let options = RequestOptions::new().timeout(Duration::from_secs(10)).total_timeout(Duration::from_secs(100));
    let ticket = pair.call("slow", &options).expect("it is sent");
    pair.drive();
    asked(&mut pair, "roots/list", "");
    pair.pass(Duration::from_secs(101));
    assert!(matches!(pair.take(ticket), Some(Err(CallError::Timeout { .. }))));
}

#[test]
fn the_end_of_a_visit_is_told() {
    let mut pair = Pair::open(all(), legacy(|_, _| {}));
    pair.say(
        r#"{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e1","x":1}}"#,
    );
    let Some((_, Event::Notification(Notification::ElicitationComplete(complete)))) = pair.events.pop() else {
        panic!("it is not told")
    };
    assert_eq!(complete.elicitation_id, "e1");
    pair.say(r#"{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{}}"#);
    assert!(matches!(pair.events.pop(), Some((_, Event::InvalidMessage { .. }))));
}

#[test]
fn changes_of_the_roots_are_for_legacy_servers_that_know_of_them() {
    assert!(Pair::open(all(), legacy(|_, _| {})).engine.session().declares_roots_list_changed());
    assert!(!Pair::open(all(), modern(|_, _| {})).engine.session().declares_roots_list_changed());
    let mut config = Config::default();
    config.answer("roots/list");
    assert!(!Pair::open(config, legacy(|_, _| {})).engine.session().declares_roots_list_changed());
}
