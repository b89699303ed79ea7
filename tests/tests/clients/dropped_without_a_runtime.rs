//! The last client to go ends the server, wherever that is and whatever has become of the runtime.

use std::future::pending;
use std::panic::catch_unwind;
use std::thread;

use ::smol::future::zip;
use ::smol::{Executor, block_on};
use mcpwire_driver::protocol::{CallTool, CallToolParams, RequestOptions};
use mcpwire_driver::{ErrorKind, McpClient, Pending};
use mcpwire_tests::asynchronous::{Async, Host, Smol, begun};
use mcpwire_tests::{on_every_async_adapter, process_exists, server, watched};

fn beside_the_runtime<H: Host>() {
    let server = server!("ignores-term").patient();
    let (host, client) = server.open::<Async<H>>().into_parts();
    drop(client);
    server.assert_gone();
    drop(host);
}

fn after_the_runtime<H: Host>() {
    let server = server!("ignores-term").patient();
    let (host, client) = server.open::<Async<H>>().into_parts();
    drop(host);
    drop(client);
    server.assert_gone();
}

fn within_the_runtime<H: Host>() {
    let server = server!("ignores-term").patient();
    let (host, client) = server.open::<Async<H>>().into_parts();
    host.block_on(async {
        let clone = client.clone();
        drop(client);
        assert!(clone.is_running(), "a clone is left");
        let mut notifications = clone.notifications();
        drop(clone);
        assert!(notifications.next().await.is_none(), "they end with the last client");
    });
    server.assert_gone();
}

fn by_another_thread<H: Host>() {
    let server = server!("ignores-term").patient();
    let (host, client) = server.open::<Async<H>>().into_parts();
    host.block_on(async { ::smol::unblock(move || drop(client)).await });
    server.assert_gone();
}

/// As long as an answer is waited for, there is a connection.
fn not_before_the_last_answer<H: Host>() {
    let server = server!("gathers");
    let (host, client) = server.open::<Async<H>>().into_parts();
    host.block_on(async {
        let pid = client.pid().expect("there is a process");
        let (wait, answer, ponder) = (begin(&client, "wait"), begin(&client, "answer"), begin(&client, "ponder"));
        drop(client);
        let (waited, answered) = zip(wait, answer).await;
        waited.expect("it is answered");
        answered.expect("it is answered");
        assert!(process_exists(pid));
        drop(ponder);
    });
    server.assert_gone();
}

/// Some runtimes allow it and some do not. A server is left behind by none.
fn made_outside_of_the_runtime<H: Host>() {
    let server = server!("ignores-term").patient();
    drop(catch_unwind(|| McpClient::<H::Runtime>::connect(&server.def)));
    server.assert_gone();
}

on_every_async_adapter!(
    beside_the_runtime,
    after_the_runtime,
    within_the_runtime,
    by_another_thread,
    not_before_the_last_answer,
    made_outside_of_the_runtime,
);

macro_rules! on_runtimes_that_end {
    ($($name:ident: $Host:ident),+) => { $(
        mod $name {
            use mcpwire_tests::asynchronous::$Host;

            #[test]
            fn it_ends_the_servers() {
                mcpwire_tests::watched(super::a_runtime_that_ends_ends_the_servers::<$Host>);
            }

            #[test]
            fn it_drops_the_tasks_that_own_clients() {
                mcpwire_tests::watched(super::a_runtime_that_ends_drops_the_tasks_that_own_clients::<$Host>);
            }

            #[test]
            fn it_ends_what_other_threads_wait_for() {
                mcpwire_tests::watched(super::a_runtime_that_ends_ends_what_other_threads_wait_for::<$Host>);
            }

            #[test]
            fn it_ends_a_shutdown_that_takes_its_time() {
                mcpwire_tests::watched(super::a_runtime_that_ends_ends_a_shutdown_that_takes_its_time::<$Host>);
            }
        }
    )+ };
}

// Only tokio's tasks end with something that a program can drop.
on_runtimes_that_end!(tokio_current_that_ends: TokioCurrent, tokio_multi_that_ends: TokioMulti);

fn a_runtime_that_ends_ends_the_servers<H: Host>() {
    let server = server!("ignores-term").patient();
    let (host, client) = server.open::<Async<H>>().into_parts();
    let mut notifications = client.notifications();
    drop(host);
    server.assert_gone();
    assert!(!client.is_running());
    block_on(async {
        assert!(notifications.next().await.is_none());
        let error = client.call_tool("echo", ()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
        client.shutdown().await.expect("there is nothing to end");
    });
}

fn a_runtime_that_ends_drops_the_tasks_that_own_clients<H: Host>() {
    let server = server!("ignores-term").patient();
    let (host, client) = server.open::<Async<H>>().into_parts();
    host.enter(|| {
        H::spawn(async move {
            let _client = client;
            pending::<()>().await;
        });
    });
    drop(host);
    server.assert_gone();
}

fn a_runtime_that_ends_ends_what_other_threads_wait_for<H: Host>() {
    let server = server!("well-behaved");
    let (host, client) = server.open::<Async<H>>().into_parts();
    let clone = client.clone();
    let other = thread::spawn(move || {
        let mut notifications = clone.notifications();
        block_on(zip(begin(&clone, "ponder"), notifications.next()))
    });
    host.block_on(server.heard.stderr.heard("let me think"));
    drop(host);
    let (outcome, notification) = other.join().expect("it ends");
    let error = outcome.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
    assert!(notification.is_none());
}

fn a_runtime_that_ends_ends_a_shutdown_that_takes_its_time<H: Host>() {
    let server = server!("ignores-term").patient();
    let (host, client) = server.open::<Async<H>>().into_parts();
    host.block_on(async { assert!(begun(&mut Box::pin(client.shutdown())).await.is_none()) });
    drop(host);
    block_on(client.shutdown()).expect("it has ended");
    server.assert_gone();
}

#[test]
fn an_executor_of_smol_that_ends_drops_the_tasks_that_own_clients() {
    watched(|| {
        let server = server!("ignores-term").patient();
        let (_, client) = server.open::<Async<Smol>>().into_parts();
        let executor = Executor::new();
        executor
            .spawn(async move {
                let _client = client;
                pending::<()>().await;
            })
            .detach();
        executor.try_tick();
        drop(executor);
        server.assert_gone();
    });
}

fn begin<R>(client: &McpClient<R>, tool: &str) -> Pending<CallTool> {
    let params = CallToolParams { name: tool, arguments: &() };
    client.begin::<CallTool>(&params, &RequestOptions::new()).expect("it is sent")
}
