//! The table of requests that wait for an answer.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use core::time::Duration;

use super::error::{CallError, Deadline};
use super::ticket::RequestKey;
use super::timers::Timers;
use crate::time::Timestamp;

/// A request that waits.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) key: RequestKey,
    pub(crate) method: Cow<'static, str>,
    pub(crate) wants_progress: bool,
    sent: Timestamp,
    timeout: Duration,
    idle: Timestamp,
    total: Timestamp,
}

impl Waiting {
    pub(crate) fn new(
        key: RequestKey,
        method: Cow<'static, str>,
        wants_progress: bool,
        timeout: Duration,
        total_timeout: Duration,
        now: Timestamp,
    ) -> Self {
        Waiting { key, method, wants_progress, sent: now, timeout, idle: now + timeout, total: now + total_timeout }
    }

    fn deadline(&self) -> Timestamp {
        self.idle.min(self.total)
    }

    fn timed_out(self, now: Timestamp) -> (RequestKey, CallError) {
        let (deadline, after) = if self.idle <= now && self.idle <= self.total {
            (Deadline::Idle, self.timeout)
        } else {
            (Deadline::Total, self.total.duration_since(self.sent))
        };
        (self.key, CallError::Timeout { method: self.method, after, deadline })
    }
}

/// Requests by their id on the wire, with their deadlines: whoever leaves the table leaves the timers with it.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    table: BTreeMap<u64, Waiting>,
    timers: Timers,
}

impl InFlight {
    pub(crate) fn len(&self) -> usize {
        self.table.len()
    }

    pub(crate) fn insert(&mut self, id: u64, waiting: Waiting) {
        self.timers.set(waiting.deadline(), id);
        self.table.insert(id, waiting);
        self.sweep();
    }

    pub(crate) fn remove(&mut self, id: u64) -> Option<Waiting> {
        let found = self.table.remove(&id);
        if found.is_some() {
            self.sweep();
        }
        found
    }

    /// The id that a request has on the wire at present.
    pub(crate) fn id_of(&self, key: RequestKey) -> Option<u64> {
        // Requests are few where they are cancelled; a second index would cost every call.
        self.table.iter().find(|(_, waiting)| waiting.key == key).map(|(id, _)| *id)
    }

    /// Takes a report of progress: puts off the idle deadline, and tells whose it is.
    pub(crate) fn progress(&mut self, id: u64, now: Timestamp) -> Option<RequestKey> {
        let waiting = self.table.get_mut(&id).filter(|waiting| waiting.wants_progress)?;
        // The timer stays where it is: when it fires early, it is set anew.
        waiting.idle = now + waiting.timeout;
        Some(waiting.key)
    }

    /// The next deadline. It may be early, never late.
    pub(crate) fn poll_timeout(&self) -> Option<Timestamp> {
        self.timers.next()
    }

    /// Takes out one request whose deadline has passed.
    pub(crate) fn expire(&mut self, now: Timestamp) -> Option<(u64, RequestKey, CallError)> {
        while let Some(id) = self.timers.fire(now) {
            match self.table.get(&id).map(Waiting::deadline) {
                Some(deadline) if deadline <= now => {
                    let waiting = self.remove(id)?;
                    let (key, error) = waiting.timed_out(now);
                    return Some((id, key, error));
                }
                Some(deadline) => self.timers.set(deadline, id),
                None => {}
            }
        }
        None
    }

    /// Takes out any request.
    pub(crate) fn pop(&mut self) -> Option<Waiting> {
        let (_, waiting) = self.table.pop_first()?;
        self.sweep();
        Some(waiting)
    }

    fn sweep(&mut self) {
        let table = &self.table;
        self.timers.sweep(table.len(), |id| table.contains_key(&id));
    }
}
