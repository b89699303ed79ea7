//! Handles the commands of the embedder, depending on the state of the server.

use core::mem;

use super::state::{NextState, ProcessState, SLEEP};
use super::{Command, CommandId, Server, State};
use crate::{ErrorKind, HubError, Policy};
use mcpwire_core::Timestamp;

/// Maximum number of commands that may wait for one server to start. The limit bounds the memory use.
const MAX_START_WAITERS: usize = 1_024;

const STOPPED: NextState = NextState::Rest(State::Stopped);
const DISABLED: NextState = NextState::Rest(State::Disabled);
const DELETED: NextState = NextState::Rest(State::Deleted);

impl Server {
    pub(super) fn handle_command(&mut self, id: CommandId, command: Command, now: Timestamp) {
        if self.state == State::Deleted {
            return self.reply(id, Err(HubError::unknown_server(self.id)));
        }
        match command {
            Command::Boot
                if self.policy.lazy && self.tools.is_some() && self.state == State::Stopped && !self.host_closing =>
            {
                self.end_attempt(SLEEP, now);
                self.reply(id, Ok(()));
            }
            Command::Start | Command::Boot => self.handle_start(id, now),
            Command::Restart => self.handle_restart(id, now),
            Command::PrepareCall { by } => self.handle_prepare_call(id, by, now),
            Command::Enable => {
                match &mut self.attempt.stopping {
                    Some(stopping) if stopping.then == DISABLED => stopping.then = STOPPED,
                    _ if self.state == State::Disabled => self.enter(State::Stopped, None, now),
                    _ => {}
                }
                self.reply(id, Ok(()));
            }
            Command::Stop => {
                let requested = self.attempt.stopping.filter(|stopping| stopping.is_requested);
                self.handle_stop(id, STOPPED, now);
                if let (Some(stopping), ProcessState::Terminating) = (requested, self.attempt.process) {
                    self.kill(stopping, now);
                }
            }
            Command::Disable => self.handle_stop(id, DISABLED, now),
            Command::Delete => self.handle_stop(id, DELETED, now),
            Command::Shutdown { by } => {
                self.host_closing = true;
                self.handle_stop(id, STOPPED, now);
                self.set_stop_deadline(by, now);
            }
            Command::Configure { policy, replaced } => {
                self.configure(*policy, replaced, now);
                self.reply(id, Ok(()));
            }
        }
    }

    fn handle_start(&mut self, id: CommandId, now: Timestamp) {
        let can_start = self.check_can_start();
        if can_start.is_err() || self.state == State::Running {
            return self.reply(id, can_start);
        }
        if !self.state.is_starting() {
            self.restarts.reset();
        }
        self.wait_until_running(id, None, now);
    }

    fn handle_restart(&mut self, id: CommandId, now: Timestamp) {
        if let Err(error) = self.check_can_start() {
            return self.reply(id, Err(error));
        }
        self.restarts.reset();
        if self.state == State::Resolving {
            // The configuration is still being resolved, so there is no process to stop first. Resolve again at once.
            self.start(now);
        } else if self.state == State::Running || self.state.is_starting() {
            let error = HubError::new(ErrorKind::Closed, "the MCP server is being restarted");
            self.stop_attempt(NextState::Start, &error, now);
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
            // A tool call starts a lazy server that is sleeping, or that is being stopped because it was idle.
            _ if self.is_dormant => self.wait_until_running(id, Some(by), now),
            state if state.is_starting() && soon > now => self.wait_until_running(id, Some(by.min(soon)), now),
            _ => self.reply(id, Err(self.call_error(now))),
        }
    }

    /// Registers the command `id`, which gets its reply when the server runs. Starts the server if necessary.
    ///
    /// The command fails at the time `by`, or waits without limit if `by` is `None`.
    fn wait_until_running(&mut self, id: CommandId, by: Option<Timestamp>, now: Timestamp) {
        if self.start_waiters.len() >= MAX_START_WAITERS {
            let message = "too many requests are waiting for the MCP server to start; try again later";
            return self.reply(id, Err(HubError::unavailable(message).with_retryable(true)));
        }
        self.start_waiters.push((id, by));
        match &mut self.attempt.stopping {
            Some(stopping) => {
                stopping.then = NextState::Start;
                stopping.is_requested = false;
            }
            None if self.state.is_resting() => self.start(now),
            None => {}
        }
    }

    /// Replies to all commands that wait until the server runs.
    pub(super) fn answer_start_waiters(&mut self, result: &Result<(), HubError>) {
        for (command, _) in mem::take(&mut self.start_waiters) {
            self.reply(command, result.clone());
        }
    }

    fn handle_stop(&mut self, id: CommandId, then: NextState, now: Timestamp) {
        let error = match then {
            DELETED => deleted(),
            DISABLED => HubError::new(ErrorKind::Disabled, "the MCP server is disabled").at("enabled"),
            _ => HubError::new(ErrorKind::Cancelled, "the MCP server is stopped"),
        };
        self.answer_start_waiters(&Err(error.clone()));
        // `end_attempt` replies to the command, possibly before this function returns. The number of such commands
        // needs no limit, because only users and the shutdown of the host send them.
        self.stop_waiters.push(id);
        if self.state.is_resting() {
            let stays_disabled = self.state == State::Disabled && then == STOPPED;
            return self.end_attempt(if stays_disabled { DISABLED } else { then }, now);
        }
        if self.attempt.stopping.is_none() {
            self.stop_attempt(then, &error, now);
        }
        if let Some(stopping) = &mut self.attempt.stopping {
            if !matches!((stopping.then, then), (DELETED, _) | (DISABLED, STOPPED)) {
                stopping.then = then;
            }
            stopping.is_requested = true;
            self.is_dormant = false;
        }
    }

    fn configure(&mut self, policy: Policy, replaced: bool, now: Timestamp) {
        self.policy = policy;
        if !replaced {
            return;
        }
        self.has_negotiated = false;
        self.restarts.reset();
        match (&mut self.attempt.stopping, self.state) {
            (Some(stopping), _) => {
                if !matches!(stopping.then, STOPPED | DISABLED | DELETED) {
                    stopping.then = NextState::Start;
                }
            }
            (None, State::Stopped | State::Disabled | State::Deleted) => {}
            (None, _) if self.host_closing => {}
            (None, State::Running | State::Launching | State::Negotiating | State::Listing) => {
                let error = HubError::new(ErrorKind::Closed, "the MCP server restarts with a new configuration");
                self.stop_attempt(NextState::Start, &error, now);
            }
            (None, _) => self.start(now),
        }
        self.tools = None;
        self.is_dormant = false;
    }

    fn check_can_start(&self) -> Result<(), HubError> {
        match self.attempt.stopping.map(|stopping| stopping.then) {
            _ if self.host_closing => Err(host_closing()),
            Some(DELETED) => Err(deleted()),
            Some(DISABLED) => Err(HubError::disabled()),
            _ if self.state == State::Disabled => Err(HubError::disabled()),
            _ => Ok(()),
        }
    }

    /// Returns the error that tells why a tool call is impossible now.
    fn call_error(&self, now: Timestamp) -> HubError {
        match (self.state, &self.error) {
            (State::Disabled, _) => HubError::disabled(),
            // The error of the failed start names the missing value, so users see it unchanged.
            (State::NeedsAuth | State::NeedsLogin | State::NeedsInput, Some(error)) => error.clone(),
            (State::Stopping, Some(error)) if self.requires_login() => error.clone(),
            (State::Backoff, Some(error)) => error
                .to_not_running("the MCP server failed and restarts soon")
                .with_retry_after(self.deadline.map(|at| at.duration_since(now)))
                .with_retryable(true),
            (State::Failed, Some(error)) => error.to_not_running("the MCP server has failed; start it again first"),
            (State::Stopping, Some(error)) => error.to_not_running("the MCP server is not running"),
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

fn deleted() -> HubError {
    HubError::new(ErrorKind::Cancelled, "the MCP server is deleted")
}
