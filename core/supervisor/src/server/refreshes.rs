//! Refreshes of the tool list of a running server, after a change notification or when the list has expired.

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
