//! [`Waiters`]: the tasks that wait for the opening or the end of a connection.

use std::collections::BTreeMap;
use std::task::Waker;

/// The wakers of the tasks that wait for the opening or the end of a connection, by key.
#[derive(Debug, Default)]
pub(crate) struct Waiters {
    wakers: BTreeMap<u64, Waker>,
    next_key: u64,
}

impl Waiters {
    /// Stores the waker of the waiter with this key, which is new if it is `None`. Returns the waker that it replaces.
    pub(crate) fn insert(&mut self, key: &mut Option<u64>, waker: Waker) -> Option<Waker> {
        let key = *key.get_or_insert_with(|| {
            self.next_key += 1;
            self.next_key
        });
        self.wakers.insert(key, waker)
    }

    /// Removes the waker of the waiter with this key, and returns it.
    pub(crate) fn remove(&mut self, key: u64) -> Option<Waker> {
        self.wakers.remove(&key)
    }

    /// Adds all wakers to `wakers`, and removes them from this list.
    pub(crate) fn take(&mut self, wakers: &mut Vec<Waker>) {
        wakers.extend(std::mem::take(&mut self.wakers).into_values());
    }
}
