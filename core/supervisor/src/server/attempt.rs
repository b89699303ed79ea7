//! The start, failure and shutdown of one attempt to run a server.

use core::time::Duration;

use super::restarts::RestartDecision;
use super::stopping::{NextState, StopPhase, StopProgress};
use super::{Effect, Generation, ProcessState, Server, State};
use crate::{ErrorKind, Failure, HubError, Retry};
use mcpwire_core::Timestamp;

/// Maximum time to wait for the end of a killed process. A kill normally takes milliseconds.
const KILL_TIMEOUT: Duration = Duration::from_secs(2);

/// Maximum time to wait for the outcome of a launch after the start was cancelled. A launch normally takes
/// milliseconds.
const CANCELLED_LAUNCH_TIMEOUT: Duration = Duration::from_secs(10);

impl Server {
    pub(super) fn start(&mut self, now: Timestamp) {
        self.next_generation();
        self.enter(State::Resolving, None, now);
        self.effects.push_back(Effect::Resolve { generation: self.generation });
    }

    pub(super) fn enter_running(&mut self, now: Timestamp) {
        self.error = None;
        self.is_dormant = false;
        self.last_used = now;
        self.enter(State::Running, None, now);
        for command in self.pending.take_start_waiters() {
            self.reply(command, Ok(()));
        }
    }

    pub(super) fn fail(&mut self, failure: Failure, now: Timestamp) {
        if self.state == State::Running && now.duration_since(self.since) >= self.policy.stable_after {
            self.restarts.reset_attempts();
        }
        let decision = self.restarts.after_failure(failure.retry, &self.policy, now);
        let mut error = failure.error;
        let then = match (decision, failure.retry) {
            (RestartDecision::After(wait), _) if !self.host_closing => NextState::Backoff(wait),
            (RestartDecision::CrashLoop, _) => {
                let advice = "it failed too often (crash loop). Start it again manually.";
                let message = alloc::format!("{}; {advice}", error.message());
                error = error.with_message(message).with_retryable(false);
                NextState::WaitForUser(State::Failed)
            }
            (_, Retry::Login) if error.kind() == ErrorKind::LoginRequired => NextState::WaitForUser(State::NeedsLogin),
            (_, Retry::Login) => NextState::WaitForUser(State::NeedsAuth),
            (_, Retry::Input) => NextState::WaitForUser(State::NeedsInput),
            _ => NextState::WaitForUser(State::Failed),
        };
        self.error = Some(error.clone());
        self.fail_start_waiters(&error);
        self.stop_attempt(then, &error, now);
    }

    /// Ends the current attempt to run the server: fails the tool calls in flight with `error`, stops the process if
    /// there is one, and then enters the state `then`.
    pub(super) fn stop_attempt(&mut self, then: NextState, error: &HubError, now: Timestamp) {
        if self.state == State::Running {
            // The tools may have run, whatever the error says about the server.
            let error = error.clone().with_retryable(false);
            self.effects.push_back(Effect::FailCalls { generation: self.generation, error });
        }
        self.is_dormant = then == NextState::Sleep;
        let phase = match self.process {
            ProcessState::None => return self.end_attempt(then, now),
            ProcessState::Launching => StopPhase::AwaitLaunch,
            ProcessState::Running => StopPhase::Graceful,
        };
        self.stopping = Some(StopProgress { phase, then, is_requested: false, deadline: None });
        if phase == StopPhase::Graceful {
            self.stop_gracefully(now);
        } else {
            self.enter(State::Stopping, Some(now + CANCELLED_LAUNCH_TIMEOUT), now);
        }
    }

    pub(super) fn stop_gracefully(&mut self, now: Timestamp) {
        let Some(stopping) = &mut self.stopping else { return };
        stopping.phase = StopPhase::Graceful;
        let forced = now + self.policy.stop_timeout;
        let forced = stopping.deadline.map_or(forced, |by| forced.min(kill_time(by)));
        if forced <= now {
            return self.kill(now);
        }
        self.enter(State::Stopping, Some(forced), now);
        self.effects.push_back(Effect::Stop { generation: self.generation });
    }

    pub(super) fn kill(&mut self, now: Timestamp) {
        let Some(stopping) = &mut self.stopping else { return };
        stopping.phase = StopPhase::Killed;
        let over = stopping.deadline.map_or(now + KILL_TIMEOUT, |by| by.min(now + KILL_TIMEOUT));
        self.enter(State::Stopping, Some(over), now);
        self.effects.push_back(Effect::Kill { generation: self.generation });
    }

    /// Shortens the timeouts of a shutdown in progress, so that the shutdown is complete at the time `by`.
    pub(super) fn set_stop_deadline(&mut self, by: Timestamp, now: Timestamp) {
        let Some(stopping) = &mut self.stopping else { return };
        stopping.deadline = Some(by);
        match stopping.phase {
            StopPhase::Graceful if kill_time(by) <= now => self.kill(now),
            StopPhase::Graceful => self.deadline = self.deadline.map(|at| at.min(kill_time(by))),
            StopPhase::AwaitLaunch | StopPhase::Killed => self.deadline = self.deadline.map(|at| at.min(by)),
        }
    }

    pub(super) fn escalate_stop(&mut self, now: Timestamp) {
        let Some(stopping) = self.stopping else { return };
        match stopping.phase {
            StopPhase::Graceful => self.kill(now),
            // If the embedder reports a process later, `Server::event` requests `Effect::Kill` for it.
            StopPhase::AwaitLaunch | StopPhase::Killed => {
                self.effects.push_back(Effect::StopFailed { generation: self.generation });
                self.finish_stop(now);
            }
        }
    }

    pub(super) fn finish_stop(&mut self, now: Timestamp) {
        self.process = ProcessState::None;
        if let Some(stopping) = self.stopping.take() {
            self.end_attempt(stopping.then, now);
        }
    }

    /// Ends an attempt to run the server that has no process any more, and enters the state `then`.
    pub(super) fn end_attempt(&mut self, then: NextState, now: Timestamp) {
        self.next_generation();
        for command in self.pending.take_stop_waiters() {
            self.reply(command, Ok(()));
        }
        self.is_dormant = then == NextState::Sleep || (then == NextState::Start && self.is_dormant);
        match then {
            NextState::Start => self.start(now),
            NextState::Sleep => self.enter(State::Sleeping, None, now),
            NextState::Backoff(wait) => self.enter(State::Backoff, Some(now + wait), now),
            NextState::WaitForUser(state) => self.enter(state, None, now),
            NextState::Stopped => self.enter(State::Stopped, None, now),
            NextState::Disabled => self.enter(State::Disabled, None, now),
            NextState::Deleted => {
                self.tools = None;
                self.enter(State::Deleted, None, now);
            }
        }
    }

    pub(super) fn fail_start_waiters(&mut self, error: &HubError) {
        for command in self.pending.take_start_waiters() {
            self.reply(command, Err(error.clone()));
        }
    }

    fn next_generation(&mut self) {
        self.generation = Generation(self.generation.0 + 1);
        self.process = ProcessState::None;
        self.stopping = None;
        self.pid = None;
        self.version = None;
        self.calls_in_flight = 0;
        self.refreshes.reset();
        self.probes.reset();
    }
}

/// Returns when to kill a process that must be gone at `by`: one second earlier, because a kill takes effect with a
/// delay.
fn kill_time(by: Timestamp) -> Timestamp {
    Timestamp::from_origin(by.since_origin().saturating_sub(Duration::from_secs(1)))
}
