//! Handles the events that the embedder reports, and expired timeouts, depending on the state of the server.

use alloc::format;
use alloc::vec::Vec;
use core::time::Duration;

use super::state::{ProcessState, SLEEP};
use super::{CommandId, Effect, Event, Server, State};
use crate::{ErrorKind, Failure, HubError, Retry};
use mcpwire_core::Timestamp;
use mcpwire_text::Seconds;

impl Server {
    /// Handles an event of the current attempt to run the server.
    pub(super) fn handle_event(&mut self, event: Event, now: Timestamp) {
        match (self.state, event) {
            (State::Resolving, Event::Resolved) => {
                self.attempt.process = ProcessState::Launching;
                self.enter(State::Launching, Some(now + self.policy.launch_timeout), now);
                self.effects.push_back(Effect::Launch { generation: self.attempt.generation });
            }
            (State::Resolving, Event::Failed(failure)) => self.fail(failure, now),
            (State::Launching, Event::Launched { pid }) => self.negotiate(pid, now),
            (State::Launching, Event::Failed(failure) | Event::Closed(failure)) => {
                self.attempt.process = ProcessState::None;
                self.fail(failure, now);
            }
            (State::Negotiating, Event::Negotiated { version }) => {
                self.has_negotiated = true;
                self.attempt.version = Some(version);
                self.enter(State::Listing, Some(now + self.policy.list_timeout), now);
                self.effects.push_back(Effect::List { generation: self.attempt.generation });
            }
            (State::Negotiating | State::Listing | State::Running, Event::Failed(failure) | Event::Closed(failure)) => {
                self.fail(failure, now);
            }
            (State::Launching | State::Negotiating | State::Listing | State::Running, Event::Removed) => {
                self.attempt.process = ProcessState::None;
                let error = HubError::new(ErrorKind::Closed, "MCP server exited");
                self.fail(Failure::new(error, Retry::Backoff), now);
            }
            (State::Listing | State::Running, Event::Listed { tools, ttl }) => {
                self.attempt.probes.received(now);
                if self.attempt.refreshes.received(ttl, &self.policy, now) {
                    self.tools = Some(tools);
                }
                if self.state == State::Listing {
                    self.enter_running(now);
                }
            }
            // The server may have created the first list before this change, so the list is requested again.
            (State::Listing, Event::ListChanged) => self.attempt.refreshes.changed(&self.policy, now),
            (State::Running, event) => self.handle_while_running(&event, now),
            (State::Stopping, event) => self.handle_while_stopping(&event, now),
            // The embedder reports a process although no launch is in progress. Nothing else would stop that process.
            (state, Event::Launched { .. }) if state == State::Resolving || state.is_resting() => {
                self.effects.push_back(Effect::Kill { generation: self.attempt.generation });
            }
            _ => {}
        }
    }

    fn negotiate(&mut self, pid: Option<u32>, now: Timestamp) {
        self.attempt.process = ProcessState::Running;
        self.attempt.pid = pid;
        let mut timeout = self.policy.negotiate_timeout;
        if !self.has_negotiated {
            timeout = timeout.max(self.policy.first_start_timeout);
        }
        self.enter(State::Negotiating, Some(now + timeout), now);
        self.effects.push_back(Effect::Negotiate { generation: self.attempt.generation, timeout });
    }

    fn enter_running(&mut self, now: Timestamp) {
        self.error = None;
        self.is_dormant = false;
        self.last_used = now;
        self.enter(State::Running, None, now);
        self.answer_start_waiters(&Ok(()));
    }

    fn handle_while_running(&mut self, event: &Event, now: Timestamp) {
        let attempt = &mut self.attempt;
        match event {
            Event::RefreshFailed => attempt.refreshes.failed(&self.policy, now),
            Event::ListChanged => {
                attempt.probes.received(now);
                attempt.refreshes.changed(&self.policy, now);
            }
            Event::MessageReceived | Event::Probed => attempt.probes.received(now),
            Event::ProbeFailed => self.probe_failed(now),
            Event::ConnectionSuspect => attempt.probes.probe_now(now),
            Event::CallStarted => {
                attempt.calls_in_flight = attempt.calls_in_flight.saturating_add(1);
                self.calls += 1;
            }
            Event::CallEnded => {
                attempt.calls_in_flight = attempt.calls_in_flight.saturating_sub(1);
                attempt.probes.received(now);
                self.last_used = now;
            }
            _ => {}
        }
    }

    fn handle_while_stopping(&mut self, event: &Event, now: Timestamp) {
        match (event, self.attempt.process, self.attempt.stopping) {
            (Event::Launched { .. }, ProcessState::Launching, Some(stopping)) => self.terminate(stopping, now),
            // The launch failed, so there is no process to stop.
            (Event::Failed(_) | Event::Closed(_), ProcessState::Launching, _) | (Event::Removed, ..) => {
                self.finish_stop(now);
            }
            _ => {}
        }
    }

    /// Handles all timeouts that have expired at `now`.
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
        let error = HubError::timeout(format!("{what} after {}", Seconds(after))).with_retryable(true);
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
