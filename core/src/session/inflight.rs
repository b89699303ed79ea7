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
    table: VecDeque<Slot>,
    len: usize,
    timers: Timers,
}

#[derive(Debug)]
struct Slot {
    id: u64,
    /// Keys grow with ids.
    key: RequestKey,
    waiting: Option<Waiting>,
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
        self.table.push_back(Slot { id, key: waiting.key, waiting: Some(waiting) });
        self.len += 1;
    }

    pub(crate) fn remove(&mut self, id: u64) -> Option<Waiting> {
        let at = self.position(id)?;
        let found = self.table[at].waiting.take()?;
        self.len -= 1;
        self.sweep();
        Some(found)
    }

    /// The id that a request has on the wire at present.
    pub(crate) fn id_of(&self, key: RequestKey) -> Option<u64> {
        let at = self.table.binary_search_by_key(&key, |slot| slot.key).ok()?;
        self.table[at].waiting.as_ref().map(|_| self.table[at].id)
    }

    /// Takes a report of progress: puts off the idle deadline, and tells whose it is.
    pub(crate) fn progress(&mut self, id: u64, now: Timestamp) -> Option<RequestKey> {
        let at = self.position(id)?;
        let waiting = self.table[at].waiting.as_mut().filter(|waiting| waiting.wants_progress)?;
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
            let waiting = self.position(id).and_then(|at| self.table[at].waiting.as_ref());
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
        let id = self.table.front()?.id;
        self.remove(id)
    }

    fn position(&self, id: u64) -> Option<usize> {
        position(&self.table, id)
    }

    fn sweep(&mut self) {
        if self.len == 0 {
            self.table.clear();
            if self.table.capacity() > 4 * FEW {
                self.table = VecDeque::new();
            }
            self.timers.clear();
            return;
        }
        while let Some(Slot { waiting: None, .. }) = self.table.front() {
            self.table.pop_front();
        }
        while let Some(Slot { waiting: None, .. }) = self.table.back() {
            self.table.pop_back();
        }
        if self.table.len() > 2 * self.len + FEW {
            self.table.retain(|slot| slot.waiting.is_some());
        }
        let table = &self.table;
        let waits = |id: u64| position(table, id).is_some_and(|at| table[at].waiting.is_some());
        self.timers.sweep(self.len, waits);
    }
}

fn position(table: &VecDeque<Slot>, id: u64) -> Option<usize> {
    // Without holes the ids are a row of numbers.
    let guess = usize::try_from(id.checked_sub(table.front()?.id)?).ok()?;
    match table.get(guess) {
        Some(slot) if slot.id == id => Some(guess),
        _ => table.binary_search_by_key(&id, |slot| slot.id).ok(),
    }
}
