//! Declarations about tasks in capabilities and tool definitions.

use crate::json::{Json, scan};
use crate::types::object::object;
use crate::types::open_enum::open_enum;

/// Identifier of the tasks extension in the `extensions` of the client's and the server's capabilities.
///
/// Specification: extensions/tasks.
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

object! {
    /// The capability `tasks` of a client or server (revision 2025-11-25).
    ///
    /// A present member declares support. Its value is an object with options, which may be empty. Specification of
    /// revision 2025-11-25: basic/utilities/tasks, "Capabilities".
    pub struct TasksCapability("an object of capabilities") {
        /// The peer may list tasks (`tasks/list`).
        optional list: Json = "list",
        /// The peer may cancel tasks (`tasks/cancel`).
        optional cancel: Json = "cancel",
        /// Requests that may create tasks, nested by the parts of their method name: `{"tools":{"call":{}}}`.
        optional requests: Json = "requests",
    }
}

impl TasksCapability {
    /// Returns whether requests with this method, such as `tools/call`, may create tasks.
    pub fn covers(&self, method: &str) -> bool {
        let mut at = self.requests.as_ref().map(|requests| requests.get().as_bytes());
        for part in method.split('/') {
            at = at.and_then(|object| scan::member(object, part)).filter(|value| *value != b"null");
        }
        at.is_some()
    }
}

object! {
    /// Properties of a tool's execution (`ToolExecution`; revision 2025-11-25).
    pub struct ToolExecution("an object") {
        /// Whether the tool can be called as a task. Absent means [`TaskSupport::Forbidden`].
        optional task_support: TaskSupport = "taskSupport",
    }
}

open_enum! {
    /// Whether a tool can be called as a task (revision 2025-11-25).
    ///
    /// Specification of revision 2025-11-25: basic/utilities/tasks, "Tool-Level Negotiation".
    pub enum TaskSupport {
        /// The client must not call the tool as a task.
        #[default]
        Forbidden = "forbidden",
        /// The client may call the tool as a task.
        Optional = "optional",
        /// The client must call the tool as a task.
        Required = "required",
    }
}

impl TaskSupport {
    /// Returns whether the tool can be called as a task.
    pub fn allows(&self) -> bool {
        matches!(self, TaskSupport::Optional | TaskSupport::Required)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_nested_by_the_parts_of_their_method() {
        let tasks: TasksCapability =
            Json::trusted(r#"{"requests":{"tools":{"call":{},"list":null}}}"#).decode().unwrap();
        assert!(tasks.covers("tools/call"));
        for method in ["tools/list", "tools", "tools/call/x", "prompts/get", ""] {
            assert_eq!(tasks.covers(method), method == "tools", "{method}");
        }
    }
}
