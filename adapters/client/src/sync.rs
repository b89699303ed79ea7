//! [`lock`] and [`replace_waker`]: what state that is shared between threads and tasks needs.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// Locks a mutex. It may be poisoned: a panic while the lock is held leaves the data valid.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Stores the waker of a task. Returns the previous waker, which may be the last reference to another task.
#[must_use = "drop the waker without holding a lock"]
pub fn replace_waker(stored: &mut Option<Waker>, waker: &Waker) -> Option<Waker> {
    match stored {
        Some(previous) if previous.will_wake(waker) => None,
        stored => stored.replace(waker.clone()),
    }
}
