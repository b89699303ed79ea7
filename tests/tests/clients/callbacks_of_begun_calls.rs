//! A call that was begun keeps its callbacks. The async client calls them when the pending call is polled, the blocking client while
//! it reads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use mcpwire_blocking as blocking;
use mcpwire_driver::protocol::{Progress, Task};
use mcpwire_tests::asynchronous::{Async, Host};
use mcpwire_tests::{WATCHDOG, on_every_async_adapter, server, watched};
use serde_json::json;

/// Returns a callback that counts, and its count.
fn counter() -> (impl FnMut(&Progress) + Send + 'static, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let on_progress = move |_: &Progress| {
        counted.fetch_add(1, Ordering::Relaxed);
    };
    (on_progress, count)
}

/// Returns a callback that lists the statuses of a task, and its list.
fn listing() -> (impl FnMut(&Task) + Send + 'static, Arc<Mutex<Vec<String>>>) {
    let list = Arc::new(Mutex::new(Vec::new()));
    let listed = Arc::clone(&list);
    (move |task: &Task| listed.lock().unwrap().push(task.status.to_string()), list)
}

fn a_pending_call_reports_its_progress<H: Host>() {
    let server = server!("floods-notifications 5");
    server.open::<Async<H>>().run(async |client| {
        let (on_progress, count) = counter();
        let call = client.call_tool("echo", json!({"message": "begun"})).timeout(WATCHDOG).on_progress(on_progress);
        let pending = call.begin().expect("it is sent");
        // The reports wait for the first poll, as those of any future do.
        client.call_tool("echo", ()).await.expect("it answers");
        assert_eq!(count.load(Ordering::Relaxed), 0);
        assert_eq!(pending.await.expect("it answers").text().as_str(), "begun");
        assert_eq!(count.load(Ordering::Relaxed), 5);
    });
}

fn a_pending_call_reports_the_status_of_its_task<H: Host>() {
    let server = server!("tasks --modern");
    server.open::<Async<H>>().run(async |client| {
        let (on_status, list) = listing();
        let call = client.call_tool("job", json!({"message": "well"})).follow_task().on_status(on_status);
        assert_eq!(call.begin().expect("it is sent").await.expect("it ends well").text().as_str(), "well");
        assert_eq!(*list.lock().unwrap(), ["working", "completed"]);
    });
}

#[test]
fn the_blocking_client_calls_them_while_it_waits_for_the_call() {
    watched(|| {
        let server = server!("floods-notifications 5");
        let mut client = blocking::McpClient::connect_and_initialize(&server.def).expect("it answers");
        let (on_progress, count) = counter();
        let call = client.call_tool("echo", json!({"message": "begun"})).on_progress(on_progress);
        let pending = call.begin().expect("it is sent");
        assert_eq!(pending.wait(&mut client).expect("it answers").text().as_str(), "begun");
        assert_eq!(count.load(Ordering::Relaxed), 5);

        let server = server!("tasks --modern");
        let mut client = blocking::McpClient::connect_and_initialize(&server.def).expect("it answers");
        let (on_status, list) = listing();
        let call = client.call_tool("job", json!({"message": "well"})).follow_task().on_status(on_status);
        let pending = call.begin().expect("it is sent");
        assert_eq!(pending.wait(&mut client).expect("it ends well").text().as_str(), "well");
        assert_eq!(*list.lock().unwrap(), ["working", "completed"]);
    });
}

#[test]
fn the_blocking_client_calls_them_while_it_waits_for_another_call() {
    watched(|| {
        let server = server!("floods-notifications 5");
        let mut client = blocking::McpClient::connect_and_initialize(&server.def).expect("it answers");
        let (on_progress, count) = counter();
        let call = client.call_tool("echo", json!({"message": "begun"})).on_progress(on_progress);
        let pending = call.begin().expect("it is sent");
        // The server answers in order.
        client.call_tool("echo", ()).send().expect("it answers");
        assert_eq!(count.load(Ordering::Relaxed), 5);
        assert_eq!(pending.wait(&mut client).expect("it answers").text().as_str(), "begun");
        assert_eq!(count.load(Ordering::Relaxed), 5);
    });
}

/// The call that waits belongs to other code than the callback, so the panic is kept for the one that waits for its call.
#[test]
fn the_panic_of_a_callback_reaches_the_one_that_waits_for_its_call() {
    watched(|| {
        let server = server!("floods-notifications 50");
        let mut client = blocking::McpClient::connect_and_initialize(&server.def).expect("it answers");
        for other_is_first in [true, false] {
            let call = client.call_tool("echo", json!({"message": "begun"})).on_progress(|_| panic!("on purpose"));
            let pending = call.begin().expect("it is sent");
            if other_is_first {
                let other = client.call_tool("echo", json!({"message": "well"})).send().expect("it answers");
                assert_eq!(other.text().as_str(), "well");
            }
            let panic = catch_unwind(AssertUnwindSafe(|| pending.wait(&mut client))).expect_err("it panics");
            assert_eq!(panic.downcast_ref::<&str>(), Some(&"on purpose"));
            client.call_tool("echo", ()).send().expect("it answers");
            assert_eq!(client.in_flight(), 0, "it was given up");
        }
    });
}

on_every_async_adapter!(a_pending_call_reports_its_progress, a_pending_call_reports_the_status_of_its_task);
