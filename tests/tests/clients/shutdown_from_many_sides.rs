//! A client has many clones, and each may end the server at any time.

use std::pin::pin;
use std::sync::Mutex;
use std::time::Duration;

use ::smol::future::{poll_once, zip};
use ::smol::io::AsyncReadExt as _;
use mcpwire_client::{GracePeriods, ShutdownStep};
use mcpwire_driver::protocol::{CallTool, CallToolParams, CloseReason, RequestOptions};
use mcpwire_driver::{ConnectOptions, ErrorKind, Exit, McpClient, McpServerDef, ServerLaunch};
use mcpwire_testkit::{Duplex, duplex};
use mcpwire_tests::asynchronous::{Async, Host, all, begun, eventually};
use mcpwire_tests::{on_every_async_adapter, process_exists, server};

fn whoever_asks_again_is_told_the_same<H: Host>() {
    let server = server!("well-behaved");
    server.open::<Async<H>>().run(async |client| {
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
    let server = server!("well-behaved");
    server.open::<Async<H>>().run(async |client| {
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

on_every_async_adapter!(
    whoever_asks_again_is_told_the_same,
    clones_may_ask_at_once,
    calls_that_are_under_way_end_at_once,
    a_handshake_that_is_under_way_ends_at_once,
    it_goes_on_when_nobody_waits_for_it,
    it_stays_polite_when_all_clients_have_gone,
    it_needs_no_client,
    a_kill_is_waited_for_by_nothing,
);

fn ponder<R>(client: &McpClient<R>) -> mcpwire_driver::Pending<CallTool> {
    let params = CallToolParams { name: "ponder", arguments: &() };
    client.begin::<CallTool>(&params, &RequestOptions::new()).expect("it is sent")
}
