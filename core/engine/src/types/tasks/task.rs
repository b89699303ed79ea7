//! A task and its status.

use alloc::string::String;
use core::time::Duration;

use serde::{Deserialize, Serialize};

use crate::json::Json;
use crate::json::from_json::Mismatch;
use crate::types::object::object;
use crate::types::open_enum::open_enum;

object! {
    /// A task and its status: the result of `tasks/get`, and the parameters of task notifications.
    ///
    /// This type stands for `Task`, `GetTaskResult` and `TaskStatusNotificationParams` of revision 2025-11-25, and for
    /// `DetailedTask` of the tasks extension.
    pub struct Task("a task", finish check) {
        /// Id of the task. Keep it secret: anyone who knows the id may be able to access the task.
        required task_id: String = "taskId",
        /// Status of the task.
        always status: TaskStatus = "status",
        /// Description of the status: the current step of the task, or how the task ended.
        optional status_message: String = "statusMessage",
        /// Time of creation, in ISO 8601 format.
        optional created_at: String = "createdAt",
        /// Time of the last change of status, in ISO 8601 format.
        optional last_updated_at: String = "lastUpdatedAt",
        /// Time for which the server keeps the task after its creation, in milliseconds (tasks extension). Absent if
        /// the server sent none, or keeps the task without limit.
        ///
        /// [`Task::ttl`] returns this field or `ttl`.
        optional ttl_ms: u64 = "ttlMs",
        /// The same time as `ttl_ms`, under its name in revision 2025-11-25. [`Task::ttl`] returns either.
        optional ttl: u64 = "ttl",
        /// Time to wait before the next `tasks/get`, in milliseconds (tasks extension).
        ///
        /// [`Task::poll_interval`] returns this field or `poll_interval`.
        optional poll_interval_ms: u64 = "pollIntervalMs",
        /// The same time as `poll_interval_ms`, under its name in revision 2025-11-25. [`Task::poll_interval`] returns
        /// either.
        optional poll_interval: u64 = "pollInterval",
        /// Inputs that the server requires before the task continues, as an object with their names as keys (tasks
        /// extension).
        ///
        /// The client answers each input once.
        optional input_requests: Json = "inputRequests",
        /// Result of the call (tasks extension; only for [`TaskStatus::Completed`]).
        optional result: Json = "result",
        /// JSON-RPC error of the call (tasks extension; only for [`TaskStatus::Failed`]).
        optional error: Json = "error",
        /// Type of the result: `complete`, or `task` in the result of a call.
        optional result_type: String = "resultType",
        /// Additional metadata of the task (`_meta`).
        optional meta: Json = "_meta",
    }
}

fn check(task: Task) -> Result<Task, Mismatch> {
    if task.task_id.is_empty() {
        return Err(Mismatch::object("`taskId` is empty"));
    }
    Ok(task)
}

impl Task {
    /// Returns the time for which the server keeps the task after its creation.
    ///
    /// `None` if the server sent none, or keeps the task without limit.
    pub fn ttl(&self) -> Option<Duration> {
        self.ttl_ms.or(self.ttl).map(Duration::from_millis)
    }

    /// Returns the time to wait before the next `tasks/get`, if the server sent one.
    pub fn poll_interval(&self) -> Option<Duration> {
        self.poll_interval_ms.or(self.poll_interval).map(Duration::from_millis)
    }
}

/// The form of a task. The protocol has two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum TaskProtocol {
    /// The experimental tasks of revision 2025-11-25.
    Experimental,
    /// The tasks extension, from revision 2026-07-28 on.
    #[default]
    Extension,
}

open_enum! {
    /// The status of a task.
    ///
    /// A task with an undefined status counts as still running.
    pub enum TaskStatus {
        /// The task is running.
        #[default]
        Working = "working",
        /// The task waits for input from the client.
        InputRequired = "input_required",
        /// The task is complete and has a result.
        Completed = "completed",
        /// The task failed with a JSON-RPC error. In revision 2025-11-25, this status also stands for an error of the
        /// tool (`isError`).
        Failed = "failed",
        /// The task was cancelled.
        Cancelled = "cancelled",
    }
}

impl TaskStatus {
    /// Returns whether the status is final, so that the task can no longer change.
    pub fn is_final(&self) -> bool {
        matches!(self, TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Cancelled)
    }
}
