//! The future of the result of a command.

use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use mcpwire_tool_client::ToolError;

use super::queue::{Command, Queue};
use super::slot::{Sender, Slot, lock};

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
