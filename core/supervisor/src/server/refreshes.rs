//! Refreshes of a running server's tool list.

use core::time::Duration;

use crate::Policy;
use mcpwire_core::Timestamp;
use mcpwire_core::internal::exponential;

/// Maximum number of automatic retries after a failed refresh. A later retry needs a trigger: a change notification, or
/// a read of the expired list.
const MAX_RETRIES: u32 = 3;

/// Schedules refreshes of the tool list.
///
/// At most one request is pending. [`Policy::refresh_interval`] separates two requests. A request always follows the
/// last change.
#[derive(Debug, Default)]
pub(super) struct Refreshes {
    state: RefreshState,
    /// When the last request started.
    last: Option<Timestamp>,
    /// When the list expires, if the server declares a lifetime.
    stale_at: Option<Timestamp>,
    /// Whether a change notification arrived while the first list was pending.
    changed_before_first_list: bool,
    /// Number of consecutive failed requests.
    failures: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum RefreshState {
    #[default]
    Idle,
    Scheduled(Timestamp),
    Pending {
        /// Whether a change notification arrived after the request was sent.
        changed: bool,
        /// When the request times out.
        timeout: Timestamp,
    },
}

impl Refreshes {
    pub(super) fn reset(&mut self) {
        *self = Refreshes::default();
    }

    pub(super) fn changed_while_listing(&mut self) {
        self.changed_before_first_list = true;
    }

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

    /// Returns when the list expires, or `None` if a refresh is already scheduled or pending.
    pub(super) fn stale_at(&self) -> Option<Timestamp> {
        self.stale_at.filter(|_| self.state == RefreshState::Idle)
    }

    /// Records a received list. Returns whether the server requested it.
    pub(super) fn received(&mut self, ttl: Option<Duration>, policy: &Policy, now: Timestamp) -> bool {
        self.stale_at = ttl.map(|ttl| now + ttl);
        self.failures = 0;
        match self.state {
            RefreshState::Pending { changed, .. } => {
                self.state = RefreshState::Idle;
                if changed {
                    self.changed(policy, now);
                }
                true
            }
            // This is the list that `Effect::List` requested during the start.
            RefreshState::Idle if self.last.is_none() => {
                self.last = Some(now);
                if self.changed_before_first_list {
                    self.changed_before_first_list = false;
                    self.changed(policy, now);
                }
                true
            }
            RefreshState::Idle | RefreshState::Scheduled(_) => false,
        }
    }

    /// Records a failed refresh. Schedules a few retries; further retries need a trigger.
    pub(super) fn failed(&mut self, policy: &Policy, now: Timestamp) {
        if let RefreshState::Pending { changed, .. } = self.state {
            self.state = RefreshState::Idle;
            self.failures = self.failures.saturating_add(1);
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
            RefreshState::Scheduled(at) | RefreshState::Pending { timeout: at, .. } => Some(at),
        }
    }

    /// Returns whether a refresh must be sent now. A request that timed out counts as failed.
    pub(super) fn is_due(&mut self, policy: &Policy, now: Timestamp) -> bool {
        if matches!(self.state, RefreshState::Pending { timeout, .. } if timeout <= now) {
            self.failed(policy, now);
        }
        matches!(self.state, RefreshState::Scheduled(at) if at <= now)
    }

    pub(super) fn started(&mut self, policy: &Policy, now: Timestamp) {
        self.last = Some(now);
        self.state = RefreshState::Pending { changed: false, timeout: now + policy.list_timeout };
    }

    fn schedule(&mut self, at: Timestamp, policy: &Policy) {
        let earliest = self.last.map_or(at, |last| last + policy.refresh_interval);
        self.state = RefreshState::Scheduled(at.max(earliest));
    }
}
