//! Parameters and results of task requests.

use alloc::string::String;

use serde::Serialize;

use super::{Task, TaskStatus};
use crate::json::Json;
use crate::types::ItemList;
use crate::types::object::object;
use crate::types::result::paged_list;

/// Parameters of `tasks/get`, `tasks/result` and `tasks/cancel`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskParams<'a> {
    /// Id of the task.
    pub task_id: &'a str,
}

/// Parameters of `tasks/update` (tasks extension).
///
/// Specification: extension `io.modelcontextprotocol/tasks`, "Task Update Requests".
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UpdateTaskParams<'a> {
    /// Id of the task.
    pub task_id: &'a str,
    /// Answers to the task's [`input_requests`](Task::input_requests): an object with the same keys. It may answer only
    /// some of them.
    pub input_responses: &'a Json,
}

object! {
    /// Result of `tasks/cancel`.
    ///
    /// In revision 2025-11-25, the result is the task. In the tasks extension, it is empty: the server may cancel the
    /// task later, or may complete it.
    pub struct CancelTaskResult("an object") {
        /// Id of the task (revision 2025-11-25).
        optional task_id: String = "taskId",
        /// Status of the task (revision 2025-11-25).
        optional status: TaskStatus = "status",
        /// Description of the status (revision 2025-11-25).
        optional status_message: String = "statusMessage",
        /// Time of creation, in ISO 8601 format (revision 2025-11-25).
        optional created_at: String = "createdAt",
        /// Time of the last change of status (revision 2025-11-25).
        optional last_updated_at: String = "lastUpdatedAt",
        /// Time for which the server keeps the task after its creation, in milliseconds (revision 2025-11-25).
        optional ttl: u64 = "ttl",
        /// Time to wait before the next `tasks/get`, in milliseconds (revision 2025-11-25).
        optional poll_interval: u64 = "pollInterval",
        /// Type of the result: `complete`.
        optional result_type: String = "resultType",
        /// Additional metadata of the result (`_meta`).
        optional meta: Json = "_meta",
    }
}

object! {
    /// One page of the tasks that a server keeps for this client (`ListTasksResult`; revision 2025-11-25).
    pub struct ListTasksResult("an object") {
        /// The tasks of this page.
        always tasks: ItemList<Task> = "tasks",
        /// Cursor of the next page. Absent on the last page.
        optional next_cursor: String = "nextCursor",
        /// Additional metadata of the result (`_meta`).
        optional meta: Json = "_meta",
    }
}

paged_list!(ListTasksResult, tasks: Task);
