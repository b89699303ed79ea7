//! [`StatusDetail`]: all that is known of a server's life.

use std::time::Duration;

use mcpwire_supervisor::{State, ToolChange};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::HubError;

/// All that is known of a server's life. As JSON it is what `mcpwire status --json` prints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StatusDetail {
    /// Which server it is.
    pub id: Uuid,
    /// What it is called.
    pub name: String,
    /// Whether it may be started.
    pub enabled: bool,
    /// Where it is in its life.
    pub state: State,
    /// For how long, in milliseconds.
    pub for_ms: u64,
    /// The version of the protocol that is spoken, while it runs.
    pub version: Option<String>,
    /// `modern` or `legacy`, while it runs.
    pub era: Option<String>,
    /// Its process.
    pub pid: Option<u32>,
    /// How many tools it has; of a sleeping server, how many it had.
    pub tools: usize,
    /// The tools that it has described in another way than before since this hub began, or since
    /// [`Hub::acknowledge_changes`](super::Hub::acknowledge_changes): 100 at most. The names are the server's.
    #[serde(default)]
    pub changed_tools: Vec<ToolChange>,
    /// How many calls it was sent, in all.
    pub calls: u64,
    /// How many of them have no answer yet.
    pub calls_in_flight: u32,
    /// How often it was started again without being asked, in all.
    pub restarts: u64,
    /// How many attempts in a row did not last.
    pub attempt: u32,
    /// In how many milliseconds it is started again, if it is.
    pub retry_in_ms: Option<u64>,
    /// Why it does not run, or did not when it was last tried.
    pub last_error: Option<HubError>,
    /// The last lines that it wrote on standard error, without secrets.
    pub stderr_tail: Vec<String>,
}

pub(super) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
