//! The task of a connection is not polled while nothing happens, and seldom when something does.

use std::any::TypeId;
use std::collections::HashMap;
use std::future::poll_fn;
use std::io;
use std::marker::PhantomData;
use std::sync::{Arc, LazyLock, Mutex};

use mcpwire_driver::process::{ExitHandle, Pipes};
use mcpwire_driver::protocol::{CallTool, CallToolParams, RequestOptions};
use mcpwire_driver::{Clock, CurrentRuntime, McpClient, Runtime, Streams, TaskFuture, Timer};
use mcpwire_tests::asynchronous::Host;
use mcpwire_tests::{on_every_async_adapter, server};

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

on_every_async_adapter!(no_poll_when_nothing_happens, few_polls_for_a_call);

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
