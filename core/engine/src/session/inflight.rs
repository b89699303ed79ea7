//! The table of requests that wait for an answer.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use super::caching::Pending;
use super::error::{CallError, Deadline};
use super::rounds::Kept;
use super::tasks::Tasked;
use super::ticket::RequestKey;
use super::timers::Timers;
use crate::time::Timestamp;

/// Who waits for the answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// A caller, who gets an [`Event::Reply`](super::Event::Reply).
    Caller,
    /// The session itself, which follows or cancels a task.
    Task,
}

/// A request that waits.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) key: RequestKey,
    pub(crate) method: Cow<'static, str>,
    pub(crate) wants_progress: bool,
    /// How often it has been sent again, with the input that the server wanted.
    pub(crate) rounds: u32,
    /// What it takes to send it again.
    pub(crate) kept: Option<Kept>,
    /// What it has to do with tasks.
    pub(crate) tasks: Tasked,
    /// Who waits for its answer.
    pub(crate) owner: Owner,
    /// What its answer may be kept under.
    pub(super) cached_as: Option<Box<Pending>>,
    sent: Timestamp,
    timeout: Duration,
    /// When it was sent the last time, or the server reported progress.
    alive: Timestamp,
    total: Timestamp,
}

impl Waiting {
    pub(crate) fn new(
        key: RequestKey,
        method: Cow<'static, str>,
        wants_progress: bool,
        kept: Option<Kept>,
        timeout: Duration,
        total_timeout: Duration,
        now: Timestamp,
    ) -> Self {
        let total = now + total_timeout;
        let (tasks, cached_as) = (Tasked::No, None);
        Waiting {
            key,
            method,
            wants_progress,
            rounds: 0,
            kept,
            tasks,
            owner: Owner::Caller,
            cached_as,
            sent: now,
            timeout,
            alive: now,
            total,
        }
    }

    /// When it was sent.
    pub(crate) fn sent(&self) -> Timestamp {
        self.sent
    }

    /// How long it may be silent.
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// When it has taken too long in all.
    pub(crate) fn total(&self) -> Timestamp {
        self.total
    }

    /// When it has been silent for too long, if the server could go on at `resumed` at the latest.
    fn idle(&self, resumed: Timestamp) -> Timestamp {
        self.alive.max(resumed) + self.timeout
    }

    pub(crate) fn timed_out(self, deadline: Deadline) -> CallError {
        let after = match deadline {
            Deadline::Idle => self.timeout,
            Deadline::Total => self.total.duration_since(self.sent),
        };
        CallError::Timeout { method: self.method, after, deadline }
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
    /// How many of the requests wait for a caller; the others are the session's own.
    callers: usize,
    timers: Timers,
    /// Requests that have been sent again, by their keys, and the ids that they have now.
    again: Vec<(RequestKey, u64)>,
    /// The bytes of what is kept of them all.
    kept: usize,
    /// The server waits for an answer of ours: nobody can say that it is too slow.
    paused: bool,
    /// When it no longer did.
    resumed: Timestamp,
}

#[derive(Debug)]
struct Slot {
    id: u64,
    /// Grows with the ids: that of the request, or, where it was sent again, one that nobody else has.
    key: RequestKey,
    waiting: Option<Waiting>,
}

/// Below this number holes are not worth the trouble.
const FEW: usize = 16;

/// The soonest that a deadline which does not run is looked at again.
const SOON: Duration = Duration::from_millis(1);

impl InFlight {
    /// Returns the number of requests whose answer a caller waits for.
    pub(crate) fn callers(&self) -> usize {
        self.callers
    }

    /// Adds a request whose id is above all before it.
    pub(crate) fn insert(&mut self, id: u64, waiting: Waiting) {
        self.put(id, waiting.key, waiting);
    }

    /// Adds a request that is sent again. `place` is a key above all before it.
    pub(crate) fn insert_again(&mut self, id: u64, place: RequestKey, mut waiting: Waiting, now: Timestamp) {
        waiting.alive = now;
        waiting.rounds += 1;
        // What follows from an answer of the user's is not kept.
        waiting.cached_as = None;
        let at = self.again.partition_point(|(key, _)| *key < waiting.key);
        self.again.insert(at, (waiting.key, id));
        self.put(id, place, waiting);
    }

    fn put(&mut self, id: u64, key: RequestKey, waiting: Waiting) {
        self.timers.set(waiting.idle(self.resumed).min(waiting.total), id);
        self.kept += waiting.kept.as_ref().map_or(0, Kept::len);
        self.callers += usize::from(waiting.owner == Owner::Caller);
        self.table.push_back(Slot { id, key, waiting: Some(waiting) });
        self.len += 1;
    }

    pub(crate) fn remove(&mut self, id: u64) -> Option<Waiting> {
        let at = self.position(id)?;
        let found = self.table[at].waiting.take()?;
        self.len -= 1;
        self.callers -= usize::from(found.owner == Owner::Caller);
        if let Some(kept) = &found.kept {
            self.kept -= kept.len();
        }
        if found.rounds > 0
            && let Ok(at) = self.again.binary_search_by_key(&found.key, |(key, _)| *key)
        {
            self.again.remove(at);
        }
        self.sweep();
        Some(found)
    }

    /// The id that a request has on the wire at present.
    pub(crate) fn id_of(&self, key: RequestKey) -> Option<u64> {
        if let Ok(at) = self.again.binary_search_by_key(&key, |(key, _)| *key) {
            return Some(self.again[at].1);
        }
        let at = self.table.binary_search_by_key(&key, |slot| slot.key).ok()?;
        self.table[at].waiting.as_ref().map(|_| self.table[at].id)
    }

    /// Takes a report of progress: puts off the idle deadline, and tells whose it is.
    pub(crate) fn progress(&mut self, id: u64, now: Timestamp) -> Option<RequestKey> {
        let at = self.position(id)?;
        let waiting = self.table[at].waiting.as_mut().filter(|waiting| waiting.wants_progress)?;
        // The timer stays where it is: when it fires early, it is set anew.
        waiting.alive = now;
        Some(waiting.key)
    }

    /// The next deadline. It may be early, never late.
    pub(crate) fn poll_timeout(&self) -> Option<Timestamp> {
        self.timers.next()
    }

    /// Takes in whether the server waits for an answer of ours. The deadlines of silence do not run while it does, and begin
    /// anew when it no longer does.
    pub(crate) fn pause(&mut self, paused: bool, now: Timestamp) {
        if self.paused && !paused {
            self.resumed = self.resumed.max(now);
        }
        self.paused = paused;
    }

    /// The bytes of what is kept for sending requests again.
    pub(crate) fn kept(&self) -> usize {
        self.kept
    }

    /// Those that wait.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Waiting> {
        self.table.iter_mut().filter_map(|slot| slot.waiting.as_mut())
    }

    /// Takes out one request whose deadline has passed, and says which deadline that is.
    pub(crate) fn expire(&mut self, now: Timestamp) -> Option<(u64, Waiting, Deadline)> {
        while let Some(id) = self.timers.fire(now) {
            let Some(waiting) = self.position(id).and_then(|at| self.table[at].waiting.as_ref()) else { continue };
            // In a pause the silent are looked at again after the time that they would have at least, were it over now.
            let idle = if self.paused { now + waiting.timeout.max(SOON) } else { waiting.idle(self.resumed) };
            let deadline = match (idle <= now, waiting.total <= now) {
                (true, false) => Deadline::Idle,
                (true, true) if idle <= waiting.total => Deadline::Idle,
                (_, true) => Deadline::Total,
                (false, false) => {
                    self.timers.set(idle.min(waiting.total), id);
                    continue;
                }
            };
            let waiting = self.remove(id)?;
            return Some((id, waiting, deadline));
        }
        None
    }

    /// Takes out the oldest request.
    pub(crate) fn pop(&mut self) -> Option<(u64, Waiting)> {
        let id = self.table.front()?.id;
        self.remove(id).map(|waiting| (id, waiting))
    }

    /// Whether a request of that id waits.
    #[cfg(feature = "http")]
    pub(crate) fn has(&self, id: u64) -> bool {
        self.position(id).is_some_and(|at| self.table[at].waiting.is_some())
    }

    /// Frees the table's memory if no request waits, whoever waits for it.
    pub(crate) fn let_go(&mut self) {
        if self.len == 0 {
            *self = InFlight { paused: self.paused, resumed: self.resumed, ..InFlight::default() };
        }
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
