//! [`lock`] and [`replace_waker`]: helpers for state that threads and tasks share.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// Locks a mutex, and ignores that it may be poisoned. In the crates of mcpwire, a panic while a lock is held leaves the data
/// valid.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Stores the waker of a task, and returns the previous waker if it wakes another task.
///
/// Drop the previous waker without holding a lock. It may be the last reference to its task, and then runs code of the task.
#[must_use = "drop the waker without holding a lock"]
pub fn replace_waker(stored: &mut Option<Waker>, waker: &Waker) -> Option<Waker> {
    match stored {
        Some(previous) if previous.will_wake(waker) => None,
        stored => stored.replace(waker.clone()),
    }
}
