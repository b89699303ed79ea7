//! Deadlines of calls, tasks, subscriptions, and requests of the server.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcpwire_blocking::ErrorKind;
use mcpwire_blocking::protocol::{
    CloseReason, Config, SubscribeOptions, SubscriptionEnd, SubscriptionEvent, SubscriptionFilter, TaskHandle,
    TaskProtocol, TaskStatus,
};
use mcpwire_tests::{Adapter, Call, Server, Statuses, WATCHDOG, done_of_total, on_every_adapter, server, timed};
use serde_json::json;

use super::{in_both_eras, open};

// Idle and total deadlines of calls.

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn an_answer_in_time_is_an_answer<A: Adapter>() {
    let (_server, mut client) = open::<A>("slow 30");
    client.call(Call::new("echo").timeout(WATCHDOG)).expect("it is in time");
}

fn the_idle_deadline_ends_a_call<A: Adapter>() {
    let (_server, mut client) = open::<A>("slow 2000");
    let (outcome, took) = timed(|| client.call(Call::new("echo").timeout(ms(500))));
    outcome.unwrap_err().assert(ErrorKind::Timeout, &["bad-habits", "tools/call", "500 ms"]);
    assert!(took >= ms(500), "it took {took:?}");
    assert_eq!(client.text("echo", json!({"message": "the next call"})), "the next call");
}

fn the_deadline_of_the_configuration_holds_for_every_request<A: Adapter>() {
    let server = server!("slow 600000").configured(|config| config.request_timeout = ms(400));
    let mut client = server.open::<A>();
    client.failure("echo").assert(ErrorKind::Timeout, &["tools/call", "400 ms"]);
}

fn the_deadline_of_the_definition_holds_for_every_request<A: Adapter>() {
    let server = server!("slow 600000").defined(|def| def.timeout(ms(400)));
    let mut client = server.open::<A>();
    client.failure("echo").assert(ErrorKind::Timeout, &["tools/call", "400 ms"]);
}

/// How much slower the server and the deadline are at each try. A busy machine may delay a step beyond a short deadline, but
/// not beyond every one; a deadline that is not put off passes at each pace.
const PACES: [u32; 3] = [1, 8, 64];

fn progress_puts_the_idle_deadline_off<A: Adapter>() {
    for era in ["", "--modern"] {
        let called = PACES.into_iter().find_map(|pace| {
            let (_server, mut client) = open::<A>(&format!("slow {} {era}", 200 * pace));
            let seen = Arc::new(Mutex::new(Vec::new()));
            let call = Call::new("echo").with(json!({"message": "at last", "steps": 6}));
            let call = call.timeout(ms(700) * pace).progress(&seen);
            let (outcome, took) = timed(|| client.call(call));
            let result = outcome.ok()?;
            assert!(took >= ms(1_200) * pace, "it took {took:?}");
            Some((result, seen))
        });
        let (result, seen) = called.expect("progress shows life");
        assert_eq!(result.text().to_string(), "at last");

        let steps: Vec<_> = seen.lock().unwrap().iter().map(done_of_total).collect();
        assert_eq!(steps, (1..=6).map(|step| (f64::from(step), Some(6.0))).collect::<Vec<_>>());
        assert_eq!(seen.lock().unwrap()[0].message.as_deref(), Some("step 1 of 6"));
    }
}

fn progress_does_not_put_the_total_deadline_off<A: Adapter>() {
    let has_progress =
        [(ms(500), "500 ms"), (ms(4_000), "4 s"), (ms(32_000), "32 s")].into_iter().any(|(total, words)| {
            let (_server, mut client) = open::<A>("slow 100");
            let seen = Arc::new(Mutex::new(Vec::new()));
            let call = Call::new("echo").with(json!({"steps": 6_000})).total_timeout(total).progress(&seen);
            let (outcome, took) = timed(|| client.call(call));
            outcome.unwrap_err().assert(ErrorKind::Timeout, &["tools/call", words]);
            assert!(took >= total, "it took {took:?}");
            !seen.lock().unwrap().is_empty()
        });
    assert!(has_progress);
}

fn chatter_does_not_put_any_deadline_off<A: Adapter>() {
    let (server, mut client) = open::<A>("chatters");
    // The first call may end before a busy machine has run the server.
    while server.heard.logs.lock().unwrap().is_empty() {
        let (outcome, took) = timed(|| client.call(Call::new("echo").timeout(ms(500))));
        outcome.unwrap_err().assert(ErrorKind::Timeout, &["tools/call", "500 ms"]);
        assert!(took >= ms(500), "it took {took:?}");
    }
}

// Calls that become tasks, in both forms: followed, or kept by their handle and taken up again by another client.

fn servers() -> [Server; 2] {
    [server!("tasks --modern"), server!("tasks")]
}

fn job(end: &str) -> Call {
    Call::new("job").with(json!({"message": end}))
}

fn seen(statuses: &Statuses) -> Vec<String> {
    statuses.lock().expect("nobody fails").clone()
}

fn a_call_that_becomes_a_task_ends_with_its_result<A: Adapter>() {
    for server in servers() {
        let mut client = server.open::<A>();
        let statuses = Statuses::default();
        let result = client.call(job("well").follow_task(&statuses)).expect("it ends well");
        assert_eq!(result.text().as_str(), "well");
        assert_eq!(seen(&statuses), ["working", "completed"], "when it changes, and only then");
        let failure = client.call(job("failed").follow_task(&Arc::default())).expect_err("it fails");
        failure.assert(ErrorKind::Server, &["`tools/call` of `job` failed", "it has failed"]);
        let failure = client.call(job("cancelled").follow_task(&Arc::default())).expect_err("it is cancelled");
        failure.assert(ErrorKind::Server, &["ends-cancelled", "was cancelled by the server: cancelled on it"]);
        assert_eq!(client.text("job", json!({"message": "plainly"})), "plainly", "nobody has asked for a task");
    }
}

fn a_session_that_declares_tasks_follows_them<A: Adapter>() {
    let server = server!("tasks --modern").configured(Config::declare_tasks);
    let mut client = server.open::<A>();
    assert_eq!(client.text("job", json!({"message": "well"})), "well");
    assert!(client.call(job("cancelled")).is_err());
}

/// 2025-11-25, "Tool-Level Negotiation".
fn a_tool_is_called_as_it_can_be<A: Adapter>() {
    let server = server!("tasks").configured(Config::follow_tasks);
    let mut client = server.open::<A>();
    // That is to be known, so the list is asked for.
    assert_eq!(client.text("must", json!({"message": "as a task"})), "as a task");
    assert_eq!(client.text("echo", json!({"message": "as ever"})), "as ever");
    let result = client.call(Call::new("echo").with(json!({"message": "a"})).follow_task(&Arc::default()));
    assert_eq!(result.expect("it is called as ever").text().as_str(), "a");
    // Without the list, it is asked for.
    let mut client = server.open::<A>();
    let done = client.begin_task(Call::new("echo").with(json!({"message": "b"}))).expect("it answers");
    assert_eq!(done.expect_err("it is no task").text().as_str(), "b");
}

/// A task may take longer than a call, so a program says whether its calls may become tasks.
fn a_tool_that_is_called_as_a_task_only_is_not_called_otherwise<A: Adapter>() {
    let (_server, mut client) = open::<A>("tasks");
    let failure = client.call(Call::new("must").with(json!({"message": "a"}))).expect_err("nobody follows tasks");
    failure.assert(
        ErrorKind::Usage,
        &[
            "the tool `must` can be called as a task only",
            "`tools/call` was not sent",
            "follow_task()",
            "follow_tasks()",
        ],
    );
    let result = client.call(Call::new("must").with(json!({"message": "b"})).follow_task(&Arc::default()));
    assert_eq!(result.expect("the call follows its own").text().as_str(), "b");
    assert_eq!(client.text("job", json!({"message": "plainly"})), "plainly", "others are called as ever");
}

fn a_task_is_taken_up_by_another_client<A: Adapter>() {
    for (server, form) in servers().into_iter().zip([TaskProtocol::Extension, TaskProtocol::Experimental]) {
        let mut client = server.open::<A>();
        let handle = client.begin_task(job("later")).expect("it is sent").expect("it is a task");
        assert_eq!((handle.task_id.as_str(), handle.form, handle.ttl_ms), ("ends-later", form, Some(60_000)));
        let task = client.task_status(&handle).expect("it is known");
        assert_eq!(task.status, TaskStatus::Working);
        let stored = serde_json::to_string(&handle).expect("it can be stored");
        drop(client);

        let handle: TaskHandle = serde_json::from_str(&stored).expect("it can be read");
        let mut client = server.open::<A>();
        let statuses = Statuses::default();
        let result = client.task_result(&handle, &statuses).expect("it ends well");
        assert_eq!(result.text().as_str(), "later");
        assert_eq!(seen(&statuses).last().map(String::as_str), Some("completed"));
    }
}

fn a_task_is_ended_by_its_handle<A: Adapter>() {
    for server in servers() {
        let mut client = server.open::<A>();
        let handle = client.begin_task(job("never")).expect("it is sent").expect("it is a task");
        client.cancel_task(&handle).expect("it can be cancelled");
        assert_eq!(client.task_status(&handle).expect("it is known").status, TaskStatus::Cancelled);
        let failure = client.task_result(&handle, &Arc::default()).expect_err("it has none");
        failure.assert(ErrorKind::Server, &["was cancelled by the server"]);
        let unknown = TaskHandle::new("nobody", handle.form);
        let failure = client.task_result(&unknown, &Arc::default()).expect_err("there is none");
        failure.assert(ErrorKind::Server, &["nobody", "Task not found"]);
        client.task_status(&unknown).expect_err("there is none").assert(ErrorKind::Server, &["Task not found"]);
    }
}

/// The server never answers `tasks/cancel`.
fn a_task_given_up_loses_no_later_call<A: Adapter>() {
    for server in servers() {
        let mut client = server.open::<A>();
        let unheard = job("unheard").follow_task(&Arc::default()).total_timeout(Duration::from_millis(200));
        client.call(unheard).expect_err("it never ends").assert(ErrorKind::Timeout, &["tools/call"]);
        for round in 0..3 {
            // Blocking clients give idle buffers back when they list tools, the others whenever no call waits.
            assert_eq!(client.list_tools().expect("it has some").len(), 3);
            let message = round.to_string();
            assert_eq!(client.text("echo", json!({"message": message})), message);
        }
        let silent = job("silence").timeout(Duration::from_millis(200));
        client.call(silent).expect_err("nobody answers").assert(ErrorKind::Timeout, &["tools/call"]);
        assert_eq!(client.in_flight(), 0);
    }
}

fn the_tasks_of_a_server_are_listed<A: Adapter>() {
    let server = server!("tasks");
    let listed = server.open::<A>().list_tasks().expect("it has a list");
    assert_eq!(listed.iter().map(|task| task.task_id.as_str()).collect::<Vec<_>>(), ["ends-a"]);
}

// One handle for what servers tell of changes, in both eras and on every adapter.

fn everything() -> SubscriptionFilter {
    SubscriptionFilter::new().tools().prompts().resources().resource("file:///a").resource("file:///b")
}

fn updated(uri: &str) -> SubscriptionEvent {
    SubscriptionEvent::ResourceUpdated { uri: uri.into() }
}

fn tell<A: Adapter>(client: &mut A, change: &str, uri: &str) {
    client.text("tell", json!({"change": change, "uri": uri}));
}

fn changes_are_told_in_order<A: Adapter>() {
    in_both_eras::<A>("changes -", |_server, mut client| {
        let agreed = client.subscribe(&everything(), SubscribeOptions::new()).expect("the server agrees");
        assert_eq!(agreed, everything());
        tell(&mut client, "resources/updated", "file:///b");
        tell(&mut client, "tools/list_changed", "");
        tell(&mut client, "resources/updated", "file:///a/part");
        tell(&mut client, "prompts/list_changed", "");
        tell(&mut client, "resources/list_changed", "");
        for event in [
            updated("file:///b"),
            SubscriptionEvent::ToolsChanged,
            updated("file:///a/part"),
            SubscriptionEvent::PromptsChanged,
            SubscriptionEvent::ResourcesChanged,
        ] {
            assert_eq!(client.next_change(), Some(event));
        }
    });
}

/// A hundred thousand of them cost nothing, and none of them is missed.
fn what_is_told_again_and_again_is_told_once<A: Adapter>() {
    in_both_eras::<A>("changes -", |_server, mut client| {
        client.subscribe(&everything(), SubscribeOptions::new()).expect("the server agrees");
        client.text("tell", json!({"change": "resources/updated", "uri": "file:///a", "times": 20_000}));
        client.text("tell", json!({"change": "tools/list_changed", "times": 20_000}));
        assert_eq!(client.next_change(), Some(updated("file:///a")));
        assert_eq!(client.next_change(), Some(SubscriptionEvent::ToolsChanged));
        tell(&mut client, "resources/updated", "file:///b");
        assert_eq!(client.next_change(), Some(updated("file:///b")));
    });
}

fn it_is_given_up_on_the_wire<A: Adapter>() {
    for (era, tally) in [("", "2 asked, 2 given up, 0 lists"), ("--modern", "1 asked, 1 given up, 0 lists")] {
        let (_server, mut client) = open::<A>(&format!("changes - {era}"));
        client.subscribe(&everything(), SubscribeOptions::new()).expect("the server agrees");
        client.unsubscribe();
        assert_eq!(client.text("tally", json!({})), tally);
        tell(&mut client, "tools/list_changed", "");
        client.assert_alive();
    }
}

fn the_servers_end_is_told<A: Adapter>() {
    let (_server, mut client) = open::<A>("changes - --modern");
    client.subscribe(&everything(), SubscribeOptions::new()).expect("the server agrees");
    tell(&mut client, "tools/list_changed", "");
    client.text("end", json!({}));
    assert_eq!(client.next_change(), Some(SubscriptionEvent::ToolsChanged));
    assert_eq!(client.end_of_subscription(), None, "not before all is taken");
    assert_eq!(client.next_change(), None);
    assert_eq!(client.end_of_subscription(), Some(SubscriptionEnd::ByServer));
    assert_eq!(client.next_change(), None);
    client.assert_alive();
}

fn the_loss_of_the_connection_is_told<A: Adapter>() {
    in_both_eras::<A>("changes -", |server, mut client| {
        client.subscribe(&everything(), SubscribeOptions::new()).expect("the server agrees");
        server.kill(client.pid());
        assert_eq!(client.next_change(), None);
        assert_eq!(client.end_of_subscription(), Some(SubscriptionEnd::Dropped(CloseReason::ByServer)));
        let failure = client.subscribe(&everything(), SubscribeOptions::new()).expect_err("there is nobody to ask");
        assert_eq!(failure.kind, ErrorKind::Closed, "{failure}");
    });
}

fn silence_is_no_agreement<A: Adapter>() {
    in_both_eras::<A>("changes silent", |_, mut client| {
        let soon = SubscribeOptions::new().timeout(Duration::from_millis(50));
        let failure = client.subscribe(&everything(), soon).expect_err("nobody agrees");
        assert_eq!(failure.kind, ErrorKind::Timeout, "{failure}");
        client.assert_alive();
    });
}

fn a_refusal_says_why<A: Adapter>() {
    let (_server, mut client) = open::<A>("well-behaved --modern");
    let failure =
        client.subscribe(&everything(), SubscribeOptions::new()).expect_err("it does not know of such things");
    failure.assert_says(&["subscriptions/listen", "Method not found"]);
    client.assert_alive();
}

/// What the server agreed to, and ended with the same breath, is no error.
fn one_that_ends_at_once_has_ended<A: Adapter>() {
    let (_server, mut client) = open::<A>("changes ends --modern");
    client.subscribe(&everything(), SubscribeOptions::new()).expect("the server agrees");
    assert_eq!(client.next_change(), None);
    assert_eq!(client.end_of_subscription(), Some(SubscriptionEnd::ByServer));
    assert_eq!(client.text("tally", json!({})), "1 asked, 0 given up, 0 lists");
}

/// A list that holds is not asked for again, until the server says that it has changed.
fn a_list_that_holds_is_not_asked_for_again<A: Adapter>() {
    let (_server, mut client) = open::<A>("changes - --modern");
    for _ in 0..3 {
        assert_eq!(client.list_tools().expect("there is a list").len(), 3);
    }
    assert_eq!(client.text("tally", json!({})), "0 asked, 0 given up, 1 lists");
    client.subscribe(&everything(), SubscribeOptions::new()).expect("the server agrees");
    tell(&mut client, "tools/list_changed", "");
    for _ in 0..3 {
        client.list_tools().expect("there is a list");
    }
    assert_eq!(client.text("tally", json!({})), "1 asked, 0 given up, 2 lists");
}

/// To tell what an error means, the list is asked for, whatever is kept of it.
fn an_error_is_reason_to_doubt_the_list<A: Adapter>() {
    let (_server, mut client) = open::<A>("changes - --modern");
    client.request_raw("tools/list", None).expect("there is a list");
    client.failure("nonesuch").assert(ErrorKind::ToolNotFound, &["nonesuch"]);
    assert_eq!(client.text("tally", json!({})), "0 asked, 0 given up, 2 lists");
}

// Requests in the other direction, in the middle of a call, with ids that the client itself uses.

fn a_ping_is_answered_and_the_rest_is_refused<A: Adapter>() {
    let (_server, mut client) = open::<A>("asks");
    for _ in 0..3 {
        assert_eq!(
            client.text("ask", json!({})),
            "ping: result; roots/list: error -32601; vendor/never-heard-of: error -32601"
        );
        client.assert_alive();
        assert_eq!(client.text("answered", json!({})), "0", "one answer for each is enough");
    }
}

/// Servers of that era may not ask, and clients may not answer.
fn a_modern_server_is_not_answered<A: Adapter>() {
    let (_server, mut client) = open::<A>("asks --modern");
    assert_eq!(client.text("ask", json!({})), "asked");
    client.assert_alive();
    assert_eq!(client.text("answered", json!({})), "0");
}

on_every_adapter!(
    an_answer_in_time_is_an_answer,
    the_idle_deadline_ends_a_call,
    the_deadline_of_the_configuration_holds_for_every_request,
    the_deadline_of_the_definition_holds_for_every_request,
    progress_puts_the_idle_deadline_off,
    progress_does_not_put_the_total_deadline_off,
    chatter_does_not_put_any_deadline_off,
    a_call_that_becomes_a_task_ends_with_its_result,
    a_session_that_declares_tasks_follows_them,
    a_tool_is_called_as_it_can_be,
    a_tool_that_is_called_as_a_task_only_is_not_called_otherwise,
    a_task_is_taken_up_by_another_client,
    a_task_is_ended_by_its_handle,
    a_task_given_up_loses_no_later_call,
    the_tasks_of_a_server_are_listed,
    changes_are_told_in_order,
    what_is_told_again_and_again_is_told_once,
    it_is_given_up_on_the_wire,
    the_servers_end_is_told,
    the_loss_of_the_connection_is_told,
    silence_is_no_agreement,
    a_refusal_says_why,
    one_that_ends_at_once_has_ended,
    a_list_that_holds_is_not_asked_for_again,
    an_error_is_reason_to_doubt_the_list,
    a_ping_is_answered_and_the_rest_is_refused,
    a_modern_server_is_not_answered,
);
