//! Waits for the opening or the end of a connection.

use std::future::poll_fn;
use std::task::Poll;

use crate::connection::Shared;
use crate::locked_state::State;

impl Shared {
    /// Waits until `get` returns a value, which may change with the opening and the end of the connection.
    pub(crate) async fn wait_for<T>(&self, get: impl Fn(&mut State) -> Option<T>) -> T {
        let mut waiter = Waiter { shared: self, key: None };
        poll_fn(|cx| {
            let mut state = self.lock();
            if let Some(value) = get(&mut state) {
                return Poll::Ready(value);
            }
            let state = &mut *state;
            let next = state.waiters.last_key_value().map_or(0, |(last, _)| last + 1);
            let key = *waiter.key.get_or_insert(next);
            state.wakers.store(state.waiters.entry(key).or_default(), cx);
            Poll::Pending
        })
        .await
    }
}

/// A future's entry in [`State::waiters`]. Dropping it removes the entry.
struct Waiter<'s> {
    shared: &'s Shared,
    /// The key of the entry, or `None` if there has never been one.
    key: Option<u64>,
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            let mut state = self.shared.lock();
            let removed = state.waiters.remove(&key);
            state.wakers.unused.extend(removed.flatten());
        }
    }
}
