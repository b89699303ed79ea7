//! A task and its status.

use alloc::string::String;
use core::time::Duration;

use serde::{Deserialize, Serialize};

use crate::json::Json;
use crate::json::from_json::Mismatch;
use crate::types::object::object;
use crate::types::open_enum::open_enum;

object! {
    /// A task and its status: the result of `tasks/get`, and the parameters of notifications about tasks.
    ///
    /// It covers `Task`, `GetTaskResult` and `TaskStatusNotificationParams` of 2025-11-25, and `DetailedTask` of the extension with
    /// all its variants.
    pub struct Task("a task", finish check) {
        /// The id that the server gave the task. Anyone who knows the id may be able to access the task.
        required task_id: String = "taskId",
        /// The status.
        always status: TaskStatus = "status",
        /// The status in words: what the task is doing, or how it ended.
        optional status_message: String = "statusMessage",
        /// When the task was created, as an ISO 8601 time.
        optional created_at: String = "createdAt",
        /// When the status last changed.
        optional last_updated_at: String = "lastUpdatedAt",
        /// For how long after its creation the server keeps the task, in milliseconds. Absent if the server does not say, or keeps
        /// it for ever.
        optional ttl_ms: u64 = "ttlMs",
        /// The same, as 2025-11-25 names it. [`Task::ttl`] looks at both.
        optional ttl: u64 = "ttl",
        /// How long to wait before the next `tasks/get`, in milliseconds.
        optional poll_interval_ms: u64 = "pollIntervalMs",
        /// The same, as 2025-11-25 names it. [`Task::poll_interval`] looks at both.
        optional poll_interval: u64 = "pollInterval",
        /// Input that the server asks for before the task goes on, by name. Each is answered once (extension).
        optional input_requests: Json = "inputRequests",
        /// The result of the call (extension, `completed`).
        optional result: Json = "result",
        /// The JSON-RPC error of the call (extension, `failed`).
        optional error: Json = "error",
        /// The type of the result: `complete`, or `task` in the answer to a call.
        optional result_type: String = "resultType",
        /// Metadata.
        optional meta: Json = "_meta",
    }
}

fn check(task: Task) -> Result<Task, Mismatch> {
    if task.task_id.is_empty() {
        return Err(Mismatch::Object { reason: "`taskId` is empty".into(), name: None });
    }
    Ok(task)
}

impl Task {
    /// Returns for how long after its creation the server keeps the task. `None` if it does not say, or keeps it for ever.
    pub fn ttl(&self) -> Option<Duration> {
        self.ttl_ms.or(self.ttl).map(Duration::from_millis)
    }

    /// Returns how long the server asks clients to wait before the next `tasks/get`.
    pub fn poll_interval(&self) -> Option<Duration> {
        self.poll_interval_ms.or(self.poll_interval).map(Duration::from_millis)
    }
}

/// The form of a task: the protocol has had two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum TaskForm {
    /// The experimental form of 2025-11-25.
    Experimental,
    /// The extension, from 2026-07-28 on.
    #[default]
    Extension,
}

open_enum! {
    /// The status of a task. A task of an unknown status counts as one that goes on.
    pub enum TaskStatus {
        /// The task goes on.
        #[default]
        Working = "working",
        /// The task waits for input from the client.
        InputRequired = "input_required",
        /// The task has its result.
        Completed = "completed",
        /// The task failed: with a JSON-RPC error, or in 2025-11-25 also with an error of the tool.
        Failed = "failed",
        /// The task was cancelled.
        Cancelled = "cancelled",
    }
}

impl TaskStatus {
    /// Returns whether the status can no longer change.
    pub fn is_final(&self) -> bool {
        matches!(self, TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Cancelled)
    }
}
