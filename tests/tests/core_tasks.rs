//! Calls that become tasks, in both forms: whoever calls gets the result as of any other call, or a handle, and no server
//! keeps it waiting beyond the time that it has.

use core::time::Duration;

use mcpwire_core::{
    AskKey, CallError, CallTool, CallToolAsTask, CallToolOutcome, CallToolParams, Closed, Config, Deadline, Event,
    GetTask, InputError, Json, Notification, RequestOptions, RpcError, SendError, Task, TaskFault, TaskForm,
    TaskHandle, TaskMode, TaskParams, TaskStatus, Ticket,
};
use mcpwire_tests::sim::{Pair, Peer, Sent, legacy, modern};
use serde_json::{Value, json};

const EXTENSION: &str = "io.modelcontextprotocol/tasks";

const fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

const fn millis(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn declared() -> Config {
    let mut config = Config::default();
    config.capabilities.declare_tasks();
    config
}

fn follow() -> RequestOptions {
    RequestOptions::new().task(TaskMode::Follow)
}

/// A server of the extension, whose calls become tasks. `get` answers `tasks/get`, and is told how often it was asked.
fn extension(mut get: impl FnMut(u64, &Sent, &mut Peer) + 'static) -> impl FnMut(&Sent, &mut Peer) + 'static {
    let mut asked = 0;
    modern(move |sent, peer| {
        match sent.method() {
        "tools/call" => peer.answer(
            sent,
            r#"{"resultType":"task","taskId":"t1","status":"working","createdAt":"2026-07-28T00:00:00Z","lastUpdatedAt":"2026-07-28T00:00:00Z","ttlMs":60000,"pollIntervalMs":2000}"#,
        ),
        "tasks/get" => {
            asked += 1;
            get(asked, sent, peer);
        }
        "tasks/cancel" | "tasks/update" => peer.answer(sent, r#"{"resultType":"complete"}"#),
        _ => {}
    }
    })
}

/// How a task of the extension stands.
fn stands(status: &str, more: &str) -> String {
    format!(
        r#"{{"resultType":"complete","taskId":"t1","status":"{status}","createdAt":"2026-07-28T00:00:00Z","lastUpdatedAt":"2026-07-28T00:00:01Z","ttlMs":60000,"pollIntervalMs":2000{more}}}"#
    )
}

const HELLO: &str = r#"{"content":[{"type":"text","text":"hello"}],"isError":false}"#;

/// A server of 2025-11-25 that takes tasks, and does the rest as `rest` says.
fn experimental(mut rest: impl FnMut(&Sent, &mut Peer) + 'static) -> impl FnMut(&Sent, &mut Peer) + 'static {
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

/// How a task of 2025-11-25 stands.
fn stood(status: &str) -> String {
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
fn fault(pair: &mut Pair, ticket: Ticket<CallTool>) -> TaskFault {
    match pair.error(ticket) {
        CallError::Task { task, fault, .. } if task == "t1" => fault,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_task_of_the_extension_ends_its_call() {
    let mut pair = Pair::open(
        declared(),
        extension(|asked, sent, peer| match asked {
            1 | 2 => peer.answer(sent, &stands("working", "")),
            3 => peer.answer_after(millis(500), sent, &stands("completed", &format!(r#","result":{HELLO}"#))),
            _ => panic!("it was over"),
        }),
    );
    let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
    pair.pass(secs(5));
    assert!(pair.engine.is_waiting(ticket.key()), "the caller's ticket waits, whatever is on the wire");
    assert_eq!(pair.engine.in_flight(), 1);
    pair.pass(secs(5));
    assert_eq!(pair.ended_at(ticket), Some(millis(6500)), "asked after 2, 4 and 6 seconds, as the server wishes");
    assert_eq!(pair.text(ticket), "hello");
    assert_eq!(pair.methods(), ["tools/call", "tasks/get", "tasks/get", "tasks/get"]);
    assert_eq!(sent(&pair, "tasks/get")[0]["taskId"], "t1");
    for message in &pair.sent {
        let capabilities = &message.meta()["io.modelcontextprotocol/clientCapabilities"];
        assert_eq!(capabilities["extensions"], json!({EXTENSION: {}}));
    }
    assert_eq!(statuses(&pair), [(Some(0), TaskStatus::Working), (Some(6), TaskStatus::Completed)]);
    assert_eq!((pair.engine.in_flight(), pair.engine.poll_timeout()), (0, None), "nothing is left of it");
}

#[test]
fn a_result_at_once_is_a_result() {
    let server = || modern(|sent, peer| peer.answer(sent, r#"{"resultType":"complete","content":[]}"#));
    let mut pair = Pair::open(declared(), server());
    let ticket = pair.call("fast", &RequestOptions::new()).expect("it is sent");
    pair.drive();
    assert!(pair.take(ticket).is_some_and(|result| result.is_ok()));
    let ticket = as_task(&mut pair);
    assert!(matches!(pair.take(ticket), Some(Ok(CallToolOutcome::Done(_)))));
    assert!(pair.events.is_empty());
}

#[test]
fn an_error_of_the_task_is_that_of_the_call() {
    let error = r#","statusMessage":"limit","error":{"code":-32603,"message":"API rate limit exceeded"}"#;
    let mut pair = Pair::open(declared(), extension(move |_, sent, peer| peer.answer(sent, &stands("failed", error))));
    let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
    pair.pass(secs(3));
    let CallError::Server { method, error } = pair.error(ticket) else { panic!("another error") };
    assert_eq!((&*method, error.code, &*error.message), ("tools/call", -32603, "API rate limit exceeded"));

    // A tool that says itself that it has failed is a result.
    let failed = r#","result":{"content":[],"isError":true}"#;
    let mut pair =
        Pair::open(declared(), extension(move |_, sent, peer| peer.answer(sent, &stands("completed", failed))));
    let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
    pair.pass(secs(3));
    assert!(pair.take(ticket).is_some_and(|result| result.is_ok_and(|result| result.is_error)));
}

#[test]
fn ends_without_a_result_are_told_apart() {
    for (answer, expected) in [
        (
            stands("cancelled", r#","statusMessage":"too dear""#),
            TaskFault::Cancelled { message: Some("too dear".into()) },
        ),
        (stands("completed", ""), TaskFault::NoResult { message: None }),
        (
            stands("failed", r#","statusMessage":"alas","error":null"#),
            TaskFault::Failed { message: Some("alas".into()) },
        ),
    ] {
        let mut pair = Pair::open(declared(), extension(move |_, sent, peer| peer.answer(sent, &answer)));
        let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
        pair.pass(secs(3));
        assert_eq!(fault(&mut pair, ticket), expected);
        assert_eq!(pair.engine.poll_timeout(), None);
    }
    let mut pair = Pair::open(
        declared(),
        extension(|_, sent, peer| peer.refuse(sent, -32602, "Failed to retrieve task: Task has expired")),
    );
    let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
    pair.pass(secs(3));
    let error = pair.error(ticket);
    assert!(matches!(&error, CallError::Task { fault: TaskFault::Unknown { error }, .. } if error.code == -32602));
    assert!(error.to_string().contains("\"t1\"") && error.to_string().contains("has expired"), "{error}");
}

#[test]
fn what_was_not_declared_is_no_task() {
    let mut pair = Pair::open(Config::default(), extension(|_, _, _| {}));
    let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
    pair.pass(secs(3));
    assert!(matches!(pair.error(ticket), CallError::Invalid { .. }));
    assert!(pair.sent[0].text.contains("clientCapabilities") && !pair.sent[0].text.contains(EXTENSION));
    assert_eq!(pair.methods(), ["tools/call"]);
}

fn as_task(pair: &mut Pair) -> Ticket<CallToolAsTask> {
    let arguments = Json::parse("{}").expect("an object");
    let params = CallToolParams { name: "slow", arguments: &arguments };
    let options = RequestOptions::new().task(TaskMode::Handle).task_ttl(secs(60));
    let ticket = pair.engine.request::<CallToolAsTask>(&params, &options, pair.now()).expect("it is sent");
    pair.drive();
    ticket
}

#[track_caller]
fn handle(pair: &mut Pair) -> TaskHandle {
    let ticket = as_task(pair);
    match pair.take(ticket) {
        Some(Ok(CallToolOutcome::Task(created))) => created.handle(),
        other => panic!("{other:?}"),
    }
}

/// Also in a session that has not declared tasks: each request says for itself what it understands.
#[test]
fn a_handle_is_kept_and_taken_up_again() {
    let get = |asked: u64, sent: &Sent, peer: &mut Peer| match asked {
        1 => peer.answer(sent, &stands("working", "")),
        _ => peer.answer(sent, &stands("completed", &format!(r#","result":{HELLO}"#))),
    };
    let mut pair = Pair::open(Config::default(), extension(get));
    let handle = handle(&mut pair);
    assert_eq!((&*handle.task_id, handle.form, handle.ttl_ms), ("t1", TaskForm::Extension, Some(60_000)));
    pair.pass(secs(100));
    assert_eq!(pair.methods(), ["tools/call"], "nobody asks for it");
    assert!(pair.sent[0].text.contains(EXTENSION) && pair.sent[0].params()["task"].is_null());
    let stored = serde_json::to_string(&handle).expect("it can be stored");
    drop(pair);

    let handle: TaskHandle = serde_json::from_str(&stored).expect("it can be read");
    let mut pair = Pair::open(Config::default(), extension(get));
    let ticket = pair.engine.follow_task(&handle, &RequestOptions::new(), pair.now()).expect("it is sent");
    pair.drive();
    assert_eq!(pair.methods(), ["tasks/get"], "at once");
    pair.pass(secs(2));
    assert_eq!(pair.text(ticket), "hello");
    assert!(pair.sent.iter().all(|sent| sent.text.contains(EXTENSION)));

    // By hand.
    let ticket = pair.engine.request::<GetTask>(&TaskParams { task_id: "t1" }, &RequestOptions::new(), pair.now());
    let ticket = ticket.expect("it is sent");
    pair.drive();
    let task: Task = pair.take(ticket).expect("it is answered").expect("a task");
    assert_eq!(
        (task.status, task.result.map(|json| json.get().to_owned())),
        (TaskStatus::Completed, Some(HELLO.into()))
    );
    assert!(pair.sent.last().expect("it was sent").text.contains(EXTENSION));
}

#[test]
fn a_task_of_2025_11_25_ends_its_call() {
    let mut asked = 0;
    let mut pair = Pair::open(
        Config::default(),
        experimental(move |sent, peer| match sent.method() {
            "tasks/get" => {
                asked += 1;
                peer.answer(sent, &stood(if asked < 3 { "working" } else { "completed" }));
            }
            "tasks/result" => peer.answer(sent, HELLO),
            other => panic!("{other}"),
        }),
    );
    let ticket = pair.call("slow", &follow().task_ttl(secs(60))).expect("it is sent");
    pair.pass(secs(10));
    assert_eq!(pair.ended_at(ticket), Some(secs(6)));
    assert_eq!(pair.text(ticket), "hello");
    assert_eq!(pair.methods(), ["tools/call", "tasks/get", "tasks/get", "tasks/get", "tasks/result"]);
    assert_eq!(pair.sent[0].params()["task"], json!({"ttl": 60_000}));
    assert_eq!(pair.sent[0].params()["arguments"], json!({}));
    assert!(sent(&pair, "tasks/result").iter().all(|params| *params == &json!({"taskId": "t1"})), "no related task");
    assert_eq!(pair.engine.poll_timeout(), None);
}

#[test]
fn a_failed_task_of_2025_11_25_says_why_in_its_result() {
    for (status, result) in [
        ("failed", r#""result":{"content":[{"type":"text","text":"no"}],"isError":true}"#),
        ("failed", r#""error":{"code":-32099,"message":"no"}"#),
        ("cancelled", ""),
    ] {
        let mut pair = Pair::open(
            Config::default(),
            experimental(move |sent, peer| match sent.method() {
                "tasks/get" => peer.answer(sent, &stood(status)),
                _ => peer.say(format!(r#"{{"jsonrpc":"2.0","id":{},{result}}}"#, sent.message["id"])),
            }),
        );
        let ticket = pair.call("slow", &follow()).expect("it is sent");
        pair.pass(secs(3));
        match pair.take(ticket).expect("it has ended") {
            Ok(result) => assert!(result.is_error && result.text().to_string() == "no"),
            Err(CallError::Server { error, .. }) => assert_eq!((error.code, &*error.message), (-32099, "no")),
            Err(CallError::Task { fault: TaskFault::Cancelled { .. }, .. }) => assert_eq!(status, "cancelled"),
            Err(other) => panic!("{other}"),
        }
    }
}

/// The server asks while `tasks/result` waits; other servers do not let it wait.
#[test]
fn input_of_2025_11_25_is_asked_for_beside_the_result() {
    for waits in [true, false] {
        let mut asked = 0;
        let mut waiting = None;
        let mut config = Config::default();
        config.answer("elicitation/create");
        let mut pair = Pair::open(
            config,
            experimental(move |sent, peer| match sent.method() {
                "tasks/get" => {
                    asked += 1;
                    peer.answer(sent, &stood(["input_required", "working", "completed"][asked.min(3) - 1]));
                }
                "tasks/result" if asked == 1 => {
                    peer.say(r#"{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t1"}}}}"#);
                    if waits {
                        waiting = Some(sent.clone());
                    } else {
                        peer.refuse(sent, -32600, "not yet");
                    }
                }
                "tasks/result" => {
                    assert!(!waits, "one waits already");
                    peer.answer(sent, HELLO);
                }
                "" => {
                    if let Some(waiting) = waiting.take() {
                        peer.answer_after(secs(3), &waiting, HELLO);
                    }
                }
                other => panic!("{other}"),
            }),
        );
        let ticket = pair.call("slow", &follow()).expect("it is sent");
        pair.pass(secs(2));
        let ask = pair.events.iter().find_map(|(_, event)| match event {
            Event::Ask(ask) => Some(ask.key),
            _ => None,
        });
        let answer = json!({"action": "decline"});
        pair.engine.answer(ask.expect("it is asked"), &answer, pair.now()).expect("it is answered");
        pair.pass(secs(5));
        assert_eq!(pair.text(ticket), "hello", "{waits}");
        let answer = pair.sent.iter().find(|sent| sent.method().is_empty()).expect("it was answered");
        let meta = json!({"io.modelcontextprotocol/related-task": {"taskId": "t1"}});
        assert_eq!(answer.message["result"], json!({"action": "decline", "_meta": meta}));
    }
}

#[test]
fn a_server_that_takes_no_tasks_is_not_asked_for_one() {
    let mut pair = Pair::open(declared(), legacy(|sent, peer| peer.answer(sent, HELLO)));
    let followed = pair.call("slow", &follow()).expect("it is sent");
    let by_hand = as_task(&mut pair);
    pair.drive();
    assert_eq!(pair.text(followed), "hello");
    assert!(matches!(pair.take(by_hand), Some(Ok(CallToolOutcome::Done(_)))));
    assert!(pair.sent.iter().all(|sent| sent.params()["task"].is_null()));
    // One that does, but is called as ever, either.
    let mut pair = Pair::open(declared(), experimental(|sent, peer| peer.answer(sent, HELLO)));
    let plain = pair.call("slow", &RequestOptions::new()).expect("it is sent");
    pair.drive();
    assert_eq!(pair.text(plain), "hello");
}

#[test]
fn a_task_is_not_followed_where_there_are_none() {
    let mut pair = Pair::open(Config::default(), |sent: &Sent, peer: &mut Peer| match sent.method() {
        "initialize" => {
            peer.answer(sent, r#"{"protocolVersion":"2025-06-18","serverInfo":{"name":"s","version":"1"}}"#);
        }
        "notifications/initialized" => {}
        "server/discover" => peer.refuse(sent, -32601, "Method not found"),
        other => panic!("{other} is sent"),
    });
    let handle = TaskHandle::new("t1", TaskForm::Experimental);
    let refused = pair.engine.follow_task(&handle, &RequestOptions::new(), pair.now());
    assert!(matches!(refused, Err(SendError::NotInRevision { method: "tasks/get", .. })), "{refused:?}");
    pair.drive();
    assert!(pair.engine.is_idle());
}

#[test]
fn a_call_given_up_ends_the_task() {
    let working = |_: u64, sent: &Sent, peer: &mut Peer| peer.answer(sent, &stands("working", ""));
    // One that is followed by its handle goes on without us.
    let mut pair = Pair::open(declared(), extension(working));
    let handle = TaskHandle::new("t1", TaskForm::Extension);
    let ticket = pair.engine.follow_task(&handle, &RequestOptions::new(), pair.now()).expect("it is sent");
    pair.pass(secs(3));
    assert!(pair.engine.cancel(ticket.key(), None));
    pair.pass(secs(100));
    assert!(matches!(pair.error(ticket), CallError::Cancelled { .. }));
    assert_eq!(pair.methods(), ["tasks/get", "tasks/get"]);

    let mut pair = Pair::open(declared(), extension(working));
    let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
    pair.pass(secs(3));
    assert!(pair.engine.cancel(ticket.key(), None));
    assert!(!pair.engine.cancel(ticket.key(), None));
    pair.drive();
    assert!(matches!(pair.error(ticket), CallError::Cancelled { .. }));
    assert_eq!(pair.methods(), ["tools/call", "tasks/get", "tasks/cancel"], "and no `notifications/cancelled`");
    pair.pass(secs(100));
    assert_eq!((pair.sent.len(), pair.engine.poll_timeout(), pair.engine.is_idle()), (3, None, true));

    // While a question is under way, the answer is of no interest any more; a server that cancels no tasks is not asked to.
    let mut pair = Pair::open(Config::default(), |sent: &Sent, peer: &mut Peer| {
        match sent.method() {
        "initialize" => peer.answer(
            sent,
            r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}}}"#,
        ),
        "server/discover" => peer.refuse(sent, -32601, "Method not found"),
        "tools/call" => peer.answer(sent, &format!(r#"{{"task":{}}}"#, stood("working"))),
        "tasks/get" => peer.answer_after(secs(5), sent, &stood("completed")),
        _ => {}
    }
    });
    let ticket = pair.call("slow", &follow()).expect("it is sent");
    pair.pass(secs(3));
    assert!(pair.engine.cancel(ticket.key(), None));
    pair.pass(secs(100));
    assert!(matches!(pair.error(ticket), CallError::Cancelled { .. }));
    assert_eq!((pair.methods(), pair.engine.stats().late), (vec!["tools/call", "tasks/get"], 1));
}

#[test]
fn the_total_deadline_bounds_a_task_that_never_ends() {
    let mut pair = Pair::open(
        declared(),
        extension(|_, sent, peer| peer.answer(sent, &stands("working", r#","pollIntervalMs":0"#))),
    );
    let ticket = pair.call("slow", &RequestOptions::new().total_timeout(secs(60))).expect("it is sent");
    pair.pass(secs(100));
    assert_eq!(pair.ended_at(ticket), Some(secs(60)));
    let CallError::Timeout { after, deadline, .. } = pair.error(ticket) else { panic!("another error") };
    assert_eq!((after, deadline), (secs(60), Deadline::Total));
    assert_eq!(pair.methods().last(), Some(&"tasks/cancel"));
    let asked = sent(&pair, "tasks/get").len();
    assert!((570..=600).contains(&asked), "no more than ten times a second, whatever the server wishes: {asked}");
}

#[test]
fn a_server_that_wants_to_be_asked_in_a_thousand_years_is_asked_sooner() {
    let mut pair = Pair::open(
        declared(),
        extension(|asked, sent, peer| match asked {
            1 => peer.answer(sent, &stands("working", r#","pollIntervalMs":9007199254740991"#)),
            _ => peer.answer(sent, &stands("completed", &format!(r#","result":{HELLO}"#))),
        }),
    );
    let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
    pair.pass(secs(600));
    assert_eq!(pair.ended_at(ticket), Some(secs(302)));
    assert_eq!(pair.text(ticket), "hello");
}

#[test]
fn a_server_that_does_not_say_how_often_is_asked_each_second() {
    let mut pair = Pair::open(
        Config::default(),
        modern(|sent, peer| peer.answer(sent, r#"{"taskId":"t1","status":"thinking","pollIntervalMs":-5}"#)),
    );
    let handle = TaskHandle::new("t1", TaskForm::Extension);
    let ticket = pair.engine.follow_task(&handle, &RequestOptions::new(), pair.now()).expect("it is sent");
    pair.pass(millis(9_500));
    assert_eq!(pair.sent.len(), 10, "a status that is not known is one of a task that goes on");
    assert_eq!(statuses(&pair), [(Some(0), TaskStatus::Other("thinking".into()))]);
    assert!(pair.engine.is_waiting(ticket.key()));
}

#[test]
fn errors_are_met_with_patience_and_an_end() {
    let mut pair = Pair::open(
        declared(),
        extension(|asked, sent, peer| match asked {
            1..=5 => peer.refuse(sent, -32603, "just a moment"),
            6 => peer.answer(sent, &stands("working", "")),
            7..=11 => peer.say("no answer"),
            12 => peer.answer(sent, &stands("completed", &format!(r#","result":{HELLO}"#))),
            _ => panic!("it was over"),
        }),
    );
    let ticket = pair.call("slow", &RequestOptions::new().timeout(secs(10))).expect("it is sent");
    pair.pass(secs(600));
    // Asked after 2 s; then again after 4, 8, 16, 32, 64 s; the same once more, with 10 s for each that is not answered.
    assert_eq!(pair.ended_at(ticket), Some(secs(2 + 124 + 2 + 50 + 124)));
    assert_eq!(pair.text(ticket), "hello");

    let mut pair = Pair::open(declared(), extension(|_, sent, peer| peer.refuse(sent, -32603, "for ever and a day")));
    let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
    pair.pass(secs(3600));
    let TaskFault::Lost { error } = fault(&mut pair, ticket) else { panic!("another fault") };
    assert!(error.to_string().contains("for ever and a day"), "{error}");
    assert_eq!(sent(&pair, "tasks/get").len(), 6);
}

#[test]
fn an_answer_about_another_task_is_none() {
    let other = stands("completed", &format!(r#","result":{HELLO}"#)).replace("t1", "t2");
    let mut pair = Pair::open(declared(), extension(move |_, sent, peer| peer.answer(sent, &other)));
    let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
    pair.pass(secs(3600));
    let TaskFault::Lost { error } = fault(&mut pair, ticket) else { panic!("another fault") };
    assert!(error.to_string().contains("another task") && error.to_string().contains("t2"), "{error}");
    assert_eq!(sent(&pair, "tasks/get").len(), 6);
}

#[test]
fn a_result_that_is_too_long_is_not_asked_for_again() {
    let mut config = declared();
    config.max_message = 10_000;
    let long = format!(r#","result":{{"content":[{{"type":"text","text":"{}"}}]}}"#, "x".repeat(20_000));
    let mut pair = Pair::open(config, extension(move |_, sent, peer| peer.answer(sent, &stands("completed", &long))));
    let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
    pair.pass(secs(3));
    assert!(fault(&mut pair, ticket).to_string().contains("longer than the limit"));
    assert_eq!(sent(&pair, "tasks/get").len(), 1);
}

#[test]
fn a_task_that_becomes_a_task_is_an_error() {
    let again = r#","result":{"resultType":"task","taskId":"t2","status":"working"}"#;
    let mut pair =
        Pair::open(declared(), extension(move |_, sent, peer| peer.answer(sent, &stands("completed", again))));
    let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
    pair.pass(secs(3));
    assert!(matches!(pair.error(ticket), CallError::Invalid { .. }));
}

#[test]
fn what_is_told_unasked_spares_the_asking() {
    let told = |method: &str, task: &str| format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{task}}}"#);
    let mut pair = Pair::open(declared(), extension(|_, _, _| panic!("there was no need")));
    let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
    pair.pass(secs(1));
    pair.say(told("notifications/tasks", &stands("working", r#","statusMessage":"half""#)));
    pair.pass(millis(1999));
    pair.say(told("notifications/tasks", &stands("working", "").replace("t1", "another")));
    pair.say(told("notifications/tasks", &stands("completed", &format!(r#","result":{HELLO}"#))));
    assert_eq!(pair.text(ticket), "hello");
    let (working, completed) = (TaskStatus::Working, TaskStatus::Completed);
    let expected = [(Some(0), working.clone()), (Some(1), working.clone()), (None, working), (Some(2), completed)];
    assert_eq!(statuses(&pair), expected);

    // In 2025-11-25 the result is still to be asked for.
    let mut pair = Pair::open(
        Config::default(),
        experimental(|sent, peer| match sent.method() {
            "tasks/result" => peer.answer(sent, HELLO),
            other => panic!("{other}"),
        }),
    );
    let ticket = pair.call("slow", &follow()).expect("it is sent");
    pair.pass(secs(1));
    pair.say(told("notifications/tasks/status", &stood("completed")));
    assert_eq!(pair.text(ticket), "hello");
    assert_eq!(pair.elapsed(), secs(1));
}

/// A server that tells and tells puts off the asking, not the end, and nothing of it is kept.
#[test]
fn a_flood_of_notifications_does_not_hold_up_the_end() {
    let told = format!(r#"{{"jsonrpc":"2.0","method":"notifications/tasks","params":{}}}"#, stands("working", ""));
    let mut pair = Pair::open(declared(), extension(|_, sent, peer| peer.answer(sent, &stands("working", ""))));
    let ticket = pair.call("slow", &RequestOptions::new().total_timeout(secs(60))).expect("it is sent");
    for _ in 0..61 {
        for _ in 0..100 {
            pair.say(&told);
        }
        pair.pass(secs(1));
    }
    assert!(matches!(pair.error(ticket), CallError::Timeout { .. }));
    // What is not news of a followed task is not told on.
    let followed = statuses(&pair).into_iter().filter(|(key, _)| key.is_some());
    assert_eq!(followed.count(), 1);
}

#[test]
fn more_tasks_than_may_be_are_cancelled() {
    let mut config = declared();
    config.max_tasks = 2;
    let mut pair = Pair::open(config, extension(|_, sent, peer| peer.answer(sent, &stands("working", ""))));
    let tickets = [(); 3].map(|()| pair.call("slow", &RequestOptions::new()).expect("it is sent"));
    pair.drive();
    assert_eq!(fault(&mut pair, tickets[2]), TaskFault::TooMany { limit: 2 });
    assert_eq!(pair.methods().last(), Some(&"tasks/cancel"));
    let handle = TaskHandle::new("t1", TaskForm::Extension);
    let refused = pair.engine.follow_task(&handle, &RequestOptions::new(), pair.now());
    assert!(matches!(refused, Err(SendError::TooManyInFlight { limit: 2 })));
    assert_eq!(pair.engine.in_flight(), 2);
}

#[test]
fn a_connection_that_ends_ends_the_calls() {
    let mut pair = Pair::open(declared(), extension(|_, _, _| {}));
    let working = pair.call("slow", &RequestOptions::new()).expect("it is sent");
    pair.drive();
    let asked = pair.call("slow", &RequestOptions::new()).expect("it is sent");
    pair.pass(secs(3));
    pair.end();
    for ticket in [working, asked] {
        assert!(matches!(pair.error(ticket), CallError::Closed { reason: Closed::ByServer, .. }));
    }
    assert_eq!((pair.engine.in_flight(), pair.engine.poll_timeout()), (0, None));
}

#[test]
fn a_server_that_does_not_read_holds_up_no_deadline() {
    let mut config = declared();
    config.max_transmit = 200;
    let mut pair = Pair::open(config, extension(|_, sent, peer| peer.answer(sent, &stands("working", ""))));
    let ticket = pair.call("slow", &RequestOptions::new().total_timeout(secs(60))).expect("it is sent");
    pair.pass(secs(3));
    pair.stuck = true;
    pair.pass(secs(100));
    assert_eq!(pair.ended_at(ticket), Some(secs(60)));
    assert!(matches!(pair.error(ticket), CallError::Timeout { .. }));
    assert!(pair.engine.transmit().len() < 2_000, "what cannot be sent is not piled up");
}

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
fn asks(pair: &Pair) -> Vec<(AskKey, String)> {
    let mut open = Vec::new();
    for event in pair.happened() {
        match event {
            Event::Ask(ask) => {
                let params: Value = ask.params.as_ref().expect("there are some").decode().expect("it is JSON");
                open.push((ask.key, params["message"].as_str().expect("a text").to_owned()));
            }
            Event::AskCancelled(key) => open.retain(|(open, _)| open != key),
            _ => {}
        }
    }
    open
}

#[test]
fn what_a_task_asks_is_asked_and_answered_once() {
    let mut answered = Vec::new();
    let mut pair = Pair::open(
        offering(),
        modern(move |sent, peer| match sent.method() {
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
        }),
    );
    let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
    pair.pass(secs(11));
    let asked = asks(&pair);
    assert_eq!(asked.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(), ["a?", "b?", "c?"], "each once");
    assert!(pair.happened().iter().all(|event| !matches!(event, Event::Ask(ask) if ask.during != Some(ticket.key()))));
    for (at, (key, _)) in asked.iter().enumerate() {
        assert_eq!(pair.engine.answer(*key, &json!({"action": "accept", "n": at}), pair.now()), Ok(true));
        assert_eq!(pair.engine.answer(*key, &json!({}), pair.now()), Ok(false), "an answer is given once");
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
    let mut pair = Pair::open(
        offering(),
        modern(move |sent, peer| match sent.method() {
            "tools/call" => peer.answer(sent, &stands("working", "").replace("complete", "task")),
            "tasks/update" => {
                updates += 1;
                if updates == 3 {
                    peer.answer(sent, "{}");
                }
            }
            "tasks/get" if updates < 3 => peer.answer(sent, &wants(&["a"])),
            _ => peer.answer(sent, &stands("completed", &format!(r#","result":{HELLO}"#))),
        }),
    );
    let ticket = pair.call("slow", &RequestOptions::new().timeout(secs(10))).expect("it is sent");
    pair.pass(secs(3));
    let (key, _) = asks(&pair)[0];
    pair.engine.answer(key, &json!({"action": "accept"}), pair.now()).expect("it is answered");
    pair.pass(secs(100));
    assert_eq!(pair.text(ticket), "hello");
    let updates = sent(&pair, "tasks/update");
    assert!(updates.len() == 3 && updates.iter().all(|params| params["inputResponses"]["a"]["action"] == "accept"));
}

#[test]
fn answers_that_the_server_does_not_take_end_the_call() {
    for gone_on in [true, false] {
        let mut refused = false;
        let mut pair = Pair::open(
            offering(),
            modern(move |sent, peer| match sent.method() {
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
            }),
        );
        let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
        pair.pass(secs(3));
        let (key, _) = asks(&pair)[0];
        pair.engine.answer(key, &json!({"action": "accept"}), pair.now()).expect("it is answered");
        pair.pass(secs(100));
        if gone_on {
            assert_eq!(pair.text(ticket), "hello", "it was too late for the answer, and there is a result");
        } else {
            let TaskFault::AnswersRefused { error } = fault(&mut pair, ticket) else { panic!("another fault") };
            assert_eq!((&*error.message, pair.methods().last()), ("not like this", Some(&"tasks/cancel")));
        }
    }
}

#[test]
fn what_a_task_asks_may_be_refused_or_not_offered() {
    // Refused by whoever is asked.
    let ask = |_: u64, sent: &Sent, peer: &mut Peer| peer.answer(sent, &wants(&["a", "b"]));
    let mut pair = Pair::open(offering(), extension(ask));
    let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
    pair.pass(secs(3));
    let asked = asks(&pair);
    assert!(pair.engine.refuse(asked[0].0, &RpcError::new(-1, "no"), pair.now()));
    pair.drive();
    let CallError::Input { error, .. } = pair.error(ticket) else { panic!("another error") };
    assert!(matches!(&*error, InputError::Refused { name, .. } if name == "a"));
    assert_eq!(pair.methods().last(), Some(&"tasks/cancel"), "it would wait for ever");
    assert!(asks(&pair).iter().all(|(key, _)| *key == asked[0].0), "nobody is asked for the other any more");
    // Not offered: nobody is asked at all.
    let mut pair = Pair::open(declared(), extension(ask));
    let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
    pair.pass(secs(3));
    let CallError::Input { error, .. } = pair.error(ticket) else { panic!("another error") };
    assert!(matches!(&*error, InputError::NotOffered { .. }) && asks(&pair).is_empty());
}

#[test]
fn what_is_not_wanted_any_more_is_taken_back() {
    let mut pair = Pair::open(
        offering(),
        extension(|asked, sent, peer| match asked {
            1 => peer.answer(sent, &wants(&["a", "b"])),
            2 => peer.answer(sent, &wants(&["b"])),
            3 => peer.answer(sent, &stands("working", "")),
            _ => peer.answer(sent, &wants(&["a", "b", "c"])),
        }),
    );
    let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
    for (after, open) in [(3, &["a?", "b?"][..]), (2, &["b?"]), (2, &[]), (2, &["c?"]), (2, &["c?"])] {
        pair.pass(secs(after));
        assert_eq!(asks(&pair).iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(), open);
    }
    pair.engine.cancel(ticket.key(), None);
    pair.drive();
    assert!(asks(&pair).is_empty());
}

#[test]
fn a_task_cannot_ask_without_end() {
    // More at once than may be: the rest later.
    let mut config = offering();
    config.max_asks = 2;
    let mut pair = Pair::open(config, extension(|_, sent, peer| peer.answer(sent, &wants(&["a", "b", "c"]))));
    let _ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
    pair.pass(secs(5));
    let asked = asks(&pair);
    assert_eq!(asked.len(), 2);
    pair.engine.answer(asked[0].0, &json!({}), pair.now()).expect("it is answered");
    pair.pass(secs(2));
    assert_eq!(asks(&pair).last().map(|(_, text)| text.as_str()), Some("c?"));
    // New ones for ever.
    let mut pair =
        Pair::open(offering(), extension(|asked, sent, peer| peer.answer(sent, &wants(&[&format!("n{asked}")]))));
    let ticket = pair.call("slow", &RequestOptions::new().total_timeout(secs(100_000))).expect("it is sent");
    pair.pass(secs(10_000));
    let CallError::Input { error, .. } = pair.error(ticket) else { panic!("another error") };
    assert!(matches!(&*error, InputError::TooManyInputs { limit: 1_000 }));
    // What is no object of inputs is no answer.
    let bad = stands("input_required", r#","inputRequests":{"a":7}"#);
    let mut pair = Pair::open(offering(), extension(move |_, sent, peer| peer.answer(sent, &bad)));
    let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
    pair.pass(secs(1_000));
    let TaskFault::Lost { error } = fault(&mut pair, ticket) else { panic!("another fault") };
    assert!(error.to_string().contains("inputRequests"), "{error}");
}

/// First the input that the call wants, then the task, then the input that the task wants, under the same name.
#[test]
fn rounds_and_tasks_follow_one_another() {
    let mut called = 0;
    let mut config = Config::default();
    config.answer("elicitation/create");
    let mut pair = Pair::open(
        config,
        modern(move |sent, peer| match sent.method() {
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
        }),
    );
    let ticket = pair.call("slow", &follow()).expect("it is sent");
    for n in 1..=2 {
        pair.pass(secs(3));
        let asked = asks(&pair);
        assert_eq!(asked.len(), n);
        pair.engine.answer(asked[n - 1].0, &json!({"n": n}), pair.now()).expect("it is answered");
    }
    pair.pass(secs(3));
    assert_eq!(pair.text(ticket), "hello");
    assert!(pair.sent.iter().all(|sent| sent.text.contains(EXTENSION)), "also the call that is sent again");
}

/// 2025-11-25, "Task Progress Notifications".
#[test]
fn progress_goes_on_under_the_token_of_the_call() {
    let mut pair = Pair::open(Config::default(), experimental(|sent, peer| peer.answer(sent, &stood("working"))));
    let ticket = pair.call("slow", &follow().progress()).expect("it is sent");
    pair.pass(secs(3));
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
    let mut pair = Pair::open(
        declared(),
        modern(move |sent, peer| {
            if sent.method() == "tools/call" {
                created += 1;
                peer.answer(
                    sent,
                    &stands("working", "").replace("complete", "task").replace("t1", &format!("t{created}")),
                );
            } else {
                let id = sent.params()["taskId"].as_str().expect("a name");
                let result = format!(r#","result":{{"content":[{{"type":"text","text":"{id}"}}]}}"#);
                peer.answer_after(millis(700), sent, &stands("completed", &result).replacen("t1", id, 1));
            }
        }),
    );
    let tickets: Vec<_> = (0..100).map(|_| pair.call("slow", &RequestOptions::new()).expect("it is sent")).collect();
    pair.pass(secs(3));
    for (at, ticket) in tickets.into_iter().enumerate() {
        assert_eq!(pair.text(ticket), format!("t{}", at + 1));
    }
}
