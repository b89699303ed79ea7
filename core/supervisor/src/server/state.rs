//! [`State`]: the detailed state of a server, and [`McpStatus`]: the simplified state that hosts show to users.
//! [`Attempt`]: the data of the current attempt to run the server.

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use serde::{Deserialize, Serialize};

use super::upkeep::{Probes, Refreshes};
use crate::HubError;
use mcpwire_core::Timestamp;

/// The number of an attempt to run a server, which assigns events to attempts. Each new attempt has a higher number.
///
/// An effect contains the generation of its attempt, and the embedder reports the resulting event with the same
/// generation. Events of earlier attempts are ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Generation(pub u64);

mcpwire_text::named_enum! {
    /// The detailed state of a server's lifecycle. [`McpStatus`] is the simplified form for users.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    #[non_exhaustive]
    pub enum State {
        /// The server is disabled: every start is rejected until the server is enabled.
        Disabled = "disabled",
        /// The server was stopped, or was never started. A command can start it; a tool call cannot.
        Stopped = "stopped",
        /// The launch configuration is being resolved: secrets, variables and environment.
        Resolving = "resolving",
        /// The process is being started, or the connection is being opened.
        Launching = "launching",
        /// The protocol version is being negotiated.
        Negotiating = "negotiating",
        /// The tool list is being loaded.
        Listing = "listing",
        /// The server accepts tool calls.
        Running = "running",
        /// The server is lazy ([`Policy::lazy`](crate::Policy::lazy)), and is not running because nobody uses it. A
        /// call of one of its tools starts it.
        Sleeping = "sleeping",
        /// The process of the server is being stopped, or its connection is being closed.
        Stopping = "stopping",
        /// The server failed. It will be restarted automatically after a delay.
        Backoff = "backoff",
        /// The server failed, and cannot run until the user supplies a missing value, such as an API key.
        NeedsInput = "needs-input",
        /// The server failed, and cannot run until the user supplies other credentials, such as a valid API key.
        NeedsAuth = "needs-auth",
        /// The server failed, and cannot run until the user logs in to it.
        NeedsLogin = "needs-login",
        /// The server failed and is not restarted automatically. A command can start it again.
        Failed = "failed",
        /// The server was removed permanently. All commands fail.
        Deleted = "deleted",
    }

    /// Returns the name of the state in kebab case, such as `needs-auth`.
    pub const fn as_str;
}

impl State {
    /// Returns whether the server is being started but does not run yet.
    pub const fn is_starting(self) -> bool {
        matches!(self, State::Resolving | State::Launching | State::Negotiating | State::Listing)
    }

    /// Returns whether a server in this state has neither a process nor a connection.
    pub const fn is_resting(self) -> bool {
        !(self.is_starting() || matches!(self, State::Running | State::Stopping))
    }
}

/// The simplified state of a server, which hosts show to users.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "status")]
#[non_exhaustive]
pub enum McpStatus {
    /// The server does not run: it is stopped, stopping, sleeping or deleted.
    Stopped,
    /// The server is being started.
    Starting,
    /// The server accepts tool calls.
    Running {
        /// The names that the server uses for its tools, without the prefix `<slug>__`.
        tools: Vec<String>,
    },
    /// The server failed. It may be waiting for a restart, a login or a missing value.
    Error {
        /// The error message of the failure, for the user.
        message: String,
    },
    /// The server is disabled: every start is rejected until the server is enabled.
    Disabled,
}

/// A detailed snapshot of a server's lifecycle, for diagnostics.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerDetail {
    /// The current state of the server's lifecycle.
    pub state: State,
    /// When the server entered its current state.
    pub since: Timestamp,
    /// Number of the current attempt to run the server. See [`Server::generation`](crate::Server::generation).
    pub generation: Generation,
    /// Number of failed attempts to run the server in a row. A failure after a run of at least
    /// [`Policy::stable_after`](crate::Policy::stable_after) counts as the first again.
    pub attempt: u32,
    /// When the server will be restarted. `Some` only in [`State::Backoff`].
    pub retry_at: Option<Timestamp>,
    /// The process id of the server, or `None` if no local process of the server runs.
    pub pid: Option<u32>,
    /// The negotiated protocol version. `None` until the negotiation is complete, and after the server has stopped.
    pub version: Option<String>,
    /// Number of tools in the last known tool list of the server. 0 if no list is known.
    pub tools: usize,
    /// Number of automatic restarts of the server since it was added to the supervisor.
    pub restarts: u64,
    /// Number of tool calls that the server has not answered yet.
    pub calls_in_flight: u32,
    /// Number of tool calls sent to the server since it was added to the supervisor.
    pub calls: u64,
    /// The error of the last failure. `None` if the server has run successfully since then, or has never failed.
    pub last_error: Option<HubError>,
}

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
