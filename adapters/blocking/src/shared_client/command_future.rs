//! [`CommandFuture`]: the future of the result of a command.

use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use mcpwire_tool_client::ToolError;

use super::command_queue::{ClientCommand, CommandQueue};
use super::slot::{ResultSender, Slot, lock};

/// The future of the result of a command. The first poll sends the command.
pub(super) struct CommandFuture<'q, T, F> {
    queue: &'q CommandQueue,
    /// Creates the command. `None` after the command was sent.
    command: Option<F>,
    slot: Arc<Mutex<Slot<T>>>,
}

impl<'q, T, F: FnOnce(ResultSender<T>) -> ClientCommand> CommandFuture<'q, T, F> {
    pub(super) fn new(queue: &'q CommandQueue, command: F) -> Self {
        CommandFuture { queue, command: Some(command), slot: Arc::new(Mutex::new(Slot::Waiting(None))) }
    }
}

impl<T, F: FnOnce(ResultSender<T>) -> ClientCommand + Unpin> Future for CommandFuture<'_, T, F> {
    type Output = Result<T, ToolError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(command) = self.command.take() {
            self.queue.push(command(ResultSender(Arc::clone(&self.slot))));
        }
        let mut slot = lock(&self.slot);
        match &mut *slot {
            Slot::Waiting(waker) => {
                let old = waker.replace(cx.waker().clone());
                // Dropped without the lock, because a waker may own a task.
                drop(slot);
                drop(old);
                Poll::Pending
            }
            Slot::Done(_) => match mem::replace(&mut *slot, Slot::Closed) {
                Slot::Done(result) => Poll::Ready(result),
                Slot::Waiting(_) | Slot::Closed => Poll::Pending,
            },
            // The future was polled after it was ready.
            Slot::Closed => Poll::Pending,
        }
    }
}

impl<T, F> Drop for CommandFuture<'_, T, F> {
    fn drop(&mut self) {
        let old = mem::replace(&mut *lock(&self.slot), Slot::Closed);
        if self.command.is_none() && matches!(old, Slot::Waiting(_)) {
            self.queue.push(ClientCommand::CancelDropped);
        }
    }
}
