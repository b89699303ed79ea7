//! Requests about tasks.

use alloc::string::String;

use serde::Serialize;

use super::{Task, TaskStatus};
use crate::json::Json;
use crate::types::Listed;
use crate::types::object::object;

/// Parameters of `tasks/get`, `tasks/result` and `tasks/cancel`.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskParams<'a> {
    /// Which task.
    pub task_id: &'a str,
}

/// Parameters of `tasks/update` (extension, "Task Update Requests").
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UpdateTaskParams<'a> {
    /// Which task.
    pub task_id: &'a str,
    /// Answers by the names of [`Task::input_requests`]: an object. It may answer some of them only.
    pub input_responses: &'a Json,
}

object! {
    /// Result of `tasks/cancel`: in 2025-11-25 the task as it stands then, in the extension nothing, as the server may take
    /// its time, or finish the task all the same.
    pub struct CancelTaskResult("an object") {
        /// Its name (2025-11-25).
        optional task_id: String = "taskId",
        /// How it stands (2025-11-25).
        optional status: TaskStatus = "status",
        /// How it ended, in words (2025-11-25).
        optional status_message: String = "statusMessage",
        /// When it was created, as ISO 8601 has it (2025-11-25).
        optional created_at: String = "createdAt",
        /// When its status was last changed (2025-11-25).
        optional last_updated_at: String = "lastUpdatedAt",
        /// For how many milliseconds from its creation on the server keeps it (2025-11-25).
        optional ttl: u64 = "ttl",
        /// After how many milliseconds it may be asked for again (2025-11-25).
        optional poll_interval: u64 = "pollInterval",
        /// `complete`.
        optional result_type: String = "resultType",
        /// Metadata.
        optional meta: Json = "_meta",
    }
}

object! {
    /// One page of the tasks that a server has for this client (2025-11-25, `ListTasksResult`).
    pub struct ListTasksResult("an object") {
        /// The tasks.
        or_blank tasks: Listed<Task> = "tasks",
        /// Where the next page starts; absent on the last one.
        optional next_cursor: String = "nextCursor",
        /// Metadata.
        optional meta: Json = "_meta",
    }
}
