//! Requests that were begun: their results are taken in any order, or not at all. The same on all clients.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcpwire_blocking as blocking;
use mcpwire_driver::protocol::{Progress, TaskStatus};
use mcpwire_driver::{Error, ErrorKind};
use mcpwire_testkit::{ScriptedResponse, ScriptedServer, Testkit};
use mcpwire_tests::asynchronous::{Async, Host};
use mcpwire_tests::{WATCHDOG, on_one_runtime, server, watched};
use serde::{Serialize, Serializer, ser};
use serde_json::json;

use crate::{open_blocking, with_client};

/// Calls as an agent makes them: the names and arguments that a model has chosen are gone before the calls are sent.
fn calls_can_be_spawned_and_outlive_their_names_and_arguments<H: Host>() {
    with_client::<H>("floods-notifications 5", async |client| {
        let reports = Arc::new(AtomicUsize::new(0));
        let mut calls: Vec<Pin<Box<dyn Future<Output = _> + Send + 'static>>> = Vec::new();
        for n in 0..6 {
            let (name, arguments, reports) =
                (String::from("echo"), json!({"message": n.to_string()}), Arc::clone(&reports));
            let on_progress = move |_: &Progress| {
                reports.fetch_add(1, Ordering::Relaxed);
            };
            let call = client.call_tool(&name, &arguments).timeout(WATCHDOG).on_progress(on_progress);
            if n < 3 {
                calls.push(Box::pin(call.send()));
                assert_eq!(client.in_flight(), 0, "a call is sent when it is polled");
            } else {
                calls.push(Box::pin(call.begin().expect("it is sent")));
            }
        }
        for (n, call) in calls.into_iter().enumerate() {
            assert_eq!(call.await.expect("it answers").text().as_str(), n.to_string());
        }
        assert_eq!(reports.load(Ordering::Relaxed), 30);
        client.list_tools().await.expect("it has tools");
        let error = client.call_tool("missing_tool", ()).begin().expect_err("the list does not have it");
        assert_eq!(error.kind(), ErrorKind::ToolNotFound, "{error}");
    });
}

/// Arguments that do not serialize.
struct Broken;

impl Serialize for Broken {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(ser::Error::custom("the disk is gone"))
    }
}

fn the_error_of_serializing_arguments_is_that_of_sending<H: Host>() {
    let assert_not_sent = |error: Error| {
        assert_eq!((error.kind(), error.tool()), (ErrorKind::Usage, Some("echo")), "{error}");
        assert!(error.to_string().contains("the disk is gone"), "{error}");
    };
    let server = server!("well-behaved");
    server.open::<Async<H>>().run(async |client| {
        assert_not_sent(client.call_tool("echo", Broken).send().await.expect_err("it cannot be sent"));
        assert_not_sent(client.call_tool("echo", Broken).begin().expect_err("it cannot be sent"));
        assert_not_sent(client.call_tool("echo", Broken).as_task().await.expect_err("it cannot be sent"));
    });
    let mut client = blocking::McpClient::connect_and_initialize(&server.def).expect("it answers");
    assert_not_sent(client.call_tool("echo", Broken).send().expect_err("it cannot be sent"));
    assert_not_sent(client.call_tool("echo", Broken).begin().expect_err("it cannot be sent"));
}

#[test]
fn calls_of_a_blocking_client_are_taken_in_any_order() {
    watched(|| {
        let (_server, mut client) = open_blocking("well-behaved");
        let calls: Vec<_> = (0..10)
            .map(|n| client.call_tool("echo", json!({"message": n.to_string()})).begin().expect("it is sent"))
            .collect();
        for (n, call) in calls.into_iter().enumerate().rev() {
            assert_eq!(call.wait(&mut client).expect("it answers").text().as_str(), n.to_string());
        }
        let error = client.call_tool("missing_tool", ()).begin().expect_err("the list does not have it");
        assert_eq!(error.kind(), ErrorKind::ToolNotFound, "{error}");
    });
}

#[test]
fn the_error_of_a_call_that_was_begun_names_its_tool() {
    watched(|| {
        let kit = Testkit::new(ScriptedServer::new().tool("never", |_| ScriptedResponse::new()));
        let error = kit.run(async |client| {
            let call = client.call_tool("never", ()).timeout(Duration::from_secs(1)).begin().expect("it is sent");
            call.await.expect_err("nobody answers")
        });
        assert_eq!((error.kind(), error.tool()), (ErrorKind::Timeout, Some("never")), "{error}");

        let (_server, mut client) = open_blocking("well-behaved");
        let call = client.call_tool("ponder", ()).timeout(Duration::from_millis(20)).begin().expect("it is sent");
        let error = call.wait(&mut client).expect_err("it takes longer");
        assert_eq!((error.kind(), error.tool()), (ErrorKind::Timeout, Some("ponder")), "{error}");
    });
}

#[test]
fn a_dropped_request_of_a_blocking_client_is_cancelled() {
    watched(|| {
        let (_server, mut client) = open_blocking("well-behaved");
        for _ in 0..3 {
            drop(client.call_tool("ponder", ()).begin().expect("it is sent"));
        }
        assert!(client.in_flight() > 0);
        client.ping().expect("it answers");
        assert_eq!(client.in_flight(), 0);
        // Also if the reply was there before.
        let call = client.call_tool("echo", ()).begin().expect("it is sent");
        client.listen(Duration::from_millis(50)).expect("it goes on");
        drop(call);
        client.ping().expect("it answers");
        assert_eq!(client.in_flight(), 0);
    });
}

fn the_handle_of_a_task_is_current<H: Host>() {
    with_client::<H>("tasks --modern", async |client| {
        let begun = client.call_tool("job", json!({"message": "well"})).as_task().await.expect("it begins");
        let mut task = begun.into_task().expect("it is a task");
        task.wait().await.expect("it ends well");
        assert_eq!(task.handle().status, TaskStatus::Completed);
        let mut old = task.handle().clone();
        old.status = TaskStatus::Working;
        let mut same = client.task(old);
        same.status().await.expect("it is known");
        assert_eq!(same.into_handle().status, TaskStatus::Completed);
    });
}

on_one_runtime!(
    calls_can_be_spawned_and_outlive_their_names_and_arguments,
    the_error_of_serializing_arguments_is_that_of_sending,
    the_handle_of_a_task_is_current,
);
