//! The table of requests that wait for an answer.

use alloc::borrow::Cow;
use alloc::collections::VecDeque;
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
///
/// Ids only grow, so the table is a queue that stays sorted by itself. One that has ended leaves a hole; holes at the ends
/// are dropped at once, those between when they are the majority. No allocation in steady use, and no cost that grows with
/// what waits but the search's logarithm.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    table: VecDeque<(u64, Option<Waiting>)>,
    len: usize,
    timers: Timers,
}

/// Below this number holes are not worth the trouble.
const FEW: usize = 16;

impl InFlight {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Adds a request whose id is above all before it.
    pub(crate) fn insert(&mut self, id: u64, waiting: Waiting) {
        self.timers.set(waiting.deadline(), id);
        self.table.push_back((id, Some(waiting)));
        self.len += 1;
    }

    pub(crate) fn remove(&mut self, id: u64) -> Option<Waiting> {
        let at = self.position(id)?;
        let found = self.table[at].1.take()?;
        self.len -= 1;
        self.sweep();
        Some(found)
    }

    /// The id that a request has on the wire at present.
    pub(crate) fn id_of(&self, key: RequestKey) -> Option<u64> {
        // Keys grow with ids.
        let at = self.table.partition_point(|(_, slot)| slot.as_ref().is_some_and(|waiting| waiting.key < key));
        let found = |at: usize| self.table.get(at).filter(|(_, slot)| slot.as_ref().is_some_and(|w| w.key == key));
        match found(at) {
            Some((id, _)) => Some(*id),
            // Holes have no key, and may lead the search astray.
            None => self.table.iter().find(|(_, slot)| slot.as_ref().is_some_and(|w| w.key == key)).map(|(id, _)| *id),
        }
    }

    /// Takes a report of progress: puts off the idle deadline, and tells whose it is.
    pub(crate) fn progress(&mut self, id: u64, now: Timestamp) -> Option<RequestKey> {
        let at = self.position(id)?;
        let waiting = self.table[at].1.as_mut().filter(|waiting| waiting.wants_progress)?;
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
            let waiting = self.position(id).and_then(|at| self.table[at].1.as_ref());
            match waiting.map(Waiting::deadline) {
                Some(deadline) if deadline <= now => {
                    let (key, error) = self.remove(id)?.timed_out(now);
                    return Some((id, key, error));
                }
                Some(deadline) => self.timers.set(deadline, id),
                None => {}
            }
        }
        None
    }

    /// Takes out the oldest request.
    pub(crate) fn pop(&mut self) -> Option<Waiting> {
        let id = self.table.front()?.0;
        self.remove(id)
    }

    fn position(&self, id: u64) -> Option<usize> {
        // Without holes the ids are a row of numbers.
        let guess = usize::try_from(id.checked_sub(self.table.front()?.0)?).ok()?;
        match self.table.get(guess) {
            Some((found, _)) if *found == id => Some(guess),
            _ => self.table.binary_search_by_key(&id, |(id, _)| *id).ok(),
        }
    }

    fn sweep(&mut self) {
        while let Some((_, None)) = self.table.front() {
            self.table.pop_front();
        }
        while let Some((_, None)) = self.table.back() {
            self.table.pop_back();
        }
        if self.table.len() > 2 * self.len + FEW {
            self.table.retain(|(_, slot)| slot.is_some());
        }
        if self.table.is_empty() && self.table.capacity() > 4 * FEW {
            self.table = VecDeque::new();
        }
        let table = &self.table;
        let waits = |id: u64| matches!(table.binary_search_by_key(&id, |(id, _)| *id), Ok(at) if table[at].1.is_some());
        self.timers.sweep(self.len, waits);
    }
}
