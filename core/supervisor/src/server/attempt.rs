//! The start, failure and shutdown of one attempt to run a server.

use core::time::Duration;

use super::restarts::RestartDecision;
use super::stopping::{NextState, StopPhase, StopProgress};
use super::{Effect, Generation, ProcessState, Server, State};
use crate::{Failure, HubError, Retry};
use mcpwire_core::Timestamp;

/// Maximum time to wait for the end of a killed process. A kill normally takes milliseconds.
const KILL_TIMEOUT: Duration = Duration::from_secs(2);

/// Maximum time to wait for the result of a launch that was cancelled. A launch normally takes milliseconds.
const CANCELLED_LAUNCH_TIMEOUT: Duration = Duration::from_secs(10);

impl Server {
    /// Starts a new attempt to run the server: increases the number of the attempt, and requests [`Effect::Resolve`].
    pub(super) fn start(&mut self, now: Timestamp) {
        self.next_generation();
        self.enter(State::Resolving, None, now);
        self.effects.push_back(Effect::Resolve { generation: self.generation });
    }

    /// Enters [`State::Running`] and replies to the commands that waited for this state.
    pub(super) fn enter_running(&mut self, now: Timestamp) {
        self.error = None;
        self.is_dormant = false;
        self.last_used = now;
        self.enter(State::Running, None, now);
        for command in self.pending.take_start_waiters() {
            self.reply(command, Ok(()));
        }
    }

    /// Handles the failure of the current attempt to run the server. Stops the process if it still exists, then
    /// schedules a restart or waits for an action of the user.
    pub(super) fn fail(&mut self, failure: Failure, now: Timestamp) {
        if self.state == State::Running && now.duration_since(self.since) >= self.policy.stable_after {
            self.restarts.reset_attempts();
        }
        let decision = self.restarts.after_failure(failure.retry, &self.policy, now);
        let mut error = failure.error;
        let then = match (decision, failure.retry) {
            (RestartDecision::After(wait), _) if !self.host_closing => NextState::Backoff(wait),
            (RestartDecision::CrashLoop, _) => {
                error.message.push_str("; it failed too often (crash loop). Start it again manually.");
                NextState::WaitForUser(State::Failed)
            }
            (_, Retry::Login) => NextState::WaitForUser(State::NeedsAuth),
            (_, Retry::Input) => NextState::WaitForUser(State::NeedsInput),
            _ => NextState::WaitForUser(State::Failed),
        };
        self.error = Some(error.clone());
        self.fail_start_waiters(&error);
        self.stop_attempt(then, &error, now);
    }

    /// Stops the current attempt to run the server, and fails the calls in flight with `error`.
    ///
    /// `then` is the state to enter when the process is gone.
    pub(super) fn stop_attempt(&mut self, then: NextState, error: &HubError, now: Timestamp) {
        if self.state == State::Running {
            self.effects.push_back(Effect::FailCalls { generation: self.generation, error: error.clone() });
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

    /// Requests a graceful stop of the process ([`Effect::Stop`]). Kills the process instead if no time is left for a
    /// graceful stop.
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

    /// Shortens the timeouts of a shutdown in progress, so that the shutdown is complete at `by`. Has no effect if the
    /// server is not stopping.
    pub(super) fn set_stop_deadline(&mut self, by: Timestamp, now: Timestamp) {
        let Some(stopping) = &mut self.stopping else { return };
        stopping.deadline = Some(by);
        match stopping.phase {
            StopPhase::Graceful if kill_time(by) <= now => self.kill(now),
            StopPhase::Graceful => self.deadline = self.deadline.map(|at| at.min(kill_time(by))),
            StopPhase::AwaitLaunch | StopPhase::Killed => self.deadline = self.deadline.map(|at| at.min(by)),
        }
    }

    /// Handles the timeout of the current [`StopPhase`]: kills a process that did not stop gracefully, and otherwise
    /// gives up with [`Effect::StopFailed`].
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

    /// Ends the shutdown, and enters the state in [`StopProgress::then`].
    pub(super) fn finish_stop(&mut self, now: Timestamp) {
        self.process = ProcessState::None;
        if let Some(stopping) = self.stopping.take() {
            self.end_attempt(stopping.then, now);
        }
    }

    /// Ends the current attempt to run the server, enters the state `then`, and replies to the commands that wait for
    /// the server to stop.
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

/// Returns the time at which to kill a process that must be gone at `by`: one second earlier, because the kill needs
/// time to take effect.
fn kill_time(by: Timestamp) -> Timestamp {
    Timestamp::from_origin(by.since_origin().saturating_sub(Duration::from_secs(1)))
}
