//! Parameters and results of task requests.

use alloc::string::String;

use serde::Serialize;

use super::{Task, TaskStatus};
use crate::result::paged_list;
use mcpwire_text::json::{ItemList, Json};
use mcpwire_text::object;
use mcpwire_text::result;

/// Parameters of `tasks/get`, `tasks/result` and `tasks/cancel`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[doc(alias("tasks/get", "tasks/result", "tasks/cancel"))]
#[doc(alias("GetTaskRequest", "GetTaskPayloadRequest", "CancelTaskRequest"))]
pub struct TaskParams<'a> {
    /// Id of the task.
    pub task_id: &'a str,
}

/// Parameters of `tasks/update` (tasks extension): the client's answers to the input that the server requested for a
/// task.
///
/// Specification: extension `io.modelcontextprotocol/tasks`, "Task Update Requests".
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[doc(alias("tasks/update", "UpdateTaskRequest", "UpdateTaskRequestParams"))]
pub struct UpdateTaskParams<'a> {
    /// Id of the task.
    pub task_id: &'a str,
    /// The client's answers to the task's [`input_requests`](Task::input_requests), as a JSON object with the same
    /// keys. It may answer only some of the requests.
    pub input_responses: &'a Json,
}

result! {
    /// Result of `tasks/cancel`.
    ///
    /// In protocol revision 2025-11-25, the result describes the task. In the tasks extension, it only confirms that
    /// the server received the request: the task may still continue, and even complete.
    #[doc(alias = "tasks/cancel")]
    pub struct CancelTaskResult {
        /// Id of the task (protocol revision 2025-11-25). `None` in the tasks extension.
        optional task_id: String = "taskId",
        /// Status of the task (protocol revision 2025-11-25). `None` in the tasks extension.
        optional status: TaskStatus = "status",
        /// Description of the task's status, for display (protocol revision 2025-11-25). `None` in the tasks extension,
        /// or if the server sent none.
        optional status_message: String = "statusMessage",
        /// When the server created the task, in ISO 8601 format (protocol revision 2025-11-25). `None` in the tasks
        /// extension.
        optional created_at: String = "createdAt",
        /// When the task last changed, in ISO 8601 format (protocol revision 2025-11-25). `None` in the tasks
        /// extension.
        optional last_updated_at: String = "lastUpdatedAt",
        /// How long the server stores the task after its creation, in milliseconds (protocol revision 2025-11-25).
        /// `None` if the server stores the task without limit, and in the tasks extension.
        optional ttl: u64 = "ttl",
        /// How long to wait before the next `tasks/get`, in milliseconds (protocol revision 2025-11-25). `None` in the
        /// tasks extension, or if the server sent no interval.
        optional poll_interval: u64 = "pollInterval",
    }
}

object! {
    /// Result of `tasks/list`: one page of the list of tasks that a server stores for this client (protocol revision
    /// 2025-11-25 only).
    #[doc(alias = "tasks/list")]
    pub struct ListTasksResult("an object") {
        /// The tasks on this page.
        always tasks: ItemList<Task> = "tasks",
        /// Cursor with which to request the next page. `None` on the last page.
        optional next_cursor: String = "nextCursor",
        /// Additional metadata of the result (`_meta`).
        optional meta: Json = "_meta",
    }
}

paged_list!(ListTasksResult, tasks: Task);
