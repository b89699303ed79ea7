//! Declarations about tasks in capabilities and tool definitions.

use crate::json::{Json, scan};
use crate::object::object;
use crate::open_enum::open_enum;

/// Identifier of the tasks extension: the key in the member `extensions` of client and server capabilities.
///
/// Specification: extensions/tasks.
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

object! {
    /// The capability `tasks` of a client or server (protocol revision 2025-11-25 only).
    ///
    /// A field is `None` if the client or server does not support this feature. Specification of revision 2025-11-25:
    /// basic/utilities/tasks, "Capabilities".
    pub struct TasksCapability("an object of capabilities") {
        /// Support for `tasks/list`: an object with options, which may be empty.
        optional list: Json = "list",
        /// Support for `tasks/cancel`: an object with options, which may be empty.
        optional cancel: Json = "cancel",
        /// Methods whose requests may create tasks, as nested objects: `{"tools":{"call":{}}}` means `tools/call`.
        optional requests: Json = "requests",
    }
}

impl TasksCapability {
    /// Returns whether `requests` contains the method `method`, such as `tools/call`: its requests may create tasks.
    pub fn covers(&self, method: &str) -> bool {
        let mut at = self.requests.as_ref().map(|requests| requests.get().as_bytes());
        for part in method.split('/') {
            at = at.and_then(|object| scan::member(object, part)).filter(|value| *value != b"null");
        }
        at.is_some()
    }
}

object! {
    /// How a tool can be called (`ToolExecution`; protocol revision 2025-11-25 only).
    pub struct ToolExecution("an object") {
        /// Whether clients may, must or must not call the tool as a task. `None` means [`TaskSupport::Forbidden`].
        optional task_support: TaskSupport = "taskSupport",
    }
}

open_enum! {
    /// Whether clients may, must or must not call a tool as a task, whose result they fetch later (protocol revision
    /// 2025-11-25 only).
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
    /// Returns whether clients may call the tool as a task. Returns `true` for `Optional` and `Required`.
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
