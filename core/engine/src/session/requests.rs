//! The table of requests that were sent and have no answer yet, with their deadlines.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
#[cfg(feature = "http")]
use core::mem;
use core::time::Duration;

use super::error::{CallError, Deadline};
use super::keys::{RequestKey, SubscriptionKey};
use super::retry_params::RetryParams;
use super::timers::Timers;
use crate::cache::PendingEntry;
use crate::time::Timestamp;

/// A request that waits for its answer.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) owner: Owner,
    /// `None` where the owner keeps the deadline itself, or where there is none.
    pub(super) deadlines: Option<Deadlines>,
}

/// Who gets the answer to a request.
#[derive(Debug)]
pub(super) enum Owner {
    /// The opening of the connection.
    Opening(OpeningRequest),
    /// A caller, as an [`Event::Reply`](super::Event::Reply).
    Caller(CallerRequest),
    /// The task of a call.
    Task {
        /// The call that ends with the task.
        call: RequestKey,
        request: TaskRequest,
    },
    /// A subscription of the modern era: the answer ends it.
    Subscription(SubscriptionKey),
    /// The subscription to a resource, in the legacy era.
    ResourceSubscribe,
    /// Nobody: the answer is expected and ignored.
    Nobody,
    /// The transport, which takes the answer before the session sees it.
    #[cfg(feature = "http")]
    Transport,
}

/// The two requests that open a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpeningRequest {
    Discover,
    Initialize,
}

/// A request about a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TaskRequest {
    /// `tasks/get`.
    Get,
    /// `tasks/result`.
    Result,
    /// `tasks/update`.
    Update,
    /// `tasks/cancel`, whose answer nobody waits for.
    Cancel,
}

impl TaskRequest {
    pub(super) fn method(self) -> &'static str {
        match self {
            TaskRequest::Get => "tasks/get",
            TaskRequest::Result => "tasks/result",
            TaskRequest::Update => "tasks/update",
            TaskRequest::Cancel => "tasks/cancel",
        }
    }
}

/// Whether the answer to a caller's request may be a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TaskUse {
    /// It may not.
    #[default]
    None,
    /// The request declares that it may; the caller gets the task.
    Declared,
    /// It may, and the session follows the task to its end.
    Followed,
}

/// What the session remembers of a caller's request.
#[derive(Debug)]
pub(super) struct CallerRequest {
    pub(super) key: RequestKey,
    pub(super) method: Cow<'static, str>,
    pub(super) wants_progress: bool,
    /// Whether the server may carry the request out twice.
    #[cfg_attr(not(feature = "http"), expect(dead_code, reason = "only HTTP sends requests twice"))]
    pub(super) repeatable: bool,
    pub(super) tasks: TaskUse,
    /// How often it was sent again with input for the server.
    pub(super) input_rounds: u32,
    /// What is needed to send it again.
    pub(super) retry: Option<RetryParams>,
    /// Where its answer goes in the cache.
    pub(super) cache_entry: Option<Box<PendingEntry>>,
}

/// When a request times out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadlines {
    pub(super) sent: Timestamp,
    /// The longest silence. It begins anew with each report of progress.
    pub(super) timeout: Duration,
    pub(super) total: Timestamp,
    /// When the request was last sent, or the server last reported progress.
    last_activity: Timestamp,
}

impl Deadlines {
    pub(super) fn new(now: Timestamp, timeout: Duration, total: Duration) -> Self {
        Deadlines { sent: now, timeout, total: now + total, last_activity: now }
    }

    /// Returns when the silence is too long, if the server could go on at `resumed` at the earliest.
    fn idle(&self, resumed: Timestamp) -> Timestamp {
        self.last_activity.max(resumed) + self.timeout
    }

    /// Returns the length of one of the two timeouts.
    pub(super) fn length(&self, deadline: Deadline) -> Duration {
        match deadline {
            Deadline::Idle => self.timeout,
            Deadline::Total => self.total.duration_since(self.sent),
        }
    }

    /// Returns the error of a request of `method` that missed `deadline`.
    pub(super) fn error(&self, method: Cow<'static, str>, deadline: Deadline) -> CallError {
        CallError::Timeout { method, after: self.length(deadline), deadline }
    }
}

/// All requests that wait, by their id on the wire.
///
/// Ids only grow, so the table is a queue that stays sorted. A request that ends leaves a hole; holes at both ends are removed
/// at once, the others when they are the majority. So a steady load allocates nothing, and a lookup costs a binary search.
#[derive(Debug)]
pub(super) struct Requests {
    table: VecDeque<Slot>,
    /// The number of slots that are not holes.
    len: usize,
    /// The number of requests of callers.
    callers: usize,
    timers: Timers,
    /// The present ids of the requests of callers that were sent again.
    resent: Vec<(RequestKey, u64)>,
    /// The bytes of all [`RetryParams`].
    retry_bytes: usize,
    /// The server waits for an answer of ours, so its silence is not its fault.
    is_paused: bool,
    /// When the last pause ended.
    resumed: Timestamp,
    /// The ids of requests that were given up, until the transport takes them. `None` where the transport does not ask.
    #[cfg(feature = "http")]
    abandoned: Option<Vec<u64>>,
    next_id: u64,
    next_key: u64,
}

#[derive(Debug)]
struct Slot {
    id: u64,
    /// Grows with the ids. The key of the request, or a key that no request has.
    key: RequestKey,
    request: Option<Request>,
}

/// The number of holes that are tolerated. Below it, removing them costs more than they do.
const FEW: usize = 16;

/// The most requests without an owner. 64: they only keep expected answers from being counted as late.
const MAX_UNOWNED: usize = 64;

/// The shortest time after which a paused deadline is looked at again.
const SHORTEST_PAUSE: Duration = Duration::from_millis(1);

impl Default for Requests {
    fn default() -> Self {
        Requests {
            table: VecDeque::new(),
            len: 0,
            callers: 0,
            timers: Timers::default(),
            resent: Vec::new(),
            retry_bytes: 0,
            is_paused: false,
            resumed: Timestamp::ORIGIN,
            #[cfg(feature = "http")]
            abandoned: None,
            next_id: 1,
            next_key: 1,
        }
    }
}

impl Requests {
    /// Returns the number of requests of callers.
    pub(super) fn callers(&self) -> usize {
        self.callers
    }

    /// Returns the id of the next request that is inserted.
    pub(super) fn next_id(&self) -> u64 {
        self.next_id
    }

    /// Whether a request of this id was ever sent.
    pub(super) fn was_sent(&self, id: u64) -> bool {
        id < self.next_id
    }

    /// Returns a key that no request has.
    pub(super) fn fresh_key(&mut self) -> RequestKey {
        let key = RequestKey(self.next_key);
        self.next_key += 1;
        key
    }

    /// Adds a request under [`Self::next_id`], and returns that id.
    pub(super) fn insert(&mut self, owner: Owner, deadlines: Option<Deadlines>) -> u64 {
        let key = match &owner {
            Owner::Caller(caller) if caller.input_rounds == 0 => caller.key,
            _ => self.fresh_key(),
        };
        let id = self.next_id;
        self.next_id += 1;
        if let Some(deadlines) = &deadlines {
            self.timers.set(deadlines.idle(self.resumed).min(deadlines.total), id);
        }
        if let Owner::Caller(caller) = &owner {
            self.callers += 1;
            self.retry_bytes += caller.retry.as_ref().map_or(0, RetryParams::len);
            if caller.input_rounds > 0 {
                let at = self.resent.partition_point(|(key, _)| *key < caller.key);
                self.resent.insert(at, (caller.key, id));
            }
        }
        if matches!(owner, Owner::Nobody) {
            self.bound_unowned();
        }
        self.table.push_back(Slot { id, key, request: Some(Request { owner, deadlines }) });
        self.len += 1;
        id
    }

    /// Adds a request of a caller that is sent again with input for the server.
    pub(super) fn insert_again(&mut self, mut caller: CallerRequest, mut deadlines: Deadlines, now: Timestamp) {
        deadlines.last_activity = now;
        caller.input_rounds += 1;
        // An answer that depends on the user's input is not cached.
        caller.cache_entry = None;
        self.insert(Owner::Caller(caller), Some(deadlines));
    }

    /// Takes out the request that an answer with this id belongs to.
    pub(super) fn remove(&mut self, id: u64) -> Option<Request> {
        let at = self.position(id)?;
        let request = self.table[at].request.take()?;
        self.len -= 1;
        if let Owner::Caller(caller) = &request.owner {
            self.callers -= 1;
            self.retry_bytes -= caller.retry.as_ref().map_or(0, RetryParams::len);
            if caller.input_rounds > 0
                && let Ok(at) = self.resent.binary_search_by_key(&caller.key, |(key, _)| *key)
            {
                self.resent.remove(at);
            }
        }
        self.sweep();
        Some(request)
    }

    /// Removes a request whose answer nobody wants any more.
    pub(super) fn abandon(&mut self, id: u64) -> Option<Request> {
        let request = self.remove(id)?;
        #[cfg(feature = "http")]
        if let Some(abandoned) = &mut self.abandoned {
            abandoned.push(id);
        }
        Some(request)
    }

    /// Keeps a request whose answer nobody wants any more, so that the answer is not counted as late.
    pub(super) fn disown(&mut self, id: u64) {
        if let Some(request) = self.get_mut(id) {
            request.owner = Owner::Nobody;
            self.bound_unowned();
        }
    }

    /// Removes the opening's request, if it waits.
    pub(super) fn remove_opening(&mut self, opening: OpeningRequest) {
        let found = self.table.iter().find(|slot| {
            slot.request.as_ref().is_some_and(|request| matches!(request.owner, Owner::Opening(of) if of == opening))
        });
        if let Some(id) = found.map(|slot| slot.id) {
            self.remove(id);
        }
    }

    /// Takes out the oldest request.
    pub(super) fn pop(&mut self) -> Option<Request> {
        let id = self.table.front()?.id;
        self.remove(id)
    }

    /// Returns who waits for an answer with this id.
    #[cfg(feature = "http")]
    pub(super) fn owner(&self, id: u64) -> Option<&Owner> {
        self.table[self.position(id)?].request.as_ref().map(|request| &request.owner)
    }

    /// Returns the present id of a caller's request.
    pub(super) fn id_of(&self, key: RequestKey) -> Option<u64> {
        if let Ok(at) = self.resent.binary_search_by_key(&key, |(key, _)| *key) {
            return Some(self.resent[at].1);
        }
        let at = self.table.binary_search_by_key(&key, |slot| slot.key).ok()?;
        let slot = &self.table[at];
        slot.request.as_ref().filter(|request| matches!(request.owner, Owner::Caller(_))).map(|_| slot.id)
    }

    /// Restarts the idle timeout of a request that wants progress, and returns its key.
    pub(super) fn progress(&mut self, id: u64, now: Timestamp) -> Option<RequestKey> {
        let request = self.get_mut(id)?;
        let Owner::Caller(caller) = &request.owner else { return None };
        if !caller.wants_progress {
            return None;
        }
        let key = caller.key;
        if let Some(deadlines) = &mut request.deadlines {
            // The timer stays where it is: it is set again when it fires too early.
            deadlines.last_activity = now;
        }
        Some(key)
    }

    /// Returns the next deadline. It may be early, never late.
    pub(super) fn poll_timeout(&self) -> Option<Timestamp> {
        self.timers.next()
    }

    /// Pauses the idle timeouts while the server waits for us. They begin anew when the pause ends.
    pub(super) fn pause(&mut self, is_paused: bool, now: Timestamp) {
        if self.is_paused && !is_paused {
            self.resumed = self.resumed.max(now);
        }
        self.is_paused = is_paused;
    }

    /// Returns the number of bytes that are kept for sending requests again.
    pub(super) fn retry_bytes(&self) -> usize {
        self.retry_bytes
    }

    /// Returns the cache entries that answers are awaited for.
    pub(super) fn cache_entries(&mut self) -> impl Iterator<Item = &mut PendingEntry> {
        self.table.iter_mut().filter_map(|slot| match &mut slot.request.as_mut()?.owner {
            Owner::Caller(caller) => caller.cache_entry.as_deref_mut(),
            _ => None,
        })
    }

    /// Takes out one request that missed a deadline, and returns which.
    pub(super) fn expire(&mut self, now: Timestamp) -> Option<(u64, Owner, Deadlines, Deadline)> {
        while let Some(id) = self.timers.fire(now) {
            let request = self.position(id).and_then(|at| self.table[at].request.as_ref());
            let Some(deadlines) = request.and_then(|request| request.deadlines) else { continue };
            // During a pause, the request is looked at again after the least time that it would have left.
            let idle =
                if self.is_paused { now + deadlines.timeout.max(SHORTEST_PAUSE) } else { deadlines.idle(self.resumed) };
            let missed = match (idle <= now, deadlines.total <= now) {
                (true, false) => Deadline::Idle,
                (true, true) if idle <= deadlines.total => Deadline::Idle,
                (_, true) => Deadline::Total,
                (false, false) => {
                    self.timers.set(idle.min(deadlines.total), id);
                    continue;
                }
            };
            let request = self.abandon(id)?;
            return Some((id, request.owner, deadlines, missed));
        }
        None
    }

    /// Keeps the ids of abandoned requests from now on.
    #[cfg(feature = "http")]
    pub(super) fn track_abandoned(&mut self) {
        self.abandoned = Some(Vec::new());
    }

    /// Returns the ids of the requests that were abandoned since the last call: the transport may stop to carry them.
    #[cfg(feature = "http")]
    pub(super) fn take_abandoned(&mut self) -> Vec<u64> {
        self.abandoned.as_mut().map(mem::take).unwrap_or_default()
    }

    /// Frees memory that the present requests do not need.
    pub(super) fn release_buffers(&mut self) {
        self.table.retain(|slot| slot.request.is_some());
        self.table.shrink_to_fit();
        let table = &self.table;
        self.timers.release_buffers(|id| is_waiting(table, id));
        self.resent.shrink_to_fit();
    }

    fn get_mut(&mut self, id: u64) -> Option<&mut Request> {
        let at = self.position(id)?;
        self.table[at].request.as_mut()
    }

    fn position(&self, id: u64) -> Option<usize> {
        position(&self.table, id)
    }

    fn bound_unowned(&mut self) {
        let unowned =
            |slot: &&Slot| slot.request.as_ref().is_some_and(|request| matches!(request.owner, Owner::Nobody));
        if self.table.iter().filter(unowned).count() > MAX_UNOWNED
            && let Some(id) = self.table.iter().find(unowned).map(|slot| slot.id)
        {
            self.remove(id);
        }
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
        while let Some(Slot { request: None, .. }) = self.table.front() {
            self.table.pop_front();
        }
        while let Some(Slot { request: None, .. }) = self.table.back() {
            self.table.pop_back();
        }
        if self.table.len() > 2 * self.len + FEW {
            self.table.retain(|slot| slot.request.is_some());
        }
        let table = &self.table;
        self.timers.sweep(self.len, |id| is_waiting(table, id));
    }
}

fn is_waiting(table: &VecDeque<Slot>, id: u64) -> bool {
    position(table, id).is_some_and(|at| table[at].request.is_some())
}

fn position(table: &VecDeque<Slot>, id: u64) -> Option<usize> {
    // Without holes, the ids are consecutive.
    let guess = usize::try_from(id.checked_sub(table.front()?.id)?).ok()?;
    match table.get(guess) {
        Some(slot) if slot.id == id => Some(guess),
        _ => table.binary_search_by_key(&id, |slot| slot.id).ok(),
    }
}
