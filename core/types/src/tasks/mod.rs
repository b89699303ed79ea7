//! Tasks: calls that return before their result is available.
//!
//! The specification defines tasks twice ([`TaskProtocol`]):
//!
//! | | revision 2025-11-25 (basic/utilities/tasks, experimental) | tasks extension (`io.modelcontextprotocol/tasks`), from revision 2026-07-28 |
//! |---|---|---|
//! | who decides that a call creates a task | the client, with `params.task`, if server and tool support it | the server, at each call, if the client declares the extension |
//! | result of the call | `{"task": {..}}` | the task itself, with `resultType: "task"` |
//! | final result | result of `tasks/result`, which waits for it | member of the result of `tasks/get` |
//! | input | requests of the server while `tasks/result` waits | `inputRequests` in the result of `tasks/get`, answered by `tasks/update` |
//! | other requests | `tasks/cancel`, which returns the task; `tasks/list` | `tasks/cancel`, which returns an empty result |
//! | notification | `notifications/tasks/status` | `notifications/tasks`, with the final result |

mod created;
mod task;

use mcpwire_text::json::{Json, scan};
use mcpwire_text::object;
use mcpwire_text::open_enum;

pub use created::{CallToolOutcome, CreateTaskResult};
pub use task::{
    CancelTaskResult, ListTasksResult, Task, TaskHandle, TaskParams, TaskProtocol, TaskStatus, UpdateTaskParams,
};

/// Identifier of the tasks extension: the key in the member `extensions` of client and server capabilities.
///
/// Specification: extensions/tasks.
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

object! {
    /// The capability `tasks` of a client or server: which requests about tasks it supports (protocol revision
    /// 2025-11-25 only).
    ///
    /// Specification of revision 2025-11-25: basic/utilities/tasks, "Capabilities".
    pub struct TasksCapability("an object of capabilities") {
        /// Present if the client or server supports `tasks/list`, otherwise `None`. The JSON value is an object of
        /// options, which may be empty.
        optional list: Json = "list",
        /// Present if the client or server supports `tasks/cancel`, otherwise `None`. The JSON value is an object of
        /// options, which may be empty.
        optional cancel: Json = "cancel",
        /// Methods whose requests may create tasks, as nested JSON objects: `{"tools":{"call":{}}}` means `tools/call`.
        /// `None` means no methods.
        optional requests: Json = "requests",
    }
}

impl TasksCapability {
    /// Returns whether requests with the method `method`, such as `tools/call`, may create tasks, according to
    /// [`TasksCapability::requests`].
    pub fn covers(&self, method: &str) -> bool {
        let mut at = self.requests.as_ref().map(|requests| requests.get().as_bytes());
        for part in method.split('/') {
            at = at.and_then(|object| scan::member(object, part)).filter(|value| *value != b"null");
        }
        at.is_some()
    }
}

object! {
    /// How clients can call a tool: directly or as a task (protocol revision 2025-11-25 only).
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
        /// Clients must not call the tool as a task.
        #[default]
        Forbidden = "forbidden",
        /// Clients may call the tool as a task.
        Optional = "optional",
        /// Clients must call the tool as a task.
        Required = "required",
    }
}

impl TaskSupport {
    /// Returns whether clients may call the tool as a task: `true` for [`TaskSupport::Optional`] and
    /// [`TaskSupport::Required`].
    pub fn allows(&self) -> bool {
        matches!(self, TaskSupport::Optional | TaskSupport::Required)
    }
}

#[cfg(test)]
mod tests {
    use mcpwire_text::json::JsonText;

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
