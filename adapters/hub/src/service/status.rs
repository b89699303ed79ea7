//! [`StatusDetail`] and [`Usage`]: the state of a server, and the resources that its processes use.

use std::time::Duration;

use mcpwire_supervisor::{State, ToolChange};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::HubError;

/// The detailed state of a server. `mcpwire status --json` prints it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StatusDetail {
    /// The id of the server.
    pub id: Uuid,
    /// The name of the server.
    pub name: String,
    /// Whether the server may be started.
    pub enabled: bool,
    /// The state of the server's lifecycle.
    pub state: State,
    /// Time since the server entered the state, in milliseconds.
    pub for_ms: u64,
    /// The negotiated protocol version, while the server runs.
    pub version: Option<String>,
    /// The era of the protocol, `modern` or `legacy`, while the server runs.
    pub era: Option<String>,
    /// The process id of the server, if it has a process.
    pub pid: Option<u32>,
    /// Number of tools. For a server that sleeps, the last known number.
    pub tools: usize,
    /// Up to 100 tools whose definitions the server has changed since the hub was opened, or since
    /// [`Hub::acknowledge_changes`](super::Hub::acknowledge_changes). The names are those that the server uses.
    #[serde(default)]
    pub changed_tools: Vec<ToolChange>,
    /// Number of calls that were sent to the server.
    pub calls: u64,
    /// Number of calls that the server has not answered yet.
    pub calls_in_flight: u32,
    /// Number of automatic restarts.
    pub restarts: u64,
    /// Number of attempts to run the server that failed in a row.
    pub attempt: u32,
    /// Time until the next automatic restart, in milliseconds.
    pub retry_in_ms: Option<u64>,
    /// The error of the last failure. `None` if the server has run since then, or has never failed.
    pub last_error: Option<HubError>,
    /// The last lines that the server wrote to standard error, without secrets.
    pub stderr_tail: Vec<String>,
}

pub(super) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// The resources that the process of a server and its descendants use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Usage {
    /// Number of processes.
    pub processes: u32,
    /// Resident memory in bytes. Memory that processes share counts for each of them.
    pub memory: u64,
}

/// Returns the resources of process groups, each named by its leader, which is the process that the hub started.
#[cfg(target_os = "linux")]
pub(super) fn usage_of_groups(leaders: &[(Uuid, u32)]) -> Vec<(Uuid, Usage)> {
    use mcpwire_process::procfs::ProcessStat;

    let mut found: Vec<(Uuid, Usage)> = leaders.iter().map(|(id, _)| (*id, Usage::default())).collect();
    let page = rustix::param::page_size() as u64;
    for process in ProcessStat::all() {
        if let Some(at) = leaders.iter().position(|(_, pid)| *pid == process.group) {
            found[at].1.processes += 1;
            found[at].1.memory += process.resident_pages * page;
        }
    }
    found.retain(|(_, usage)| usage.processes > 0);
    found
}

#[cfg(not(target_os = "linux"))]
pub(super) fn usage_of_groups(_: &[(Uuid, u32)]) -> Vec<(Uuid, Usage)> {
    Vec::new()
}
