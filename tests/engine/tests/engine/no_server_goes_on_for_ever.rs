//! A server that loses messages, that is slow, or that means ill, keeps no request, list, task or subscription going for
//! ever, and leaves nothing behind in memory.

use std::time::Duration;

use mcpwire_core::{
    CallError, Config, RequestOptions, ResubscribePolicy, SubscribeOptions, SubscriptionEvent, SubscriptionFilter,
    TaskError,
};
use mcpwire_engine_tests::sim::{Pair, Peer, Sent, configured, modern};
use serde_json::json;

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
    let mut config = Config::default();
    config.declare_tasks();
    config
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
    let mut pair = Pair::open(
        configured(|config| config.answer("elicitation/create")),
        modern(move |sent, peer| peer.answer(sent, wants)),
    );
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
