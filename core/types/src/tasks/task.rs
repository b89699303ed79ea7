//! A task and its status.

use alloc::string::String;
use core::time::Duration;

use serde::{Deserialize, Serialize};

use mcpwire_text::json::Json;
use mcpwire_text::json::from_json::Mismatch;
use mcpwire_text::json::result::check_complete;
use mcpwire_text::object;
use mcpwire_text::open_enum;

object! {
    /// A task and its status: the result of `tasks/get`, and the parameters of notifications about the status of a
    /// task.
    ///
    /// This type represents `Task`, `GetTaskResult` and `TaskStatusNotificationParams` of protocol revision 2025-11-25,
    /// and `DetailedTask` of the tasks extension.
    #[doc(alias("tasks/get", "notifications/tasks", "notifications/tasks/status"))]
    #[doc(alias("GetTaskResult", "DetailedTask", "TaskStatusNotification", "TaskStatusNotificationParams"))]
    pub struct Task("a task", finish check) {
        /// Id of the task. Keep it secret: anyone who knows the id may be able to access the task.
        required task_id: String = "taskId",
        /// Status of the task.
        always status: TaskStatus = "status",
        /// Description of the status, for display: the current step of the task, or how the task ended.
        optional status_message: String = "statusMessage",
        /// When the server created the task, in ISO 8601 format.
        optional created_at: String = "createdAt",
        /// When the task last changed, in ISO 8601 format.
        optional last_updated_at: String = "lastUpdatedAt",
        /// How long a server with the tasks extension stores the task after its creation, in milliseconds. `None` if it
        /// sent no duration, or stores the task without limit.
        ///
        /// Prefer [`Task::ttl`], which also supports protocol revision 2025-11-25.
        optional ttl_ms: u64 = "ttlMs",
        /// How long a server of protocol revision 2025-11-25 stores the task after its creation, in milliseconds.
        /// `None` if it sent no duration, or stores the task without limit.
        ///
        /// Prefer [`Task::ttl`], which also supports the tasks extension.
        optional ttl: u64 = "ttl",
        /// How long to wait before the next `tasks/get`, in milliseconds (tasks extension). `None` if the server sent
        /// no interval.
        ///
        /// Prefer [`Task::poll_interval`], which also supports protocol revision 2025-11-25.
        optional poll_interval_ms: u64 = "pollIntervalMs",
        /// How long to wait before the next `tasks/get`, in milliseconds (protocol revision 2025-11-25). `None` if the
        /// server sent no interval.
        ///
        /// Prefer [`Task::poll_interval`], which also supports the tasks extension.
        optional poll_interval: u64 = "pollInterval",
        /// Requests of the server for input that it needs to continue the task (tasks extension): a JSON object with
        /// one member for each request.
        ///
        /// The client answers each request once, with `tasks/update`.
        optional input_requests: Json = "inputRequests",
        /// Result of the request that created the task, such as a tool call (tasks extension). The server sends it only
        /// with the status [`TaskStatus::Completed`].
        optional result: Json = "result",
        /// JSON-RPC error of the request that created the task, such as a tool call (tasks extension). The server
        /// sends it only with the status [`TaskStatus::Failed`].
        optional error: Json = "error",
        /// `resultType` of the result that contains this task: `task` if the request created the task, `complete` for
        /// `tasks/get`. `None` if the server sent none.
        result_type result_type: String = "resultType",
        /// Additional metadata of the task (`_meta`).
        optional meta: Json = "_meta",
    }
}

fn check(task: Task) -> Result<Task, Mismatch> {
    if task.task_id.is_empty() {
        return Err(Mismatch::object("`taskId` is empty"));
    }
    if task.result_type.as_deref() != Some("task") {
        check_complete(task.result_type.as_deref())?;
    }
    Ok(task)
}

impl Task {
    /// Returns how long the server stores the task after its creation.
    ///
    /// Returns `None` if the server sent no duration, or stores the task without limit.
    pub fn ttl(&self) -> Option<Duration> {
        self.ttl_ms.or(self.ttl).map(Duration::from_millis)
    }

    /// Returns how long to wait before the next `tasks/get`, or `None` if the server sent no interval.
    pub fn poll_interval(&self) -> Option<Duration> {
        self.poll_interval_ms.or(self.poll_interval).map(Duration::from_millis)
    }
}

/// One of the two protocols for tasks: the experimental one of revision 2025-11-25, or the extension.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskProtocol {
    /// The experimental tasks of protocol revision 2025-11-25.
    Experimental,
    /// The tasks extension, `io.modelcontextprotocol/tasks` (from protocol revision 2026-07-28).
    #[default]
    Extension,
}

open_enum! {
    /// The status of a task.
    ///
    /// A status that the specification does not define becomes [`TaskStatus::Other`]. The library then treats the task
    /// as running.
    pub enum TaskStatus {
        /// The task is running.
        #[default]
        Working = "working",
        /// The task waits for input from the client.
        InputRequired = "input_required",
        /// The task is complete and has a result.
        Completed = "completed",
        /// The task failed with a JSON-RPC error. In protocol revision 2025-11-25, servers also use this status if the
        /// tool reported an error (`isError`).
        Failed = "failed",
        /// The task was cancelled before it was complete.
        Cancelled = "cancelled",
    }
}

impl TaskStatus {
    /// Returns whether the status is final: the task has ended and can no longer change.
    pub fn is_final(&self) -> bool {
        matches!(self, TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Cancelled)
    }
}
