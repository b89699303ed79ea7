//! A message of the server gives the same event, whatever the session was used for before.

use mcpwire_core::{Config, Event, Notification, RequestOptions, SubscribeOptions, SubscriptionFilter, TaskMode};
use mcpwire_engine_tests::sim::{Pair, legacy, modern};

type Open = fn(Config) -> Pair;

const ERAS: [Open; 2] =
    [|config| Pair::open(config, legacy(|_, _| {})), |config| Pair::open(config, modern(|_, _| {}))];

/// The messages that the parts of a session handle, each in forms that are of use, of no use, and broken.
fn messages() -> Vec<String> {
    let status = r#"{"taskId":"t9","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttlMs":null}"#;
    [
        ("tasks/status", status),
        ("tasks", status),
        ("tasks/status", "{}"),
        ("tasks/status", "7"),
        ("progress", r#"{"progressToken":9,"progress":1}"#),
        ("progress", r#"{"progressToken":"x"}"#),
        ("progress", "7"),
        ("cancelled", r#"{"requestId":"unknown"}"#),
        ("message", r#"{"level":"info","data":1}"#),
        ("resources/updated", r#"{"uri":"a:b"}"#),
        ("resources/updated", "{}"),
        ("subscriptions/acknowledged", "{}"),
        ("tools/list_changed", "{}"),
        ("acme/said", "{}"),
    ]
    .map(|(method, params)| format!(r#"{{"jsonrpc":"2.0","method":"notifications/{method}","params":{params}}}"#))
    .into()
}

/// The events that the messages cause, and the numbers of late and of invalid messages.
fn receive(mut pair: Pair) -> (Vec<Event>, u64, u64) {
    let (events, before) = (pair.events.len(), pair.engine.session().stats());
    for message in messages() {
        pair.say(message);
    }
    let after = pair.engine.session().stats();
    let events = pair.events.split_off(events).into_iter().map(|(_, event)| event).collect();
    (events, after.late - before.late, after.invalid - before.invalid)
}

/// A session that has used all of its parts, and waits for nothing any more.
fn used(open: Open) -> Pair {
    let mut config = Config::default();
    config.declare_tasks();
    config.answer_roots();
    let mut pair = open(config);
    let call = pair.call("busy", &RequestOptions::new().progress().task(TaskMode::Follow)).expect("it is sent");
    let list = pair.raw("tools/list", None).expect("it is sent");
    for key in [call.key(), list.key()] {
        assert!(pair.engine.calls().cancel(key, None, pair.now));
    }
    let subscription = pair.subscribe(&SubscriptionFilter::new().task("t1"), &SubscribeOptions::new());
    assert!(pair.engine.calls().unsubscribe(subscription, pair.now));
    pair.drive();
    pair
}

#[test]
fn a_message_gives_the_same_event_whatever_the_session_was_used_for_before() {
    for open in ERAS {
        let (fresh, used) = (receive(open(Config::default())), receive(used(open)));
        assert_eq!(fresh, used);
        let (events, late, invalid) = fresh;
        for event in &events[..2] {
            let Event::Notification(Notification::TaskStatus { task, .. }) = event else { panic!("{event:?}") };
            assert_eq!(task.task_id, "t9");
        }
        assert_eq!((late, invalid), (3, 3), "{events:?}");
    }
}
