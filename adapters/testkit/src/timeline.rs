//! [`Timeline`]: the current virtual time, and the timers that wait for a later one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

use mcpwire_driver::Clock;
use mcpwire_driver::protocol::Timestamp;

/// The current time, and the wakers of the timers.
#[derive(Default)]
pub(crate) struct Timeline(Mutex<TimelineState>);

#[derive(Default)]
pub(crate) struct TimelineState {
    pub(crate) now: Timestamp,
    /// By deadline and timer id: timers with the same deadline fire in the order of their creation.
    pub(crate) timers: BTreeMap<(Timestamp, u64), Waker>,
    last_id: u64,
}

impl Timeline {
    pub(crate) fn now(&self) -> Timestamp {
        self.lock().now
    }

    pub(crate) fn clock(self: &Arc<Self>) -> Clock {
        let timeline = Arc::clone(self);
        Clock::from_fn(move || timeline.now())
    }

    /// Advances the time to the next timer, and wakes its task. Returns `false` if no timer is set.
    pub(crate) fn advance_to_next_timer(&self) -> bool {
        let mut times = self.lock();
        let Some(&(at, _)) = times.timers.keys().next().filter(|(at, _)| *at < NEVER) else { return false };
        times.now = times.now.max(at);
        let mut due = Vec::new();
        while let Some(first) = times.timers.first_entry().filter(|entry| entry.key().0 <= at) {
            due.push(first.remove());
        }
        drop(times);
        due.into_iter().for_each(Waker::wake);
        true
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, TimelineState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The deadline of a timer that never fires.
const NEVER: Timestamp = Timestamp::from_origin(Duration::MAX);

impl TimelineState {
    pub(crate) fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }
}
