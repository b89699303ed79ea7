//! What a server needs while it runs: a list of tools that holds, and now and then a sign of life.

use core::time::Duration;

use crate::Policy;
use mcpwire_core::Timestamp;

/// So many requests that failed are repeated without a reason. After that only a reason leads to another one.
const SOON: u32 = 3;

/// When the list is asked for again. However often it changes, there is one request at a time, a shortest time between two
/// of them, and one after the last change.
#[derive(Debug, Default)]
pub(super) struct Refreshes {
    turn: Turn,
    /// When the last one began.
    last: Option<Timestamp>,
    /// Until when the list holds, where the server says so.
    stale_at: Option<Timestamp>,
    /// It has changed while it was first asked for.
    changed_early: bool,
    /// Requests in a row that brought no list.
    failures: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Turn {
    #[default]
    Idle,
    At(Timestamp),
    UnderWay {
        /// It has changed since.
        again: bool,
        /// What has not come by then does not come.
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

    /// When the list is to be asked for again if it is looked at. What is going to be asked for anyway has no such time.
    pub(super) fn stale_at(&self) -> Option<Timestamp> {
        self.stale_at.filter(|_| self.turn == Turn::Idle)
    }

    /// A list has come. Whether it was asked for.
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
            // The first list.
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

    /// The list of before is kept, and asked for again: a few times soon, and then when it is looked at, or has changed again.
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

    /// Whether it is to be asked for now. What was asked for long ago does not come any more.
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

/// When a sign of life is asked for.
#[derive(Debug, Default)]
pub(super) struct Probes {
    /// When the server was heard of last.
    heard: Timestamp,
    /// Until when the answer to a probe is waited for.
    by: Option<Timestamp>,
    /// Whether to probe now, whatever the interval.
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

    /// A server that is busy with a call may have no time for anything else.
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

    /// Counts an answer that has not come; how many in a row that makes.
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
