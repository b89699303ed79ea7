//! Calls that become tasks, in both forms: whoever calls gets the result as of any other call, or a handle, and no server
//! keeps it waiting beyond the time that it has.

mod endless;
mod ends;

use std::time::Duration;

use mcpwire_core::{
    CallError, CallTool, Config, Event, InputError, Notification, RequestOptions, RpcError, ServerRequestId, TaskError,
    TaskMode, TaskStatus, Ticket,
};
use mcpwire_engine_tests::sim::{Pair, Peer, Sent, configured, legacy, modern};
use serde_json::{Value, json};

const EXTENSION: &str = "io.modelcontextprotocol/tasks";

const fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

const fn millis(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn declared() -> Config {
    configured(Config::declare_tasks)
}

/// Calls a tool whose call becomes a task, and lets time pass.
fn call_and_wait(pair: &mut Pair, options: &RequestOptions, time: Duration) -> Ticket<CallTool> {
    let ticket = pair.call("slow", options).expect("it is sent");
    pair.pass(time);
    ticket
}

fn follow() -> RequestOptions {
    RequestOptions::new().task(TaskMode::Follow)
}

/// A server of the extension, whose calls become tasks. `get` answers `tasks/get`, and is told how often it was asked.
fn extension(mut get: impl FnMut(u64, &Sent, &mut Peer) + 'static) -> impl FnMut(&Sent, &mut Peer) + 'static {
    let mut asked = 0;
    modern(move |sent, peer| match sent.method() {
        "tools/call" => peer.answer(sent, &created()),
        "tasks/get" => {
            asked += 1;
            get(asked, sent, peer);
        }
        "tasks/cancel" | "tasks/update" => peer.answer(sent, r#"{"resultType":"complete"}"#),
        _ => {}
    })
}

/// A client that declares tasks, and such a server.
fn extended(get: impl FnMut(u64, &Sent, &mut Peer) + 'static) -> Pair {
    Pair::open(declared(), extension(get))
}

/// The same, with a client that can be asked for input.
fn extended_offering(get: impl FnMut(u64, &Sent, &mut Peer) + 'static) -> Pair {
    Pair::open(offering(), extension(get))
}

/// The answer to a call that becomes a task of the extension.
fn created() -> String {
    r#"{"resultType":"task","taskId":"t1","status":"working","createdAt":"2026-07-28T00:00:00Z","lastUpdatedAt":"2026-07-28T00:00:00Z","ttlMs":60000,"pollIntervalMs":2000}"#.into()
}

/// How a task of the extension stands.
fn stands(status: &str, more: &str) -> String {
    format!(
        r#"{{"resultType":"complete","taskId":"t1","status":"{status}","createdAt":"2026-07-28T00:00:00Z","lastUpdatedAt":"2026-07-28T00:00:01Z","ttlMs":60000,"pollIntervalMs":2000{more}}}"#
    )
}

pub(super) const HELLO: &str = r#"{"content":[{"type":"text","text":"hello"}],"isError":false}"#;

/// A server of 2025-11-25 that takes tasks, and does the rest as `rest` says.
pub(super) fn experimental(mut rest: impl FnMut(&Sent, &mut Peer) + 'static) -> impl FnMut(&Sent, &mut Peer) + 'static {
    let mut other = legacy(|_, _| {});
    move |sent, peer| {
        match sent.method() {
        "initialize" => peer.answer(
            sent,
            r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}},"serverInfo":{"name":"sim","version":"1"}}"#,
        ),
        "tools/call" if sent.params()["task"].is_object() => {
            peer.answer(sent, &format!(r#"{{"task":{}}}"#, stood("working")));
        }
        "server/discover" | "notifications/initialized" => other(sent, peer),
        _ => rest(sent, peer),
    }
    }
}

/// A client that declares nothing, and such a server.
fn experimental_pair(rest: impl FnMut(&Sent, &mut Peer) + 'static) -> Pair {
    experimental_with(Config::default(), rest)
}

/// The same, with a client of this configuration.
fn experimental_with(config: Config, rest: impl FnMut(&Sent, &mut Peer) + 'static) -> Pair {
    Pair::open(config, experimental(rest))
}

/// How a task of 2025-11-25 stands.
pub(super) fn stood(status: &str) -> String {
    format!(
        r#"{{"taskId":"t1","status":"{status}","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:40:00Z","ttl":30000,"pollInterval":2000}}"#
    )
}

/// What was sent of a method, as parameters.
fn sent<'p>(pair: &'p Pair, method: &str) -> Vec<&'p Value> {
    pair.sent.iter().filter(|sent| sent.method() == method).map(Sent::params).collect()
}

fn statuses(pair: &Pair) -> Vec<(Option<u64>, TaskStatus)> {
    let of = |event: &(Duration, Event)| match &event.1 {
        Event::Notification(Notification::TaskStatus { key, task }) => {
            Some((key.map(|_| event.0.as_secs()), task.status.clone()))
        }
        _ => None,
    };
    pair.events.iter().filter_map(of).collect()
}

#[track_caller]
fn fault(pair: &mut Pair, ticket: Ticket<CallTool>) -> TaskError {
    match pair.error(ticket) {
        CallError::Task { task, fault, .. } if task == "t1" => fault,
        other => panic!("{other:?}"),
    }
}

// What tasks ask, and what is answered.

/// Inputs that a task wants, by their names.
fn wants(names: &[&str]) -> String {
    let input = |name: &&str| format!(r#""{name}":{{"method":"elicitation/create","params":{{"message":"{name}?"}}}}"#);
    let inputs: Vec<String> = names.iter().map(input).collect();
    stands("input_required", &format!(r#","inputRequests":{{{}}}"#, inputs.join(",")))
}

fn offering() -> Config {
    let mut config = declared();
    config.answer("elicitation/create");
    config
}

/// What is asked and not taken back, with the words of the question.
fn asks(pair: &Pair) -> Vec<(ServerRequestId, String)> {
    let mut open = Vec::new();
    for event in pair.happened() {
        match event {
            Event::ServerRequest(ask) => {
                let params: Value = ask.params.as_ref().expect("there are some").decode().expect("it is JSON");
                open.push((ask.key, params["message"].as_str().expect("a text").to_owned()));
            }
            Event::ServerRequestCancelled(key) => open.retain(|(open, _)| open != key),
            _ => {}
        }
    }
    open
}

#[test]
fn what_a_task_asks_is_asked_and_answered_once() {
    let mut answered = Vec::new();
    let mut pair = Pair::modern_with(offering(), move |sent, peer| match sent.method() {
        "tools/call" => peer.answer(sent, &stands("working", "").replace("complete", "task")),
        "tasks/update" => {
            let answers = sent.params()["inputResponses"].as_object().expect("an object");
            answered.extend(answers.iter().map(|(name, answer)| format!("{name}={answer}")));
            // It takes its time before it is seen.
            peer.answer_after(secs(3), sent, r#"{"resultType":"complete"}"#);
        }
        "tasks/get" if answered.len() < 3 => peer.answer(sent, &wants(&["a", "b", "c"])),
        _ => {
            let text = answered.join(" ").replace('"', "'");
            let result = format!(r#","result":{{"content":[{{"type":"text","text":"{text}"}}]}}"#);
            peer.answer(sent, &stands("completed", &result));
        }
    });
    let ticket = call_and_wait(&mut pair, &RequestOptions::new(), secs(11));
    let asked = asks(&pair);
    assert_eq!(asked.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(), ["a?", "b?", "c?"], "each once");
    assert!(
        pair.happened()
            .iter()
            .all(|event| !matches!(event, Event::ServerRequest(ask) if ask.during.as_ref().map(|during| during.key) != Some(ticket.key())))
    );
    for (at, (key, _)) in asked.iter().enumerate() {
        assert_eq!(pair.engine.calls().answer(*key, &json!({"action": "accept", "n": at}), pair.now), Ok(true));
        assert_eq!(pair.engine.calls().answer(*key, &json!({}), pair.now), Ok(false), "an answer is given once");
    }
    pair.pass(secs(10));
    assert_eq!(
        pair.text(ticket),
        "a={'action':'accept','n':0} b={'action':'accept','n':1} c={'action':'accept','n':2}"
    );
    let updates = sent(&pair, "tasks/update");
    assert_eq!((updates.len(), &updates[0]["taskId"]), (2, &json!("t1")), "what is ready is sent, the rest together");
    assert_eq!(updates[0]["inputResponses"], json!({"a": {"action": "accept", "n": 0}}));
}

#[test]
fn an_update_that_fails_is_sent_again() {
    let mut updates = 0;
    let mut pair = Pair::modern_with(offering(), move |sent, peer| match sent.method() {
        "tools/call" => peer.answer(sent, &stands("working", "").replace("complete", "task")),
        "tasks/update" => {
            updates += 1;
            if updates == 3 {
                peer.answer(sent, "{}");
            }
        }
        "tasks/get" if updates < 3 => peer.answer(sent, &wants(&["a"])),
        _ => peer.answer(sent, &stands("completed", &format!(r#","result":{HELLO}"#))),
    });
    let ticket = call_and_wait(&mut pair, &RequestOptions::new().timeout(secs(10)), secs(3));
    let (key, _) = asks(&pair)[0];
    pair.engine.calls().answer(key, &json!({"action": "accept"}), pair.now).expect("it is answered");
    pair.pass(secs(100));
    assert_eq!(pair.text(ticket), "hello");
    let updates = sent(&pair, "tasks/update");
    assert!(updates.len() == 3 && updates.iter().all(|params| params["inputResponses"]["a"]["action"] == "accept"));
}

#[test]
fn answers_that_the_server_does_not_take_end_the_call() {
    for gone_on in [true, false] {
        let mut refused = false;
        let mut pair = Pair::modern_with(offering(), move |sent, peer| match sent.method() {
            "tools/call" => peer.answer(sent, &stands("working", "").replace("complete", "task")),
            "tasks/update" => {
                refused = true;
                peer.refuse(sent, -32602, "not like this");
            }
            "tasks/get" if refused && gone_on => {
                peer.answer(sent, &stands("completed", &format!(r#","result":{HELLO}"#)));
            }
            "tasks/get" => peer.answer(sent, &wants(&["a"])),
            _ => peer.answer(sent, "{}"),
        });
        let ticket = call_and_wait(&mut pair, &RequestOptions::new(), secs(3));
        let (key, _) = asks(&pair)[0];
        pair.engine.calls().answer(key, &json!({"action": "accept"}), pair.now).expect("it is answered");
        pair.pass(secs(100));
        if gone_on {
            assert_eq!(pair.text(ticket), "hello", "it was too late for the answer, and there is a result");
        } else {
            let TaskError::AnswersRefused { error } = fault(&mut pair, ticket) else { panic!("another fault") };
            assert_eq!((&*error.message, pair.methods().last()), ("not like this", Some(&"tasks/cancel")));
        }
    }
}

#[test]
fn what_a_task_asks_may_be_refused_or_not_offered() {
    // Refused by whoever is asked.
    let ask = |_: u64, sent: &Sent, peer: &mut Peer| peer.answer(sent, &wants(&["a", "b"]));
    let mut pair = extended_offering(ask);
    let ticket = call_and_wait(&mut pair, &RequestOptions::new(), secs(3));
    let asked = asks(&pair);
    assert!(pair.engine.calls().refuse(asked[0].0, &RpcError::new(-1, "no"), pair.now));
    pair.drive();
    let CallError::Input { error, .. } = pair.error(ticket) else { panic!("another error") };
    assert!(matches!(&*error, InputError::Refused { name, .. } if name == "a"));
    assert_eq!(pair.methods().last(), Some(&"tasks/cancel"), "it would wait for ever");
    assert!(asks(&pair).iter().all(|(key, _)| *key == asked[0].0), "nobody is asked for the other any more");
    // Whoever is asked panics.
    let mut pair = extended_offering(ask);
    let ticket = call_and_wait(&mut pair, &RequestOptions::new(), secs(3));
    let second = asks(&pair)[1].0;
    assert!(pair.engine.calls().report_handler_panic(second, "on purpose", pair.now));
    pair.drive();
    let CallError::Input { error, .. } = pair.error(ticket) else { panic!("another error") };
    assert!(matches!(&*error, InputError::Panicked { name, message, .. } if name == "b" && message == "on purpose"));
    assert_eq!(pair.methods().last(), Some(&"tasks/cancel"), "it would wait for ever");
    // Not offered: nobody is asked at all.
    let mut pair = extended(ask);
    let ticket = call_and_wait(&mut pair, &RequestOptions::new(), secs(3));
    let CallError::Input { error, .. } = pair.error(ticket) else { panic!("another error") };
    assert!(matches!(&*error, InputError::NotOffered { .. }) && asks(&pair).is_empty());
}

#[test]
fn what_is_not_wanted_any_more_is_taken_back() {
    let mut pair = extended_offering(|asked, sent, peer| match asked {
        1 => peer.answer(sent, &wants(&["a", "b"])),
        2 => peer.answer(sent, &wants(&["b"])),
        3 => peer.answer(sent, &stands("working", "")),
        _ => peer.answer(sent, &wants(&["a", "b", "c"])),
    });
    let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
    for (after, open) in [(3, &["a?", "b?"][..]), (2, &["b?"]), (2, &[]), (2, &["c?"]), (2, &["c?"])] {
        pair.pass(secs(after));
        assert_eq!(asks(&pair).iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(), open);
    }
    pair.engine.calls().cancel(ticket.key(), None, pair.now);
    pair.drive();
    assert!(asks(&pair).is_empty());
}

/// Whoever is asked hears that nobody wants the answer before the call is over, however it ends.
#[test]
fn what_a_task_asks_is_taken_back_before_the_connection_ends_the_call() {
    for by_server in [true, false] {
        let mut pair = extended_offering(|_, sent, peer| peer.answer(sent, &wants(&["a"])));
        let ticket = call_and_wait(&mut pair, &RequestOptions::new(), secs(3));
        let (key, _) = asks(&pair)[0];
        if by_server {
            pair.engine.receive_eof(pair.now);
        } else {
            pair.engine.close();
        }
        let events: Vec<Event> = std::iter::from_fn(|| pair.engine.poll_event()).collect();
        let [Event::ServerRequestCancelled(taken_back), Event::Reply(reply), Event::Closed(_)] = &*events else {
            panic!("{events:?}")
        };
        assert_eq!((*taken_back, reply.key()), (key, ticket.key()));
        assert!(matches!(reply.error(), Some(CallError::Closed { .. })));
    }
}

#[test]
fn a_task_cannot_ask_without_end() {
    // More at once than may be: the rest later.
    let mut config = offering();
    config.max_server_requests = 2;
    let mut pair = Pair::open(config, extension(|_, sent, peer| peer.answer(sent, &wants(&["a", "b", "c"]))));
    let _ticket = call_and_wait(&mut pair, &RequestOptions::new(), secs(5));
    let asked = asks(&pair);
    assert_eq!(asked.len(), 2);
    pair.engine.calls().answer(asked[0].0, &json!({}), pair.now).expect("it is answered");
    pair.pass(secs(2));
    assert_eq!(asks(&pair).last().map(|(_, text)| text.as_str()), Some("c?"));
    // New ones for ever.
    let mut pair = extended_offering(|asked, sent, peer| peer.answer(sent, &wants(&[&format!("n{asked}")])));
    let ticket = call_and_wait(&mut pair, &RequestOptions::new().total_timeout(secs(100_000)), secs(10_000));
    let CallError::Input { error, .. } = pair.error(ticket) else { panic!("another error") };
    assert!(matches!(&*error, InputError::TooManyInputs { limit: 1_000 }));
    // What is no object of inputs is no answer.
    let bad = stands("input_required", r#","inputRequests":{"a":7}"#);
    let mut pair = extended_offering(move |_, sent, peer| peer.answer(sent, &bad));
    let ticket = call_and_wait(&mut pair, &RequestOptions::new(), secs(1_000));
    let TaskError::Lost { error } = fault(&mut pair, ticket) else { panic!("another fault") };
    assert!(error.to_string().contains("inputRequests"), "{error}");
}

/// First the input that the call wants, then the task, then the input that the task wants, under the same name.
#[test]
fn rounds_and_tasks_follow_one_another() {
    let mut called = 0;
    let mut pair = Pair::modern_with(configured(|config| config.answer("elicitation/create")), move |sent, peer| {
        match sent.method() {
            "tools/call" => {
                called += 1;
                let wants = wants(&["a"]).replace("complete", "input_required");
                let task = stands("working", "").replace("complete", "task");
                peer.answer(sent, if called == 1 { &wants } else { &task });
            }
            "tasks/get" if called == 2 => {
                called += 1;
                peer.answer(sent, &wants(&["a"]));
            }
            "tasks/get" => peer.answer(sent, &stands("completed", &format!(r#","result":{HELLO}"#))),
            _ => peer.answer(sent, "{}"),
        }
    });
    let ticket = pair.call("slow", &follow()).expect("it is sent");
    for n in 1..=2 {
        pair.pass(secs(3));
        let asked = asks(&pair);
        assert_eq!(asked.len(), n);
        pair.engine.calls().answer(asked[n - 1].0, &json!({"n": n}), pair.now).expect("it is answered");
    }
    pair.pass(secs(3));
    assert_eq!(pair.text(ticket), "hello");
    assert!(pair.sent.iter().all(|sent| sent.text.contains(EXTENSION)), "also the call that is sent again");
}

/// 2025-11-25, "Task Progress Notifications".
#[test]
fn progress_goes_on_under_the_token_of_the_call() {
    let mut pair = experimental_pair(|sent, peer| peer.answer(sent, &stood("working")));
    let ticket = call_and_wait(&mut pair, &follow().progress(), secs(3));
    let id = pair.sent[0].id().expect("a request");
    pair.say(format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{id},"progress":1}}}}"#
    ));
    let Some((_, Event::Notification(Notification::Progress { key, .. }))) = pair.events.pop() else {
        panic!("no progress")
    };
    assert_eq!(key, ticket.key());
}

#[test]
fn many_tasks_are_followed_side_by_side() {
    let mut created = 0;
    let mut pair = Pair::modern_with(declared(), move |sent, peer| {
        if sent.method() == "tools/call" {
            created += 1;
            peer.answer(sent, &stands("working", "").replace("complete", "task").replace("t1", &format!("t{created}")));
        } else {
            let id = sent.params()["taskId"].as_str().expect("a name");
            let result = format!(r#","result":{{"content":[{{"type":"text","text":"{id}"}}]}}"#);
            peer.answer_after(millis(700), sent, &stands("completed", &result).replacen("t1", id, 1));
        }
    });
    let tickets: Vec<_> = (0..100).map(|_| pair.call("slow", &RequestOptions::new()).expect("it is sent")).collect();
    pair.pass(secs(3));
    for (at, ticket) in tickets.into_iter().enumerate() {
        assert_eq!(pair.text(ticket), format!("t{}", at + 1));
    }
}
