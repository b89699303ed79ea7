//! Deadlines of calls, tasks, subscriptions, and requests of the server.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcpwire_blocking::ErrorKind;
use mcpwire_blocking::protocol::{
    CloseReason, Config, Era, SubscribeOptions, SubscriptionEnd, SubscriptionEvent, SubscriptionFilter, TaskHandle,
    TaskProtocol, TaskStatus,
};
use mcpwire_tests::{Adapter, Call, Server, Statuses, done_of_total, on_both_clients, on_every_adapter, server, timed};
use serde_json::json;

use super::{in_both_eras, open};

// Idle and total deadlines of calls. The engine's tests have their rules, in simulated time.

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// A11 and A12: the error names server, method and time.
fn the_idle_deadline_ends_a_call<A: Adapter>() {
    let (_server, mut client) = open::<A>("slow 400");
    let (outcome, took) = timed(|| client.call(Call::new("echo").timeout(ms(100))));
    outcome.unwrap_err().assert(ErrorKind::Timeout, &["bad-habits", "tools/call", "100 ms"]);
    assert!(took >= ms(100), "it took {took:?}");
    assert_eq!(client.text("echo", json!({"message": "the next call"})), "the next call");
}

fn the_deadline_of_the_configuration_or_the_definition_holds_for_every_request<A: Adapter>() {
    let configured = server!("slow 600000").configured(|config| config.request_timeout = ms(100));
    let defined = server!("slow 600000").defined(|def| def.timeout(ms(100)));
    for server in [configured, defined] {
        server.open::<A>().failure("echo").assert(ErrorKind::Timeout, &["tools/call", "100 ms"]);
    }
}

/// How much slower the server and the deadline are at each try. A busy machine may delay a step beyond a short deadline, but
/// not beyond every one; a deadline that is not put off passes at each pace.
const PACES: [u32; 3] = [1, 16, 256];

fn progress_puts_the_idle_deadline_off<A: Adapter>() {
    for era in ["", "--modern"] {
        let called = PACES.into_iter().find_map(|pace| {
            let (_server, mut client) = open::<A>(&format!("slow {} {era}", 50 * pace));
            let seen = Arc::new(Mutex::new(Vec::new()));
            let call = Call::new("echo").with(json!({"message": "at last", "steps": 6}));
            let call = call.timeout(ms(175) * pace).progress(&seen);
            let (outcome, took) = timed(|| client.call(call));
            let result = outcome.ok()?;
            assert!(took >= ms(300) * pace, "it took {took:?}");
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
        [(ms(200), "200 ms"), (ms(2_000), "2 s"), (ms(32_000), "32 s")].into_iter().any(|(total, words)| {
            let (_server, mut client) = open::<A>("slow 20");
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
        let (outcome, took) = timed(|| client.call(Call::new("echo").timeout(ms(100))));
        outcome.unwrap_err().assert(ErrorKind::Timeout, &["tools/call", "100 ms"]);
        assert!(took >= ms(100), "it took {took:?}");
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
        // It is given up on the wire: a request for each resource, or the one for all.
        let is_modern = client.server_info().is_some_and(|info| info.era == Era::Modern);
        client.unsubscribe();
        let tally = if is_modern { "1 asked, 1 given up, 0 lists" } else { "2 asked, 2 given up, 0 lists" };
        assert_eq!(client.text("tally", json!({})), tally);
        tell(&mut client, "tools/list_changed", "");
        client.assert_alive();
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

fn the_servers_end_is_told<A: Adapter>() {
    for how in ["-", "ends"] {
        let (_server, mut client) = open::<A>(&format!("changes {how} --modern"));
        client.subscribe(&everything(), SubscribeOptions::new()).expect("the server agrees");
        if how == "-" {
            tell(&mut client, "tools/list_changed", "");
            client.text("end", json!({}));
            assert_eq!(client.next_change(), Some(SubscriptionEvent::ToolsChanged));
            assert_eq!(client.end_of_subscription(), None, "not before all is taken");
        }
        assert_eq!(client.next_change(), None, "{how}");
        assert_eq!(client.end_of_subscription(), Some(SubscriptionEnd::ByServer), "{how}");
        assert_eq!(client.next_change(), None, "{how}");
        assert_eq!(client.text("tally", json!({})), "1 asked, 0 given up, 0 lists");
    }
}

fn silence_and_a_refusal_are_no_agreement<A: Adapter>() {
    in_both_eras::<A>("changes silent", |_, mut client| {
        let soon = SubscribeOptions::new().timeout(ms(50));
        let failure = client.subscribe(&everything(), soon).expect_err("nobody agrees");
        assert_eq!(failure.kind, ErrorKind::Timeout, "{failure}");
        client.assert_alive();
    });
    let (_server, mut client) = open::<A>("well-behaved --modern");
    let failure = client.subscribe(&everything(), SubscribeOptions::new()).expect_err("it has no such thing");
    failure.assert_says(&["subscriptions/listen", "Method not found"]);
    client.assert_alive();
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

on_every_adapter!(
    the_idle_deadline_ends_a_call,
    progress_puts_the_idle_deadline_off,
    progress_does_not_put_the_total_deadline_off,
    chatter_does_not_put_any_deadline_off,
    a_task_is_taken_up_by_another_client,
    changes_are_told_in_order,
    the_loss_of_the_connection_is_told,
);

on_both_clients!(
    the_deadline_of_the_configuration_or_the_definition_holds_for_every_request,
    a_call_that_becomes_a_task_ends_with_its_result,
    a_session_that_declares_tasks_follows_them,
    a_tool_is_called_as_it_can_be,
    a_tool_that_is_called_as_a_task_only_is_not_called_otherwise,
    a_task_is_ended_by_its_handle,
    a_task_given_up_loses_no_later_call,
    what_is_told_again_and_again_is_told_once,
    the_servers_end_is_told,
    silence_and_a_refusal_are_no_agreement,
    an_error_is_reason_to_doubt_the_list,
    a_ping_is_answered_and_the_rest_is_refused,
);
