//! Handles events, depending on the state of the server.
//!
//! The caller has checked that each event belongs to the current generation.

use super::{Effect, Event, ProcessState, Server, State};
use crate::{ErrorKind, Failure, HubError, Retry};
use mcpwire_core::Timestamp;

impl Server {
    pub(super) fn handle_event(&mut self, event: Event, now: Timestamp) {
        match self.state {
            State::Resolving => self.handle_while_resolving(event, now),
            State::Launching => self.handle_while_launching(event, now),
            State::Negotiating => self.handle_while_negotiating(event, now),
            State::Listing => self.handle_while_listing(event, now),
            State::Running => self.handle_while_running(event, now),
            State::Stopping => self.handle_while_stopping(&event, now),
            _ => self.kill_unexpected_process(&event),
        }
    }

    fn handle_while_resolving(&mut self, event: Event, now: Timestamp) {
        match event {
            Event::Resolved => {
                self.process = ProcessState::Launching;
                self.enter(State::Launching, Some(now + self.policy.launch_timeout), now);
                self.effects.push_back(Effect::Launch { generation: self.generation });
            }
            Event::Failed(failure) => self.fail(failure, now),
            other => self.kill_unexpected_process(&other),
        }
    }

    fn handle_while_launching(&mut self, event: Event, now: Timestamp) {
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
            Event::Removed => self.handle_unexplained_exit(now),
            _ => {}
        }
    }

    fn handle_while_negotiating(&mut self, event: Event, now: Timestamp) {
        match event {
            Event::Negotiated { version } => {
                self.has_negotiated = true;
                self.version = Some(version);
                self.enter(State::Listing, Some(now + self.policy.list_timeout), now);
                self.effects.push_back(Effect::List { generation: self.generation });
            }
            Event::Failed(failure) | Event::Closed(failure) => self.fail(failure, now),
            Event::Removed => self.handle_unexplained_exit(now),
            _ => {}
        }
    }

    fn handle_while_listing(&mut self, event: Event, now: Timestamp) {
        match event {
            Event::Listed { tools, ttl } => {
                self.tools = Some(tools);
                self.refreshes.received(ttl, &self.policy, now);
                self.probes.received(now);
                self.enter_running(now);
            }
            // The server may have built the list before the change, so a refresh must follow.
            Event::ListChanged => self.refreshes.changed_while_listing(),
            Event::Failed(failure) | Event::Closed(failure) => self.fail(failure, now),
            Event::Removed => self.handle_unexplained_exit(now),
            _ => {}
        }
    }

    fn handle_while_running(&mut self, event: Event, now: Timestamp) {
        match event {
            Event::Closed(failure) | Event::Failed(failure) => self.fail(failure, now),
            Event::Removed => self.handle_unexplained_exit(now),
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
                self.last_used = now;
                self.probes.received(now);
            }
            Event::Resolved | Event::Launched { .. } | Event::Negotiated { .. } => {}
        }
    }

    fn handle_while_stopping(&mut self, event: &Event, now: Timestamp) {
        match event {
            Event::Launched { .. } if self.process == ProcessState::Launching => {
                self.process = ProcessState::Running;
                self.stop_gracefully(now);
            }
            // The launch failed, so there is no process to stop.
            Event::Failed(_) | Event::Closed(_) if self.process == ProcessState::Launching => self.finish_stop(now),
            Event::Removed => self.finish_stop(now),
            _ => {}
        }
    }

    /// Kills a process that the embedder reports although no launch is in progress, because nothing else would stop
    /// that process.
    fn kill_unexpected_process(&mut self, event: &Event) {
        if matches!(event, Event::Launched { .. }) {
            self.effects.push_back(Effect::Kill { generation: self.generation });
        }
    }

    /// Handles an [`Event::Removed`] that follows neither an [`Event::Failed`] nor an [`Event::Closed`].
    fn handle_unexplained_exit(&mut self, now: Timestamp) {
        self.process = ProcessState::None;
        let error = HubError::new(ErrorKind::Closed, "MCP server exited");
        self.fail(Failure::new(error, Retry::Backoff), now);
    }
}
