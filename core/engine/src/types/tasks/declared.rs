//! What both sides say of tasks beforehand: who supports them, and for what.

use super::open_enum;
use crate::json::Json;
use crate::types::object::object;

/// The name of the extension (2026-07-28, extensions/tasks).
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

object! {
    /// What a side says of tasks in 2025-11-25 (basic/utilities/tasks, "Capabilities"). The members are open objects.
    pub struct TasksCapability("an object of capabilities") {
        /// Its tasks can be listed.
        optional list: Json = "list",
        /// Its tasks can be cancelled.
        optional cancel: Json = "cancel",
        /// Which requests to it may become tasks, by the parts of their method: `{"tools":{"call":{}}}`.
        optional requests: Json = "requests",
    }
}

impl TasksCapability {
    /// Whether requests of this method may become tasks, such as `tools/call`.
    pub fn covers(&self, method: &str) -> bool {
        let mut at = self.requests.clone();
        for part in method.split('/') {
            at = at.and_then(|json| json.member::<Json>(part)).filter(|json| json.get() != "null");
        }
        at.is_some()
    }
}

object! {
    /// How a tool is to be called (2025-11-25, `ToolExecution`).
    pub struct ToolExecution("an object") {
        /// Whether it may be called as a task.
        optional task_support: TaskSupport = "taskSupport",
    }
}

open_enum! {
    /// Whether a tool may be called as a task (2025-11-25, basic/utilities/tasks, "Tool-Level Negotiation").
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub enum TaskSupport {
        /// It may not.
        #[default]
        Forbidden = "forbidden",
        /// It may.
        Optional = "optional",
        /// It cannot be called in any other way.
        Required = "required",
    }
}

impl TaskSupport {
    /// Whether it may.
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
