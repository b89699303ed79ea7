//! The progress of a server's shutdown, and the state that follows.

use core::time::Duration;

use super::State;
use mcpwire_core::Timestamp;

/// A shutdown in progress. The server is in [`State::Stopping`].
#[derive(Clone, Copy, Debug)]
pub(super) struct StopProgress {
    pub(super) phase: StopPhase,
    pub(super) then: NextState,
    /// Whether a command requested this shutdown. If so, a second [`Command::Stop`](super::Command::Stop) kills the
    /// server.
    pub(super) is_requested: bool,
    /// Time at which the shutdown must be complete. Set only when the host shuts down.
    pub(super) deadline: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StopPhase {
    /// The launch is still pending. Its process cannot be stopped before it is reported.
    AwaitLaunch,
    /// The server was asked to stop ([`Effect::Stop`](super::Effect::Stop)).
    Graceful,
    /// The server was killed ([`Effect::Kill`](super::Effect::Kill)).
    Killed,
}

/// The step that follows a complete shutdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextState {
    Start,
    Sleep,
    Backoff(Duration),
    /// Enter a state that waits for the user: `Failed`, `NeedsAuth` or `NeedsInput`.
    WaitForUser(State),
    Stopped,
    Disabled,
    Deleted,
}
