//! Every limit holds, and reaching it costs the one request that does. No server keeps the client busy for ever.

use std::time::Duration;

use mcpwire_core::{
    CallError, CloseReason, Config, Event, PeerErrorKind, RequestOptions, ResubscribePolicy, SendError,
    SubscribeOptions, SubscriptionEvent, SubscriptionFilter, TaskError,
};
use mcpwire_engine_tests::sim::{Pair, Peer, Sent, configured, legacy, modern};
use serde_json::json;

fn silent(config: Config) -> Pair {
    Pair::open(config, legacy(|_, _| {}))
}

#[test]
fn so_many_requests_and_no_more() {
    let mut pair = silent(configured(|config| config.max_in_flight = 3));
    let tickets: Vec<_> = (0..3).map(|_| pair.call("slow", &RequestOptions::new()).expect("it is sent")).collect();
    assert!(matches!(pair.call("slow", &RequestOptions::new()), Err(SendError::TooManyInFlight { limit: 3 })));
    pair.drive();
    assert_eq!(pair.sent.len(), 3, "nothing of it was sent");
    assert!(pair.engine.calls().cancel(tickets[1].key(), None, pair.now));
    assert!(pair.call("slow", &RequestOptions::new()).is_ok(), "one has ended: there is room again");
}

#[test]
fn a_server_that_does_not_read_is_not_written_to_for_ever() {
    let mut pair = silent(configured(|config| config.max_transmit = 1000));
    pair.stuck = true;
    let mut sent = 0;
    while pair.call("slow", &RequestOptions::new()).is_ok() {
        sent += 1;
        assert!(sent < 100);
    }
    assert!(matches!(pair.raw("x", None), Err(SendError::TransmitFull { limit: 1000 })));
    assert!(matches!(pair.engine.calls().notify_raw("x", None, pair.now), Err(SendError::TransmitFull { .. })));
    // A server that asks, and does not read the answers.
    for _ in 0..1000 {
        pair.say(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    }
    assert!(pair.engine.transmit().len() < 1500, "{}", pair.engine.transmit().len());
    pair.pass(Duration::from_secs(60));
    assert_eq!(pair.engine.session().in_flight(), 0, "deadlines pass all the same");
    assert!(pair.engine.transmit().len() < 1500);
    pair.stuck = false;
    pair.drive();
    assert!(pair.call("slow", &RequestOptions::new()).is_ok());
}

#[test]
fn one_message_may_be_larger_than_the_queue() {
    let mut pair = silent(configured(|config| config.max_transmit = 1000));
    let big = format!(r#"{{"text":"{}"}}"#, "x".repeat(5000));
    assert!(pair.raw("x/y", Some(&big)).is_ok());
    assert!(matches!(pair.raw("x/y", Some(&big)), Err(SendError::TransmitFull { .. })));
    pair.drive();
    assert!(pair.raw("x/y", Some(&big)).is_ok());
}

fn answered_with(line: impl Fn(u64) -> String + 'static) -> Result<mcpwire_core::Json, CallError> {
    let mut pair =
        Pair::legacy_with(configured(|config| config.max_message = 1000), move |sent: &Sent, peer: &mut Peer| {
            if sent.method() == "big" {
                peer.say(line(sent.id().expect("a request")));
            } else {
                peer.answer(sent, "{}");
            }
        });
    let big = pair.raw("big", None).expect("it is sent");
    let after = pair.raw("after", None).expect("it is sent");
    pair.drive();
    assert!(pair.take(after).is_some_and(|result| result.is_ok()), "the next answer is not lost");
    pair.pass(Duration::from_secs(30));
    pair.take(big).expect("it has ended")
}

#[test]
fn a_message_that_is_too_long_fails_its_own_request() {
    let long = "x".repeat(2000);
    for line in [
        r#"{"jsonrpc":"2.0","id":@,"result":{"a":"L"}}"#,
        r#"{"jsonrpc":"2.0","id":"@","error":{"message":"L"}}"#,
        r#"{"result":{"a":"L"},"jsonrpc":"2.0","id":@}"#,
        r#"{"result":{"a":"L"},"id":@,"jsonrpc":"2.0"}"#,
        r#"{"result":{"a":"L"},"id":@}"#,
    ] {
        let long = long.clone();
        let error = answered_with(move |id| line.replace('@', &id.to_string()).replace('L', &long))
            .expect_err("it is too long");
        let CallError::Invalid { error, .. } = &error else { panic!("{line}: {error:?}") };
        assert_eq!(error.kind, PeerErrorKind::TooLong { limit: 1000 }, "{line}");
        assert!(error.to_string().len() < 1000);
    }
}

/// The server counts its requests on its own, so the same id says nothing about a request of the client.
#[test]
fn a_request_of_the_server_that_is_too_long_fails_no_request() {
    let long = "x".repeat(2000);
    for line in [
        r#"{"method":"sampling/createMessage","params":{"a":"L"},"jsonrpc":"2.0","id":@}"#,
        r#"{"params":{"a":"L"},"method":"sampling/createMessage","id":@}"#,
        r#"{"params":{"a":"L"},"id":@,"method":"sampling/createMessage","jsonrpc":"2.0"}"#,
        r#"{"jsonrpc":"2.0","id":@,"method":"sampling/createMessage","params":{"a":"L"}}"#,
    ] {
        let long = long.clone();
        let answer = answered_with(move |id| {
            let request = line.replace('@', &id.to_string()).replace('L', &long);
            format!("{request}\n{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}")
        });
        assert!(answer.is_ok(), "{line}: {answer:?}");
    }
}

#[test]
fn a_message_of_just_that_length_passes() {
    let exactly = |length: usize| {
        answered_with(move |id| {
            let around = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"a":""}}}}"#);
            around.replace("\"\"", &format!("\"{}\"", "x".repeat(length - around.len())))
        })
    };
    assert!(exactly(1000).is_ok());
    assert!(exactly(1001).is_err());
}

#[test]
fn a_line_without_an_end_is_not_kept() {
    let mut pair = silent(configured(|config| config.max_message = 10_000));
    for _ in 0..10_000 {
        let space = pair.engine.space().expect("every event was taken");
        assert!(space.len() <= 128 << 10, "{}", space.len());
        space.fill(b'x');
        let n = space.len();
        pair.engine.filled(n, pair.now);
        pair.drive();
    }
    assert_eq!(pair.events.len(), 1, "it is told once");
    pair.end();
    assert_eq!(pair.happened()[1], &Event::Closed(CloseReason::ByServer));
}

#[test]
fn a_day_of_traffic_leaves_nothing_behind() {
    let mut served = 0u32;
    let mut pair =
        Pair::legacy_with(configured(|config| config.max_in_flight = 100), move |sent: &Sent, peer: &mut Peer| {
            served += 1;
            let Some(id) = sent.id() else { return };
            match served % 5 {
                0 => {}
                1 => peer.say_after(Duration::from_secs(40), format!(r#"{{"id":{id},"result":{{}}}}"#)),
                2 => peer.say("noise"),
                _ => peer.answer_after(Duration::from_secs(3), sent, r#"{"content":[]}"#),
            }
        });
    let mut tickets = Vec::new();
    for minute in 0..24 * 60 {
        for n in 0..10 {
            let ticket = pair.call("tool", &RequestOptions::new().progress()).expect("it is sent");
            if (minute + n) % 7 == 0 {
                pair.engine.calls().cancel(ticket.key(), None, pair.now);
            }
            tickets.push(ticket);
        }
        pair.pass(Duration::from_secs(60));
        for ticket in tickets.drain(..) {
            assert!(pair.take(ticket).is_some(), "each has ended within the minute");
        }
        pair.events.clear();
        pair.sent.clear();
        assert!(pair.engine.is_idle(), "nothing is left");
        assert_eq!(pair.engine.poll_timeout(), None);
        assert!(pair.engine.space().is_some_and(|space| space.len() <= 8 << 10), "the buffer stays small");
    }
    assert_eq!(pair.elapsed(), Duration::from_secs(24 * 60 * 60));
}

// A server that loses messages, that is slow, or that means ill, keeps no request, list, task or subscription going for ever,
// and leaves nothing behind in memory.

const fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

/// A server whose calls become tasks, and that says no more of them.
fn forgetful(sent: &Sent, peer: &mut Peer) {
    if sent.method() == "tools/call" {
        peer.answer(sent, r#"{"resultType":"task","taskId":"t1","status":"working","pollIntervalMs":1}"#);
    }
}

fn with_tasks() -> Config {
    configured(Config::declare_tasks)
}

/// Nothing is under way, nothing is due, and the engine is as small as one that has just begun.
#[track_caller]
fn assert_nothing_is_left(pair: &mut Pair) {
    assert_eq!((pair.engine.session().in_flight(), pair.engine.poll_timeout()), (0, None));
    let shown = format!("{:?}", pair.engine);
    assert!(shown.len() < 16 * 1024, "{}", shown.len());
}

#[test]
fn a_task_that_is_never_heard_of_again_is_lost() {
    let mut pair = Pair::open(with_tasks(), modern(forgetful));
    let ticket = pair.call("slow", &RequestOptions::new().timeout(secs(10))).expect("it is sent");
    pair.pass(secs(3600));
    let CallError::Task { fault: TaskError::Lost { error }, .. } = pair.error(ticket) else { panic!("another error") };
    assert!(matches!(*error, CallError::Timeout { .. }), "{error}");
    assert_eq!(pair.methods().iter().filter(|method| **method == "tasks/get").count(), 6);
    assert_nothing_is_left(&mut pair);
}

/// Of calls, which are given up when the server has said a word.
fn begin_and_cancel_thousands(pair: &mut Pair) {
    for _ in 0..5_000 {
        let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
        pair.drive();
        assert!(pair.engine.calls().cancel(ticket.key(), None, pair.now));
        pair.drive();
        let _ = pair.error(ticket);
        pair.sent.clear();
        pair.events.clear();
    }
}

#[test]
fn thousands_of_tasks_leave_nothing() {
    let mut pair = Pair::open(with_tasks(), modern(forgetful));
    begin_and_cancel_thousands(&mut pair);
    // What was asked of the server at the end of each, it has not answered.
    pair.pass(secs(60));
    assert_nothing_is_left(&mut pair);
}

#[test]
fn thousands_of_rounds_leave_nothing() {
    let wants = r#"{"resultType":"input_required","requestState":"s","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}}}"#;
    let mut pair = Pair::modern_with(configured(|config| config.answer("elicitation/create")), move |sent, peer| {
        peer.answer(sent, wants);
    });
    begin_and_cancel_thousands(&mut pair);
    assert_nothing_is_left(&mut pair);
}

const LISTEN: &str = "subscriptions/listen";

fn acknowledge(sent: &Sent, peer: &mut Peer) {
    let meta = json!({"io.modelcontextprotocol/subscriptionId": sent.id()});
    let params = json!({"notifications": sent.params()["notifications"], "_meta": meta});
    let told = json!({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params});
    peer.say(told.to_string());
}

#[test]
fn subscriptions_that_end_again_and_again_are_rare_requests() {
    // One that holds for just as long as it takes to be thought steady.
    let server = modern(|sent, peer| {
        if sent.method() == LISTEN {
            acknowledge(sent, peer);
            peer.answer_after(secs(60), sent, r#"{"resultType":"complete"}"#);
        }
    });
    let mut pair = Pair::open(Config::default(), server);
    let options = SubscribeOptions::new().resubscribe(ResubscribePolicy::Always);
    let key =
        pair.engine.calls().subscribe(&SubscriptionFilter::new().tools(), &options, pair.now).expect("it is sent");
    pair.pass(secs(24 * 3600));
    let asked = pair.sent.len();
    assert!((1_000..=24 * 60).contains(&asked), "about one a minute: {asked}");
    let told = pair.taken(key);
    assert!(matches!(told[..], [SubscriptionEvent::Acknowledged(_)]), "that is told once: {told:?}");
    assert!(pair.engine.calls().unsubscribe(key, pair.now));
    pair.pass(secs(120));
    assert_nothing_is_left(&mut pair);
}

#[test]
fn thousands_of_subscriptions_leave_nothing() {
    for acknowledges in [true, false] {
        let mut pair = Pair::modern(move |sent, peer| {
            if sent.method() == LISTEN && acknowledges {
                acknowledge(sent, peer);
            }
        });
        for number in 0..5_000 {
            let wanted = SubscriptionFilter::new().tools().resource(format!("file:///{number}"));
            let key = pair.engine.calls().subscribe(&wanted, &SubscribeOptions::new(), pair.now).expect("it is sent");
            pair.drive();
            assert!(pair.engine.calls().unsubscribe(key, pair.now));
            pair.drive();
            pair.sent.clear();
            pair.events.clear();
        }
        pair.pass(secs(60));
        assert_nothing_is_left(&mut pair);
    }
}
