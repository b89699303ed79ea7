//! Health probes, which check that a running server still responds.

use crate::Policy;
use mcpwire_core::Timestamp;

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
