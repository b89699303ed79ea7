//! The states of a server: the detailed [`State`], and the [`Status`] that hosts show.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Serialize};

use crate::HubError;
use mcpwire_core::Timestamp;

/// The number of an attempt to run a server. It increases with each attempt.
///
/// Every effect contains the generation that it belongs to, and the resulting event repeats it. The server ignores
/// events of earlier generations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Generation(pub u64);

/// The state of a server's lifecycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum State {
    /// The server may not be started.
    Disabled,
    /// The server does not run: it is stopped, stopping or sleeping.
    Stopped,
    /// The launch configuration is being resolved: secrets, variables and environment.
    Resolving,
    /// The process is being started, or the connection opened.
    Launching,
    /// The protocol version is being negotiated.
    Negotiating,
    /// The tool list is being loaded.
    Listing,
    /// The server accepts calls.
    Running,
    /// The lazy server was stopped while idle. The next call of one of its tools starts it.
    Sleeping,
    /// The server is being stopped.
    Stopping,
    /// The server failed and will restart after a delay.
    Backoff,
    /// The server needs a value from the user, such as an API key.
    NeedsInput,
    /// The server requires a login.
    NeedsAuth,
    /// The server failed and restarts only on request.
    Failed,
    /// The server was deleted.
    Deleted,
}

impl State {
    /// Returns whether the server is starting but not yet running.
    pub const fn is_starting(self) -> bool {
        matches!(self, State::Resolving | State::Launching | State::Negotiating | State::Listing)
    }

    /// Returns whether the server has neither a process nor a connection in this state.
    pub const fn is_resting(self) -> bool {
        !(self.is_starting() || matches!(self, State::Running | State::Stopping))
    }

    /// Returns the state in kebab case, such as `needs-auth`.
    pub const fn as_str(self) -> &'static str {
        match self {
            State::Disabled => "disabled",
            State::Stopped => "stopped",
            State::Resolving => "resolving",
            State::Launching => "launching",
            State::Negotiating => "negotiating",
            State::Listing => "listing",
            State::Running => "running",
            State::Sleeping => "sleeping",
            State::Stopping => "stopping",
            State::Backoff => "backoff",
            State::NeedsInput => "needs-input",
            State::NeedsAuth => "needs-auth",
            State::Failed => "failed",
            State::Deleted => "deleted",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The simplified state that hosts show to users.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "status")]
pub enum Status {
    /// The server does not run: it is stopped, stopping or sleeping.
    Stopped,
    /// The server is starting.
    Starting,
    /// The server accepts calls.
    Running {
        /// Names of the tools, as the server itself names them.
        tools: Vec<String>,
    },
    /// The server failed, or waits for a restart, a login or a missing value.
    Error {
        /// Error message for the user.
        message: String,
    },
    /// The server may not be started.
    Disabled,
}

/// A detailed snapshot of a server's lifecycle, for diagnostics.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerDetail {
    /// Current state.
    pub state: State,
    /// Time at which the server entered this state.
    pub since: Timestamp,
    /// Current or last attempt.
    pub generation: Generation,
    /// Number of consecutive failed attempts. It returns to 0 when the server has run for
    /// [`Policy::stable_after`](crate::Policy::stable_after).
    pub attempt: u32,
    /// Time of the next restart. Set only in [`State::Backoff`].
    pub retry_at: Option<Timestamp>,
    /// Process id, if the server runs as a local process.
    pub pid: Option<u32>,
    /// Negotiated protocol version. Set from the end of the negotiation until the end of the attempt.
    pub version: Option<String>,
    /// Number of known tools. For a server that does not run, the number in its last run.
    pub tools: usize,
    /// Total number of automatic restarts.
    pub restarts: u64,
    /// Number of calls in flight.
    pub calls_in_flight: u32,
    /// Total number of calls since the server was added.
    pub calls: u64,
    /// Last failure; cleared when the server runs again.
    pub last_error: Option<HubError>,
}
