//! What a connection reports: notifications in their order, and its end.

use std::future::IntoFuture;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::{io, thread};

use ::smol::block_on;
use mcpwire_blocking as blocking;
use mcpwire_client::ShutdownStep;
use mcpwire_driver::process::{ExitHandle, Pipes};
use mcpwire_driver::protocol::{CallTool, CallToolParams, CloseReason, Config, Event, Notification, RequestOptions};
use mcpwire_driver::{
    Clock, ConnectOptions, ConnectionEnd, CurrentRuntime, ErrorKind, McpClient, McpClient as AsyncClient, Runtime,
    Streams, TaskFuture, Timer,
};
use mcpwire_tests::asynchronous::{Async, Host, all};
use mcpwire_tests::{Adapter, on_every_async_adapter, on_one_runtime, server, watched};
use serde_json::json;

use crate::{open_blocking, with_client};

// What the server tells comes in the order in which it was told, to whoever listens, and a listener that does not listen
// is in nobody's way.

/// As many as may wait for their listener.
const KEPT: usize = 1_024;

fn each_listener_hears_all_of_them_in_order<H: Host>() {
    for era in ["", "--modern"] {
        with_client::<H>(&format!("floods-notifications 500 {era}"), async |client| {
            let mut listeners = [client.notifications(), client.notifications()];
            drop(client.notifications());
            client.call_tool("echo", ()).await.expect("it answers");
            assert!(client.notifications().try_next().is_none(), "who comes late has missed them");
            for listener in &mut listeners {
                for number in 1..=500 {
                    assert_eq!(log_of(listener.next().await), format!("message {number}"));
                }
                assert!(listener.try_next().is_none());
                assert_eq!(listener.dropped(), 0);
            }
        });
    }
}

fn a_listener_is_woken<H: Host>() {
    with_client::<H>("floods-notifications 100", async |client| {
        let mut listener = client.notifications();
        let (tell, told) = ::smol::channel::bounded(1);
        H::spawn(async move {
            for number in 1..=100 {
                assert_eq!(log_of(listener.next().await), format!("message {number}"));
            }
            tell.send(()).await.expect("the test listens");
        });
        client.call_tool("echo", ()).await.expect("it answers");
        told.recv().await.expect("all of them are heard");
    });
}

/// The oldest go first. That a list has changed is kept.
fn a_hundred_thousand_that_nobody_takes_cost_little<H: Host>() {
    const MANY: usize = 100_000;
    with_client::<H>(&format!("floods-notifications {MANY}"), async |client| {
        let mut listener = client.notifications();
        let result = client.call_tool("change", ()).await.expect("the answer comes all the same");
        assert_eq!(result.text().as_str(), "changed");

        let dropped = usize::try_from(listener.dropped()).expect("they can be counted");
        let mut kept = Vec::new();
        while let Some(notification) = listener.try_next() {
            kept.push(notification);
        }
        assert!(kept.len() <= KEPT, "{} are kept", kept.len());
        assert_eq!(kept.len() + dropped, MANY + 1, "those that are not kept are counted");
        let mut kept = kept.into_iter();
        assert_eq!(kept.next(), Some(Notification::ToolsChanged));
        for (notification, number) in kept.zip(dropped + 1..) {
            assert_eq!(log_of(Some(notification)), format!("message {number}"));
        }
    });
}

fn answers_come_although_nobody_listens<H: Host>() {
    with_client::<H>("floods-notifications 500", async |client| {
        let listener = client.notifications();
        let calls =
            (0..10).map(|number| client.call_tool("echo", json!({"message": number.to_string()})).into_future());
        for (number, outcome) in all(calls).await.into_iter().enumerate() {
            assert_eq!(outcome.expect("it answers").text().to_string(), number.to_string());
        }
        assert!(usize::try_from(listener.dropped()).expect("they can be counted") >= 5_000 - KEPT);
    });
}

fn progress_goes_to_its_own_call<H: Host>() {
    for era in ["", "--modern"] {
        with_client::<H>(&format!("floods-notifications 50 {era}"), async |client| {
            let calls = (0..20).map(async |_| {
                let mut seen = Vec::new();
                let call = client.call_tool("echo", ()).on_progress(|progress| seen.push(progress.progress.as_f64()));
                call.await.expect("it answers");
                seen
            });
            for seen in all(calls).await {
                assert_eq!(seen, (1..=50).map(f64::from).collect::<Vec<_>>());
            }
        });
    }
}

fn they_end_with_the_server<H: Host>() {
    let server = server!("floods-notifications 10");
    server.open::<Async<H>>().run(async |client| {
        let mut listener = client.notifications();
        client.call_tool("echo", ()).await.expect("it answers");
        server.kill(client.pid().expect("there is a process"));
        for number in 1..=10 {
            assert_eq!(log_of(listener.next().await), format!("message {number}"));
        }
        assert!(listener.next().await.is_none());
        assert!(client.notifications().next().await.is_none(), "there is nothing more to hear");
        let error = client.call_tool("echo", ()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Closed);
        assert!(error.to_string().contains("SIGKILL"), "{error}");
    });
}

fn log_of(notification: Option<Notification>) -> String {
    match notification {
        Some(Notification::Log(message)) => message.text(),
        other => panic!("it is no log message: {other:?}"),
    }
}

// What a connection reports beside results: notifications, messages that cannot be read, and its end. The same on all clients.

#[test]
fn notifications_of_a_blocking_client_arrive_in_order() {
    watched(|| {
        let (_server, mut client) = open_blocking("floods-notifications 500");
        let mut both = [client.notifications(), client.notifications()];
        drop(client.notifications());
        client.call_tool("echo", ()).send().expect("it answers");
        assert!(client.notifications().try_next(&mut client).is_none(), "this one is too late");
        for notifications in &mut both {
            for number in 1..=500 {
                let next = notifications.next(&mut client).expect("nobody cancels it");
                assert_eq!(log_of(next), format!("message {number}"));
            }
            assert!(notifications.try_next(&mut client).is_none());
            assert_eq!(notifications.dropped(), 0);
        }
    });
}

#[test]
fn the_queue_of_a_blocking_client_is_bounded() {
    watched(|| {
        let (_server, mut client) = open_blocking("floods-notifications 3000");
        let mut notifications = client.notifications();
        client.call_tool("echo", ()).send().expect("it answers");
        let dropped = notifications.dropped();
        let mut kept = 0;
        while notifications.try_next(&mut client).is_some() {
            kept += 1;
        }
        assert_eq!((kept, dropped), (KEPT, 3000 - KEPT as u64));
    });
}

#[test]
fn a_blocking_client_keeps_excerpts_of_messages_that_cannot_be_read() {
    watched(|| {
        let server = server!("noise");
        let mut client = blocking::McpClient::connect(&server.def).expect("it starts");
        let mut events = client.events();
        client.initialize().expect("it answers");
        for _ in 0..10 {
            client.call_tool("echo", ()).send().expect("it answers");
        }
        let invalid = client.invalid_messages();
        assert_eq!(invalid.count(), client.stats().invalid);
        assert!(invalid.count() > 8 && invalid.excerpts().count() == 8, "{invalid:?}");
        let mut seen = 0;
        while let Some(event) = events.try_next(&mut client) {
            seen += u64::from(matches!(event, Event::InvalidMessage { .. }));
        }
        // More may have arrived by then.
        assert_eq!(seen, client.invalid_messages().count());
    });
}

fn an_async_client_keeps_excerpts_of_messages_that_cannot_be_read<H: Host>() {
    with_client::<H>("noise", async |client| {
        let mut events = client.events();
        let before = client.invalid_messages().count();
        for _ in 0..10 {
            client.call_tool("echo", ()).await.expect("it answers");
        }
        let invalid = client.invalid_messages();
        assert_eq!(invalid.count(), client.stats().invalid);
        assert!(invalid.count() > 8 && invalid.excerpts().count() == 8, "{invalid:?}");
        let mut seen = 0;
        while let Some(event) = events.try_next() {
            seen += u64::from(matches!(event, Event::InvalidMessage { .. }));
        }
        assert!(seen >= invalid.count() - before, "more may have arrived since");
    });
}

fn assert_ended_by_server(end: &ConnectionEnd) {
    assert_eq!(end.reason, CloseReason::ByServer);
    let process = end.process.as_ref().expect("it is known");
    assert_eq!(process.exit().map(|exit| exit.to_string()).as_deref(), Some("exited with code 9"), "{end}");
    assert!(process.stderr_tail().contains("that was my last answer"), "{end}");
}

#[test]
fn a_blocking_client_says_why_its_connection_has_ended() {
    watched(|| {
        let (_server, mut client) = open_blocking("dies-after-call 9");
        assert!(client.connection_end().is_none(), "it is open");
        let mut events = client.events();
        client.call_tool("echo", ()).send().expect("it answers");
        for end in [client.closed().expect("nobody cancels it"), client.connection_end().expect("it has ended")] {
            assert_ended_by_server(&end);
        }
        let last = std::iter::from_fn(|| events.next(&mut client).expect("nobody cancels it")).last();
        assert_eq!(last, Some(Event::Closed(CloseReason::ByServer)));
    });
}

#[test]
fn a_blocking_client_can_be_killed() {
    watched(|| {
        let (_server, mut client) = open_blocking("ignores-term");
        assert!(client.is_running());
        client.kill();
        assert!(!client.is_running());
        assert_eq!(client.closed().expect("nobody cancels it").reason, CloseReason::ByClient);
        let error = client.call_tool("echo", ()).send().expect_err("it has ended");
        assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
        client.shutdown().expect("it has ended already");
    });
}

fn an_async_client_says_why_its_connection_has_ended<H: Host>() {
    with_client::<H>("dies-after-call 9", async |client| {
        assert!(client.connection_end().is_none(), "it is open");
        let mut events = client.events();
        let before = client.closed();
        client.call_tool("echo", ()).await.expect("it answers");
        for end in [before.await, client.closed().await, client.connection_end().expect("it has ended")] {
            assert_ended_by_server(&end);
        }
        let mut last = None;
        while let Some(event) = events.next().await {
            last = Some(event);
        }
        assert_eq!(last, Some(Event::Closed(CloseReason::ByServer)));
    });
}

fn an_end_that_the_program_wants_is_told_too<H: Host>() {
    let server = server!("well-behaved");
    for end in [AsyncClient::<H::Runtime>::kill, |client: &AsyncClient<_>| drop(client.shutdown())] {
        server.open::<Async<H>>().run(async |client| {
            let closed = client.closed();
            end(&client);
            assert_eq!(closed.await.reason, CloseReason::ByClient);
        });
    }
}

/// What waits for the end does not put it off.
fn a_wait_for_the_end_keeps_no_connection_alive<H: Host>() {
    let server = server!("well-behaved");
    let (host, client) = server.open::<Async<H>>().into_parts();
    let closed = client.closed();
    drop(client);
    assert_eq!(host.block_on(closed).reason, CloseReason::ByClient);
}

fn a_connection_that_was_never_opened_ends_too<H: Host>() {
    let server = server!("well-behaved");
    H::start().block_on(async {
        let client = AsyncClient::<H::Runtime>::connect(&server.def).expect("it starts");
        let closed = client.closed();
        client.kill();
        assert_eq!(closed.await.reason, CloseReason::ByClient);
    });
}

// Where the system tells nobody of the exit of a process, as on macOS and Windows, it is asked for.

/// The grandchild holds standard output and error, so their end does not tell of the exit either. A server that exits quickly
/// enough may be noticed by chance: not five in a row.
fn shutdown_ends_with_the_server<H: Host>() {
    for _ in 0..5 {
        let server = server!("grandchild").patient();
        let options = ConnectOptions::new(Config::new("tests", "1")).grace_periods(server.grace_periods);
        let outcome = H::start().block_on(async {
            let client = McpClient::<Unwatched<H>>::connect_with(&server.def, options)?;
            client.initialize().await?;
            client.shutdown().await
        });
        assert_eq!(outcome.expect("it ends").last_step, ShutdownStep::CloseInput);
        server.assert_gone();
    }
}

/// Finds the host's runtime, and keeps the exits of processes from it.
struct Unwatched<H>(PhantomData<fn() -> H>);

impl<H: Host> CurrentRuntime for Unwatched<H> {
    fn current() -> Arc<dyn Runtime> {
        Arc::new(WithoutExits(H::Runtime::current()))
    }
}

struct WithoutExits(Arc<dyn Runtime>);

impl Runtime for WithoutExits {
    fn spawn(&self, task: TaskFuture) {
        self.0.spawn(task);
    }

    fn timer(&self) -> Box<dyn Timer> {
        self.0.timer()
    }

    fn clock(&self) -> Clock {
        self.0.clock()
    }

    fn pipes(&self, pipes: Pipes, _: Option<ExitHandle>) -> io::Result<Streams> {
        self.0.pipes(pipes, None)
    }
}

// What an error says of the server's process does not depend on when it is asked for.

/// The last line, which is handed on when the process has gone: the driver holds no lock then, and is not done either.
fn also_while_the_driver_says_that_it_has_gone<H: Host>() {
    let server = server!("closes-stdout");
    let (goes, gone) = channel();
    let (tell, told) = channel();
    let mut client = Async::<H>::start_with(&server, |options| {
        options.stderr(move |line| {
            if line.contains("told to go") {
                goes.send(()).expect("somebody waits");
                told.recv().expect("the call ends while this line is handed on");
            }
        })
    });
    client.initialize().expect("it opens");
    let (host, client) = client.into_parts();
    let call = client
        .begin::<CallTool>(&CallToolParams { name: "echo", arguments: &() }, &RequestOptions::default())
        .expect("it is sent");
    let late = thread::spawn(move || {
        gone.recv().expect("the server is told to go");
        let error = block_on(call).expect_err("it has no answer");
        tell.send(()).expect("the driver waits");
        error
    });
    let error = host.block_on(::smol::unblock(move || late.join())).expect("it does not panic");
    assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
    let process = error.process().expect("there was a process");
    assert!(process.exit().is_some(), "{error}");
    assert!(process.stderr_tail().contains("I shall say no more"), "{error}");
}

on_every_async_adapter!(
    a_listener_is_woken,
    they_end_with_the_server,
    shutdown_ends_with_the_server,
    also_while_the_driver_says_that_it_has_gone,
);

on_one_runtime!(
    each_listener_hears_all_of_them_in_order,
    a_hundred_thousand_that_nobody_takes_cost_little,
    answers_come_although_nobody_listens,
    progress_goes_to_its_own_call,
    an_async_client_keeps_excerpts_of_messages_that_cannot_be_read,
    an_async_client_says_why_its_connection_has_ended,
    an_end_that_the_program_wants_is_told_too,
    a_wait_for_the_end_keeps_no_connection_alive,
    a_connection_that_was_never_opened_ends_too,
);
