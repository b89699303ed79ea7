//! A caller gives up.

use core::time::Duration;

use mcpwire_core::{CallError, CloseReason, Config, Event, RequestOptions};
use mcpwire_engine_tests::sim::{Pair, legacy, modern};
use serde_json::json;

#[test]
fn the_request_ends_at_once_and_the_server_is_told() {
    for modern_server in [false, true] {
        let mut pair = if modern_server {
            Pair::open(Config::default(), modern(|_, _| {}))
        } else {
            Pair::open(Config::default(), legacy(|_, _| {}))
        };
        let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
        pair.drive();
        assert!(pair.engine.calls().cancel(ticket.key(), Some("the \"user\" pressed\nCtrl-C"), pair.now));
        assert!(!pair.engine.session().is_waiting(ticket.key()));
        pair.drive();
        assert!(matches!(pair.error(ticket), CallError::Cancelled { method } if method == "tools/call"));
        assert_eq!(pair.methods(), ["tools/call", "notifications/cancelled"]);
        let told = pair.sent[1].params();
        assert_eq!(told["requestId"], pair.sent[0].id().expect("a request"));
        assert_eq!(told["reason"], "the \"user\" pressed\nCtrl-C");
        assert_eq!(pair.engine.poll_timeout(), None);
    }
}

#[test]
fn the_reason_is_optional() {
    let mut pair = Pair::open(Config::default(), legacy(|_, _| {}));
    let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
    assert!(pair.engine.calls().cancel(ticket.key(), None, pair.now));
    pair.drive();
    let told = pair.sent[1].params();
    assert_eq!(told, &json!({"requestId": pair.sent[0].id().expect("a request")}));
}

#[test]
fn a_request_that_times_out_is_cancelled_with_the_time_as_the_reason() {
    let times = RequestOptions::new().timeout(Duration::from_millis(1_500)).total_timeout(Duration::from_secs(2));
    for (options, reason) in [(times.clone(), "timed out after 1.5 s"), (times.progress(), "timed out after 2 s")] {
        let mut pair = Pair::open(Config::default(), legacy(|_, _| {}));
        let _ticket = pair.call("slow", &options).expect("it is sent");
        pair.drive();
        let token = pair.sent[0].params()["_meta"]["progressToken"].clone();
        if !token.is_null() {
            pair.pass(Duration::from_secs(1));
            pair.say(format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":1}}}}"#
            ));
        }
        pair.pass(Duration::from_secs(3));
        assert_eq!(pair.sent.last().expect("two messages").params()["reason"], reason);
    }
}

#[test]
fn a_request_that_has_ended_cannot_be_cancelled() {
    let mut pair = Pair::open(Config::default(), legacy(|sent, peer| peer.answer(sent, "{}")));
    let ticket = pair.call("quick", &RequestOptions::new()).expect("it is sent");
    pair.drive();
    assert!(!pair.engine.calls().cancel(ticket.key(), None, pair.now));
    assert!(pair.take(ticket).is_some_and(|result| result.is_ok()));
    let ticket = pair.call("quick", &RequestOptions::new()).expect("it is sent");
    assert!(pair.engine.calls().cancel(ticket.key(), None, pair.now));
    assert!(!pair.engine.calls().cancel(ticket.key(), None, pair.now), "nor twice");
    pair.drive();
    assert_eq!(pair.methods(), ["tools/call", "tools/call", "notifications/cancelled"]);
}

#[test]
fn the_others_go_on() {
    let mut pair = Pair::open(
        Config::default(),
        legacy(|sent, peer| {
            if sent.params()["name"] == "good" {
                peer.answer(sent, "{}");
            }
        }),
    );
    let tickets: Vec<_> = (0..100)
        .map(|n| pair.call(if n % 2 == 0 { "good" } else { "bad" }, &RequestOptions::new()).expect("it is sent"))
        .collect();
    for ticket in tickets.iter().skip(1).step_by(2) {
        assert!(pair.engine.calls().cancel(ticket.key(), None, pair.now));
    }
    pair.drive();
    for (n, ticket) in tickets.into_iter().enumerate() {
        assert_eq!(pair.take(ticket).expect("it has ended").is_ok(), n % 2 == 0);
    }
}

#[test]
fn closing_ends_all_requests_and_then_the_connection() {
    let mut pair = Pair::open(Config::default(), legacy(|_, _| {}));
    let tickets: Vec<_> = (0..10).map(|_| pair.call("slow", &RequestOptions::new()).expect("it is sent")).collect();
    pair.engine.close();
    assert!(pair.engine.transmit().is_empty(), "what was not sent is dropped");
    for ticket in &tickets {
        let Some(Event::Reply(reply)) = pair.engine.poll_event() else { panic!("a reply to each, in order") };
        let error = ticket.decode(reply).expect_err("it has no result");
        assert!(matches!(error, CallError::Closed { reason: CloseReason::ByClient, .. }), "{error:?}");
    }
    assert_eq!(pair.engine.poll_event(), Some(Event::Closed(CloseReason::ByClient)));
    assert_eq!(pair.engine.poll_event(), None);
    assert!(!pair.engine.calls().cancel(tickets[0].key(), None, pair.now));
}

#[test]
fn requests_of_a_side_that_cannot_go_on_say_why() {
    let mut pair = Pair::open(Config::default(), legacy(|_, _| {}));
    let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
    pair.engine.close_failed("the stream broke".into());
    assert!(pair.engine.transmit().is_empty(), "what was not sent is dropped");
    pair.drive();
    let error = pair.error(ticket);
    assert_eq!(error.to_string(), "`tools/call` got no answer: the connection failed: the stream broke");
    assert_eq!(pair.happened(), [&Event::Closed(CloseReason::Failed("the stream broke".into()))]);
}

#[test]
fn the_end_of_the_stream_ends_all_requests_too() {
    let mut pair = Pair::open(Config::default(), legacy(|_, _| {}));
    let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
    pair.end();
    assert!(matches!(pair.error(ticket), CallError::Closed { reason: CloseReason::ByServer, .. }));
    assert_eq!(pair.happened(), [&Event::Closed(CloseReason::ByServer)]);
    assert_eq!(pair.engine.poll_timeout(), None);
}

#[test]
fn a_response_that_arrived_before_the_stream_broke_counts() {
    let mut pair = Pair::open(Config::default(), legacy(|_, _| {}));
    let first = pair.call("quick", &RequestOptions::new()).expect("it is sent");
    let second = pair.call("slow", &RequestOptions::new()).expect("it is sent");
    pair.drive();
    let id = pair.sent[0].id().expect("a request");
    let response =
        json!({"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": "in time"}]}}).to_string();
    assert_eq!(pair.engine.receive(format!("{response}\n").as_bytes(), pair.now), response.len() + 1);
    pair.engine.receive_error("the cable is cut".into(), pair.now);
    pair.drive();
    assert_eq!(pair.text(first), "in time");
    let error = pair.error(second);
    assert_eq!(error.to_string(), "`tools/call` got no answer: the connection failed: the cable is cut");
    assert_eq!(pair.happened(), [&Event::Closed(CloseReason::Failed("the cable is cut".into()))]);
}
