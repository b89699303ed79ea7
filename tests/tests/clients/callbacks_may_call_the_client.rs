//! What a program is called with may use the client itself.

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Poll, Wake, Waker};

use mcpwire_driver::protocol::{CallTool, CallToolParams, Config, Notification, RequestOptions};
use mcpwire_driver::{ConnectOptions, Exit, McpClient, McpServerDef, Notifications, Pending, ServerLaunch};
use mcpwire_testkit::duplex;
use mcpwire_tests::asynchronous::{Async, Host};
use mcpwire_tests::{on_every_async_adapter, server};
use serde_json::json;

/// Where a callback finds the client that it belongs to, once.
type Place<R> = Arc<Mutex<Option<McpClient<R>>>>;

fn a_follower_of_standard_error_may<H: Host>() {
    let server = server!("floods-stderr 100000");
    let place = Place::<H::Runtime>::default();
    let follower = Arc::clone(&place);
    let mut client = Async::<H>::start_with(&server, |options| options.stderr(move |_| call_everything(&follower)));
    assert_it_goes_well(&mut client, &place);
}

fn a_watcher_of_the_wire_may<H: Host>() {
    let server = server!("well-behaved");
    let place = Place::<H::Runtime>::default();
    let watcher = Arc::clone(&place);
    let mut client = Async::<H>::start_with(&server, |options| options.trace(move |_, _| call_everything(&watcher)));
    assert_it_goes_well(&mut client, &place);
}

fn a_listener_to_progress_may<H: Host>() {
    let server = server!("floods-notifications 50");
    server.open::<Async<H>>().run(async |client| {
        let place = Place::<H::Runtime>::new(Mutex::new(Some(client.clone())));
        let call = client.call_tool("echo", json!({"message": "well"})).on_progress(|_| call_everything(&place));
        assert_eq!(call.await.expect("it answers").text().as_str(), "well");
    });
}

/// It is the last that has a client, and lets go of it.
fn a_follower_may_drop_the_client<H: Host>() {
    let server = server!("well-behaved");
    let place = Place::<H::Runtime>::default();
    let follower = Arc::clone(&place);
    let heard = server.heard.stderr.clone();
    let mut client = Async::<H>::start_with(&server, |options| {
        options.stderr(move |line| {
            drop(follower.lock().unwrap().take());
            heard.push(line);
        })
    });
    client.run(async |client| client.initialize().await.map(drop)).expect("it answers");
    let (host, client) = client.into_parts();
    host.block_on(async {
        // The server says something as soon as it is called, and the client is to be in its place by then.
        drop(begin(place.lock().unwrap().insert(client), "ponder"));
        server.heard.stderr.heard("let me think").await;
    });
    server.assert_gone();
}

/// Drops the client that it has when it is dropped itself, as the last waker of a task does that has one.
struct Holds<R>(#[expect(dead_code, reason = "it is dropped")] McpClient<R>);

impl<R> Wake for Holds<R> {
    fn wake(self: Arc<Self>) {}
}

/// The driver is gone by then, so it is the client's end that tells the listener.
fn the_waker_of_a_listener_may_hold_the_last_client<H: Host>() {
    let server = server!("well-behaved");
    let (host, client) = server.open::<Async<H>>().into_parts();
    let mut notifications = host.block_on(async {
        client.shutdown().await.expect("it ends");
        client.notifications()
    });
    let waker = Waker::from(Arc::new(Holds(client)));
    assert!(poll(&mut notifications, &waker).is_ready());
    drop(waker);
    assert!(poll(&mut notifications, Waker::noop()).is_ready());
}

fn poll(notifications: &mut Notifications, waker: &Waker) -> Poll<Option<Notification>> {
    pin!(notifications.next()).poll(&mut Context::from_waker(waker))
}

on_every_async_adapter!(
    a_follower_of_standard_error_may,
    a_watcher_of_the_wire_may,
    a_listener_to_progress_may,
    a_follower_may_drop_the_client,
    the_waker_of_a_listener_may_hold_the_last_client,
);

fn assert_it_goes_well<H: Host>(client: &mut Async<H>, place: &Place<H::Runtime>) {
    client.run(async |client| {
        client.initialize().await.expect("it answers");
        *place.lock().unwrap() = Some(client.clone());
        let result = client.call_tool("echo", json!({"message": "well"})).await.expect("it answers");
        assert_eq!(result.text().as_str(), "well");
        client.shutdown().await.expect("it ends");
        assert!(place.lock().unwrap().is_none(), "it was called");
    });
}

/// Whatever a client has that does not wait.
fn call_everything<R>(place: &Place<R>) {
    let Some(client) = place.lock().unwrap().take() else { return };
    assert!(client.is_initialized() && client.has_tool("echo") == client.get_tool("echo").is_some());
    let _ =
        (client.is_running(), client.pid(), client.stderr_tail(), client.in_flight(), client.stats(), client.tools());
    let _ = client.notifications().try_next();
    let _ = format!("{client:?}");
    client.notify_raw("notifications/roots/list_changed", None).expect("it is sent");
    drop(begin(&client, "echo"));
}

fn begin<R>(client: &McpClient<R>, tool: &str) -> Pending<CallTool> {
    let params = CallToolParams { name: tool, arguments: &() };
    client.begin::<CallTool>(&params, &RequestOptions::new()).expect("it is sent")
}
