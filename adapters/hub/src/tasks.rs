//! [`Tasks`]: the asynchronous runtime of a hub, with tasks that can be aborted, blocking work and timeouts.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use futures_channel::oneshot;
use futures_util::FutureExt as _;
use futures_util::future::{AbortHandle, Either, abortable, select};
use futures_util::task::AtomicWaker;

use mcpwire_client::catch_panic;
use mcpwire_driver::{McpClient, Runtime, Timer};

use crate::{ErrorKind, HubError};

/// An MCP client that runs on the asynchronous runtime of the hub.
pub(crate) type Client = McpClient<()>;

/// The asynchronous runtime on which a hub runs its tasks, such as tokio. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Tasks(Arc<dyn Runtime>);

impl Tasks {
    pub(crate) fn new(runtime: Arc<dyn Runtime>) -> Self {
        Tasks(runtime)
    }

    /// Runs `task` in the background until it ends.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.0.spawn(Box::pin(task));
    }

    /// Runs `task` in the background. The caller can abort the task with the returned handle.
    pub(crate) fn spawn_abortable(&self, task: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
        let (task, handle) = abortable(task);
        self.spawn(task.map(drop));
        handle
    }

    /// Runs `work` on a thread that may block, and returns a future of the result. If the future is dropped, `work` still runs to
    /// its end, and its result is lost.
    ///
    /// # Errors
    ///
    /// Returns an error if `work` panics, or if the runtime ends. `work` can panic because it may call code of the embedding
    /// program.
    pub(crate) fn block<T: Send + 'static, W: FnOnce() -> T + Send + 'static>(
        &self,
        work: W,
    ) -> impl Future<Output = Result<T, HubError>> + Send + use<T, W> {
        let (sender, receiver) = oneshot::channel();
        self.0.spawn_blocking(Box::new(move || drop(sender.send(catch_panic(work)))));
        receiver.map(|ended| match ended {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(message)) => Err(panicked("an operation of the hub", &message)),
            Err(_) => Err(hub_has_ended()),
        })
    }

    /// Runs `work` on a thread that may block. The caller does not wait, and gets no result.
    pub(crate) fn block_detached(&self, work: impl FnOnce() + Send + 'static) {
        self.0.spawn_blocking(Box::new(work));
    }

    /// Waits for `future`, but at most for `time`. Returns `None` if `future` has not completed in that time.
    pub(crate) async fn within<T>(&self, time: Duration, future: impl Future<Output = T>) -> Option<T> {
        let mut timer = self.timer();
        timer.reset(time);
        match select(pin!(future), poll_fn(|cx| timer.poll(cx))).await {
            Either::Left((value, _)) => Some(value),
            Either::Right(_) => None,
        }
    }

    pub(crate) fn runtime(&self) -> &Arc<dyn Runtime> {
        &self.0
    }

    pub(crate) fn timer(&self) -> Box<dyn Timer> {
        self.0.timer()
    }
}

/// Creates an error that reports a panic. `what` names the code that panicked, and `message` is the message of the panic.
pub(crate) fn panicked(what: &str, message: &str) -> HubError {
    HubError::unavailable(format!("{what} panicked: {message}"))
}

pub(crate) fn hub_has_ended() -> HubError {
    HubError::new(ErrorKind::ShuttingDown, "the hub has ended")
}

/// Wakes the task that waits for the alarm. Only one task may wait. If the alarm rings while no task waits, the next wait returns
/// at once.
#[derive(Default)]
pub(crate) struct Alarm {
    rung: AtomicBool,
    waiting: AtomicWaker,
}

impl Alarm {
    pub(crate) fn ring(&self) {
        self.rung.store(true, Ordering::Release);
        self.waiting.wake();
    }

    /// Waits until the alarm rings, but at most for `time`. Returns at once if the alarm has rung since the previous wait.
    pub(crate) async fn wait(&self, timer: &mut dyn Timer, time: Duration) {
        timer.reset(time);
        poll_fn(|cx| {
            self.waiting.register(cx.waker());
            if self.rung.swap(false, Ordering::Acquire) { Poll::Ready(()) } else { timer.poll(cx) }
        })
        .await;
    }
}
