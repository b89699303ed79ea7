//! [`CommandFuture`]: the future of the result of a command.

use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use mcpwire_tool_client::{OnProgress, ToolError};

use super::command_queue::{ClientCommand, CommandQueue};
use super::slot::{ResultSender, Slot, SlotResult, lock};

/// The future of the result of a command. The first poll sends the command.
pub(super) struct CommandFuture<'q, T, F> {
    queue: &'q CommandQueue,
    /// Creates the command. `None` after the command was sent.
    command: Option<F>,
    on_progress: Option<OnProgress<'q>>,
    slot: Arc<Mutex<Slot<T>>>,
}

impl<'q, T, F: FnOnce(ResultSender<T>) -> ClientCommand> CommandFuture<'q, T, F> {
    pub(super) fn new(queue: &'q CommandQueue, command: F) -> Self {
        CommandFuture { queue, command: Some(command), on_progress: None, slot: Arc::new(Mutex::new(Slot::new())) }
    }

    /// Sets the callback for progress. The task that polls the future calls it.
    pub(super) fn on_progress(mut self, f: Option<OnProgress<'q>>) -> Self {
        self.on_progress = f;
        self
    }
}

impl<T, F: FnOnce(ResultSender<T>) -> ClientCommand + Unpin> Future for CommandFuture<'_, T, F> {
    type Output = Result<T, ToolError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(command) = self.command.take() {
            self.queue.push(command(ResultSender(Arc::clone(&self.slot))));
        }
        let this = &mut *self;
        loop {
            let mut slot = lock(&this.slot);
            if let Some(progress) = slot.progress.pop_front() {
                // Called without the lock, because the callback may take long.
                drop(slot);
                this.on_progress.iter_mut().for_each(|f| f(&progress));
                continue;
            }
            return match &mut slot.result {
                SlotResult::Waiting(waker) => {
                    let old = waker.replace(cx.waker().clone());
                    // Dropped without the lock, because a waker may own a task.
                    drop(slot);
                    drop(old);
                    Poll::Pending
                }
                SlotResult::Done(_) => match mem::replace(&mut slot.result, SlotResult::Closed) {
                    SlotResult::Done(result) => Poll::Ready(result),
                    SlotResult::Waiting(_) | SlotResult::Closed => Poll::Pending,
                },
                // The future was polled after it was ready.
                SlotResult::Closed => Poll::Pending,
            };
        }
    }
}

impl<T, F> Drop for CommandFuture<'_, T, F> {
    fn drop(&mut self) {
        let old = mem::replace(&mut lock(&self.slot).result, SlotResult::Closed);
        if self.command.is_none() && matches!(old, SlotResult::Waiting(_)) {
            self.queue.push(ClientCommand::CancelDropped);
        }
    }
}
