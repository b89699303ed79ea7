//! [`Slot`]: the result of a command and the progress before it, and [`ResultSender`], which delivers both.

use std::collections::VecDeque;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use mcpwire_core::Progress;
use mcpwire_tool_client::{ErrorKind, ToolError};

/// Maximum number of reports of progress that wait for the future to be polled. 1,024, as in the queues of notifications.
const MAX_PROGRESS: usize = 1024;

/// The result of a command, and the progress before it. The future and the [`ResultSender`] share the slot.
pub(super) struct Slot<T> {
    pub(super) result: SlotResult<T>,
    /// The reports that the future has not taken, in order. Above [`MAX_PROGRESS`], the oldest are dropped.
    pub(super) progress: VecDeque<Progress>,
}

impl<T> Slot<T> {
    pub(super) fn new() -> Self {
        Slot { result: SlotResult::Waiting(None), progress: VecDeque::new() }
    }
}

/// The result of a command.
pub(super) enum SlotResult<T> {
    Waiting(Option<Waker>),
    Done(Result<T, ToolError>),
    /// The result was taken, or the future was dropped.
    Closed,
}

/// Delivers the result of a command. Dropping it delivers an error.
pub(super) struct ResultSender<T>(pub(super) Arc<Mutex<Slot<T>>>);

impl<T> ResultSender<T> {
    pub(super) fn send(self, result: Result<T, ToolError>) {
        deliver(&self.0, result);
    }

    /// Delivers a report of progress.
    pub(super) fn report(&self, progress: Progress) {
        let mut slot = lock(&self.0);
        let SlotResult::Waiting(waker) = &mut slot.result else { return };
        let waker = waker.take();
        if slot.progress.len() == MAX_PROGRESS {
            slot.progress.pop_front();
        }
        slot.progress.push_back(progress);
        drop(slot);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Returns whether the future was dropped.
    pub(super) fn is_cancelled(&self) -> bool {
        matches!(lock(&self.0).result, SlotResult::Closed)
    }
}

impl<T> Drop for ResultSender<T> {
    fn drop(&mut self) {
        if matches!(lock(&self.0).result, SlotResult::Waiting(_)) {
            let message = "the thread of the client ended before the call had a result";
            let error = ToolError::new(ErrorKind::Unavailable, message);
            deliver(&self.0, Err(error));
        }
    }
}

fn deliver<T>(slot: &Mutex<Slot<T>>, result: Result<T, ToolError>) {
    let mut slot = lock(slot);
    if !matches!(slot.result, SlotResult::Waiting(_)) {
        return;
    }
    let old = mem::replace(&mut slot.result, SlotResult::Done(result));
    drop(slot);
    if let SlotResult::Waiting(Some(waker)) = old {
        waker.wake();
    }
}

pub(super) fn lock<T>(slot: &Mutex<Slot<T>>) -> MutexGuard<'_, Slot<T>> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}
