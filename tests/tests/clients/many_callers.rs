//! Many callers of one client: calls at once, dropped calls, their deadlines, and clients without callers.

use std::any::TypeId;
use std::collections::HashMap;
use std::future::{IntoFuture, poll_fn};
use std::marker::PhantomData;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant};
use std::{io, thread};

use ::smol::{block_on, channel, unblock};
use mcpwire_driver::process::{ExitHandle, Pipes};
use mcpwire_driver::protocol::{CallTool, CallToolParams, RequestOptions};
use mcpwire_driver::{
    Clock, ConnectOptions, CurrentRuntime, Error, ErrorKind, McpClient, Runtime, Streams, TaskFuture, Timer,
};
use mcpwire_tests::asynchronous::{Async, Host, Threads, all, begun};
use mcpwire_tests::{Server, WATCHDOG, on_every_async_adapter, on_one_runtime, server, watched};
use serde_json::json;

use crate::with_client;

// A client is shared: by tasks, and by threads that are not the runtime's.

const MANY: usize = 1_000;
const THREADS: usize = 4;

fn tasks_call_at_once<H: Host>() {
    with_client::<H>("gathers", async |client| {
        let (tell, told) = channel::unbounded();
        for number in 0..MANY {
            let (client, tell) = (client.clone(), tell.clone());
            H::spawn(async move {
                let text = wait(&client, number).await;
                tell.send((number, text)).await.expect("the test listens");
            });
        }
        client.call_tool("answer", json!({"waits": MANY})).await.expect("all come");
        for _ in 0..MANY {
            let (number, text) = told.recv().await.expect("each of them tells");
            assert_eq!(text, number.to_string());
        }
        assert_eq!(client.in_flight(), 0);
    });
}

fn threads_without_the_runtime_call_at_once<H: Host>() {
    with_client::<H>("gathers", async |client| {
        let threads = (0..THREADS).map(|thread| {
            let client = client.clone();
            unblock(move || block_on(calls_of(thread, &client)))
        });
        let threads: Vec<_> = threads.collect();
        client.call_tool("answer", json!({"waits": MANY})).await.expect("all come");
        for texts in all(threads).await {
            for (number, text) in texts {
                assert_eq!(text, number.to_string());
            }
        }
        assert_eq!(client.in_flight(), 0);
    });
}

/// What waits for room is not only the runtime's own tasks.
fn a_thread_without_the_runtime_fills_the_pipe<H: Host>() {
    with_client::<H>("well-behaved", async |client| {
        let client = client.clone();
        let message = "x".repeat(1 << 20);
        let call = move || block_on(async { client.call_tool("echo", json!({"message": message})).await });
        let result = unblock(call).await.expect("it is answered");
        assert_eq!(result.text().to_string().len(), 1 << 20);
    });
}

/// As many calls as fall to one thread, at once.
async fn calls_of<R>(thread: usize, client: &McpClient<R>) -> Vec<(usize, String)> {
    let calls = (thread..MANY).step_by(THREADS).map(async |number| (number, wait(client, number).await));
    all(calls).await
}

async fn wait<R>(client: &McpClient<R>, number: usize) -> String {
    let result = client.call_tool("wait", json!({"message": number.to_string()})).await;
    result.expect("it is answered").text().to_string()
}

// A call that nobody waits for any more is cancelled: the server is told, and the connection goes on.

fn a_call_that_was_never_polled_was_never_sent<H: Host>() {
    with_client::<H>("gathers", async |client| {
        drop(client.call_tool("wait", ()));
        drop(client.call_tool("wait", ()).into_future());
        assert_eq!(tally(&client).await, "0 waits, 0 cancelled");
    });
}

fn a_call_that_was_sent_is_cancelled<H: Host>() {
    for era in ["", "--modern"] {
        with_client::<H>(&format!("gathers {era}"), async |client| {
            let mut call = client.call_tool("wait", ()).into_future();
            assert!(begun(&mut call).await.is_none());
            assert_eq!(tally(&client).await, "1 waits, 0 cancelled");
            drop(call);
            assert_eq!(tally(&client).await, "1 waits, 1 cancelled");

            let pending = client.begin::<CallTool>(&no_arguments("wait"), &RequestOptions::new()).expect("it is sent");
            assert_eq!(tally(&client).await, "2 waits, 1 cancelled");
            pending.cancel("no longer needed");
            assert_eq!(tally(&client).await, "2 waits, 2 cancelled");
            assert_eq!(client.in_flight(), 0);
        });
    }
}

/// It was answered before it was dropped: there is nothing left to cancel.
fn a_call_that_was_answered_is_not_cancelled<H: Host>() {
    with_client::<H>("gathers", async |client| {
        let wait = client.begin::<CallTool>(&no_arguments("wait"), &RequestOptions::new()).expect("it is sent");
        client.call_tool("answer", ()).await.expect("it comes after the others");
        assert_eq!(client.in_flight(), 0);
        let sent = client.stats();
        drop(wait);
        assert_eq!(client.stats(), sent);
        assert_eq!(tally(&client).await, "1 waits, 0 cancelled");
    });
}

async fn tally<R>(client: &McpClient<R>) -> String {
    client.call_tool("tally", ()).await.expect("it counts").text().to_string()
}

fn no_arguments(name: &str) -> CallToolParams<'_, ()> {
    CallToolParams { name, arguments: &() }
}

// A connection has one timer, and its calls have many deadlines. Each call ends by its own. The server says nothing at all,
// so that nothing but the timer is there to end one.

/// A deadline that no call may have waited for: the watchdog would have ended the test.
const LATE: Duration = WATCHDOG.saturating_mul(5);

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// A server for which nothing sets the timer to a time before [`LATE`] but the calls of a test.
fn patient() -> Server {
    server!("gathers").configured(|config| {
        (config.probe_timeout, config.connect_timeout, config.request_timeout) = (LATE, LATE, LATE);
    })
}

/// The deadline of a call that was answered has passed meanwhile.
fn after_a_rest<H: Host>() {
    let server = patient();
    server.open::<Async<H>>().run(async |client| {
        for timeout in [ms(300), ms(200)] {
            client.call_tool("tally", ()).timeout(timeout).await.expect("it answers");
            H::sleep(timeout + ms(20)).await;
            assert_ends_by_itself(&client, ms(100)).await;
        }
    });
}

fn many_at_once<H: Host>() {
    let server = patient();
    server.open::<Async<H>>().run(async |client| {
        let mut long = client.call_tool("wait", ()).timeout(LATE).into_future();
        assert!(begun(&mut long).await.is_none());
        // In an order that is not that of their ends.
        let calls = (0..100).map(|number: u64| assert_ends_by_itself(&client, ms(50 + (number * 37 % 100) * 3)));
        all(calls).await;
        assert_eq!(client.in_flight(), 1, "the long one goes on");
        drop(long);
        client.call_tool("echo", ()).await.expect("the connection goes on");
    });
}

/// The error names the call's own timeout, which has passed. How soon after it the call ends is told in simulated time.
async fn assert_ends_by_itself<R>(client: &McpClient<R>, timeout: Duration) {
    let begin = Instant::now();
    let error = client.call_tool("wait", ()).timeout(timeout).await.unwrap_err();
    let took = begin.elapsed();
    assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
    assert!(error.to_string().contains(&format!("after {} ms", timeout.as_millis())), "{error}");
    assert!(took >= timeout, "it took {took:?} in place of {timeout:?}");
}

// The task of a connection is not polled while nothing happens, and seldom when something does.

/// How many calls another connection makes meanwhile. A task that is polled without a reason is polled about as often.
const MEANWHILE: u64 = 300;

/// The most polls for what was under way before: a cancellation that is written, the exit of a call.
const REMAINING: u64 = 4;

fn no_poll_when_nothing_happens<H: Host>() {
    let server = server!("well-behaved");
    H::start().block_on(async {
        let client = McpClient::<Counted<H, Idle>>::connect_and_initialize(&server.def).await.expect("it answers");
        client.call_tool("echo", ()).await.expect("it answers");
        let other_server = server!("well-behaved");
        let other = McpClient::<H::Runtime>::connect_and_initialize(&other_server.def).await.expect("it answers");
        assert_rests::<H>(&other).await;

        let params = CallToolParams { name: "ponder", arguments: &() };
        let ponder = client.begin::<CallTool>(&params, &RequestOptions::new()).expect("it is sent");
        assert_rests::<H>(&other).await;
        drop(ponder);
        assert_rests::<H>(&other).await;
    });
}

fn few_polls_for_a_call<H: Host>() {
    const CALLS: u64 = 100;
    let server = server!("well-behaved");
    H::start().block_on(async {
        let client = McpClient::<Counted<H, Busy>>::connect_and_initialize(&server.def).await.expect("it answers");
        let before = polls::<Counted<H, Busy>>();
        for _ in 0..CALLS {
            client.call_tool("echo", ()).await.expect("it answers");
        }
        let polls = polls::<Counted<H, Busy>>() - before;
        assert!(polls <= 2 * CALLS, "{polls} polls");
    });
}

/// Fails if the idle connection is polled while the runtime is busy with another connection.
async fn assert_rests<H: Host>(other: &McpClient<H::Runtime>) {
    let before = polls::<Counted<H, Idle>>();
    for _ in 0..MEANWHILE {
        other.call_tool("echo", ()).await.expect("it answers");
    }
    let polls = polls::<Counted<H, Idle>>() - before;
    assert!(polls <= REMAINING, "{polls} polls");
}

/// The host's runtime, which counts how often drivers are polled, for each case on its own.
struct Counted<H, Case>(PhantomData<fn() -> (H, Case)>);

enum Idle {}
enum Busy {}

static POLLS: LazyLock<Mutex<HashMap<TypeId, u64>>> = LazyLock::new(Mutex::default);

fn polls<R: 'static>() -> u64 {
    POLLS.lock().unwrap().get(&TypeId::of::<R>()).copied().unwrap_or_default()
}

impl<H: Host, Case: 'static> CurrentRuntime for Counted<H, Case> {
    fn current() -> Arc<dyn Runtime> {
        let polled = || *POLLS.lock().unwrap().entry(TypeId::of::<Self>()).or_default() += 1;
        Arc::new(Counting { runtime: H::Runtime::current(), polled })
    }
}

/// A runtime that calls a function before each poll of a task.
struct Counting {
    runtime: Arc<dyn Runtime>,
    polled: fn(),
}

impl Runtime for Counting {
    fn spawn(&self, mut task: TaskFuture) {
        let polled = self.polled;
        self.runtime.spawn(Box::pin(poll_fn(move |cx| {
            polled();
            task.as_mut().poll(cx)
        })));
    }

    fn timer(&self) -> Box<dyn Timer> {
        self.runtime.timer()
    }

    fn clock(&self) -> Clock {
        self.runtime.clock()
    }

    fn pipes(&self, pipes: Pipes, exit: Option<ExitHandle>) -> io::Result<Streams> {
        self.runtime.pipes(pipes, exit)
    }
}

// A client belongs to the runtime that it was connected on, whatever thread uses it.

/// Servers that die on the probe are started again by the thread that opens the connection.
const HABITS: [&str; 3] = ["well-behaved", "well-behaved --modern", "dies-on-probe"];

fn a_thread_without_a_runtime_opens_the_connection<H: Host>() {
    for habit in HABITS {
        let server = server!(habit);
        let host = H::start();
        let client = host.enter(|| McpClient::<H::Runtime>::connect(&server.def)).expect("it starts");
        let user = thread::spawn(move || block_on(use_it(&client)));
        // A runtime without threads runs its tasks only while the program waits for it.
        host.block_on(::smol::unblock(|| user.join())).expect("it does not panic").expect("it works");
        server.assert_gone();
    }
}

fn a_thread_without_a_runtime_starts_the_server<H: Host>() {
    for habit in HABITS {
        let server = server!(habit);
        let host = H::start();
        let (runtime, def) = (host.enter(H::Runtime::current), server.def.clone());
        let user = thread::spawn(move || {
            let client = McpClient::<H::Runtime>::connect_on(runtime, &def, ConnectOptions::default())?;
            block_on(use_it(&client))
        });
        host.block_on(::smol::unblock(|| user.join())).expect("it does not panic").expect("it works");
        server.assert_gone();
    }
}

#[test]
fn a_runtime_that_is_written_by_hand_is_enough() {
    watched(|| {
        for habit in HABITS {
            let server = server!(habit);
            let client = McpClient::<()>::connect_on(Arc::new(Threads), &server.def, ConnectOptions::default());
            block_on(use_it(&client.expect("it starts"))).expect("it works");
            server.assert_gone();
        }
    });
}

async fn use_it<R>(client: &McpClient<R>) -> Result<(), Error> {
    client.initialize().await?;
    client.call_tool("echo", ()).await?;
    let late = client.call_tool("ponder", ()).timeout(Duration::from_millis(50)).await;
    assert_eq!(late.expect_err("it has no answer").kind(), ErrorKind::Timeout);
    client.shutdown().await.map(drop)
}

on_every_async_adapter!(
    tasks_call_at_once,
    threads_without_the_runtime_call_at_once,
    a_thread_without_the_runtime_fills_the_pipe,
    after_a_rest,
    many_at_once,
    no_poll_when_nothing_happens,
    few_polls_for_a_call,
    a_thread_without_a_runtime_opens_the_connection,
    a_thread_without_a_runtime_starts_the_server,
);

on_one_runtime!(
    a_call_that_was_never_polled_was_never_sent,
    a_call_that_was_sent_is_cancelled,
    a_call_that_was_answered_is_not_cancelled,
);
