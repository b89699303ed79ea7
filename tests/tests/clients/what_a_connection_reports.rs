//! What a connection reports beside results: notifications, messages that cannot be read, and its end. The same on all clients.

use mcpwire_blocking as blocking;
use mcpwire_driver::McpClient as AsyncClient;
use mcpwire_driver::protocol::{CloseReason, Event, Notification};
use mcpwire_tests::asynchronous::{Async, Host};
use mcpwire_tests::{on_every_async_adapter, server, watched};

/// As many as may wait in a queue.
const MAX_EVENTS: usize = 1_024;

fn log_of(notification: Option<Notification>) -> String {
    match notification {
        Some(Notification::Log(message)) => message.text(),
        other => panic!("it is no log message: {other:?}"),
    }
}

#[test]
fn notifications_of_a_blocking_client_arrive_in_order() {
    watched(|| {
        let server = server!("floods-notifications 500");
        let mut client = blocking::McpClient::connect_and_initialize(&server.def).expect("it answers");
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
        let server = server!("floods-notifications 3000");
        let mut client = blocking::McpClient::connect_and_initialize(&server.def).expect("it answers");
        let mut notifications = client.notifications();
        client.call_tool("echo", ()).send().expect("it answers");
        let dropped = notifications.dropped();
        let mut kept = 0;
        while notifications.try_next(&mut client).is_some() {
            kept += 1;
        }
        assert_eq!((kept, dropped), (MAX_EVENTS, 3000 - MAX_EVENTS as u64));
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
    let server = server!("noise");
    server.open::<Async<H>>().run(async |client| {
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

#[test]
fn a_blocking_client_says_why_its_connection_has_ended() {
    watched(|| {
        let server = server!("dies-after-call 9");
        let mut client = blocking::McpClient::connect_and_initialize(&server.def).expect("it answers");
        assert!(client.connection_end().is_none(), "it is open");
        let mut events = client.events();
        client.call_tool("echo", ()).send().expect("it answers");
        for end in [client.closed().expect("nobody cancels it"), client.connection_end().expect("it has ended")] {
            assert_eq!(end.reason, CloseReason::ByServer);
            let process = end.process.as_ref().expect("it is known");
            assert_eq!(process.exit().map(|exit| exit.to_string()).as_deref(), Some("exited with code 9"), "{end}");
            assert!(process.stderr_tail().contains("that was my last answer"), "{end}");
        }
        let last = std::iter::from_fn(|| events.next(&mut client).expect("nobody cancels it")).last();
        assert_eq!(last, Some(Event::Closed(CloseReason::ByServer)));
    });
}

#[test]
fn a_blocking_client_can_be_killed() {
    watched(|| {
        let server = server!("ignores-term");
        let mut client = blocking::McpClient::connect_and_initialize(&server.def).expect("it answers");
        assert!(client.is_running());
        client.kill();
        assert!(!client.is_running());
        assert_eq!(client.closed().expect("nobody cancels it").reason, CloseReason::ByClient);
        let error = client.call_tool("echo", ()).send().expect_err("it has ended");
        assert_eq!(error.kind(), blocking::ErrorKind::Closed, "{error}");
        client.shutdown().expect("it has ended already");
    });
}

fn an_async_client_says_why_its_connection_has_ended<H: Host>() {
    let server = server!("dies-after-call 9");
    server.open::<Async<H>>().run(async |client| {
        assert!(client.connection_end().is_none(), "it is open");
        let mut events = client.events();
        let before = client.closed();
        client.call_tool("echo", ()).await.expect("it answers");
        for end in [before.await, client.closed().await, client.connection_end().expect("it has ended")] {
            assert_eq!(end.reason, CloseReason::ByServer);
            let process = end.process.as_ref().expect("it is known");
            assert_eq!(process.exit().map(|exit| exit.to_string()).as_deref(), Some("exited with code 9"), "{end}");
            assert!(process.stderr_tail().contains("that was my last answer"), "{end}");
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

on_every_async_adapter!(
    an_async_client_keeps_excerpts_of_messages_that_cannot_be_read,
    an_async_client_says_why_its_connection_has_ended,
    an_end_that_the_program_wants_is_told_too,
    a_wait_for_the_end_keeps_no_connection_alive,
    a_connection_that_was_never_opened_ends_too,
);
