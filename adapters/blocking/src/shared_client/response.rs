//! The future of a result, and its other half.

use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use mcpwire_tool_client::{ToolError, ToolErrorKind};

use super::queue::{Command, Queue};

/// The result of a command, shared by [`Response`] and [`Sender`].
enum Slot<T> {
    Waiting(Option<Waker>),
    Done(Result<T, ToolError>),
    /// The result was taken, or the future was dropped.
    Closed,
}

/// The half that delivers the result. If it is dropped, the result is an error.
pub(super) struct Sender<T>(Arc<Mutex<Slot<T>>>);

impl<T> Sender<T> {
    pub(super) fn send(self, result: Result<T, ToolError>) {
        deliver(&self.0, result);
    }

    /// Returns whether the future was dropped.
    pub(super) fn is_cancelled(&self) -> bool {
        matches!(*lock(&self.0), Slot::Closed)
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        if matches!(*lock(&self.0), Slot::Waiting(_)) {
            let message = "the thread of the client ended before the call had a result";
            let error = ToolError::new(ToolErrorKind::Unavailable, message);
            deliver(&self.0, Err(error));
        }
    }
}

fn deliver<T>(slot: &Mutex<Slot<T>>, result: Result<T, ToolError>) {
    let mut slot = lock(slot);
    if !matches!(*slot, Slot::Waiting(_)) {
        return;
    }
    let old = mem::replace(&mut *slot, Slot::Done(result));
    drop(slot);
    if let Slot::Waiting(Some(waker)) = old {
        waker.wake();
    }
}

/// The result of a command as a future, which sends the command when it is first polled.
pub(super) struct Response<'q, T, F> {
    queue: &'q Queue,
    /// Makes the command, until it is sent.
    command: Option<F>,
    slot: Arc<Mutex<Slot<T>>>,
}

impl<'q, T, F: FnOnce(Sender<T>) -> Command> Response<'q, T, F> {
    pub(super) fn new(queue: &'q Queue, command: F) -> Self {
        Response { queue, command: Some(command), slot: Arc::new(Mutex::new(Slot::Waiting(None))) }
    }
}

impl<T, F: FnOnce(Sender<T>) -> Command + Unpin> Future for Response<'_, T, F> {
    type Output = Result<T, ToolError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(command) = self.command.take() {
            self.queue.push(command(Sender(Arc::clone(&self.slot))));
        }
        let mut slot = lock(&self.slot);
        match &mut *slot {
            Slot::Waiting(waker) => {
                let old = waker.replace(cx.waker().clone());
                // The waker is dropped without the lock.
                drop(slot);
                drop(old);
                Poll::Pending
            }
            Slot::Done(_) => match mem::replace(&mut *slot, Slot::Closed) {
                Slot::Done(result) => Poll::Ready(result),
                Slot::Waiting(_) | Slot::Closed => Poll::Pending,
            },
            // Polled after its end.
            Slot::Closed => Poll::Pending,
        }
    }
}

impl<T, F> Drop for Response<'_, T, F> {
    fn drop(&mut self) {
        let old = mem::replace(&mut *lock(&self.slot), Slot::Closed);
        if self.command.is_none() && matches!(old, Slot::Waiting(_)) {
            self.queue.push(Command::CancelDropped);
        }
    }
}

fn lock<T>(slot: &Mutex<Slot<T>>) -> MutexGuard<'_, Slot<T>> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}
