//! What a program is called with may use the client, and callbacks of requests that were begun.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use mcpwire_blocking::{ConnectOptions, TraceSource};
use mcpwire_driver::protocol::{CallTool, CallToolParams, Notification, Progress, RequestOptions, Task, TraceContext};
use mcpwire_driver::{McpClient, Notifications, Pending};
use mcpwire_tests::asynchronous::{Async, Host};
use mcpwire_tests::{Adapter, WATCHDOG, on_both_clients, on_every_async_adapter, on_one_runtime, server, watched};
use serde_json::json;

use crate::{open_blocking, with_client};

// What a program is called with may use the client itself.

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
    with_client::<H>("floods-notifications 50", async |client| {
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

// A call that was begun keeps its callbacks. The async client calls them when the pending call is polled, the blocking client while
// it reads.

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
    with_client::<H>("floods-notifications 5", async |client| {
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
    with_client::<H>("tasks --modern", async |client| {
        let (on_status, list) = listing();
        let call = client.call_tool("job", json!({"message": "well"})).follow_task().on_status(on_status);
        assert_eq!(call.begin().expect("it is sent").await.expect("it ends well").text().as_str(), "well");
        assert_eq!(*list.lock().unwrap(), ["working", "completed"]);
    });
}

#[test]
fn the_blocking_client_calls_them_while_it_waits_for_the_call() {
    watched(|| {
        let (_server, mut client) = open_blocking("floods-notifications 5");
        let (on_progress, count) = counter();
        let call = client.call_tool("echo", json!({"message": "begun"})).on_progress(on_progress);
        let pending = call.begin().expect("it is sent");
        assert_eq!(pending.wait(&mut client).expect("it answers").text().as_str(), "begun");
        assert_eq!(count.load(Ordering::Relaxed), 5);

        let (_server, mut client) = open_blocking("tasks --modern");
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
        let (_server, mut client) = open_blocking("floods-notifications 5");
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
        let (_server, mut client) = open_blocking("floods-notifications 50");
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

// A program's own tracing is asked where each request belongs.

/// Another span for each request, and none for the first.
fn source() -> impl Fn() -> Option<TraceContext> + Send + Sync + 'static {
    let asked = AtomicU32::new(0);
    move || {
        let span = asked.fetch_add(1, Ordering::Relaxed);
        TraceContext::new(parent(span)).ok().filter(|_| span > 0)
    }
}

fn parent(span: u32) -> String {
    format!("00-0af7651916cd43dd8448eb211c80319c-00f067aa{span:08x}-01")
}

/// The context that a program names for a single request comes first.
fn each_request_asks_where_it_belongs<A: Adapter>() {
    let server = server!("well-behaved --modern");
    let options = ConnectOptions::new(server.config.clone()).trace_context(TraceSource::new(source()));
    let mut client = A::open(&server.def, options);
    let named = RequestOptions::new().trace_context(&TraceContext::new(parent(0x77)).expect("it is good"));
    let params = CallToolParams { name: "trace", arguments: &() };
    for (options, expected) in [
        (RequestOptions::new(), "none".into()),
        (RequestOptions::new(), parent(1)),
        (named, parent(0x77)),
        (RequestOptions::new(), parent(3)),
    ] {
        let result = client.request::<CallTool>(&params, &options).expect("it answers");
        assert_eq!(result.text().as_str(), expected);
    }
}

on_both_clients!(each_request_asks_where_it_belongs);

on_every_async_adapter!(a_follower_of_standard_error_may, a_follower_may_drop_the_client,);

on_one_runtime!(
    a_listener_to_progress_may,
    a_watcher_of_the_wire_may,
    the_waker_of_a_listener_may_hold_the_last_client,
    a_pending_call_reports_its_progress,
    a_pending_call_reports_the_status_of_its_task,
);
