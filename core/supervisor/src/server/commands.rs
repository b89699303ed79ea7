//! Handles commands, depending on the state of the server.

use super::stopping::{NextState, StopPhase};
use super::{Command, CommandId, Server, State};
use crate::{ErrorKind, HubError, Policy};
use mcpwire_core::Timestamp;

impl Server {
    pub(super) fn handle_command(&mut self, id: CommandId, command: Command, now: Timestamp) {
        if self.state == State::Deleted {
            return self.reply(id, Err(HubError::unknown_server(self.id)));
        }
        match command {
            Command::Start => self.handle_start(id, now),
            Command::Boot
                if self.policy.lazy && self.tools.is_some() && self.state == State::Stopped && !self.host_closing =>
            {
                self.end_attempt(NextState::Sleep, now);
                self.reply(id, Ok(()));
            }
            Command::Boot => self.handle_start(id, now),
            Command::Restart => self.handle_restart(id, now),
            Command::PrepareCall { by } => self.handle_prepare_call(id, by, now),
            Command::Enable => {
                match &mut self.stopping {
                    Some(stopping) if stopping.then == NextState::Disabled => stopping.then = NextState::Stopped,
                    _ if self.state == State::Disabled => self.enter(State::Stopped, None, now),
                    _ => {}
                }
                self.reply(id, Ok(()));
            }
            Command::Stop => {
                let again = self.stopping.is_some_and(|stopping| stopping.is_requested);
                self.handle_stop(id, NextState::Stopped, now);
                if again {
                    self.kill_if_graceful(now);
                }
            }
            Command::Disable => self.handle_stop(id, NextState::Disabled, now),
            Command::Delete => self.handle_stop(id, NextState::Deleted, now),
            Command::Shutdown { by } => {
                self.host_closing = true;
                self.handle_stop(id, NextState::Stopped, now);
                self.set_stop_deadline(by, now);
            }
            Command::Configure { policy, replaced } => {
                self.configure(*policy, replaced, now);
                self.reply(id, Ok(()));
            }
        }
    }

    fn handle_start(&mut self, id: CommandId, now: Timestamp) {
        match self.start_error() {
            Some(error) => self.reply(id, Err(error)),
            None if self.state == State::Running => self.reply(id, Ok(())),
            None => {
                if !self.state.is_starting() {
                    self.restarts.reset();
                }
                self.wait_until_running(id, None, now);
            }
        }
    }

    fn handle_restart(&mut self, id: CommandId, now: Timestamp) {
        if let Some(error) = self.start_error() {
            return self.reply(id, Err(error));
        }
        self.restarts.reset();
        if self.state == State::Resolving {
            // No process exists yet, so the next generation can resolve the configuration at once.
            self.start(now);
        } else if self.state == State::Running || self.state.is_starting() {
            self.stop_attempt(
                NextState::Start,
                &HubError::new(ErrorKind::Closed, "the MCP server is being restarted"),
                now,
            );
        }
        self.wait_until_running(id, None, now);
    }

    fn handle_prepare_call(&mut self, id: CommandId, by: Timestamp, now: Timestamp) {
        let soon = now + self.policy.call_wait_start;
        match self.state {
            State::Running => {
                self.last_used = now;
                self.reply(id, Ok(()));
            }
            _ if self.host_closing => self.reply(id, Err(host_closing())),
            // The call wakes a lazy server that sleeps or goes to sleep.
            _ if self.is_dormant => self.wait_until_running(id, Some(by), now),
            state if state.is_starting() && soon > now => self.wait_until_running(id, Some(by.min(soon)), now),
            _ => {
                let error = self.call_error(now);
                self.reply(id, Err(error));
            }
        }
    }

    /// Replies to the command `id` when the server runs, and starts the server if necessary. The command fails at the
    /// time `by`, or waits without limit if `by` is `None`.
    fn wait_until_running(&mut self, id: CommandId, by: Option<Timestamp>, now: Timestamp) {
        if !self.pending.wait_for_start(id, by) {
            return self.reply(
                id,
                Err(HubError::unavailable(
                    "too many requests are waiting for the MCP server to start; try again later",
                )
                .with_retryable(true)),
            );
        }
        match &mut self.stopping {
            Some(stopping) => {
                stopping.then = NextState::Start;
                stopping.is_requested = false;
            }
            None if self.state.is_resting() => self.start(now),
            None => {}
        }
    }

    fn handle_stop(&mut self, id: CommandId, then: NextState, now: Timestamp) {
        let error = match then {
            NextState::Deleted => HubError::new(ErrorKind::Cancelled, "the MCP server is deleted"),
            NextState::Disabled => HubError::new(ErrorKind::Disabled, "the MCP server is disabled").at("enabled"),
            _ => HubError::new(ErrorKind::Cancelled, "the MCP server is stopped"),
        };
        self.fail_start_waiters(&error);
        // `end_attempt` answers the command, possibly before this function returns.
        self.pending.wait_for_stop(id);
        if self.state.is_resting() {
            let then =
                if self.state == State::Disabled && then == NextState::Stopped { NextState::Disabled } else { then };
            return self.end_attempt(then, now);
        }
        if self.stopping.is_none() {
            self.stop_attempt(then, &error, now);
        }
        if let Some(stopping) = &mut self.stopping {
            let stays =
                matches!((stopping.then, then), (NextState::Deleted, _) | (NextState::Disabled, NextState::Stopped));
            if !stays {
                stopping.then = then;
            }
            stopping.is_requested = true;
            self.is_dormant = false;
        }
    }

    fn kill_if_graceful(&mut self, now: Timestamp) {
        if self.stopping.is_some_and(|stopping| stopping.phase == StopPhase::Graceful) {
            self.kill(now);
        }
    }

    fn configure(&mut self, policy: Policy, replaced: bool, now: Timestamp) {
        self.policy = policy;
        if !replaced {
            return;
        }
        self.has_negotiated = false;
        self.restarts.reset();
        if let Some(stopping) = &mut self.stopping {
            match stopping.then {
                NextState::Sleep | NextState::Backoff(_) | NextState::WaitForUser(_) => {
                    stopping.then = NextState::Start;
                }
                NextState::Start | NextState::Stopped | NextState::Disabled | NextState::Deleted => {}
            }
        } else {
            match self.state {
                State::Stopped | State::Disabled | State::Deleted => {}
                _ if self.host_closing => {}
                State::Running | State::Launching | State::Negotiating | State::Listing => {
                    let error = HubError::new(ErrorKind::Closed, "the MCP server restarts with a new configuration");
                    self.stop_attempt(NextState::Start, &error, now);
                }
                _ => self.start(now),
            }
        }
        self.tools = None;
        self.is_dormant = false;
    }

    fn start_error(&self) -> Option<HubError> {
        if self.host_closing {
            return Some(host_closing());
        }
        match self.stopping.map(|stopping| stopping.then) {
            Some(NextState::Disabled) => Some(HubError::disabled()),
            Some(NextState::Deleted) => Some(HubError::new(ErrorKind::Cancelled, "the MCP server is deleted")),
            _ if self.state == State::Disabled => Some(HubError::disabled()),
            _ => None,
        }
    }

    fn call_error(&self, now: Timestamp) -> HubError {
        match (self.state, &self.error) {
            (State::Disabled, _) => HubError::disabled(),
            // The error of the start names the missing value, so it is shown unchanged.
            (State::NeedsAuth | State::NeedsLogin | State::NeedsInput, Some(error)) => error.clone(),
            (State::Stopping, Some(error)) if self.requires_login() => error.clone(),
            (State::Backoff, Some(error)) => {
                let delay = self.deadline.map(|at| at.duration_since(now));
                error
                    .to_not_running(alloc::format!("the MCP server failed and restarts soon: {}", error.message()))
                    .with_retry_after(delay)
                    .with_retryable(true)
            }
            (State::Failed, Some(error)) => error
                .to_not_running(alloc::format!("the MCP server has failed; start it again first: {}", error.message())),
            (State::Stopping, Some(error)) => {
                error.to_not_running(alloc::format!("the MCP server is not running: {}", error.message()))
            }
            (state, _) if state.is_starting() => {
                HubError::new(ErrorKind::Starting, "the MCP server is still starting; try again in a moment")
            }
            _ => HubError::new(ErrorKind::NotRunning, "the MCP server is stopped; start it first"),
        }
    }
}

fn host_closing() -> HubError {
    HubError::new(ErrorKind::ShuttingDown, "the host of the MCP server is shutting down")
}
