//! Where a server is in its life, in detail and as hosts show it.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Serialize};

use super::Generation;
use crate::ErrorContract;
use mcpwire_core::Timestamp;

/// Where a server is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum State {
    /// It is not to be started.
    Disabled,
    /// It is not running, and may be started.
    Stopped,
    /// What to run is being found out.
    Resolving,
    /// The process is being started, or the connection opened.
    Launching,
    /// The two sides agree on a version.
    Negotiating,
    /// Its tools are asked for.
    Listing,
    /// It takes calls.
    Running,
    /// It has been put to sleep, and wakes when a tool of it is called.
    Sleeping,
    /// It is being ended.
    Stopping,
    /// It has failed, and is started again after a while.
    Backoff,
    /// A value is missing that the user has to give.
    NeedsInput,
    /// It wants a login.
    NeedsAuth,
    /// It has failed, and is not started again until somebody asks for it.
    Failed,
    /// It is no more.
    Deleted,
}

impl State {
    /// Whether it is on its way to [`State::Running`].
    pub const fn is_starting(self) -> bool {
        matches!(self, State::Resolving | State::Launching | State::Negotiating | State::Listing)
    }

    /// Whether nothing of it exists: no process, no connection.
    pub const fn is_resting(self) -> bool {
        !(self.is_starting() || matches!(self, State::Running | State::Stopping))
    }

    /// As it is shown: `needs-auth`.
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

/// A server's state as hosts show it: one of five.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "status")]
pub enum Status {
    /// It is not running. So is one that sleeps, or is being ended.
    Stopped,
    /// It is on its way.
    Starting,
    /// It takes calls.
    Running {
        /// The names of the tools that it offers, as it calls them itself.
        tools: Vec<String>,
    },
    /// It does not run although it should.
    Error {
        /// Why.
        message: String,
    },
    /// It is not to be started.
    Disabled,
}

/// All that is known of a server's life.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Detail {
    /// Where it is.
    pub state: State,
    /// Since when.
    pub since: Timestamp,
    /// Which attempt it is.
    pub generation: Generation,
    /// How many attempts in a row did not last; 0 once it has recovered.
    pub attempt: u32,
    /// When it is started again, in [`State::Backoff`].
    pub retry_at: Option<Timestamp>,
    /// Its process.
    pub pid: Option<u32>,
    /// The protocol's version that it speaks, while it runs.
    pub version: Option<String>,
    /// How many tools it has; of a sleeping server, how many it had.
    pub tools: usize,
    /// How often it was started again without being asked, in all.
    pub restarts: u64,
    /// How many calls are in flight.
    pub calls_in_flight: u32,
    /// How many calls there were, in all.
    pub calls: u64,
    /// The last failure, until it runs again.
    pub last_error: Option<ErrorContract>,
}
