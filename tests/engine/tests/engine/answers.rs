//! A legacy server asks for what the embedder answers.

use mcpwire_core::{Config, Event, Json, RpcError, SendError, ServerRequest, ServerRequestId};
use mcpwire_engine_tests::sim::{Pair, legacy, modern};
use serde_json::json;

fn answering(methods: &[&str]) -> Config {
    let mut config = Config::default();
    for method in methods {
        config.answer(method);
    }
    config
}

fn ask(pair: &mut Pair, id: &str, method: &str) -> ServerRequest {
    pair.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{"a": 1}}}}"#));
    match pair.events.pop() {
        Some((_, Event::ServerRequest(ask))) => ask,
        other => panic!("no question: {other:?}"),
    }
}

#[test]
fn an_answer_goes_to_the_question_whatever_the_order() {
    let mut pair = Pair::open(answering(&["roots/list", "vendor/x"]), legacy(|_, _| {}));
    let first = ask(&mut pair, "1", "roots/list");
    let second = ask(&mut pair, "\"one\"", "vendor/x");
    assert_eq!((first.method.as_str(), first.params.as_ref().map(Json::get)), ("roots/list", Some(r#"{"a": 1}"#)));
    assert_eq!(pair.engine.calls().answer(second.key, &json!({"b": "\n"}), pair.now), Ok(true));
    let mut error = RpcError::new(-1, "not now");
    error.data = Some(Json::parse("[1,\n2]").unwrap());
    assert!(pair.engine.calls().refuse(first.key, &error, pair.now));
    pair.drive();
    let sent: Vec<_> = pair.sent.iter().map(|sent| sent.text.as_str()).collect();
    assert_eq!(
        sent,
        [
            r#"{"jsonrpc":"2.0","id":"one","result":{"b":"\n"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"not now","data":[1, 2]}}"#,
        ]
    );
}

#[test]
fn a_question_is_answered_once() {
    let mut pair = Pair::open(answering(&["roots/list"]), legacy(|_, _| {}));
    let key = ask(&mut pair, "1", "roots/list").key;
    assert_eq!(
        pair.engine.calls().answer(key, &[1], pair.now),
        Err(SendError::NotAnObject { method: "an answer".into() })
    );
    pair.drive();
    assert!(pair.sent.is_empty(), "nothing of a wrong answer is sent");
    assert_eq!(pair.engine.calls().answer(key, &(), pair.now), Ok(true), "nothing is an empty object");
    assert_eq!(pair.engine.calls().answer(key, &(), pair.now), Ok(false));
    assert!(!pair.engine.calls().refuse(key, &RpcError::new(0, ""), pair.now));
    pair.drive();
    assert_eq!(pair.sent.len(), 1);
}

#[test]
fn what_the_server_gives_up_is_not_answered() {
    let mut pair = Pair::open(answering(&["roots/list"]), legacy(|_, _| {}));
    let key = ask(&mut pair, "\"a\"", "roots/list").key;
    for id in ["\"b\"", "1", "\"a\"", "\"a\""] {
        let params = format!(r#"{{"requestId":{id},"reason":"enough"}}"#);
        pair.say(format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#));
    }
    assert_eq!(pair.happened(), [&Event::ServerRequestCancelled(key)]);
    assert_eq!(pair.engine.calls().answer(key, &(), pair.now), Ok(false));
    assert_eq!(pair.engine.session().stats().late, 3);
}

#[test]
fn questions_are_bounded_and_end_with_the_connection() {
    let mut config = answering(&["roots/list"]);
    config.max_server_requests = 2;
    let mut pair = Pair::open(config, legacy(|_, _| {}));
    let keys: Vec<ServerRequestId> = (0..2).map(|id| ask(&mut pair, &id.to_string(), "roots/list").key).collect();
    pair.say(r#"{"jsonrpc":"2.0","id":7,"method":"roots/list"}"#);
    assert_eq!(pair.sent.pop().expect("it is refused").message["error"]["code"], -32603);
    pair.end();
    pair.drive();
    for key in keys {
        assert_eq!(pair.engine.calls().answer(key, &(), pair.now), Ok(false), "nobody waits");
    }
}

#[test]
fn a_modern_server_may_not_ask_at_all() {
    let mut pair = Pair::open(answering(&["roots/list"]), modern(|_, _| {}));
    pair.say(r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#);
    assert_eq!(pair.happened(), [&Event::ServerRequestRefused { method: "roots/list".into() }]);
    assert!(pair.sent.is_empty());
}
