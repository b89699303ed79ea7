//! What client and server declare about tasks.

use crate::json::Json;
use crate::types::object::object;
use crate::types::open_enum::open_enum;

/// The name of the extension for tasks among the capabilities (2026-07-28, extensions/tasks).
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

object! {
    /// The capability `tasks` of client and server (2025-11-25, basic/utilities/tasks, "Capabilities"). The members are open objects.
    pub struct TasksCapability("an object of capabilities") {
        /// Whether its tasks can be listed.
        optional list: Json = "list",
        /// Whether its tasks can be cancelled.
        optional cancel: Json = "cancel",
        /// The requests that may become tasks, by the parts of their method: `{"tools":{"call":{}}}`.
        optional requests: Json = "requests",
    }
}

impl TasksCapability {
    /// Returns whether requests of a method, such as `tools/call`, may become tasks.
    pub fn covers(&self, method: &str) -> bool {
        let mut at = self.requests.clone();
        for part in method.split('/') {
            at = at.and_then(|json| json.member::<Json>(part)).filter(|json| json.get() != "null");
        }
        at.is_some()
    }
}

object! {
    /// How a tool can be called (2025-11-25, `ToolExecution`).
    pub struct ToolExecution("an object") {
        /// Whether the tool can be called as a task.
        optional task_support: TaskSupport = "taskSupport",
    }
}

open_enum! {
    /// Whether a tool can be called as a task (2025-11-25, basic/utilities/tasks, "Tool-Level Negotiation").
    pub enum TaskSupport {
        /// The tool cannot be called as a task.
        #[default]
        Forbidden = "forbidden",
        /// The tool can be called as a task.
        Optional = "optional",
        /// The tool can only be called as a task.
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
    fn what_may_become_a_task_is_said_in_parts() {
        let tasks: TasksCapability =
            Json::trusted(r#"{"requests":{"tools":{"call":{},"list":null}}}"#).decode().unwrap();
        assert!(tasks.covers("tools/call"));
        for method in ["tools/list", "tools", "tools/call/x", "prompts/get", ""] {
            assert_eq!(tasks.covers(method), method == "tools", "{method}");
        }
    }
}
