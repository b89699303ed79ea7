//! Arrays of messages: only 2025-03-26 has them, and each element stands for itself.

use mcpwire_core::{CloseReason, Config, Event, RequestOptions};
use mcpwire_engine_tests::sim::{Pair, legacy};

fn open() -> Pair {
    Pair::open(Config::default(), legacy(|_, _| {}))
}

#[test]
fn each_element_is_a_message() {
    let mut pair = open();
    let first = pair.call("a", &RequestOptions::new()).expect("it is sent");
    let second = pair.call("b", &RequestOptions::new()).expect("it is sent");
    pair.drive();
    let [a, b] = [0, 1].map(|n| pair.sent[n].id().expect("a request"));
    pair.sent.clear();
    pair.say(format!(
        r#" [ {{"id":{b},"result":{{}}}} , {{"method":"ping","id":"s"}},{{"method":"notifications/tools/list_changed"}}, {{"id":{a},"error":{{"code":1}}}} ] "#
    ));
    assert!(pair.take(first).is_some_and(|result| result.is_err()));
    assert!(pair.take(second).is_some_and(|result| result.is_ok()));
    assert_eq!(pair.events.len(), 1);
    assert_eq!(pair.sent[0].text, r#"{"jsonrpc":"2.0","id":"s","result":{}}"#);
}

#[test]
fn a_bad_element_spoils_only_itself() {
    let mut pair = open();
    let good = pair.call("a", &RequestOptions::new()).expect("it is sent");
    let cut = pair.call("b", &RequestOptions::new()).expect("it is sent");
    pair.drive();
    let [a, b] = [0, 1].map(|n| pair.sent[n].id().expect("a request"));
    pair.say(format!(r#"[1,"x",[],{{}},{{"id":{a},"result":{{}}}},{{"id":{b},"result":{{"a":"#));
    assert!(pair.take(good).is_some_and(|result| result.is_ok()));
    assert!(
        pair.engine.session().is_waiting(cut.key()),
        "it ends in the middle of this one's line, which names no request"
    );
}

#[test]
fn an_array_without_messages_is_noise() {
    let mut pair = open();
    for line in ["[]", "[ ]", "[1,2]", "[[{\"id\":1,\"result\":{}}]]", "[", "[\"2.0\",1,{}]"] {
        pair.say(line);
    }
    assert!(pair.happened().iter().all(|event| matches!(event, Event::InvalidMessage { .. })));
    assert_eq!((pair.events.len(), pair.engine.session().stats().invalid), (6, 6));
}

#[test]
fn a_long_array_is_not_a_long_queue() {
    let mut pair = open();
    let line = format!("[{}{{}}]\n", "{},".repeat(300_000));
    let mut rest = line.as_bytes();
    let mut events = 0;
    while !rest.is_empty() {
        rest = &rest[pair.engine.receive(rest, pair.now)..];
        while pair.engine.poll_event().is_some() {
            events += 1;
        }
    }
    assert_eq!(events, 300_001);
    assert!(pair.engine.is_idle());
}

#[test]
fn an_array_is_looked_at_whole_before_the_stream_ends() {
    for newline in ["\n", ""] {
        let mut pair = open();
        let first = pair.call("a", &RequestOptions::new()).expect("it is sent");
        let second = pair.call("b", &RequestOptions::new()).expect("it is sent");
        pair.drive();
        let [a, b] = [0, 1].map(|n| pair.sent[n].id().expect("a request"));
        let last = format!(r#"[{{"id":{a},"result":{{}}}},{{"id":{b},"result":{{}}}}]{newline}"#);
        pair.engine.receive(last.as_bytes(), pair.now);
        pair.engine.receive_eof(pair.now);
        pair.drive();
        assert!(pair.take(first).is_some_and(|result| result.is_ok()));
        assert!(pair.take(second).is_some_and(|result| result.is_ok()), "its answer was there: {newline:?}");
        assert_eq!(pair.happened(), [&Event::Closed(CloseReason::ByServer)]);
    }
}
