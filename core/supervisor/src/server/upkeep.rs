//! Periodic work on a running server: refreshes of the tool list and health probes.

use core::time::Duration;

use crate::Policy;
use mcpwire_core::Timestamp;

/// Number of automatic retries after a failed refresh. Later retries need a trigger: a change, or a reader of an
/// expired list.
const SOON: u32 = 3;

/// Schedules refreshes of the tool list. However often the list changes, at most one request runs,
/// [`Policy::refresh_interval`] separates two requests, and one follows the last change.
#[derive(Debug, Default)]
pub(super) struct Refreshes {
    turn: Turn,
    /// When the last request started.
    last: Option<Timestamp>,
    /// When the list expires, if the server declares a lifetime.
    stale_at: Option<Timestamp>,
    /// Whether the list changed while the first request was pending.
    changed_early: bool,
    /// Number of consecutive failed requests.
    failures: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Turn {
    #[default]
    Idle,
    At(Timestamp),
    UnderWay {
        /// Whether the list changed after the request was sent.
        again: bool,
        /// When the request times out.
        by: Timestamp,
    },
}

impl Refreshes {
    pub(super) fn clear(&mut self) {
        *self = Refreshes::default();
    }

    pub(super) fn changed_while_listing(&mut self) {
        self.changed_early = true;
    }

    pub(super) fn changed(&mut self, policy: &Policy, now: Timestamp) {
        match &mut self.turn {
            Turn::Idle => self.schedule(now + policy.refresh_delay, policy),
            Turn::At(_) => {}
            Turn::UnderWay { again, .. } => *again = true,
        }
    }

    pub(super) fn touched(&mut self, policy: &Policy, now: Timestamp) {
        if self.turn == Turn::Idle && self.stale_at.is_some_and(|at| at <= now) {
            self.schedule(now, policy);
        }
    }

    /// Returns when the list expires, or `None` if a refresh is already scheduled or pending.
    pub(super) fn stale_at(&self) -> Option<Timestamp> {
        self.stale_at.filter(|_| self.turn == Turn::Idle)
    }

    /// Records a received list. Returns whether it was requested.
    pub(super) fn listed(&mut self, ttl: Option<Duration>, policy: &Policy, now: Timestamp) -> bool {
        self.stale_at = ttl.map(|ttl| now + ttl);
        self.failures = 0;
        match self.turn {
            Turn::UnderWay { again, .. } => {
                self.turn = Turn::Idle;
                if again {
                    self.changed(policy, now);
                }
                true
            }
            // The list requested by `Effect::List` during the start.
            Turn::Idle if self.last.is_none() => {
                self.last = Some(now);
                if self.changed_early {
                    self.changed_early = false;
                    self.changed(policy, now);
                }
                true
            }
            Turn::Idle | Turn::At(_) => false,
        }
    }

    /// Records a failed refresh. Retries a few times, then only when the list is read or changes again.
    pub(super) fn failed(&mut self, policy: &Policy, now: Timestamp) {
        if let Turn::UnderWay { again, .. } = self.turn {
            self.turn = Turn::Idle;
            self.failures = self.failures.saturating_add(1);
            self.stale_at = Some(now + policy.longest_backoff);
            if again || self.failures <= SOON {
                let wait = policy.first_backoff.saturating_mul(1 << self.failures.min(5));
                self.schedule(now + wait.min(policy.longest_backoff), policy);
            }
        }
    }

    pub(super) fn deadline(&self) -> Option<Timestamp> {
        match self.turn {
            Turn::Idle => None,
            Turn::At(at) | Turn::UnderWay { by: at, .. } => Some(at),
        }
    }

    /// Returns whether a refresh must be sent now. Counts a timed-out request as failed.
    pub(super) fn is_due(&mut self, policy: &Policy, now: Timestamp) -> bool {
        if matches!(self.turn, Turn::UnderWay { by, .. } if by <= now) {
            self.failed(policy, now);
        }
        matches!(self.turn, Turn::At(at) if at <= now)
    }

    pub(super) fn begun(&mut self, policy: &Policy, now: Timestamp) {
        self.last = Some(now);
        self.turn = Turn::UnderWay { again: false, by: now + policy.list_timeout };
    }

    fn schedule(&mut self, at: Timestamp, policy: &Policy) {
        let earliest = self.last.map_or(at, |last| last + policy.refresh_interval);
        self.turn = Turn::At(at.max(earliest));
    }
}

/// Schedules health probes.
#[derive(Debug, Default)]
pub(super) struct Probes {
    /// When the last message arrived from the server.
    heard: Timestamp,
    /// When the pending probe times out; `None` if no probe is pending.
    by: Option<Timestamp>,
    /// Whether to probe at once, regardless of the interval.
    now: bool,
    misses: u32,
}

impl Probes {
    pub(super) fn clear(&mut self) {
        *self = Probes::default();
    }

    pub(super) fn heard(&mut self, now: Timestamp) {
        *self = Probes { heard: now, ..Probes::default() };
    }

    pub(super) fn doubted(&mut self, now: Timestamp) {
        if self.by.is_none() {
            self.now = true;
            self.heard = self.heard.min(now);
        }
    }

    /// Returns when to probe next, or when the pending probe times out. A busy server is not probed: it may be unable
    /// to answer during a call.
    pub(super) fn deadline(&self, busy: bool, policy: &Policy) -> Option<Timestamp> {
        match (self.by, busy) {
            (Some(by), _) => Some(by),
            (None, true) => None,
            (None, false) if self.now => Some(self.heard),
            (None, false) => policy.health.every.map(|every| self.heard + every),
        }
    }

    pub(super) fn is_due(&self, policy: &Policy, busy: bool, now: Timestamp) -> bool {
        self.by.is_none() && self.deadline(busy, policy).is_some_and(|at| at <= now)
    }

    pub(super) fn begun(&mut self, policy: &Policy, now: Timestamp) {
        self.now = false;
        self.by = Some(now + policy.health.answer_within);
    }

    pub(super) fn is_late(&self, now: Timestamp) -> bool {
        self.by.is_some_and(|by| by <= now)
    }

    /// Counts an unanswered probe. Returns the number of consecutive unanswered probes.
    pub(super) fn missed(&mut self) -> u32 {
        self.by = None;
        self.misses += 1;
        self.misses
    }

    pub(super) fn again(&mut self, now: Timestamp) {
        self.now = true;
        self.heard = self.heard.min(now);
    }
}
