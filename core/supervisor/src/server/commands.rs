//! Handling of commands, by state.

use super::attempt::{Phase, Then};
use super::{Command, CommandId, Server, State};
use crate::{ErrorContract, Policy};
use mcpwire_core::Timestamp;

impl Server {
    pub(super) fn obey(&mut self, id: CommandId, command: Command, now: Timestamp) {
        if self.state == State::Deleted {
            return self.reply(id, Err(ErrorContract::unknown_server(self.id)));
        }
        match command {
            Command::Start => self.obey_start(id, now),
            Command::Boot
                if self.policy.lazy && self.tools.is_some() && self.state == State::Stopped && !self.closing =>
            {
                self.settle(Then::Sleep, now);
                self.reply(id, Ok(()));
            }
            Command::Boot => self.obey_start(id, now),
            Command::Restart => self.obey_restart(id, now),
            Command::Reach { by } => self.obey_reach(id, by, now),
            Command::Enable => {
                match &mut self.stopping {
                    Some(stopping) if stopping.then == Then::Disabled => stopping.then = Then::Stopped,
                    _ if self.state == State::Disabled => self.enter(State::Stopped, None, now),
                    _ => {}
                }
                self.reply(id, Ok(()));
            }
            Command::Stop => {
                let again = self.stopping.is_some_and(|stopping| stopping.asked);
                self.obey_end(id, Then::Stopped, now);
                if again {
                    self.force(now);
                }
            }
            Command::Disable => self.obey_end(id, Then::Disabled, now),
            Command::Delete => self.obey_end(id, Then::Deleted, now),
            Command::Shutdown { by } => {
                self.closing = true;
                self.obey_end(id, Then::Stopped, now);
                self.hurry(by, now);
            }
            Command::Configure { policy, replaced } => {
                self.configure(*policy, replaced, now);
                self.reply(id, Ok(()));
            }
        }
    }

    fn obey_start(&mut self, id: CommandId, now: Timestamp) {
        match self.refusal_to_start() {
            Some(error) => self.reply(id, Err(error)),
            None if self.state == State::Running => self.reply(id, Ok(())),
            None => {
                if !self.state.is_starting() {
                    self.restarts.forget();
                }
                self.join(id, None, now);
            }
        }
    }

    fn obey_restart(&mut self, id: CommandId, now: Timestamp) {
        if let Some(error) = self.refusal_to_start() {
            return self.reply(id, Err(error));
        }
        self.restarts.forget();
        if self.state == State::Resolving {
            // No process exists yet: the configuration is resolved again under a new generation.
            self.start(now);
        } else if self.state == State::Running || self.state.is_starting() {
            self.end(Then::Start, &ErrorContract::unavailable("the MCP server is being restarted"), now);
        }
        self.join(id, None, now);
    }

    fn obey_reach(&mut self, id: CommandId, by: Timestamp, now: Timestamp) {
        let soon = now + self.policy.call_wait_start;
        match self.state {
            State::Running => {
                self.called = now;
                self.reply(id, Ok(()));
            }
            _ if self.closing => self.reply(id, Err(closing())),
            // A lazy server sleeps, goes to sleep or wakes up: the call wakes it.
            _ if self.dozes => self.join(id, Some(by), now),
            state if state.is_starting() && soon > now => self.join(id, Some(by.min(soon)), now),
            _ => {
                let error = self.refusal_to_call();
                self.reply(id, Err(error));
            }
        }
    }

    /// Queues a command until the server runs, and starts the server if necessary.
    fn join(&mut self, id: CommandId, by: Option<Timestamp>, now: Timestamp) {
        if !self.waiting.for_start(id, by) {
            return self.reply(id, Err(ErrorContract::unavailable("too many wait for the MCP server to start")));
        }
        match &mut self.stopping {
            Some(stopping) => {
                stopping.then = Then::Start;
                stopping.asked = false;
            }
            None if self.state.is_resting() => self.start(now),
            None => {}
        }
    }

    fn obey_end(&mut self, id: CommandId, then: Then, now: Timestamp) {
        let error = match then {
            Then::Deleted => ErrorContract::conflict("", "the MCP server is deleted"),
            Then::Disabled => ErrorContract::conflict("enabled", "the MCP server is disabled"),
            _ => ErrorContract::conflict("", "the MCP server is stopped"),
        };
        self.fail_starters(&error);
        // `settle` answers the command, possibly within this call.
        self.waiting.for_stop(id);
        if self.state.is_resting() {
            let then = if self.state == State::Disabled && then == Then::Stopped { Then::Disabled } else { then };
            return self.settle(then, now);
        }
        if self.stopping.is_none() {
            self.end(then, &error, now);
        }
        if let Some(stopping) = &mut self.stopping {
            let stays = matches!((stopping.then, then), (Then::Deleted, _) | (Then::Disabled, Then::Stopped));
            if !stays {
                stopping.then = then;
            }
            stopping.asked = true;
            self.dozes = false;
        }
    }

    /// Kills a server that is being asked to stop. Called for the second `Stop`.
    fn force(&mut self, now: Timestamp) {
        if self.stopping.is_some_and(|stopping| stopping.phase == Phase::Polite) {
            self.kill(now);
        }
    }

    fn configure(&mut self, policy: Policy, replaced: bool, now: Timestamp) {
        self.policy = policy;
        if !replaced {
            return;
        }
        self.proven = false;
        self.restarts.forget();
        if let Some(stopping) = &mut self.stopping {
            match stopping.then {
                Then::Sleep | Then::Backoff(_) | Then::Rest(_) => stopping.then = Then::Start,
                Then::Start | Then::Stopped | Then::Disabled | Then::Deleted => {}
            }
        } else {
            match self.state {
                State::Stopped | State::Disabled | State::Deleted => {}
                _ if self.closing => {}
                State::Running | State::Launching | State::Negotiating | State::Listing => {
                    let error = ErrorContract::unavailable("the MCP server is started anew with another configuration");
                    self.end(Then::Start, &error, now);
                }
                _ => self.start(now),
            }
        }
        self.tools = None;
        self.dozes = false;
    }

    fn refusal_to_start(&self) -> Option<ErrorContract> {
        if self.closing {
            return Some(closing());
        }
        match self.stopping.map(|stopping| stopping.then) {
            Some(Then::Disabled) => Some(ErrorContract::disabled()),
            Some(Then::Deleted) => Some(ErrorContract::conflict("", "the MCP server is deleted")),
            _ if self.state == State::Disabled => Some(ErrorContract::disabled()),
            _ => None,
        }
    }

    fn refusal_to_call(&self) -> ErrorContract {
        match (self.state, &self.error) {
            (State::Disabled, _) => ErrorContract::disabled(),
            // The user has to supply the missing value, so the error of the start is shown unchanged.
            (State::NeedsAuth | State::NeedsInput, Some(error)) => error.clone(),
            (State::Backoff, Some(error)) => ErrorContract::unavailable(alloc::format!(
                "the MCP server has failed, and is started again in a moment: {}",
                error.message
            )),
            (State::Failed, Some(error)) => ErrorContract::unavailable(alloc::format!(
                "the MCP server has failed; start it again first: {}",
                error.message
            )),
            (State::Stopping, Some(error)) => {
                ErrorContract::unavailable(alloc::format!("the MCP server is not running: {}", error.message))
            }
            (state, _) if state.is_starting() => {
                ErrorContract::unavailable("the MCP server is still starting; try again in a moment")
            }
            _ => ErrorContract::unavailable("the MCP server is stopped; start it first"),
        }
    }
}

fn closing() -> ErrorContract {
    ErrorContract::unavailable("the host of the MCP server is shutting down")
}
