//! The progress of a server's shutdown, and the state that follows.

use core::time::Duration;

use super::State;
use mcpwire_core::Timestamp;

#[derive(Clone, Copy, Debug)]
pub(super) struct StopProgress {
    pub(super) phase: StopPhase,
    pub(super) then: NextState,
    /// Whether a command requested this shutdown, rather than a failure or idleness. If so, a further
    /// [`Command::Stop`](super::Command::Stop) kills the process.
    pub(super) is_requested: bool,
    /// When the process must be gone because the host shuts down. `None` if the host does not shut down.
    pub(super) deadline: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StopPhase {
    /// The embedder has not reported the outcome of [`Effect::Launch`](super::Effect::Launch), so there is no known
    /// process to stop yet.
    AwaitLaunch,
    /// [`Effect::Stop`](super::Effect::Stop) was requested, and the process has not ended yet.
    Graceful,
    /// [`Effect::Kill`](super::Effect::Kill) was requested, and the process has not ended yet.
    Killed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextState {
    Start,
    Sleep,
    Backoff(Duration),
    /// The contained state is `Failed`, `NeedsAuth`, `NeedsLogin` or `NeedsInput`. The server leaves such a state only
    /// after an action of the user.
    WaitForUser(State),
    Stopped,
    Disabled,
    Deleted,
}
