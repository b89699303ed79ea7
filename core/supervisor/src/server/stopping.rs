//! The progress of a server's shutdown, and the state that follows.

use core::time::Duration;

use super::State;
use mcpwire_core::Timestamp;

/// The progress of a server's shutdown. Exists only in [`State::Stopping`].
#[derive(Clone, Copy, Debug)]
pub(super) struct StopProgress {
    pub(super) phase: StopPhase,
    pub(super) then: NextState,
    /// Whether a command requested this shutdown. If `true`, a second [`Command::Stop`](super::Command::Stop) kills the
    /// process.
    pub(super) is_requested: bool,
    /// When the shutdown must be complete. `Some` only if the host is shutting down.
    pub(super) deadline: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StopPhase {
    /// The embedder has not reported the outcome of [`Effect::Launch`](super::Effect::Launch), so there is no process
    /// to stop yet.
    AwaitLaunch,
    /// The process was asked to stop ([`Effect::Stop`](super::Effect::Stop)), but has not ended.
    Graceful,
    /// The process was killed ([`Effect::Kill`](super::Effect::Kill)), but its end has not been reported.
    Killed,
}

/// The state that a server enters when its shutdown is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextState {
    Start,
    Sleep,
    Backoff(Duration),
    /// One of the states `Failed`, `NeedsAuth` and `NeedsInput`, in which the server starts only after an action of the
    /// user.
    WaitForUser(State),
    Stopped,
    Disabled,
    Deleted,
}
