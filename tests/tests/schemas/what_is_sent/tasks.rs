//! What is said of tasks: in the form of 2025-11-25, and in that of the extension.

use core::time::Duration;

use mcpwire_core::internal::GetTaskResult;
use mcpwire_core::{
    CallTool, CallToolAsTask, CallToolParams, CancelTask, Config, GetTask, Json, ListParams, ListTasks,
    ProtocolVersion, RequestOptions, TaskHandle, TaskMode, TaskParams, TaskProtocol, Ticket, UpdateTask,
    UpdateTaskParams,
};
use mcpwire_engine_tests::sim::{Pair, Peer, Sent};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::answers::{Talk, obliging, talk};
use super::{Words, faults, open, revision, send, text, words};

/// How a task stands, in both forms at once.
fn stands(id: &str, status: &str, more: Value) -> String {
    let mut task = json!({
        "taskId": id, "status": status, "createdAt": "2026-07-28T00:00:00Z", "lastUpdatedAt": "2026-07-28T00:00:00Z",
        "ttl": null, "ttlMs": null, "pollInterval": 1000, "pollIntervalMs": 1000,
    });
    if let (Some(task), Value::Object(more)) = (task.as_object_mut(), more) {
        task.extend(more);
    }
    task.to_string()
}

/// Calls a tool three times: the task is followed to its end, given up, or handed to the caller.
fn call(pair: &mut Pair, words: &Words, answer: impl Fn(&mut Pair)) {
    let params = CallToolParams { name: &words.name, arguments: &words.arguments };
    let ttl = Duration::from_millis(words.name.len() as u64);
    let mut options = RequestOptions::new().task(TaskMode::Follow);
    if words.progress {
        options = options.progress().task_ttl(ttl);
    }
    options.meta = words.meta.as_ref().map(|meta| Json::from_value(meta).expect("it is JSON"));
    let followed: Ticket<CallTool> = pair.engine.calls().request(&params, &options, pair.now).expect("it is sent");
    pair.drive();
    pair.pass(Duration::from_secs(2));
    answer(pair);
    pair.pass(Duration::from_secs(4));
    assert!(pair.take(followed).expect("it has ended").is_ok());

    let given_up: Ticket<CallTool> = pair.engine.calls().request(&params, &options, pair.now).expect("it is sent");
    pair.drive();
    assert!(pair.engine.calls().cancel(given_up.key(), None, pair.now));
    pair.drive();

    let handed: Ticket<CallToolAsTask> =
        pair.engine.calls().request(&params, &options.task(TaskMode::Handle), pair.now).expect("it is sent");
    pair.drive();
    assert!(pair.take(handed).expect("it has ended").is_ok());
}

/// That each of these methods was sent, and all that was sent is what the revision asks for.
fn check(pair: &Pair, version: ProtocolVersion, methods: &[&str]) -> Result<(), TestCaseError> {
    let Some(revision) = revision(version) else { return Ok(()) };
    for method in methods {
        prop_assert!(pair.methods().contains(method), "{} was not sent", method);
    }
    let faults = faults(revision, pair);
    prop_assert!(faults.is_empty(), "{}", faults.join("\n"));
    Ok(())
}

fn experimental(id: String) -> impl FnMut(&Sent, &mut Peer) {
    let done = r#"{"content":[]}"#;
    move |sent, peer| match sent.method() {
        "tools/call" => peer.answer(sent, &format!(r#"{{"task":{}}}"#, stands(&id, "working", json!({})))),
        "tasks/get" | "tasks/cancel" => peer.answer(sent, &stands(&id, "completed", json!({}))),
        "tasks/result" => peer.answer(sent, done),
        _ => {}
    }
}

fn extension(id: String, talk: &Talk) -> impl FnMut(&Sent, &mut Peer) + use<> {
    let inputs = json!({"inputRequests": talk.inputs(ProtocolVersion::LATEST)});
    let result = json!({"result": {"content": []}});
    let mut answered = 0;
    move |sent, peer| match sent.method() {
        "tools/call" => peer.answer(sent, &stands(&id, "working", json!({"resultType": "task"}))),
        "tasks/get" if answered < inputs["inputRequests"].as_object().map_or(0, serde_json::Map::len) => {
            peer.answer(sent, &stands(&id, "input_required", inputs.clone()));
        }
        "tasks/get" => peer.answer(sent, &stands(&id, "completed", result.clone())),
        "tasks/update" => {
            answered += sent.params()["inputResponses"].as_object().map_or(0, serde_json::Map::len);
            peer.answer(sent, r#"{"resultType":"complete"}"#);
        }
        _ => peer.answer(sent, r#"{"resultType":"complete"}"#),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn tasks_of_2025_11_25_are_what_it_asks_for(words in words(), id in text().prop_filter("a name", |id| !id.is_empty())) {
        let version = ProtocolVersion::V2025_11_25;
        let says = r#","capabilities":{"tools":{},"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}}"#;
        let mut pair = open(version, Config::default(), says, experimental(id.clone()));
        call(&mut pair, &words, |_| {});
        let of = TaskParams { task_id: &id };
        send::<GetTask>(&mut pair, &words, &of);
        send::<GetTaskResult>(&mut pair, &words, &of);
        send::<CancelTask>(&mut pair, &words, &of);
        send::<ListTasks>(&mut pair, &words, &ListParams { cursor: words.cursor.as_deref() });
        pair.drive();
        let asked = pair.sent.iter().filter(|sent| sent.params()["task"].is_object()).count();
        prop_assert_eq!(asked, 3, "each call asks for a task");
        let ended = pair.sent.iter().filter(|sent| sent.method() == "tasks/cancel").count();
        prop_assert_eq!(ended, 2, "what is given up is ended");
        check(&pair, version, &["tools/call", "tasks/get", "tasks/result", "tasks/cancel", "tasks/list"])?;
    }

    #[test]
    fn tasks_of_the_extension_are_what_it_asks_for(
        words in words(), talk in talk(), id in text().prop_filter("a name", |id| !id.is_empty()), declared: bool,
    ) {
        let version = ProtocolVersion::LATEST;
        let mut config = obliging();
        if declared {
            config.declare_tasks();
        }
        let mut pair = open(version, config, "", extension(id.clone(), &talk));
        call(&mut pair, &words, |pair| assert!(talk.answer_all(pair, version) > 0));
        let of = TaskParams { task_id: &id };
        let handle = TaskHandle::new(id.clone(), TaskProtocol::Extension);
        let again = pair.engine.calls().follow_task(&handle, &RequestOptions::new(), pair.now).expect("it is sent");
        pair.drive();
        prop_assert!(pair.take(again).expect("it has ended").is_ok());
        let updates = pair.sent.iter().filter(|sent| sent.method() == "tasks/update");
        let mut answers = json!({});
        for sent in updates {
            let more = sent.params()["inputResponses"].as_object().cloned().unwrap_or_default();
            answers.as_object_mut().expect("it is an object").extend(more);
        }
        if let Some(revision) = revision(version) {
            prop_assert_eq!(talk.fault(revision, &answers), None);
        }
        let input_responses = &Json::from_value(&answers).expect("it is JSON");
        send::<GetTask>(&mut pair, &words, &of);
        send::<UpdateTask>(&mut pair, &words, &UpdateTaskParams { task_id: &id, input_responses });
        send::<CancelTask>(&mut pair, &words, &of);
        pair.drive();
        check(&pair, version, &["tools/call", "tasks/get", "tasks/update", "tasks/cancel"])?;
    }
}
