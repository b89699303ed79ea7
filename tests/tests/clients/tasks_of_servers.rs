//! Calls that become tasks, in both forms: followed, or kept by their handle and taken up again by another client.

use std::sync::Arc;
use std::time::Duration;

use mcpwire_blocking::ErrorKind;
use mcpwire_blocking::protocol::{Config, TaskHandle, TaskProtocol, TaskStatus};
use mcpwire_tests::{Adapter, Call, Server, Statuses, on_every_adapter, server};
use serde_json::json;

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
    let server = server!("tasks");
    let mut client = server.open::<A>();
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

on_every_adapter!(
    a_call_that_becomes_a_task_ends_with_its_result,
    a_session_that_declares_tasks_follows_them,
    a_tool_is_called_as_it_can_be,
    a_tool_that_is_called_as_a_task_only_is_not_called_otherwise,
    a_task_is_taken_up_by_another_client,
    a_task_is_ended_by_its_handle,
    a_task_given_up_loses_no_later_call,
    the_tasks_of_a_server_are_listed,
);
