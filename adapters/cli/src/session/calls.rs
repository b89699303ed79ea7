//! The modes and outcomes of tool calls.

use mcpwire_blocking::protocol::{InvalidItem, Json, TaskHandle, Tool};

/// Whether the server may run a call as a task, and whether the command waits for the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallMode {
    Call,
    /// Lets the server run the call as a task, and waits for the result.
    Task,
    /// Lets the server run the call as a task, and does not wait for the result.
    Detach,
}

/// The outcome of a tool call.
pub(crate) enum Called {
    /// The result, as the server sent it.
    Result(Json),
    /// The handle of a task that is still running.
    Task(TaskHandle),
}

/// The tools of a list, and its invalid entries.
pub(crate) struct ListedTools {
    pub(crate) tools: Vec<Tool>,
    pub(crate) rejected: Vec<InvalidItem>,
}
