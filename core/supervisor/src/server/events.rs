//! Handling of events, by state. The caller has checked that the event belongs to the current generation.

use super::{Effect, Event, ProcessState, Server, State};
use crate::{ErrorContract, Failure, Retry};
use mcpwire_core::Timestamp;

impl Server {
    pub(super) fn handle_event(&mut self, event: Event, now: Timestamp) {
        match self.state {
            State::Resolving => self.while_resolving(event, now),
            State::Launching => self.while_launching(event, now),
            State::Negotiating => self.while_negotiating(event, now),
            State::Listing => self.while_listing(event, now),
            State::Running => self.while_running(event, now),
            State::Stopping => self.while_stopping(&event, now),
            _ => self.while_resting(&event),
        }
    }

    fn while_resolving(&mut self, event: Event, now: Timestamp) {
        match event {
            Event::Resolved => {
                self.process = ProcessState::Launching;
                self.enter(State::Launching, Some(now + self.policy.launch_timeout), now);
                self.effects.push_back(Effect::Launch { generation: self.generation });
            }
            Event::Failed(failure) => self.fail(failure, now),
            other => self.while_resting(&other),
        }
    }

    fn while_launching(&mut self, event: Event, now: Timestamp) {
        match event {
            Event::Launched { pid } => {
                self.process = ProcessState::Running;
                self.pid = pid;
                let timeout = if self.has_negotiated {
                    self.policy.negotiate_timeout
                } else {
                    self.policy.first_start_timeout.max(self.policy.negotiate_timeout)
                };
                self.enter(State::Negotiating, Some(now + timeout), now);
                self.effects.push_back(Effect::Negotiate { generation: self.generation, timeout });
            }
            Event::Failed(failure) | Event::Closed(failure) => {
                self.process = ProcessState::None;
                self.fail(failure, now);
            }
            Event::Gone => self.handle_silent_exit(now),
            _ => {}
        }
    }

    fn while_negotiating(&mut self, event: Event, now: Timestamp) {
        match event {
            Event::Negotiated { version } => {
                self.has_negotiated = true;
                self.version = Some(version);
                self.enter(State::Listing, Some(now + self.policy.list_timeout), now);
                self.effects.push_back(Effect::List { generation: self.generation });
            }
            Event::Failed(failure) | Event::Closed(failure) => self.fail(failure, now),
            Event::Gone => self.handle_silent_exit(now),
            _ => {}
        }
    }

    fn while_listing(&mut self, event: Event, now: Timestamp) {
        match event {
            Event::Listed { tools, ttl } => {
                self.tools = Some(tools);
                self.refreshes.received(ttl, &self.policy, now);
                self.probes.received(now);
                self.enter_running(now);
            }
            // The server may have built the list in transit before the change.
            Event::ListChanged => self.refreshes.changed_while_listing(),
            Event::Failed(failure) | Event::Closed(failure) => self.fail(failure, now),
            Event::Gone => self.handle_silent_exit(now),
            _ => {}
        }
    }

    fn while_running(&mut self, event: Event, now: Timestamp) {
        match event {
            Event::Closed(failure) | Event::Failed(failure) => self.fail(failure, now),
            Event::Gone => self.handle_silent_exit(now),
            Event::Listed { tools, ttl } => {
                self.probes.received(now);
                if self.refreshes.received(ttl, &self.policy, now) {
                    self.tools = Some(tools);
                }
            }
            Event::RefreshFailed => self.refreshes.failed(&self.policy, now),
            Event::ListChanged => {
                self.probes.received(now);
                self.refreshes.changed(&self.policy, now);
            }
            Event::MessageReceived | Event::Probed => self.probes.received(now),
            Event::ProbeFailed => self.probe_failed(now),
            Event::ConnectionSuspect => self.probes.probe_now(now),
            Event::CallStarted => {
                self.calls_in_flight = self.calls_in_flight.saturating_add(1);
                self.calls += 1;
            }
            Event::CallEnded => {
                self.calls_in_flight = self.calls_in_flight.saturating_sub(1);
                self.last_call = now;
                self.probes.received(now);
            }
            Event::Resolved | Event::Launched { .. } | Event::Negotiated { .. } => {}
        }
    }

    fn while_stopping(&mut self, event: &Event, now: Timestamp) {
        match event {
            Event::Launched { .. } if self.process == ProcessState::Launching => {
                self.process = ProcessState::Running;
                self.stop_gracefully(now);
            }
            // The launch failed: there is nothing to stop.
            Event::Failed(_) | Event::Closed(_) if self.process == ProcessState::Launching => self.finish_stop(now),
            Event::Gone => self.finish_stop(now),
            _ => {}
        }
    }

    /// Handles an event in a state without a process. A process that appears nevertheless is killed.
    fn while_resting(&mut self, event: &Event) {
        if matches!(event, Event::Launched { .. }) {
            self.effects.push_back(Effect::Kill { generation: self.generation });
        }
    }

    /// Handles the disappearance of the server without a reported reason.
    fn handle_silent_exit(&mut self, now: Timestamp) {
        self.process = ProcessState::None;
        let error = ErrorContract::unavailable("MCP server exited");
        self.fail(Failure::new(error, Retry::Backoff), now);
    }
}
