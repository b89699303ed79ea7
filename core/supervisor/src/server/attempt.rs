//! [`Attempt`]: the data of one attempt to run a server.

use alloc::string::String;
use core::time::Duration;

use super::probes::Probes;
use super::refreshes::Refreshes;
use super::state::{Generation, State};
use mcpwire_core::Timestamp;

/// The data of one attempt to run a server. It is discarded when the attempt ends.
#[derive(Debug, Default)]
pub(super) struct Attempt {
    pub(super) generation: Generation,
    pub(super) process: ProcessState,
    /// The shutdown in progress. `Some` only in [`State::Stopping`].
    pub(super) stopping: Option<Stopping>,
    /// The process id, or `None` if no local process runs.
    pub(super) pid: Option<u32>,
    /// The negotiated protocol version, or `None` before the negotiation is complete.
    pub(super) version: Option<String>,
    /// Number of tool calls that the server has not answered yet.
    pub(super) calls_in_flight: u32,
    pub(super) refreshes: Refreshes,
    pub(super) probes: Probes,
}

/// The state of the process of a server, or of its connection if it has no process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ProcessState {
    #[default]
    None,
    /// [`Effect::Launch`](super::Effect::Launch) was requested, and the embedder has not reported the outcome yet.
    Launching,
    Running,
    /// [`Effect::Stop`](super::Effect::Stop) was requested, and the process has not ended yet.
    Terminating,
    /// [`Effect::Kill`](super::Effect::Kill) was requested, and the process has not ended yet.
    Killed,
}

/// The progress of a shutdown, and the state that follows it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stopping {
    pub(super) then: NextState,
    /// Whether a command requested this shutdown, rather than a failure or idleness. If so, a further
    /// [`Command::Stop`](super::Command::Stop) kills the process.
    pub(super) is_requested: bool,
    /// When the process must be gone because the host shuts down. `None` if the host is not shutting down.
    pub(super) deadline: Option<Timestamp>,
}

/// What the server does after an attempt to run it has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextState {
    Start,
    Backoff(Duration),
    /// The server enters this resting state, and stays there until a command or a tool call starts it.
    Rest(State),
}

/// What a lazy server does after it was stopped because it was idle.
pub(super) const SLEEP: NextState = NextState::Rest(State::Sleeping);
