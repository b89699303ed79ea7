//! The start, failure and shutdown of one attempt to run a server.

use core::mem;
use core::time::Duration;

use super::restarts::RestartDecision;
use super::state::{Attempt, NextState, ProcessState, SLEEP, Stopping};
use super::{Effect, Generation, Server, State};
use crate::{ErrorKind, Failure, HubError, Retry};
use mcpwire_core::Timestamp;

/// Maximum time to wait for the end of a killed process. A kill normally takes milliseconds.
const KILL_TIMEOUT: Duration = Duration::from_secs(2);

/// Maximum time to wait for the outcome of a launch after the start was cancelled. A launch normally takes
/// milliseconds.
const CANCELLED_LAUNCH_TIMEOUT: Duration = Duration::from_secs(10);

impl Server {
    pub(super) fn start(&mut self, now: Timestamp) {
        self.next_attempt();
        self.enter(State::Resolving, None, now);
        self.effects.push_back(Effect::Resolve { generation: self.attempt.generation });
    }

    pub(super) fn fail(&mut self, failure: Failure, now: Timestamp) {
        if self.state == State::Running && now.duration_since(self.since) >= self.policy.stable_after {
            self.restarts.failures = 0;
        }
        let decision = self.restarts.after_failure(failure.retry, &self.policy, now);
        let mut error = failure.error;
        let then = match (decision, failure.retry) {
            (RestartDecision::After(wait), _) if !self.host_closing => NextState::Backoff(wait),
            (RestartDecision::CrashLoop, _) => {
                let advice = "it failed too often (crash loop). Start it again manually.";
                let message = alloc::format!("{}; {advice}", error.message());
                error = error.with_message(message).with_retryable(false);
                NextState::Rest(State::Failed)
            }
            (_, Retry::Login) if error.kind() == ErrorKind::LoginRequired => NextState::Rest(State::NeedsLogin),
            (_, Retry::Login) => NextState::Rest(State::NeedsAuth),
            (_, Retry::Input) => NextState::Rest(State::NeedsInput),
            _ => NextState::Rest(State::Failed),
        };
        self.error = Some(error.clone());
        self.answer_start_waiters(&Err(error.clone()));
        self.stop_attempt(then, &error, now);
    }

    /// Ends the current attempt to run the server: fails the tool calls in flight with `error`, stops the process if
    /// there is one, and then enters the state `then`.
    pub(super) fn stop_attempt(&mut self, then: NextState, error: &HubError, now: Timestamp) {
        if self.state == State::Running {
            // A tool may already have run, even if the failure of the server itself is retryable.
            let error = error.clone().with_retryable(false);
            self.effects.push_back(Effect::FailCalls { generation: self.attempt.generation, error });
        }
        self.is_dormant = then == SLEEP;
        let stopping = Stopping { then, is_requested: false, deadline: None };
        match self.attempt.process {
            ProcessState::None => self.end_attempt(then, now),
            ProcessState::Launching => {
                self.attempt.stopping = Some(stopping);
                self.enter(State::Stopping, Some(now + CANCELLED_LAUNCH_TIMEOUT), now);
            }
            _ => self.terminate(stopping, now),
        }
    }

    /// Stops the process: gracefully if there is enough time, otherwise by killing it.
    pub(super) fn terminate(&mut self, stopping: Stopping, now: Timestamp) {
        self.attempt.stopping = Some(stopping);
        let forced = now + self.policy.stop_timeout;
        let forced = stopping.deadline.map_or(forced, |by| forced.min(kill_time(by)));
        if forced <= now {
            return self.kill(stopping, now);
        }
        self.attempt.process = ProcessState::Terminating;
        self.enter(State::Stopping, Some(forced), now);
        self.effects.push_back(Effect::Stop { generation: self.attempt.generation });
    }

    pub(super) fn kill(&mut self, stopping: Stopping, now: Timestamp) {
        self.attempt.process = ProcessState::Killed;
        let end = now + KILL_TIMEOUT;
        self.enter(State::Stopping, Some(stopping.deadline.map_or(end, |by| by.min(end))), now);
        self.effects.push_back(Effect::Kill { generation: self.attempt.generation });
    }

    /// Shortens the timeouts of a shutdown in progress, so that the shutdown is complete at the time `by` at the
    /// latest.
    pub(super) fn set_stop_deadline(&mut self, by: Timestamp, now: Timestamp) {
        let Some(stopping) = &mut self.attempt.stopping else { return };
        stopping.deadline = Some(by);
        let stopping = *stopping;
        let end = if self.attempt.process == ProcessState::Terminating { kill_time(by) } else { by };
        if self.attempt.process == ProcessState::Terminating && end <= now {
            return self.kill(stopping, now);
        }
        self.deadline = self.deadline.map(|at| at.min(end));
    }

    pub(super) fn escalate_stop(&mut self, now: Timestamp) {
        match self.attempt.stopping {
            Some(stopping) if self.attempt.process == ProcessState::Terminating => self.kill(stopping, now),
            // If the embedder reports the process later, `Server::event` requests `Effect::Kill` for it.
            _ => {
                self.effects.push_back(Effect::StopFailed { generation: self.attempt.generation });
                self.finish_stop(now);
            }
        }
    }

    pub(super) fn finish_stop(&mut self, now: Timestamp) {
        if let Some(stopping) = self.attempt.stopping.take() {
            self.end_attempt(stopping.then, now);
        }
    }

    /// Ends an attempt to run the server whose process is gone, and enters the state `then`.
    pub(super) fn end_attempt(&mut self, then: NextState, now: Timestamp) {
        self.next_attempt();
        for command in mem::take(&mut self.stop_waiters) {
            self.reply(command, Ok(()));
        }
        self.is_dormant = then == SLEEP || (then == NextState::Start && self.is_dormant);
        match then {
            NextState::Start => self.start(now),
            NextState::Backoff(wait) => self.enter(State::Backoff, Some(now + wait), now),
            NextState::Rest(state) => self.enter(state, None, now),
        }
        if self.state == State::Deleted {
            self.tools = None;
        }
    }

    fn next_attempt(&mut self) {
        let generation = Generation(self.attempt.generation.0 + 1);
        self.attempt = Attempt { generation, ..Attempt::default() };
    }
}

/// Returns when to kill a process that must be gone at `by`. This is one second earlier, because a killed process does
/// not end at once.
fn kill_time(by: Timestamp) -> Timestamp {
    Timestamp::from_origin(by.since_origin().saturating_sub(Duration::from_secs(1)))
}
