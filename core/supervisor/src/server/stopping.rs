//! How far the shutdown of a server is, and what follows it.

use core::time::Duration;

use super::State;
use mcpwire_core::Timestamp;

/// A shutdown in progress; the server is in [`State::Stopping`].
#[derive(Clone, Copy, Debug)]
pub(super) struct StopProgress {
    pub(super) phase: StopPhase,
    pub(super) then: AfterStop,
    /// Whether a command requested this shutdown. A second [`Command::Stop`](super::Command::Stop) then kills the
    /// server.
    pub(super) requested: bool,
    /// Latest time at which the shutdown must be complete. Set when the host shuts down.
    pub(super) deadline: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StopPhase {
    /// Waiting for the result of the launch: a process that is being started cannot be stopped yet.
    AwaitLaunch,
    /// [`Effect::Stop`] has been sent.
    Graceful,
    /// [`Effect::Kill`] has been sent.
    Killed,
}

/// What the server does once the shutdown is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AfterStop {
    Start,
    Sleep,
    Backoff(Duration),
    /// Enters one of the states that wait for the user: `Failed`, `NeedsAuth` or `NeedsInput`.
    Rest(State),
    Stopped,
    Disabled,
    Deleted,
}
