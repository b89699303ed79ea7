//! How clients end: by a shutdown, and by being dropped, also without a runtime.

use std::future::pending;
use std::panic::catch_unwind;
use std::thread;
use std::time::Duration;

use ::smol::future::zip;
use ::smol::{Executor, block_on};
use mcpwire_client::{GracePeriods, ShutdownStep};
use mcpwire_driver::protocol::{CallTool, CallToolParams, RequestOptions};
use mcpwire_driver::{ErrorKind, McpClient, Pending};
use mcpwire_tests::asynchronous::{Async, Host, Smol, all, begun, eventually};
use mcpwire_tests::{on_every_async_adapter, process_exists, server, watched};

use crate::with_client;

// A client has many clones, and each may end the server at any time.

fn whoever_asks_again_is_told_the_same<H: Host>() {
    with_client::<H>("well-behaved", async |client| {
        let report = client.shutdown().await.expect("it ends");
        assert_eq!(report.last_step, ShutdownStep::CloseInput);
        assert_eq!(client.clone().shutdown().await.expect("it has ended"), report);

        assert!(!client.is_running());
        assert_eq!(client.call_tool("echo", ()).await.unwrap_err().kind(), ErrorKind::Closed);
        assert_eq!(client.list_tools().await.unwrap_err().kind(), ErrorKind::Closed);
        assert_eq!(client.initialize().await.unwrap_err().kind(), ErrorKind::Closed);
        assert!(client.notifications().next().await.is_none());
    });
}

fn clones_may_ask_at_once<H: Host>() {
    with_client::<H>("well-behaved", async |client| {
        let clone = client.clone();
        let (one, other) = zip(client.shutdown(), clone.shutdown()).await;
        assert_eq!(one.expect("it ends"), other.expect("it ends"));
    });
}

/// They do not wait for a server that takes its time.
fn calls_that_are_under_way_end_at_once<H: Host>() {
    let server = server!("ignores-eof");
    let mut client = Async::<H>::start_with(&server, |options| {
        options.grace_periods(GracePeriods { after_close: Duration::from_secs(1), ..GracePeriods::default() })
    });
    client.run(async |client| {
        client.initialize().await.expect("it answers");
        let calls: Vec<_> = (0..10).map(|_| ponder(&client)).collect();
        let mut notifications = client.notifications();
        let shutdown = client.shutdown();
        for outcome in all(calls).await {
            let error = outcome.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
        }
        assert!(notifications.next().await.is_none());
        assert!(client.is_running(), "the server is still there");
        assert_eq!(shutdown.await.expect("it ends").last_step, ShutdownStep::Terminate);
    });
}

fn a_handshake_that_is_under_way_ends_at_once<H: Host>() {
    let server = server!("silent");
    let mut client = Async::<H>::start_with(&server, |options| options);
    client.run(async |client| {
        let shutdown = async {
            server.heard.stderr.heard("no word about").await;
            client.shutdown().await
        };
        let (opened, ended) = zip(client.initialize(), shutdown).await;
        let error = opened.unwrap_err();
        assert!(error.is_connecting() && error.kind() == ErrorKind::Cancelled, "{error}");
        ended.expect("it ends");
    });
}

fn it_goes_on_when_nobody_waits_for_it<H: Host>() {
    for polled in [true, false] {
        let server = server!("ignores-eof");
        let mut client = Async::<H>::start_with(&server, |options| {
            options.grace_periods(GracePeriods { after_close: Duration::from_millis(100), ..GracePeriods::default() })
        });
        client.run(async |client| {
            client.initialize().await.expect("it answers");
            let pid = client.pid().expect("there is a process");
            let mut shutdown = Box::pin(client.shutdown());
            if polled {
                assert!(begun(&mut shutdown).await.is_none());
            }
            drop(shutdown);
            eventually::<H>(|| !process_exists(pid)).await;
            assert_eq!(client.shutdown().await.expect("it has ended").last_step, ShutdownStep::Terminate);
        });
    }
}

/// To go at once after asking for a polite end does not make it less polite.
fn it_stays_polite_when_all_clients_have_gone<H: Host>() {
    let server = server!("last-words 10");
    let (host, client) = server.open::<Async<H>>().into_parts();
    host.block_on(async {
        drop(client.shutdown());
        drop(client);
        server.heard.stderr.heard("last words, line 10").await;
    });
}

/// The future is all that is left of the client.
fn it_needs_no_client<H: Host>() {
    let server = server!("well-behaved");
    let (host, client) = server.open::<Async<H>>().into_parts();
    host.block_on(async {
        let shutdown = client.shutdown();
        drop(client);
        assert_eq!(shutdown.await.expect("it ends").last_step, ShutdownStep::CloseInput);
    });
}

/// Whoever has no time ends it, also where others have begun to be polite.
fn a_kill_is_waited_for_by_nothing<H: Host>() {
    for polite_first in [true, false] {
        let server = server!("ignores-term");
        let mut client = Async::<H>::start_with(&server, |options| {
            let hour = Duration::from_secs(3_600);
            let grace_periods = GracePeriods { after_close: hour, after_terminate: hour };
            options.grace_periods(grace_periods)
        });
        client.run(async |client| {
            client.initialize().await.expect("it answers");
            let pid = client.pid().expect("there is a process");
            let call = ponder(&client);
            let shutdown = polite_first.then(|| client.shutdown());
            client.kill();
            assert_eq!(call.await.unwrap_err().kind(), ErrorKind::Closed);
            if let Some(shutdown) = shutdown {
                shutdown.await.expect("it has ended");
            }
            client.shutdown().await.expect("it has ended");
            client.kill();
            eventually::<H>(|| !process_exists(pid)).await;
            assert!(!client.is_running());
        });
    }
}

fn ponder<R>(client: &McpClient<R>) -> Pending<CallTool> {
    let params = CallToolParams { name: "ponder", arguments: &() };
    client.begin::<CallTool>(&params, &RequestOptions::new()).expect("it is sent")
}

// The last client to go ends the server, wherever that is and whatever has become of the runtime.

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

on_every_async_adapter!(
    a_handshake_that_is_under_way_ends_at_once,
    it_goes_on_when_nobody_waits_for_it,
    it_stays_polite_when_all_clients_have_gone,
    it_needs_no_client,
    a_kill_is_waited_for_by_nothing,
    beside_the_runtime,
    after_the_runtime,
    within_the_runtime,
    by_another_thread,
    not_before_the_last_answer,
    made_outside_of_the_runtime,
);

mcpwire_tests::on_one_runtime!(
    whoever_asks_again_is_told_the_same,
    clones_may_ask_at_once,
    calls_that_are_under_way_end_at_once,
);
