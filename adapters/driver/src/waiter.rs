//! [`Waiter`]: waits for the opening or the end of a connection.

use std::task::{Context, Poll};

use mcpwire_client::{ConnectionEnd, ShutdownReport};
use mcpwire_core::internal::OpeningOutcome;

use crate::connection::Shared;
use crate::locked_state::State;

/// A future's entry in [`State::waiters`]. Dropping it removes the entry.
pub(crate) struct Waiter<'s> {
    shared: &'s Shared,
    /// The key of the entry, or `None` if there has never been one.
    key: Option<u64>,
}

impl<'s> Waiter<'s> {
    pub(crate) fn new(shared: &'s Shared) -> Self {
        Waiter { shared, key: None }
    }

    /// Waits for the outcome of the opening. [`OpeningOutcome::Restart`] is returned to one task, after the server has exited.
    pub(crate) fn poll_opened(&mut self, cx: &mut Context<'_>) -> Poll<OpeningOutcome> {
        self.poll(cx, |state| match state.connection.opening {
            Some(OpeningOutcome::Restart) if state.report.is_none() || state.is_restarting => None,
            Some(OpeningOutcome::Restart) => {
                state.is_restarting = true;
                Some(OpeningOutcome::Restart)
            }
            ref outcome => outcome.clone(),
        })
    }

    /// Waits until the server has ended.
    pub(crate) fn poll_ended(&mut self, cx: &mut Context<'_>) -> Poll<ShutdownReport> {
        self.poll(cx, |state| state.report)
    }

    /// Waits until the connection and the server have ended, and returns why.
    pub(crate) fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<ConnectionEnd> {
        self.poll(cx, |state| state.connection_end().filter(|_| state.report.is_some()))
    }

    fn poll<T>(&mut self, cx: &mut Context<'_>, get: impl FnOnce(&mut State) -> Option<T>) -> Poll<T> {
        let waker = cx.waker().clone();
        let mut state = self.shared.lock();
        if let Some(value) = get(&mut state) {
            drop(state);
            return Poll::Ready(value);
        }
        let replaced = state.waiters.insert(&mut self.key, waker);
        // Wakers are dropped without the lock.
        drop(state);
        drop(replaced);
        Poll::Pending
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            let removed = self.shared.lock().waiters.remove(key);
            drop(removed);
        }
    }
}
