//! The start, failure and shutdown of one attempt to run a server.

use core::time::Duration;

use super::restarts::Verdict;
use super::{Effect, Generation, Life, Server, State};
use crate::{ErrorContract, Failure, Retry};
use mcpwire_core::Timestamp;

/// How long to wait for the process to disappear after [`Effect::Kill`]. 2 s: a kill takes milliseconds unless the
/// kernel blocks it.
const AFTER_KILL: Duration = Duration::from_secs(2);

/// How long to wait for the result of a launch that has been cancelled. 10 s: starting a process takes milliseconds. A
/// process reported later is killed.
const AFTER_LAUNCH: Duration = Duration::from_secs(10);

/// A shutdown in progress; the server is in [`State::Stopping`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Stopping {
    pub(super) phase: Phase,
    pub(super) then: Then,
    /// Whether a command requested this shutdown. A second [`Command::Stop`](super::Command::Stop) then kills the
    /// server.
    pub(super) asked: bool,
    /// Latest time at which the shutdown must be complete. Set when the host shuts down.
    pub(super) by: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Waiting for the result of the launch: a process that is being started cannot be stopped yet.
    AwaitLaunch,
    /// [`Effect::Stop`] has been sent.
    Polite,
    /// [`Effect::Kill`] has been sent.
    Forced,
}

/// What the server does once the shutdown is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    Start,
    Sleep,
    Backoff(Duration),
    /// Enters one of the states that wait for the user: `Failed`, `NeedsAuth` or `NeedsInput`.
    Rest(State),
    Stopped,
    Disabled,
    Deleted,
}

impl Server {
    /// Starts a new attempt, under a new generation.
    pub(super) fn start(&mut self, now: Timestamp) {
        self.next_generation();
        self.enter(State::Resolving, None, now);
        self.effects.push_back(Effect::Resolve { generation: self.generation });
    }

    /// Enters [`State::Running`] and answers the commands that waited for the server to run.
    pub(super) fn started(&mut self, now: Timestamp) {
        self.error = None;
        self.dozes = false;
        self.called = now;
        self.enter(State::Running, None, now);
        for command in self.waiting.take_starters() {
            self.reply(command, Ok(()));
        }
    }

    /// Handles the failure of the current attempt: schedules a restart, or stops for good with an error.
    pub(super) fn fail(&mut self, failure: Failure, now: Timestamp) {
        if self.state == State::Running && now.duration_since(self.since) >= self.policy.stable_after {
            self.restarts.recovered();
        }
        let verdict = self.restarts.after_failure(failure.retry, &self.policy, now);
        let mut error = failure.error;
        let then = match (verdict, failure.retry) {
            (Verdict::After(wait), _) if !self.closing => Then::Backoff(wait),
            (Verdict::CrashLoop, _) => {
                error.message.push_str(
                    "; it has failed too often (crash loop), and is not started again until somebody asks for it",
                );
                Then::Rest(State::Failed)
            }
            (_, Retry::Login) => Then::Rest(State::NeedsAuth),
            (_, Retry::Input) => Then::Rest(State::NeedsInput),
            _ => Then::Rest(State::Failed),
        };
        self.error = Some(error.clone());
        self.fail_starters(&error);
        self.end(then, &error, now);
    }

    /// Shuts the current attempt down. Calls in flight fail with `error`.
    pub(super) fn end(&mut self, then: Then, error: &ErrorContract, now: Timestamp) {
        if self.state == State::Running {
            self.effects.push_back(Effect::FailCalls { generation: self.generation, error: error.clone() });
        }
        self.dozes = then == Then::Sleep;
        let phase = match self.life {
            Life::None => return self.settle(then, now),
            Life::Ordered => Phase::AwaitLaunch,
            Life::Alive => Phase::Polite,
        };
        self.stopping = Some(Stopping { phase, then, asked: false, by: None });
        if phase == Phase::Polite {
            self.stop_politely(now);
        } else {
            self.enter(State::Stopping, Some(now + AFTER_LAUNCH), now);
        }
    }

    /// Asks the server to stop, or kills it at once if no time is left.
    pub(super) fn stop_politely(&mut self, now: Timestamp) {
        let Some(stopping) = &mut self.stopping else { return };
        stopping.phase = Phase::Polite;
        let forced = now + self.policy.stop_timeout;
        let forced = stopping.by.map_or(forced, |by| forced.min(before(by)));
        if forced <= now {
            return self.kill(now);
        }
        self.enter(State::Stopping, Some(forced), now);
        self.effects.push_back(Effect::Stop { generation: self.generation });
    }

    pub(super) fn kill(&mut self, now: Timestamp) {
        let Some(stopping) = &mut self.stopping else { return };
        stopping.phase = Phase::Forced;
        let over = stopping.by.map_or(now + AFTER_KILL, |by| by.min(now + AFTER_KILL));
        self.enter(State::Stopping, Some(over), now);
        self.effects.push_back(Effect::Kill { generation: self.generation });
    }

    /// Moves the deadlines of a shutdown forward so that it is complete at `by`.
    pub(super) fn hurry(&mut self, by: Timestamp, now: Timestamp) {
        let Some(stopping) = &mut self.stopping else { return };
        stopping.by = Some(by);
        match stopping.phase {
            Phase::Polite if before(by) <= now => self.kill(now),
            Phase::Polite => self.deadline = self.deadline.map(|at| at.min(before(by))),
            Phase::AwaitLaunch | Phase::Forced => self.deadline = self.deadline.map(|at| at.min(by)),
        }
    }

    /// Escalates when a phase of the shutdown has timed out: kills the server, or gives up on it.
    pub(super) fn stop_harder(&mut self, now: Timestamp) {
        let Some(stopping) = self.stopping else { return };
        match stopping.phase {
            Phase::Polite => self.kill(now),
            // A process that the launch reports after this point is killed then.
            Phase::AwaitLaunch | Phase::Forced => {
                self.effects.push_back(Effect::Abandoned { generation: self.generation });
                self.gone(now);
            }
        }
    }

    /// Handles the end of the server: no process and no connection are left.
    pub(super) fn gone(&mut self, now: Timestamp) {
        self.life = Life::None;
        if let Some(stopping) = self.stopping.take() {
            self.settle(stopping.then, now);
        }
    }

    /// Enters the state that follows the shutdown, and answers the commands that waited for the server to stop.
    pub(super) fn settle(&mut self, then: Then, now: Timestamp) {
        self.next_generation();
        for command in self.waiting.take_stoppers() {
            self.reply(command, Ok(()));
        }
        self.dozes = then == Then::Sleep || (then == Then::Start && self.dozes);
        match then {
            Then::Start => self.start(now),
            Then::Sleep => self.enter(State::Sleeping, None, now),
            Then::Backoff(wait) => self.enter(State::Backoff, Some(now + wait), now),
            Then::Rest(state) => self.enter(state, None, now),
            Then::Stopped => self.enter(State::Stopped, None, now),
            Then::Disabled => self.enter(State::Disabled, None, now),
            Then::Deleted => {
                self.tools = None;
                self.enter(State::Deleted, None, now);
            }
        }
    }

    pub(super) fn fail_starters(&mut self, error: &ErrorContract) {
        for command in self.waiting.take_starters() {
            self.reply(command, Err(error.clone()));
        }
    }

    fn next_generation(&mut self) {
        self.generation = Generation(self.generation.0 + 1);
        self.life = Life::None;
        self.stopping = None;
        self.pid = None;
        self.version = None;
        self.calls_in_flight = 0;
        self.refreshes.clear();
        self.probes.clear();
    }
}

/// Returns when to kill the server so that it is gone at `by`: one second earlier.
fn before(by: Timestamp) -> Timestamp {
    Timestamp::from_origin(by.since_origin().saturating_sub(Duration::from_secs(1)))
}
