//! Parameters and results of task requests.

use alloc::string::String;

use serde::Serialize;

use super::{Task, TaskStatus};
use crate::ItemList;
use crate::json::Json;
use crate::object::object;
use crate::result::paged_list;

/// Parameters of `tasks/get`, `tasks/result` and `tasks/cancel`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskParams<'a> {
    /// Id of the task.
    pub task_id: &'a str,
}

/// Parameters of `tasks/update` (tasks extension): the client's answers to input requests of a task.
///
/// Specification: extension `io.modelcontextprotocol/tasks`, "Task Update Requests".
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UpdateTaskParams<'a> {
    /// Id of the task.
    pub task_id: &'a str,
    /// Answers to the task's [`input_requests`](Task::input_requests), as a JSON object with the same keys. The object
    /// may answer only some of the requests.
    pub input_responses: &'a Json,
}

object! {
    /// Result of `tasks/cancel`.
    ///
    /// In protocol revision 2025-11-25, the result describes the task. In the tasks extension, it only confirms that
    /// the server received the request: the task may still continue, and even complete.
    pub struct CancelTaskResult("an object") {
        /// Id of the task (protocol revision 2025-11-25 only).
        optional task_id: String = "taskId",
        /// Status of the task (protocol revision 2025-11-25 only).
        optional status: TaskStatus = "status",
        /// Description of the task's status, for display (protocol revision 2025-11-25 only).
        optional status_message: String = "statusMessage",
        /// When the server created the task, in ISO 8601 format (protocol revision 2025-11-25 only).
        optional created_at: String = "createdAt",
        /// When the task last changed, in ISO 8601 format (protocol revision 2025-11-25 only).
        optional last_updated_at: String = "lastUpdatedAt",
        /// How long the server stores the task after its creation, in milliseconds (protocol revision 2025-11-25 only).
        optional ttl: u64 = "ttl",
        /// How long to wait before the next `tasks/get`, in milliseconds (protocol revision 2025-11-25 only).
        optional poll_interval: u64 = "pollInterval",
        /// Type of the result: `complete`. `None` before protocol revision 2026-07-28.
        optional result_type: String = "resultType",
        /// Additional metadata of the result (`_meta`).
        optional meta: Json = "_meta",
    }
}

object! {
    /// One page of the list of a client's tasks (`ListTasksResult`; protocol revision 2025-11-25 only).
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
