//! The table of requests that the client has sent and that have no response yet, with their deadlines.

mod owner;
mod timers;

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use super::error::Deadline;
use super::request_keys::RequestKey;
use crate::cache::PendingEntry;
use crate::time::Timestamp;
pub(super) use owner::{CallerRequest, Deadlines, OpeningRequest, Owner, RetryParams, TaskRequest, TaskUse};
use timers::Timers;

/// All pending requests, by JSON-RPC id.
///
/// The ids increase, so the table is sorted by id, and a lookup is a binary search. A removed request leaves a hole: a
/// slot without an owner. Holes at both ends are removed at once. All holes are removed when they outnumber the pending
/// requests by more than [`TOLERATED_HOLES`].
#[derive(Debug)]
pub(super) struct Requests {
    table: VecDeque<Slot>,
    /// Number of pending requests: slots with an owner.
    len: usize,
    /// Number of pending requests of callers: slots with [`Owner::Caller`].
    callers: usize,
    /// One or more timers for each request that has deadlines. The first of them fires at the request's next deadline
    /// or earlier.
    timers: Timers,
    /// Key and current JSON-RPC id of each caller's request that was sent again, because the server required input.
    /// Sorted by key. A search in `table` does not find these requests by key.
    resent: Vec<(RequestKey, u64)>,
    /// Total size of all stored [`RetryParams`], the parameters for sending requests again, in bytes.
    retry_bytes: usize,
    idle_timeouts: IdleTimeouts,
    next_id: u64,
    next_key: u64,
}

#[derive(Debug)]
struct Slot {
    id: u64,
    /// The key of the caller's request in this slot. If the request was resent or is not a caller's, a new key that is
    /// never looked up, so that the table is also sorted by key.
    key: RequestKey,
    /// `None` marks a hole: the request that was in this slot has been removed.
    owner: Option<Owner>,
}

/// Whether the idle timeouts of all pending requests run or are paused. They are paused while the embedder has not
/// answered a request of the server, because the server may need the answer to continue.
#[derive(Clone, Copy, Debug)]
enum IdleTimeouts {
    Running {
        /// When the last pause of the idle timeouts ended, or [`Timestamp::ORIGIN`] if there was none. Idle timeouts
        /// that started before this time count from this time.
        resumed: Timestamp,
    },
    Paused,
}

impl IdleTimeouts {
    /// Returns when the idle timeout of a request expires. A pause that has not ended yet is ignored.
    fn expiry(self, deadlines: &Deadlines) -> Timestamp {
        match self {
            IdleTimeouts::Running { resumed } => deadlines.idle(resumed),
            IdleTimeouts::Paused => deadlines.idle(Timestamp::ORIGIN),
        }
    }
}

/// A request that was removed from the table because it missed a deadline.
pub(super) struct Expired {
    pub(super) id: u64,
    pub(super) owner: Owner,
    pub(super) missed: Deadline,
}

/// The table is compacted when its holes (slots without an owner) outnumber its pending requests by more than this
/// number. 16: removing fewer holes is not worth the time.
const TOLERATED_HOLES: usize = 16;

/// Maximum number of pending requests whose response will be ignored, [`Owner::Nobody`]. 64 bounds the memory if the
/// server never responds to them.
const MAX_UNOWNED: usize = 64;

/// Minimum delay before [`Requests::expire`] looks again at a request with a paused idle timeout. 1 ms: without a
/// delay, an idle timeout of length zero would expire during the pause.
const MIN_RECHECK: Duration = Duration::from_millis(1);

impl Default for Requests {
    fn default() -> Self {
        Requests {
            table: VecDeque::new(),
            len: 0,
            callers: 0,
            timers: Timers::default(),
            resent: Vec::new(),
            retry_bytes: 0,
            idle_timeouts: IdleTimeouts::Running { resumed: Timestamp::ORIGIN },
            next_id: 1,
            next_key: 1,
        }
    }
}

impl Requests {
    pub(super) fn callers(&self) -> usize {
        self.callers
    }

    /// Returns the JSON-RPC id that the next inserted request will have.
    pub(super) fn next_id(&self) -> u64 {
        self.next_id
    }

    /// Returns whether this client has ever sent a request with this JSON-RPC id.
    pub(super) fn was_sent(&self, id: u64) -> bool {
        id < self.next_id
    }

    /// Returns a request key that no request has had before.
    pub(super) fn fresh_key(&mut self) -> RequestKey {
        let key = RequestKey(self.next_key);
        self.next_key += 1;
        key
    }

    /// Inserts a request that the caller of this function has written with the JSON-RPC id [`Self::next_id`]. Returns
    /// this id.
    pub(super) fn insert(&mut self, owner: Owner) -> u64 {
        let key = match &owner {
            Owner::Caller(caller) if caller.input_rounds == 0 => caller.key,
            _ => self.fresh_key(),
        };
        let id = self.next_id;
        self.next_id += 1;
        if let Some(deadlines) = owner.deadlines() {
            self.timers.set(self.idle_timeouts.expiry(deadlines).min(deadlines.total), id);
        }
        match &owner {
            Owner::Caller(caller) => {
                self.callers += 1;
                self.retry_bytes += caller.retry.as_ref().map_or(0, RetryParams::len);
                if caller.input_rounds > 0 {
                    let at = self.resent.partition_point(|(key, _)| *key < caller.key);
                    self.resent.insert(at, (caller.key, id));
                }
            }
            Owner::Nobody => self.limit_unowned(),
            _ => {}
        }
        self.table.push_back(Slot { id, key, owner: Some(owner) });
        self.len += 1;
        id
    }

    /// Inserts a caller's request that was sent again, with the input that the server required. Restarts the idle
    /// timeout of the request.
    pub(super) fn insert_again(&mut self, mut caller: CallerRequest, now: Timestamp) {
        caller.deadlines.restart_idle(now);
        caller.input_rounds += 1;
        // A response that depends on the user's input is not cached.
        caller.cache_entry = None;
        self.insert(Owner::Caller(caller));
    }

    /// Removes the pending request with this JSON-RPC id. Returns its owner, or `None` if no such request is pending.
    pub(super) fn remove(&mut self, id: u64) -> Option<Owner> {
        let at = self.position(id)?;
        let owner = self.table[at].owner.take()?;
        self.len -= 1;
        if let Owner::Caller(caller) = &owner {
            self.callers -= 1;
            self.retry_bytes -= caller.retry.as_ref().map_or(0, RetryParams::len);
            if caller.input_rounds > 0
                && let Ok(at) = self.resent.binary_search_by_key(&caller.key, |(key, _)| *key)
            {
                self.resent.remove(at);
            }
        }
        self.remove_holes();
        Some(owner)
    }

    pub(super) fn disown(&mut self, id: u64) {
        if let Some(owner) = self.owner_mut(id) {
            *owner = Owner::Nobody;
            self.limit_unowned();
        }
    }

    /// Removes the request that opens the connection (`server/discover` or `initialize`), if it is pending.
    pub(super) fn remove_opening(&mut self, request: OpeningRequest) {
        let found = self.table.iter().find(|slot| matches!(slot.owner, Some(Owner::Opening(of)) if of == request));
        if let Some(id) = found.map(|slot| slot.id) {
            self.remove(id);
        }
    }

    /// Removes the oldest pending request and returns its owner, or returns `None` if no request is pending.
    pub(super) fn pop(&mut self) -> Option<Owner> {
        let id = self.table.front()?.id;
        self.remove(id)
    }

    /// Returns the owner of the request with this JSON-RPC id, or `None` if no such request is pending.
    #[cfg(feature = "http")]
    pub(super) fn owner(&self, id: u64) -> Option<&Owner> {
        self.table[self.position(id)?].owner.as_ref()
    }

    /// Returns the JSON-RPC id with which the caller's request was last sent, or `None` if the request is not pending.
    pub(super) fn id_of(&self, key: RequestKey) -> Option<u64> {
        if let Ok(at) = self.resent.binary_search_by_key(&key, |(key, _)| *key) {
            return Some(self.resent[at].1);
        }
        let at = self.table.binary_search_by_key(&key, |slot| slot.key).ok()?;
        let slot = &self.table[at];
        matches!(slot.owner, Some(Owner::Caller(_))).then_some(slot.id)
    }

    /// Restarts the idle timeout of the caller's request with this JSON-RPC id, because the server has reported
    /// progress.
    ///
    /// Returns the key of the request, or `None` if the request is not pending or its caller did not request progress
    /// notifications.
    pub(super) fn progress(&mut self, id: u64, now: Timestamp) -> Option<RequestKey> {
        match self.owner_mut(id)? {
            Owner::Caller(caller) if caller.wants_progress => {
                // The timer is not moved: when it fires too early, it is set again.
                caller.deadlines.restart_idle(now);
                Some(caller.key)
            }
            _ => None,
        }
    }

    /// Returns when to call [`Self::expire`] next, which may be before the next deadline. Returns `None` if no request
    /// has a deadline.
    pub(super) fn poll_timeout(&self) -> Option<Timestamp> {
        self.timers.next()
    }

    /// Pauses the idle timeouts of all requests if `is_paused` is `true`, otherwise resumes them. After a pause, all
    /// idle timeouts start again at `now`.
    pub(super) fn pause(&mut self, is_paused: bool, now: Timestamp) {
        self.idle_timeouts = match (self.idle_timeouts, is_paused) {
            (_, true) => IdleTimeouts::Paused,
            (IdleTimeouts::Paused, false) => IdleTimeouts::Running { resumed: now },
            (running @ IdleTimeouts::Running { .. }, false) => running,
        };
    }

    /// Returns the total size of the parameters that are stored for sending requests again, in bytes.
    pub(super) fn retry_bytes(&self) -> usize {
        self.retry_bytes
    }

    /// Iterates over the [`PendingEntry`] of each pending request whose response may be cached.
    pub(super) fn cache_entries(&mut self) -> impl Iterator<Item = &mut PendingEntry> {
        self.table.iter_mut().filter_map(|slot| match slot.owner.as_mut()? {
            Owner::Caller(caller) => caller.cache_entry.as_deref_mut(),
            _ => None,
        })
    }

    /// Removes and returns one request that has missed a deadline by `now`. Call this function until it returns
    /// `None`.
    pub(super) fn expire(&mut self, now: Timestamp) -> Option<Expired> {
        while let Some(id) = self.timers.fire(now) {
            let owner = self.position(id).and_then(|at| self.table[at].owner.as_ref());
            let Some(deadlines) = owner.and_then(Owner::deadlines) else { continue };
            let idle = match self.idle_timeouts {
                IdleTimeouts::Running { resumed } => deadlines.idle(resumed),
                // Even if the pause ended now, the timeout would not expire before this time.
                IdleTimeouts::Paused => now + deadlines.timeout.max(MIN_RECHECK),
            };
            let missed = match (idle <= now, deadlines.total <= now) {
                (true, false) => Deadline::Idle,
                (true, true) if idle <= deadlines.total => Deadline::Idle,
                (_, true) => Deadline::Total,
                (false, false) => {
                    self.timers.set(idle.min(deadlines.total), id);
                    continue;
                }
            };
            let owner = self.remove(id)?;
            return Some(Expired { id, owner, missed });
        }
        None
    }

    /// Frees the unused memory of the table and its timers.
    pub(super) fn release_buffers(&mut self) {
        self.compact();
        self.table.shrink_to_fit();
        let table = &self.table;
        self.timers.release_buffers(|id| is_pending(table, id));
        self.resent.shrink_to_fit();
    }

    fn owner_mut(&mut self, id: u64) -> Option<&mut Owner> {
        let at = self.position(id)?;
        self.table[at].owner.as_mut()
    }

    fn position(&self, id: u64) -> Option<usize> {
        position(&self.table, id)
    }

    fn limit_unowned(&mut self) {
        let unowned = |slot: &&Slot| matches!(slot.owner, Some(Owner::Nobody));
        if self.table.iter().filter(unowned).count() > MAX_UNOWNED
            && let Some(id) = self.table.iter().find(unowned).map(|slot| slot.id)
        {
            self.remove(id);
        }
    }

    fn compact(&mut self) {
        self.table.retain(|slot| slot.owner.is_some());
    }

    fn remove_holes(&mut self) {
        if self.len == 0 {
            self.table.clear();
            if self.table.capacity() > 4 * TOLERATED_HOLES {
                self.table = VecDeque::new();
            }
            self.timers.clear();
            return;
        }
        while let Some(Slot { owner: None, .. }) = self.table.front() {
            self.table.pop_front();
        }
        while let Some(Slot { owner: None, .. }) = self.table.back() {
            self.table.pop_back();
        }
        if self.table.len() > 2 * self.len + TOLERATED_HOLES {
            self.compact();
        }
        let table = &self.table;
        self.timers.remove_ended(self.len, |id| is_pending(table, id));
    }
}

fn is_pending(table: &VecDeque<Slot>, id: u64) -> bool {
    position(table, id).is_some_and(|at| table[at].owner.is_some())
}

fn position(table: &VecDeque<Slot>, id: u64) -> Option<usize> {
    // In a table without holes, the ids are consecutive.
    let guess = usize::try_from(id.checked_sub(table.front()?.id)?).ok()?;
    match table.get(guess) {
        Some(slot) if slot.id == id => Some(guess),
        _ => table.binary_search_by_key(&id, |slot| slot.id).ok(),
    }
}
