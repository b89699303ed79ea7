//! Parameters and results of the requests about tasks.

use alloc::string::String;

use serde::Serialize;

use super::{Task, TaskStatus};
use crate::json::Json;
use crate::types::Listed;
use crate::types::object::object;
use crate::types::result::paged_list;

/// Parameters of `tasks/get`, `tasks/result` and `tasks/cancel`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskParams<'a> {
    /// The id of the task.
    pub task_id: &'a str,
}

/// Parameters of `tasks/update` (extension, "Task Update Requests").
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UpdateTaskParams<'a> {
    /// The id of the task.
    pub task_id: &'a str,
    /// Answers to the task's [`input_requests`](Task::input_requests): an object with their names as keys. It need not answer all
    /// of them.
    pub input_responses: &'a Json,
}

object! {
    /// Result of `tasks/cancel`.
    ///
    /// In 2025-11-25 it is the task. In the extension it is empty: the server may take its time, or may finish the task.
    pub struct CancelTaskResult("an object") {
        /// The id of the task (2025-11-25).
        optional task_id: String = "taskId",
        /// The status of the task (2025-11-25).
        optional status: TaskStatus = "status",
        /// The status in words (2025-11-25).
        optional status_message: String = "statusMessage",
        /// When the task was created, as an ISO 8601 time (2025-11-25).
        optional created_at: String = "createdAt",
        /// When the status last changed (2025-11-25).
        optional last_updated_at: String = "lastUpdatedAt",
        /// For how long after its creation the server keeps the task, in milliseconds (2025-11-25).
        optional ttl: u64 = "ttl",
        /// How long to wait before the next `tasks/get`, in milliseconds (2025-11-25).
        optional poll_interval: u64 = "pollInterval",
        /// The type of the result: `complete`.
        optional result_type: String = "resultType",
        /// Metadata.
        optional meta: Json = "_meta",
    }
}

object! {
    /// One page of the tasks that a server has for this client (2025-11-25, `ListTasksResult`).
    pub struct ListTasksResult("an object") {
        /// The tasks.
        always tasks: Listed<Task> = "tasks",
        /// The cursor of the next page; absent on the last page.
        optional next_cursor: String = "nextCursor",
        /// Metadata.
        optional meta: Json = "_meta",
    }
}

paged_list!(ListTasksResult, tasks: Task);
