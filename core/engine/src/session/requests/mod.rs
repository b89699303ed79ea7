//! The table of requests that the client has sent and that have no response yet, with their deadlines.

mod owner;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::time::Duration;

use super::error::Deadline;
use super::ticket::RequestKey;
use crate::cache::PendingEntry;
use crate::time::Timestamp;

pub(super) use owner::{CallerRequest, Deadlines, OpeningRequest, Owner, RetryParams, TaskRequest, TaskUse};

/// All pending requests.
#[derive(Debug)]
pub(super) struct Requests {
    /// By JSON-RPC id. The ids increase, so the oldest request is the first.
    table: BTreeMap<u64, Pending>,
    /// The JSON-RPC id with which each pending request of a caller was last sent.
    callers: BTreeMap<RequestKey, u64>,
    /// Each [`Pending::timer`], with the JSON-RPC id of the request.
    timers: BTreeSet<(Timestamp, u64)>,
    /// Total size of all stored [`RetryParams`], the parameters for sending requests again, in bytes.
    retry_bytes: usize,
    /// Whether the idle timeouts of all requests are paused. They are paused while the embedder has not answered a
    /// request of the server, because the server may need the answer to continue.
    is_paused: bool,
    /// When the last pause of the idle timeouts ended, or [`Timestamp::ORIGIN`] if there was none. Idle timeouts that
    /// started before this time count from this time.
    resumed: Timestamp,
    next_id: u64,
    next_key: u64,
}

#[derive(Debug)]
struct Pending {
    owner: Owner,
    /// When to look at the deadlines of the request: at the next of them, or earlier, because progress moves a deadline
    /// but not this time. `None` if the request has no deadlines.
    timer: Option<Timestamp>,
}

/// A request that was removed from the table because it missed a deadline.
pub(super) struct Expired {
    pub(super) id: u64,
    pub(super) owner: Owner,
    pub(super) missed: Deadline,
}

/// Maximum number of pending requests whose response will be ignored, [`Owner::Nobody`]. 64 bounds the memory if the
/// server never responds to them.
const MAX_UNOWNED: usize = 64;

/// Minimum delay before [`Requests::expire`] looks again at a request with a paused idle timeout. 1 ms: without a
/// delay, an idle timeout of length zero would expire during the pause.
const MIN_RECHECK: Duration = Duration::from_millis(1);

impl Default for Requests {
    fn default() -> Self {
        Requests {
            table: BTreeMap::new(),
            callers: BTreeMap::new(),
            timers: BTreeSet::new(),
            retry_bytes: 0,
            is_paused: false,
            resumed: Timestamp::ORIGIN,
            next_id: 1,
            next_key: 1,
        }
    }
}

impl Requests {
    /// Returns the number of pending requests of callers.
    pub(super) fn callers(&self) -> usize {
        self.callers.len()
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
        let id = self.next_id;
        self.next_id += 1;
        match &owner {
            Owner::Caller(caller) => {
                self.callers.insert(caller.key, id);
                self.retry_bytes += caller.retry.as_ref().map_or(0, RetryParams::len);
            }
            Owner::Nobody => self.limit_unowned(),
            _ => {}
        }
        let timer = owner.deadlines().map(|deadlines| deadlines.idle(self.resumed).min(deadlines.total));
        self.timers.extend(timer.map(|at| (at, id)));
        self.table.insert(id, Pending { owner, timer });
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
        let Pending { owner, timer } = self.table.remove(&id)?;
        if let Some(at) = timer {
            self.timers.remove(&(at, id));
        }
        if let Owner::Caller(caller) = &owner {
            self.callers.remove(&caller.key);
            self.retry_bytes -= caller.retry.as_ref().map_or(0, RetryParams::len);
        }
        Some(owner)
    }

    pub(super) fn disown(&mut self, id: u64) {
        if let Some(pending) = self.table.get_mut(&id) {
            pending.owner = Owner::Nobody;
            self.limit_unowned();
        }
    }

    /// Removes the request that opens the connection (`server/discover` or `initialize`), if it is pending.
    pub(super) fn remove_opening(&mut self, request: OpeningRequest) {
        self.remove_first(|owner| matches!(owner, Owner::Opening(of) if *of == request));
    }

    /// Removes the oldest pending request and returns its owner, or returns `None` if no request is pending.
    pub(super) fn pop(&mut self) -> Option<Owner> {
        self.remove_first(|_| true)
    }

    /// Returns the owner of the request with this JSON-RPC id, or `None` if no such request is pending.
    #[cfg(feature = "http")]
    pub(super) fn owner(&self, id: u64) -> Option<&Owner> {
        self.table.get(&id).map(|pending| &pending.owner)
    }

    /// Returns the JSON-RPC id with which the caller's request was last sent, or `None` if the request is not pending.
    pub(super) fn id_of(&self, key: RequestKey) -> Option<u64> {
        self.callers.get(&key).copied()
    }

    /// Returns the JSON-RPC ids of the pending requests about the task for which `key` waits, except `tasks/cancel`.
    pub(super) fn about_task(&self, key: RequestKey) -> Vec<u64> {
        let is_wanted = |owner: &Owner| matches!(owner, Owner::Task { call, request, .. } if *call == key && *request != TaskRequest::Cancel);
        self.table.iter().filter(|(_, pending)| is_wanted(&pending.owner)).map(|(id, _)| *id).collect()
    }

    /// Restarts the idle timeout of the caller's request with this JSON-RPC id, because the server has reported
    /// progress.
    ///
    /// Returns the key of the request, or `None` if the request is not pending or its caller did not request progress
    /// notifications.
    pub(super) fn progress(&mut self, id: u64, now: Timestamp) -> Option<RequestKey> {
        match &mut self.table.get_mut(&id)?.owner {
            Owner::Caller(caller) if caller.wants_progress => {
                caller.deadlines.restart_idle(now);
                Some(caller.key)
            }
            _ => None,
        }
    }

    /// Returns when to call [`Self::expire`] next, which may be before the next deadline. Returns `None` if no request
    /// has a deadline.
    pub(super) fn poll_timeout(&self) -> Option<Timestamp> {
        self.timers.first().map(|(at, _)| *at)
    }

    /// Pauses the idle timeouts of all requests if `is_paused` is `true`, otherwise resumes them. After a pause, all
    /// idle timeouts start again at `now`.
    pub(super) fn pause(&mut self, is_paused: bool, now: Timestamp) {
        if self.is_paused && !is_paused {
            self.resumed = now;
        }
        self.is_paused = is_paused;
    }

    /// Returns the total size of the parameters that are stored for sending requests again, in bytes.
    pub(super) fn retry_bytes(&self) -> usize {
        self.retry_bytes
    }

    /// Iterates over the [`PendingEntry`] of each pending request whose response may be cached.
    pub(super) fn cache_entries(&mut self) -> impl Iterator<Item = &mut PendingEntry> {
        self.table.values_mut().filter_map(|pending| match &mut pending.owner {
            Owner::Caller(caller) => caller.cache_entry.as_deref_mut(),
            _ => None,
        })
    }

    /// Removes and returns one request that has missed a deadline by `now`. Call this function until it returns
    /// `None`.
    pub(super) fn expire(&mut self, now: Timestamp) -> Option<Expired> {
        while let Some((at, id)) = self.timers.first().copied().filter(|(at, _)| *at <= now) {
            let pending = self.table.get_mut(&id)?;
            let deadlines = pending.owner.deadlines()?;
            let idle = if self.is_paused {
                // Even if the pause ended now, the timeout would not expire before this time.
                now + deadlines.timeout.max(MIN_RECHECK)
            } else {
                deadlines.idle(self.resumed)
            };
            let missed = match (idle <= now, deadlines.total <= now) {
                (true, false) => Deadline::Idle,
                (true, true) if idle <= deadlines.total => Deadline::Idle,
                (_, true) => Deadline::Total,
                (false, false) => {
                    let later = idle.min(deadlines.total);
                    pending.timer = Some(later);
                    self.timers.remove(&(at, id));
                    self.timers.insert((later, id));
                    continue;
                }
            };
            let owner = self.remove(id)?;
            return Some(Expired { id, owner, missed });
        }
        None
    }

    /// Frees the memory of the table if no request is pending.
    pub(super) fn release_buffers(&mut self) {
        if self.table.is_empty() {
            self.table = BTreeMap::new();
            self.callers = BTreeMap::new();
            self.timers = BTreeSet::new();
        }
    }

    fn remove_first(&mut self, is_wanted: impl Fn(&Owner) -> bool) -> Option<Owner> {
        let id = self.table.iter().find(|(_, pending)| is_wanted(&pending.owner)).map(|(id, _)| *id)?;
        self.remove(id)
    }

    /// Removes the oldest request without an owner if there are too many of them.
    fn limit_unowned(&mut self) {
        let is_unowned = |owner: &Owner| matches!(owner, Owner::Nobody);
        if self.table.values().filter(|pending| is_unowned(&pending.owner)).count() > MAX_UNOWNED {
            self.remove_first(is_unowned);
        }
    }
}
