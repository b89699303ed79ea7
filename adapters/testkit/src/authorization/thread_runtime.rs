//! [`ThreadRuntime`]: runs the futures of one connection on its thread, in real time.

use std::cell::Cell;
use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use mcpwire_driver::process::{ExitHandle, Pipes};
use mcpwire_driver::{Clock, Runtime, Streams, TaskFuture, Timer};

/// Longest time for which a thread sleeps: then it looks whether its connection is still there.
const LONGEST_SLEEP: Duration = Duration::from_millis(100);

/// A runtime whose futures are polled by [`block_on`].
pub(super) struct ThreadRuntime(Clock);

impl ThreadRuntime {
    pub(super) fn new() -> Self {
        ThreadRuntime(Clock::system())
    }
}

impl Runtime for ThreadRuntime {
    fn spawn(&self, task: TaskFuture) {
        drop(thread::Builder::new().spawn(move || block_on(task, || true)));
    }

    fn timer(&self) -> Box<dyn Timer> {
        Box::new(SleepTimer(None))
    }

    fn clock(&self) -> Clock {
        self.0.clone()
    }

    fn pipes(&self, _: Pipes, _: Option<ExitHandle>) -> io::Result<Streams> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Runs a future on this thread. Gives up, and returns `None`, when `is_wanted` says so.
pub(super) fn block_on<T>(future: impl Future<Output = T>, is_wanted: impl Fn() -> bool) -> Option<T> {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        NEXT.set(None);
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return Some(value);
        }
        let next = NEXT.get().map_or(LONGEST_SLEEP, |at| at.saturating_duration_since(Instant::now()));
        thread::park_timeout(next.min(LONGEST_SLEEP));
        if !is_wanted() {
            return None;
        }
    }
}

thread_local! {
    /// The earliest deadline of the timers that the running future has polled.
    static NEXT: Cell<Option<Instant>> = const { Cell::new(None) };
}

struct SleepTimer(Option<Instant>);

impl Timer for SleepTimer {
    fn reset(&mut self, after: Duration) {
        self.0 = Instant::now().checked_add(after);
    }

    fn poll(&mut self, _: &mut Context<'_>) -> Poll<()> {
        let Some(at) = self.0 else { return Poll::Pending };
        if at <= Instant::now() {
            return Poll::Ready(());
        }
        NEXT.set(Some(NEXT.get().map_or(at, |next| next.min(at))));
        Poll::Pending
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
