//! The connection of a command: [`Direct`] to one server, or [`Configured`] to the configured servers through a hub.

mod configured;
mod definition;
mod direct;
mod requests;

use mcpwire_tokio::protocol::{InvalidItem, Json, TaskHandle, Tool};
use serde::Serialize;

pub(crate) use self::configured::{Configured, warn_of_changes};
pub(crate) use self::direct::{Direct, Listener};

/// Whether the server may run a tool call as an MCP task, and whether the command waits for the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallMode {
    Call,
    /// Lets the server run the tool call as an MCP task, and waits for the result.
    Task,
    /// Lets the server run the tool call as an MCP task, and does not wait for the result.
    Detach,
}

impl CallMode {
    /// Returns the mode of a call with the options `--task` and `--detach`.
    pub(crate) fn new(task: bool, detach: bool) -> Self {
        match (task, detach) {
            (_, true) => CallMode::Detach,
            (true, false) => CallMode::Task,
            (false, false) => CallMode::Call,
        }
    }
}

/// The outcome of a tool call: the result, or a task that will produce the result.
pub(crate) enum Called {
    /// The result of the tool call, as the server sent it.
    Result(Json),
    /// The handle of the task that runs the tool call. The task has not ended yet.
    Task(TaskHandle),
}

/// The tools that a server has listed, and the list entries that could not be read. `mcpwire tools --json` prints this struct.
#[derive(Serialize)]
pub(crate) struct ListedTools {
    pub(crate) tools: Vec<Tool>,
    pub(crate) rejected: Vec<InvalidItem>,
}
