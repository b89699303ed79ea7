//! Handles expired timeouts, depending on the state of the server.

use alloc::format;
use alloc::vec::Vec;
use core::time::Duration;

use super::attempt::SLEEP;
use super::{CommandId, Effect, Server, State};
use crate::{ErrorKind, Failure, HubError, Retry};
use mcpwire_core::Timestamp;

impl Server {
    pub(super) fn handle_expired_timeouts(&mut self, now: Timestamp) {
        let message = "the MCP server did not start in time for the call; try again in a moment";
        let is_expired = |(_, by): &mut (CommandId, Option<Timestamp>)| by.is_some_and(|by| by <= now);
        let expired: Vec<_> = self.start_waiters.extract_if(.., is_expired).collect();
        for (command, _) in expired {
            self.reply(command, Err(HubError::new(ErrorKind::Starting, message)));
        }
        if self.deadline.is_some_and(|at| at <= now) {
            self.deadline = None;
            self.handle_state_timeout(now);
        }
        if self.state == State::Running {
            self.maintain(now);
        }
    }

    fn handle_state_timeout(&mut self, now: Timestamp) {
        let after = now.duration_since(self.since);
        let what = match self.state {
            State::Backoff => {
                self.restarts.total += 1;
                return self.start(now);
            }
            State::Stopping => return self.escalate_stop(now),
            State::Launching => "Start timed out",
            State::Negotiating => "Handshake timed out",
            State::Listing => "Listing tools timed out",
            _ => return,
        };
        // A start has no lasting effect, so it can be repeated.
        let error = HubError::timeout(format!("{what} after {after:?}")).with_retryable(true);
        self.fail(Failure::new(error, Retry::Backoff), now);
    }

    /// Returns when to refresh the tool list, send a health probe or stop the idle server, whichever comes first.
    /// Returns `None` if nothing is scheduled or the server does not run.
    pub(super) fn maintenance_deadline(&self) -> Option<Timestamp> {
        if self.state != State::Running {
            return None;
        }
        let probe = self.attempt.probes.deadline(self.attempt.calls_in_flight > 0, &self.policy);
        [self.attempt.refreshes.deadline(), probe, self.sleep_deadline()].into_iter().flatten().min()
    }

    fn maintain(&mut self, now: Timestamp) {
        if self.sleep_deadline().is_some_and(|at| at <= now) {
            let error = HubError::new(ErrorKind::NotRunning, "the MCP server is idle and is being stopped");
            return self.stop_attempt(SLEEP, &error, now);
        }
        if self.attempt.refreshes.is_due(&self.policy, now) {
            self.attempt.refreshes.started(&self.policy, now);
            self.effects.push_back(Effect::Refresh { generation: self.attempt.generation });
        }
        if self.attempt.probes.is_timed_out(now) {
            self.probe_failed(now);
        }
        if self.state == State::Running
            && self.attempt.probes.is_due(&self.policy, self.attempt.calls_in_flight > 0, now)
        {
            self.attempt.probes.started(&self.policy, now);
            self.effects.push_back(Effect::Probe { generation: self.attempt.generation });
        }
    }

    fn sleep_deadline(&self) -> Option<Timestamp> {
        let can_sleep = self.policy.lazy && self.attempt.calls_in_flight == 0;
        can_sleep.then(|| self.last_used + self.policy.idle_after.max(Duration::from_millis(1)))
    }

    pub(super) fn probe_failed(&mut self, now: Timestamp) {
        if self.attempt.probes.count_miss() < self.policy.health.misses.max(1) {
            return self.attempt.probes.probe_now(now);
        }
        let error = HubError::network("transport", "Connection lost: the server no longer responds");
        self.fail(Failure::new(error, Retry::Backoff), now);
    }
}
