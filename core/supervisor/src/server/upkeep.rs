//! The upkeep of a running server: [`Refreshes`] of its tool list, after a change notification or when the list has
//! expired, and health [`Probes`], which check that the server still responds.

use core::time::Duration;

use crate::Policy;
use mcpwire_core::Timestamp;
use mcpwire_core::backoff::exponential;

/// Maximum number of automatic retries of a failed tool list refresh. After these retries, only a change notification
/// or a read of the expired list causes another refresh.
const MAX_RETRIES: u32 = 3;

/// Schedules the refreshes of a running server's tool list.
///
/// At most one request for the tool list is pending. If the server reports a change meanwhile, another request follows,
/// because the response to the pending one may contain the old list.
#[derive(Debug, Default)]
pub(super) struct Refreshes {
    state: RefreshState,
    /// When the last request for the tool list was sent, or the first list arrived. `None` until the first list
    /// arrives.
    last: Option<Timestamp>,
    /// When the tool list expires, so that a read of the list causes a refresh. `None` if the list does not expire.
    stale_at: Option<Timestamp>,
    /// Number of consecutive failed refreshes.
    failures: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RefreshState {
    Idle,
    Scheduled(Timestamp),
    Pending {
        /// Whether the server reported a change of its tools after this request was sent. If so, another request
        /// follows.
        changed: bool,
        /// When the request times out. `None` for the first list, to which the timeout of
        /// [`State::Listing`](super::State) applies.
        timeout: Option<Timestamp>,
    },
}

impl Default for RefreshState {
    /// Returns the state of a server that starts, for which `Effect::List` requests the first list.
    fn default() -> Self {
        RefreshState::Pending { changed: false, timeout: None }
    }
}

impl Refreshes {
    pub(super) fn changed(&mut self, policy: &Policy, now: Timestamp) {
        match &mut self.state {
            RefreshState::Idle => self.schedule(now + policy.refresh_delay, policy),
            RefreshState::Scheduled(_) => {}
            RefreshState::Pending { changed, .. } => *changed = true,
        }
    }

    pub(super) fn refresh_if_expired(&mut self, policy: &Policy, now: Timestamp) {
        if self.state == RefreshState::Idle && self.stale_at.is_some_and(|at| at <= now) {
            self.schedule(now, policy);
        }
    }

    /// Returns when the tool list expires, or `None` if the list does not expire, or a refresh is already scheduled or
    /// pending.
    pub(super) fn stale_at(&self) -> Option<Timestamp> {
        self.stale_at.filter(|_| self.state == RefreshState::Idle)
    }

    /// Records the arrival of a tool list that stays fresh for `ttl`, or without limit if `ttl` is `None`.
    ///
    /// Returns whether the list was requested. The caller ignores an unrequested list.
    pub(super) fn received(&mut self, ttl: Option<Duration>, policy: &Policy, now: Timestamp) -> bool {
        self.stale_at = ttl.map(|ttl| now + ttl);
        self.failures = 0;
        let RefreshState::Pending { changed, .. } = self.state else { return false };
        self.last.get_or_insert(now);
        self.state = RefreshState::Idle;
        if changed {
            self.changed(policy, now);
        }
        true
    }

    /// Schedules a retry after a failed refresh. No retry is scheduled after [`MAX_RETRIES`] failed retries, unless the
    /// server has reported a change meanwhile.
    pub(super) fn failed(&mut self, policy: &Policy, now: Timestamp) {
        if let RefreshState::Pending { changed, .. } = self.state {
            self.state = RefreshState::Idle;
            self.failures = self.failures.saturating_add(1);
            // After this time, a read of the list causes another refresh, even if no retry is left.
            self.stale_at = Some(now + policy.longest_backoff);
            if changed || self.failures <= MAX_RETRIES {
                let delay = exponential(policy.first_backoff, policy.longest_backoff, self.failures.min(5));
                self.schedule(now + delay, policy);
            }
        }
    }

    pub(super) fn deadline(&self) -> Option<Timestamp> {
        match self.state {
            RefreshState::Idle => None,
            RefreshState::Scheduled(at) => Some(at),
            RefreshState::Pending { timeout, .. } => timeout,
        }
    }

    /// Returns whether a scheduled refresh is due. A pending request that has timed out is first recorded as a failed
    /// refresh.
    pub(super) fn is_due(&mut self, policy: &Policy, now: Timestamp) -> bool {
        if matches!(self.state, RefreshState::Pending { timeout: Some(at), .. } if at <= now) {
            self.failed(policy, now);
        }
        matches!(self.state, RefreshState::Scheduled(at) if at <= now)
    }

    pub(super) fn started(&mut self, policy: &Policy, now: Timestamp) {
        self.last = Some(now);
        self.state = RefreshState::Pending { changed: false, timeout: Some(now + policy.list_timeout) };
    }

    fn schedule(&mut self, at: Timestamp, policy: &Policy) {
        let earliest = self.last.map_or(at, |last| last + policy.refresh_interval);
        self.state = RefreshState::Scheduled(at.max(earliest));
    }
}

/// Schedules the health probes of a running server, and counts the unanswered ones.
#[derive(Debug, Default)]
pub(super) struct Probes {
    last_received: Timestamp,
    /// When the unanswered probe times out. `None` if no probe awaits a response.
    timeout: Option<Timestamp>,
    /// Whether to send the next probe immediately, even if [`Health::every`](crate::Health::every) disables probes.
    is_urgent: bool,
    /// Number of consecutive probes to which the server did not respond.
    misses: u32,
}

impl Probes {
    pub(super) fn received(&mut self, now: Timestamp) {
        *self = Probes { last_received: now, ..Probes::default() };
    }

    /// Makes a probe due immediately. Has no effect while a probe awaits its response.
    pub(super) fn probe_now(&mut self, now: Timestamp) {
        if self.timeout.is_none() {
            self.is_urgent = true;
            self.last_received = self.last_received.min(now);
        }
    }

    /// Returns when to send the next probe or, while a probe is unanswered, when that probe times out.
    ///
    /// A server with calls in flight (`is_busy`) is not probed, because it may be unable to respond during a call.
    pub(super) fn deadline(&self, is_busy: bool, policy: &Policy) -> Option<Timestamp> {
        match (self.timeout, is_busy) {
            (Some(timeout), _) => Some(timeout),
            (None, true) => None,
            (None, false) if self.is_urgent => Some(self.last_received),
            (None, false) => policy.health.every.map(|every| self.last_received + every),
        }
    }

    pub(super) fn is_due(&self, policy: &Policy, is_busy: bool, now: Timestamp) -> bool {
        self.timeout.is_none() && self.deadline(is_busy, policy).is_some_and(|at| at <= now)
    }

    pub(super) fn started(&mut self, policy: &Policy, now: Timestamp) {
        self.is_urgent = false;
        self.timeout = Some(now + policy.health.answer_within);
    }

    pub(super) fn is_timed_out(&self, now: Timestamp) -> bool {
        self.timeout.is_some_and(|timeout| timeout <= now)
    }

    /// Records an unanswered probe, and returns the number of consecutive unanswered probes.
    pub(super) fn count_miss(&mut self) -> u32 {
        self.timeout = None;
        self.misses += 1;
        self.misses
    }
}
