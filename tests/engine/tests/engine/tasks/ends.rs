//! How tasks end, and what becomes of their calls.

use mcpwire_core::{
    CallError, CallToolAsTask, CallToolOutcome, CallToolParams, Config, Event, GetTask, Json, RequestOptions,
    SendError, Task, TaskError, TaskHandle, TaskMode, TaskParams, TaskProtocol, TaskStatus, Ticket,
};
use mcpwire_engine_tests::sim::{Pair, Peer, Sent, configured, legacy, modern};
use serde_json::json;

use super::{
    EXTENSION, HELLO, call_and_wait, created, declared, experimental, experimental_pair, experimental_with, extended,
    extension, fault, follow, millis, secs, sent, stands, statuses, stood,
};

#[test]
fn a_task_of_the_extension_ends_its_call() {
    let mut pair = extended(|asked, sent, peer| match asked {
        1 | 2 => peer.answer(sent, &stands("working", "")),
        3 => peer.answer_after(millis(500), sent, &stands("completed", &format!(r#","result":{HELLO}"#))),
        _ => panic!("it was over"),
    });
    let ticket = call_and_wait(&mut pair, &RequestOptions::new(), secs(5));
    assert!(pair.engine.session().is_waiting(ticket.key()), "the caller's ticket waits, whatever is on the wire");
    assert_eq!(pair.engine.session().in_flight(), 1);
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
    assert_eq!((pair.engine.session().in_flight(), pair.engine.poll_timeout()), (0, None), "nothing is left of it");
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
    let mut pair = extended(move |_, sent, peer| peer.answer(sent, &stands("failed", error)));
    let ticket = call_and_wait(&mut pair, &RequestOptions::new(), secs(3));
    let CallError::Server { method, error } = pair.error(ticket) else { panic!("another error") };
    assert_eq!((&*method, error.code, &*error.message), ("tools/call", -32603, "API rate limit exceeded"));

    // A tool that says itself that it has failed is a result.
    let failed = r#","result":{"content":[],"isError":true}"#;
    let mut pair = extended(move |_, sent, peer| peer.answer(sent, &stands("completed", failed)));
    let ticket = call_and_wait(&mut pair, &RequestOptions::new(), secs(3));
    assert!(pair.take(ticket).is_some_and(|result| result.is_ok_and(|result| result.is_error)));
}

#[test]
fn ends_without_a_result_are_told_apart() {
    for (answer, expected) in [
        (
            stands("cancelled", r#","statusMessage":"too dear""#),
            TaskError::Cancelled { message: Some("too dear".into()) },
        ),
        (stands("completed", ""), TaskError::NoResult { message: None }),
        (
            stands("failed", r#","statusMessage":"alas","error":null"#),
            TaskError::Failed { message: Some("alas".into()) },
        ),
    ] {
        let mut pair = extended(move |_, sent, peer| peer.answer(sent, &answer));
        let ticket = call_and_wait(&mut pair, &RequestOptions::new(), secs(3));
        assert_eq!(fault(&mut pair, ticket), expected);
        assert_eq!(pair.engine.poll_timeout(), None);
    }
    let mut pair = extended(|_, sent, peer| peer.refuse(sent, -32602, "Failed to retrieve task: Task has expired"));
    let ticket = call_and_wait(&mut pair, &RequestOptions::new(), secs(3));
    let error = pair.error(ticket);
    assert!(matches!(&error, CallError::Task { fault: TaskError::Unknown { error }, .. } if error.code == -32602));
    assert!(error.to_string().contains("\"t1\"") && error.to_string().contains("has expired"), "{error}");
}

#[test]
fn what_was_not_declared_is_no_task() {
    let mut pair = Pair::open(Config::default(), extension(|_, _, _| {}));
    let ticket = call_and_wait(&mut pair, &RequestOptions::new(), secs(3));
    assert!(matches!(pair.error(ticket), CallError::Invalid { .. }));
    assert!(pair.sent[0].text.contains("clientCapabilities") && !pair.sent[0].text.contains(EXTENSION));
    assert_eq!(pair.methods(), ["tools/call"]);
}

fn as_task(pair: &mut Pair) -> Ticket<CallToolAsTask> {
    let arguments = Json::parse("{}").expect("an object");
    let params = CallToolParams { name: "slow", arguments: &arguments };
    let options = RequestOptions::new().task(TaskMode::Handle).task_ttl(secs(60));
    let ticket = pair.engine.calls().request::<CallToolAsTask>(&params, &options, pair.now).expect("it is sent");
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
    assert_eq!((&*handle.task_id, handle.form, handle.ttl_ms), ("t1", TaskProtocol::Extension, Some(60_000)));
    pair.pass(secs(100));
    assert_eq!(pair.methods(), ["tools/call"], "nobody asks for it");
    assert!(pair.sent[0].text.contains(EXTENSION) && pair.sent[0].params()["task"].is_null());
    let stored = serde_json::to_string(&handle).expect("it can be stored");
    drop(pair);

    let handle: TaskHandle = serde_json::from_str(&stored).expect("it can be read");
    let mut pair = Pair::open(Config::default(), extension(get));
    let ticket = pair.engine.calls().follow_task(&handle, &RequestOptions::new(), pair.now).expect("it is sent");
    pair.drive();
    assert_eq!(pair.methods(), ["tasks/get"], "at once");
    pair.pass(secs(2));
    assert_eq!(pair.text(ticket), "hello");
    assert!(pair.sent.iter().all(|sent| sent.text.contains(EXTENSION)));

    // By hand.
    let ticket =
        pair.engine.calls().request::<GetTask>(&TaskParams { task_id: "t1" }, &RequestOptions::new(), pair.now);
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
    let mut pair = experimental_pair(move |sent, peer| match sent.method() {
        "tasks/get" => {
            asked += 1;
            peer.answer(sent, &stood(if asked < 3 { "working" } else { "completed" }));
        }
        "tasks/result" => peer.answer(sent, HELLO),
        other => panic!("{other}"),
    });
    let ticket = call_and_wait(&mut pair, &follow().task_ttl(secs(60)), secs(10));
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
        let mut pair = experimental_pair(move |sent, peer| match sent.method() {
            "tasks/get" => peer.answer(sent, &stood(status)),
            _ => peer.say(format!(r#"{{"jsonrpc":"2.0","id":{},{result}}}"#, sent.message["id"])),
        });
        let ticket = call_and_wait(&mut pair, &follow(), secs(3));
        match pair.take(ticket).expect("it has ended") {
            Ok(result) => assert!(result.is_error && result.text().as_str() == "no"),
            Err(CallError::Server { error, .. }) => assert_eq!((error.code, &*error.message), (-32099, "no")),
            Err(CallError::Task { fault: TaskError::Cancelled { .. }, .. }) => assert_eq!(status, "cancelled"),
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
        let mut pair = experimental_with(
            configured(|config| config.answer("elicitation/create")),
            move |sent, peer| match sent.method() {
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
            },
        );
        let ticket = call_and_wait(&mut pair, &follow(), secs(2));
        let ask = pair.events.iter().find_map(|(_, event)| match event {
            Event::ServerRequest(ask) => Some(ask.key),
            _ => None,
        });
        let answer = json!({"action": "decline"});
        pair.engine.calls().answer(ask.expect("it is asked"), &answer, pair.now).expect("it is answered");
        pair.pass(secs(5));
        assert_eq!(pair.text(ticket), "hello", "{waits}");
        let answer = pair.sent.iter().find(|sent| sent.method().is_empty()).expect("it was answered");
        let meta = json!({"io.modelcontextprotocol/related-task": {"taskId": "t1"}});
        assert_eq!(answer.message["result"], json!({"action": "decline", "_meta": meta}));
    }
}

#[test]
fn a_result_of_2025_11_25_that_is_refused_is_requested_again_when_the_status_says_so() {
    let mut asked = 0;
    let mut pair = experimental_pair(move |sent, peer| match sent.method() {
        "tasks/get" => {
            asked += 1;
            let status = match asked {
                1 | 2 => "input_required",
                3..=9 => "working",
                _ => "completed",
            };
            peer.answer(sent, &stood(status));
        }
        _ if asked < 10 => peer.refuse(sent, -32600, "not yet"),
        _ => peer.answer(sent, HELLO),
    });
    let ticket = call_and_wait(&mut pair, &follow(), secs(30));
    assert_eq!(pair.ended_at(ticket), Some(secs(20)));
    assert_eq!(pair.text(ticket), "hello");
    let after_which_status: Vec<usize> = pair
        .sent
        .iter()
        .scan(0, |asked, sent| {
            *asked += usize::from(sent.method() == "tasks/get");
            Some((sent.method() == "tasks/result").then_some(*asked))
        })
        .flatten()
        .collect();
    assert_eq!(after_which_status, [1, 2, 10]);
}

/// An adapter need not report a timeout before it passes the bytes that have arrived.
#[test]
fn received_bytes_advance_the_time() {
    type Receive = fn(&mut Pair, &[u8]);
    let ways: [(&str, Receive); 2] = [
        ("receive", |pair, bytes| assert_eq!(pair.engine.receive(bytes, pair.now), bytes.len())),
        ("space and filled", |pair, bytes| {
            pair.engine.space().expect("there is room")[..bytes.len()].copy_from_slice(bytes);
            pair.engine.filled(bytes.len(), pair.now);
        }),
    ];
    for (way, receive) in ways {
        let mut pair = Pair::open(declared(), modern(|_, _| {}));
        let ticket = pair.call("slow", &RequestOptions::new()).expect("it is sent");
        pair.drive();
        pair.now = pair.now + secs(10);
        let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{}}}\n", pair.sent[0].message["id"], created());
        receive(&mut pair, line.as_bytes());
        while pair.engine.poll_event().is_some() {}
        assert!(pair.engine.session().is_waiting(ticket.key()), "{way}: it is a task");
        assert_eq!(pair.engine.poll_timeout(), Some(pair.now + secs(2)), "{way}: the status is due after an interval");
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
    let handle = TaskHandle::new("t1", TaskProtocol::Experimental);
    let refused = pair.engine.calls().follow_task(&handle, &RequestOptions::new(), pair.now);
    assert!(matches!(refused, Err(SendError::NotInRevision { method: "tasks/get", .. })), "{refused:?}");
    pair.drive();
    assert!(pair.engine.is_idle());
}

#[test]
fn a_task_is_requested_with_any_parameters() {
    let options = RequestOptions::new().task(TaskMode::Handle).task_ttl(secs(60));
    for params in [None, Some("{}"), Some("{ }"), Some("{\"name\":\"t\"}"), Some("{\"arguments\":{} }")] {
        let mut pair = Pair::open(declared(), experimental(|_, _| {}));
        let json = params.map(|text| Json::parse(text).unwrap());
        let _ = pair.engine.calls().request_raw("tools/call", json.as_ref(), &options, pair.now).expect("it is sent");
        pair.drive();
        // The simulated server reads what was sent as JSON.
        assert_eq!(sent(&pair, "tools/call")[0]["task"]["ttl"], 60_000, "{params:?}");
    }
}

#[test]
fn a_parameter_task_of_the_caller_is_the_only_one() {
    let options = RequestOptions::new().task(TaskMode::Handle).task_ttl(secs(60));
    for (params, count, ttl) in [
        (r#"{"name":"t","task":{"ttl":5}}"#, 1, 5),
        (r#"{"ta\u0073k":{"ttl":5},"name":"t"}"#, 0, 5),
        (r#"{"name":"t","arguments":{"task":1}}"#, 2, 60_000),
    ] {
        let mut pair = Pair::open(declared(), experimental(|_, _| {}));
        let json = Json::parse(params).unwrap();
        let _ = pair.engine.calls().request_raw("tools/call", Some(&json), &options, pair.now).expect("it is sent");
        pair.drive();
        let line = &pair.sent.iter().find(|sent| sent.method() == "tools/call").expect("it is sent").text;
        assert_eq!(line.matches("\"task\":").count(), count, "{line}");
        assert_eq!(sent(&pair, "tools/call")[0]["task"]["ttl"], ttl, "{line}");
    }
}
