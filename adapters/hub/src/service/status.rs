//! [`StatusDetail`] and [`Usage`]: the detailed state of a server, and the resources that its processes use.

use std::time::Duration;

use mcpwire_supervisor::{State, ToolChange};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::HubError;
use crate::logins::RequiredLogin;
use crate::process_registry::memory_of_groups;

/// The detailed state of a server. The command `mcpwire status --json` prints it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StatusDetail {
    /// The id of the server.
    pub id: Uuid,
    /// The name of the server.
    pub name: String,
    /// Whether the server is enabled. A disabled server cannot be started.
    pub enabled: bool,
    /// The current state of the server, for example running, sleeping or failed.
    pub state: State,
    /// Time since the server has entered its current state, in milliseconds.
    pub for_ms: u64,
    /// The negotiated protocol version, such as `2025-11-25`. `None` if the server does not run.
    pub version: Option<String>,
    /// The era of the negotiated protocol version: `modern` from revision 2026-07-28 on, or `legacy` for earlier revisions.
    /// `None` if the server does not run.
    pub era: Option<String>,
    /// The process id of the server, or `None` if the server has no local process.
    pub pid: Option<u32>,
    /// Number of tools in the last tool list of the server, even if the server does not run now.
    pub tools: usize,
    /// Up to 100 tools whose definitions the server has changed since the user last reviewed them.
    /// [`Hub::acknowledge_changes`](super::Hub::acknowledge_changes) removes the changes. The names are those that the server
    /// uses.
    #[serde(default)]
    pub changed_tools: Vec<ToolChange>,
    /// Number of tool calls that the hub has sent to the server since the hub was opened.
    pub calls: u64,
    /// Number of tool calls that the server has not answered yet.
    pub calls_in_flight: u32,
    /// Number of automatic restarts of the server since the hub was opened.
    pub restarts: u64,
    /// Number of consecutive failed attempts to run the server.
    pub attempt: u32,
    /// Time until the next automatic restart of the server, in milliseconds. `None` if the hub will not restart it automatically.
    pub retry_in_ms: Option<u64>,
    /// The error of the server's last failure. `None` if the server has run since that failure, or has never failed.
    pub last_error: Option<HubError>,
    /// The last lines that the server wrote to standard error, without secrets. At most 12 lines.
    pub stderr_tail: Vec<String>,
    /// What the server has sent since its last start that is not MCP, such as `it sent 1 message that is not MCP: hello`, without
    /// secrets. `None` if there is nothing, or if the server has no connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invalid_messages: Option<String>,
    /// The login that the server waits for. `None` in all states except `needs-login`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub login: Option<RequiredLogin>,
}

pub(super) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// The number and the total memory of a server's processes: all processes in the process group that the server leads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Usage {
    /// Number of processes in the server's process group.
    pub processes: u32,
    /// Resident memory of these processes, in bytes. Memory that several processes share is counted once for each
    /// process.
    pub memory: u64,
}

/// Returns the number of processes and the memory of each server's process group. `leaders` contains the id of each server with
/// the id of the process that leads its group. Groups without processes are omitted.
pub(super) fn usage_of_groups(leaders: &[(Uuid, u32)]) -> Vec<(Uuid, Usage)> {
    let mut found: Vec<(Uuid, Usage)> = leaders.iter().map(|(id, _)| (*id, Usage::default())).collect();
    for (group, memory) in memory_of_groups() {
        if let Some(at) = leaders.iter().position(|(_, pid)| *pid == group) {
            found[at].1.processes += 1;
            found[at].1.memory += memory;
        }
    }
    found.retain(|(_, usage)| usage.processes > 0);
    found
}
