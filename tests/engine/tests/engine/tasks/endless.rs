//! Tasks that are given up, and servers that never come to an end.

use mcpwire_core::{
    CallError, CloseReason, Config, Deadline, RequestOptions, SendError, TaskError, TaskHandle, TaskProtocol,
    TaskStatus,
};
use mcpwire_engine_tests::sim::{Pair, Peer, Sent, modern};

use super::{
    HELLO, call_and_wait, created, declared, experimental, experimental_pair, extended, extension, fault, follow,
    millis, secs, sent, stands, statuses, stood,
};

#[test]
fn a_call_given_up_ends_the_task() {
    let working = |_: u64, sent: &Sent, peer: &mut Peer| peer.answer(sent, &stands("working", ""));
    // One that is followed by its handle goes on without us.
    let mut pair = extended(working);
    let handle = TaskHandle::new("t1", TaskProtocol::Extension);
    let ticket = pair.engine.calls().follow_task(&handle, &RequestOptions::new(), pair.now).expect("it is sent");
    pair.pass(secs(3));
    assert!(pair.engine.calls().cancel(ticket.key(), None, pair.now));
    pair.pass(secs(100));
    assert!(matches!(pair.error(ticket), CallError::Cancelled { .. }));
    assert_eq!(pair.methods(), ["tasks/get", "tasks/get"]);

    let mut pair = extended(working);
    let ticket = call_and_wait(&mut pair, &RequestOptions::new(), secs(3));
    assert!(pair.engine.calls().cancel(ticket.key(), None, pair.now));
    assert!(!pair.engine.calls().cancel(ticket.key(), None, pair.now));
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
    let ticket = call_and_wait(&mut pair, &follow(), secs(3));
    assert!(pair.engine.calls().cancel(ticket.key(), None, pair.now));
    pair.pass(secs(100));
    assert!(matches!(pair.error(ticket), CallError::Cancelled { .. }));
    assert_eq!((pair.methods(), pair.engine.session().stats().late), (vec!["tools/call", "tasks/get"], 1));
}

/// Whoever gives up idle buffers in between: adapters do so whenever no caller waits.
#[test]
fn an_unanswered_cancel_of_a_task_loses_no_later_request() {
    for (config, options, server) in [
        (
            declared(),
            RequestOptions::new(),
            Box::new(modern(|sent, peer| match (sent.method(), sent.params()["name"].as_str()) {
                ("tools/call", Some("slow")) => peer.answer(sent, &created()),
                ("tools/call", Some("echo")) => peer.answer_after(secs(1), sent, HELLO),
                ("tasks/get", _) => peer.answer(sent, &stands("working", "")),
                _ => {}
            })) as Box<dyn FnMut(&Sent, &mut Peer)>,
        ),
        (
            Config::default(),
            follow(),
            Box::new(experimental(|sent, peer| match (sent.method(), sent.params()["name"].as_str()) {
                ("tools/call", Some("echo")) => peer.answer_after(secs(1), sent, HELLO),
                ("tasks/get", _) => peer.answer(sent, &stood("working")),
                _ => {}
            })),
        ),
    ] {
        let mut pair = Pair::open(config, server);
        let slow = call_and_wait(&mut pair, &options, secs(3));
        assert!(pair.engine.calls().cancel(slow.key(), None, pair.now));
        pair.drive();
        assert!(matches!(pair.error(slow), CallError::Cancelled { .. }));
        assert_eq!(pair.methods().last(), Some(&"tasks/cancel"));
        pair.engine.shrink();

        let answered = pair.call("echo", &RequestOptions::new()).expect("it is sent");
        let silent = pair.call("silent", &RequestOptions::new().timeout(secs(2))).expect("it is sent");
        assert_eq!((pair.engine.session().in_flight(), pair.engine.is_idle()), (2, false));
        pair.engine.shrink();
        pair.pass(secs(5));
        assert_eq!(pair.text(answered), "hello");
        assert!(matches!(pair.error(silent), CallError::Timeout { .. }));
        pair.pass(secs(100));
        assert_eq!(
            (pair.engine.session().in_flight(), pair.engine.poll_timeout()),
            (0, None),
            "the cancel has its deadline too"
        );
    }
}

#[test]
fn the_total_deadline_bounds_a_task_that_never_ends() {
    let mut pair = extended(|_, sent, peer| peer.answer(sent, &stands("working", r#","pollIntervalMs":0"#)));
    let ticket = call_and_wait(&mut pair, &RequestOptions::new().total_timeout(secs(60)), secs(100));
    assert_eq!(pair.ended_at(ticket), Some(secs(60)));
    let CallError::Timeout { after, deadline, .. } = pair.error(ticket) else { panic!("another error") };
    assert_eq!((after, deadline), (secs(60), Deadline::Total));
    assert_eq!(pair.methods().last(), Some(&"tasks/cancel"));
    let asked = sent(&pair, "tasks/get").len();
    assert!((570..=600).contains(&asked), "no more than ten times a second, whatever the server wishes: {asked}");
}

#[test]
fn a_server_that_wants_to_be_asked_in_a_thousand_years_is_asked_sooner() {
    let mut pair = extended(|asked, sent, peer| match asked {
        1 => peer.answer(sent, &stands("working", r#","pollIntervalMs":9007199254740991"#)),
        _ => peer.answer(sent, &stands("completed", &format!(r#","result":{HELLO}"#))),
    });
    let ticket = call_and_wait(&mut pair, &RequestOptions::new(), secs(600));
    assert_eq!(pair.ended_at(ticket), Some(secs(302)));
    assert_eq!(pair.text(ticket), "hello");
}

#[test]
fn a_server_that_does_not_say_how_often_is_asked_each_second() {
    let mut pair =
        Pair::modern(|sent, peer| peer.answer(sent, r#"{"taskId":"t1","status":"thinking","pollIntervalMs":-5}"#));
    let handle = TaskHandle::new("t1", TaskProtocol::Extension);
    let ticket = pair.engine.calls().follow_task(&handle, &RequestOptions::new(), pair.now).expect("it is sent");
    pair.pass(millis(9_500));
    assert_eq!(pair.sent.len(), 10, "a status that is not known is one of a task that goes on");
    assert_eq!(statuses(&pair), [(Some(0), TaskStatus::Other("thinking".into()))]);
    assert!(pair.engine.session().is_waiting(ticket.key()));
}

#[test]
fn errors_are_met_with_patience_and_an_end() {
    let mut pair = extended(|asked, sent, peer| match asked {
        1..=5 => peer.refuse(sent, -32603, "just a moment"),
        6 => peer.answer(sent, &stands("working", "")),
        7..=11 => peer.say("no answer"),
        12 => peer.answer(sent, &stands("completed", &format!(r#","result":{HELLO}"#))),
        _ => panic!("it was over"),
    });
    let ticket = call_and_wait(&mut pair, &RequestOptions::new().timeout(secs(10)), secs(600));
    // Asked after 2 s; then again after 4, 8, 16, 32, 64 s; the same once more, with 10 s for each that is not answered.
    assert_eq!(pair.ended_at(ticket), Some(secs(2 + 124 + 2 + 50 + 124)));
    assert_eq!(pair.text(ticket), "hello");

    let mut pair = extended(|_, sent, peer| peer.refuse(sent, -32603, "for ever and a day"));
    let ticket = call_and_wait(&mut pair, &RequestOptions::new(), secs(3600));
    let TaskError::Lost { error } = fault(&mut pair, ticket) else { panic!("another fault") };
    assert!(error.to_string().contains("for ever and a day"), "{error}");
    assert_eq!(sent(&pair, "tasks/get").len(), 6);
}

#[test]
fn an_answer_about_another_task_is_none() {
    let other = stands("completed", &format!(r#","result":{HELLO}"#)).replace("t1", "t2");
    let mut pair = extended(move |_, sent, peer| peer.answer(sent, &other));
    let ticket = call_and_wait(&mut pair, &RequestOptions::new(), secs(3600));
    let TaskError::Lost { error } = fault(&mut pair, ticket) else { panic!("another fault") };
    assert!(error.to_string().contains("another task") && error.to_string().contains("t2"), "{error}");
    assert_eq!(sent(&pair, "tasks/get").len(), 6);
}

#[test]
fn a_result_that_is_too_long_is_not_asked_for_again() {
    let mut config = declared();
    config.max_message = 10_000;
    let long = format!(r#","result":{{"content":[{{"type":"text","text":"{}"}}]}}"#, "x".repeat(20_000));
    let mut pair = Pair::open(config, extension(move |_, sent, peer| peer.answer(sent, &stands("completed", &long))));
    let ticket = call_and_wait(&mut pair, &RequestOptions::new(), secs(3));
    assert!(fault(&mut pair, ticket).to_string().contains("longer than the limit"));
    assert_eq!(sent(&pair, "tasks/get").len(), 1);
}

#[test]
fn a_task_that_becomes_a_task_is_an_error() {
    let again = r#","result":{"resultType":"task","taskId":"t2","status":"working"}"#;
    let mut pair = extended(move |_, sent, peer| peer.answer(sent, &stands("completed", again)));
    let ticket = call_and_wait(&mut pair, &RequestOptions::new(), secs(3));
    assert!(matches!(pair.error(ticket), CallError::Invalid { .. }));
}

#[test]
fn what_is_told_unasked_spares_the_asking() {
    let told = |method: &str, task: &str| format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{task}}}"#);
    let mut pair = extended(|_, _, _| panic!("there was no need"));
    let ticket = call_and_wait(&mut pair, &RequestOptions::new(), secs(1));
    pair.say(told("notifications/tasks", &stands("working", r#","statusMessage":"half""#)));
    pair.pass(millis(1999));
    pair.say(told("notifications/tasks", &stands("working", "").replace("t1", "another")));
    pair.say(told("notifications/tasks", &stands("completed", &format!(r#","result":{HELLO}"#))));
    assert_eq!(pair.text(ticket), "hello");
    let (working, completed) = (TaskStatus::Working, TaskStatus::Completed);
    let expected = [(Some(0), working.clone()), (Some(1), working.clone()), (None, working), (Some(2), completed)];
    assert_eq!(statuses(&pair), expected);

    // In 2025-11-25 the result is still to be asked for.
    let mut pair = experimental_pair(|sent, peer| match sent.method() {
        "tasks/result" => peer.answer(sent, HELLO),
        other => panic!("{other}"),
    });
    let ticket = call_and_wait(&mut pair, &follow(), secs(1));
    pair.say(told("notifications/tasks/status", &stood("completed")));
    assert_eq!(pair.text(ticket), "hello");
    assert_eq!(pair.elapsed(), secs(1));
}

/// A server that tells and tells puts off the asking, not the end, and nothing of it is kept.
#[test]
fn a_flood_of_notifications_does_not_hold_up_the_end() {
    let told = format!(r#"{{"jsonrpc":"2.0","method":"notifications/tasks","params":{}}}"#, stands("working", ""));
    let mut pair = extended(|_, sent, peer| peer.answer(sent, &stands("working", "")));
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
    assert_eq!(fault(&mut pair, tickets[2]), TaskError::TooMany { limit: 2 });
    assert_eq!(pair.methods().last(), Some(&"tasks/cancel"));
    let handle = TaskHandle::new("t1", TaskProtocol::Extension);
    let refused = pair.engine.calls().follow_task(&handle, &RequestOptions::new(), pair.now);
    assert!(matches!(refused, Err(SendError::TooManyInFlight { limit: 2 })));
    assert_eq!(pair.engine.session().in_flight(), 2);
}

#[test]
fn a_connection_that_ends_ends_the_calls() {
    let mut pair = extended(|_, _, _| {});
    let working = pair.call("slow", &RequestOptions::new()).expect("it is sent");
    pair.drive();
    let asked = call_and_wait(&mut pair, &RequestOptions::new(), secs(3));
    pair.end();
    for ticket in [working, asked] {
        assert!(matches!(pair.error(ticket), CallError::Closed { reason: CloseReason::ByServer, .. }));
    }
    assert_eq!((pair.engine.session().in_flight(), pair.engine.poll_timeout()), (0, None));
}

#[test]
fn a_server_that_does_not_read_holds_up_no_deadline() {
    let mut config = declared();
    config.max_transmit = 200;
    let mut pair = Pair::open(config, extension(|_, sent, peer| peer.answer(sent, &stands("working", ""))));
    let ticket = call_and_wait(&mut pair, &RequestOptions::new().total_timeout(secs(60)), secs(3));
    pair.stuck = true;
    pair.pass(secs(100));
    assert_eq!(pair.ended_at(ticket), Some(secs(60)));
    assert!(matches!(pair.error(ticket), CallError::Timeout { .. }));
    assert!(pair.engine.transmit().len() < 2_000, "what cannot be sent is not piled up");
}
