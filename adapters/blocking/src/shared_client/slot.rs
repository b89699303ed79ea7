//! [`Slot`]: the result of a command, and [`ResultSender`], which delivers the result.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use mcpwire_tool_client::{ToolError, ToolErrorKind};

/// The result of a command. The future and the [`ResultSender`] share it.
pub(super) enum Slot<T> {
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

    /// Returns whether the future was dropped.
    pub(super) fn is_cancelled(&self) -> bool {
        matches!(*lock(&self.0), Slot::Closed)
    }
}

impl<T> Drop for ResultSender<T> {
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

pub(super) fn lock<T>(slot: &Mutex<Slot<T>>) -> MutexGuard<'_, Slot<T>> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}
