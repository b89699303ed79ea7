//! What commands and the running hub say to each other: a JSON document a line, a [`Response`] to each [`Request`], in order.
//! Progress of a call comes before its response.

use mcpwire_blocking::protocol::{Json, Progress};
use mcpwire_hub::HubError;
use mcpwire_hub::service::{StatusDetail, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A request to a hub. Servers are given by name or id.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub(crate) enum Request {
    /// Returns the status of all servers: a list of [`Row`].
    Status,
    /// Returns the status of all servers again and again, after each change.
    Watch,
    /// Starts all servers that do not run and were not stopped, and returns the status of all servers.
    Try,
    Start {
        server: String,
    },
    Stop {
        server: String,
    },
    Restart {
        server: String,
    },
    Add {
        config: Value,
        /// Whether to start the server too, without waiting for it.
        #[serde(default)]
        start: bool,
    },
    /// Adds servers with one write of `servers.json`. Returns a list with an error for each that was not added.
    AddAll {
        configs: Vec<Value>,
        /// Whether to start the servers too, without waiting for them.
        start: bool,
    },
    Update {
        config: Value,
    },
    Remove {
        server: String,
    },
    /// Reads `servers.json` again.
    Reload,
    /// Returns the tools of one server or of all, with the names to call them by.
    Tools {
        server: Option<String>,
    },
    /// Calls a tool, and returns the result as the server sent it.
    Call {
        tool: String,
        server: Option<String>,
        arguments: Value,
        timeout_ms: Option<u64>,
    },
}

/// The answer of a hub.
#[cfg(unix)]
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Response {
    /// Progress of a call. The result comes later.
    Progress(Progress),
    Done(Json),
    Error(HubError),
}

/// The status of one server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Row {
    #[serde(flatten)]
    pub(crate) detail: StatusDetail,
    pub(crate) usage: Option<Usage>,
}

/// Called with the progress of a call.
pub(super) type OnProgress<'a> = &'a mut (dyn FnMut(&Progress) + Send);

pub(super) fn json(value: &impl Serialize) -> Result<Json, HubError> {
    Json::from_value(value).map_err(|error| HubError::unavailable(error.to_string()))
}
