//! How a tool is called, and what comes of it.

use mcpwire_blocking::protocol::{InvalidItem, Json, TaskHandle, Tool};

/// Whether a call may become a task, and whether its result is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallMode {
    Call,
    Task,
    /// As `Task`, but the task is not waited for.
    Detach,
}

/// What a call has led to.
pub(crate) enum Called {
    /// The result, as the server sent it.
    Result(Json),
    /// A task that goes on.
    Task(TaskHandle),
}

/// Tools with the entries of the list that could not be read.
pub(crate) struct ListedTools {
    pub(crate) tools: Vec<Tool>,
    pub(crate) rejected: Vec<InvalidItem>,
}
