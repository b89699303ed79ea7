//! How a task stands.

use alloc::string::String;
use core::time::Duration;

use serde::{Deserialize, Serialize};

use super::open_enum;
use crate::json::Json;
use crate::json::from_json::Mismatch;
use crate::types::object::object;

object! {
    /// How a task stands: the answer to `tasks/get`, and what servers tell of tasks unasked. (`Task`, `GetTaskResult` and
    /// `TaskStatusNotificationParams` of 2025-11-25, `DetailedTask` and all of its variants of the extension.)
    pub struct Task("a task", finish check) {
        /// Its name, which the server has given it. Whoever knows it may be able to get at the task.
        required task_id: String = "taskId",
        /// How it stands.
        or_blank status: TaskStatus = "status",
        /// What it does at present, or how it ended, in words.
        optional status_message: String = "statusMessage",
        /// When it was created, as ISO 8601 has it.
        optional created_at: String = "createdAt",
        /// When its status was last changed.
        optional last_updated_at: String = "lastUpdatedAt",
        /// For how many milliseconds from its creation on the server keeps it; absent if it does not say, or for ever.
        optional ttl_ms: u64 = "ttlMs",
        /// The same, under its name in 2025-11-25. [`Task::ttl`] looks at both.
        optional ttl: u64 = "ttl",
        /// After how many milliseconds it may be asked for again.
        optional poll_interval_ms: u64 = "pollIntervalMs",
        /// The same, under its name in 2025-11-25. [`Task::poll_interval`] looks at both.
        optional poll_interval: u64 = "pollInterval",
        /// What the server asks before it goes on, by names that are answered once each (extension).
        optional input_requests: Json = "inputRequests",
        /// What the call would have answered (extension, `completed`).
        optional result: Json = "result",
        /// The error that it would have answered with (extension, `failed`).
        optional error: Json = "error",
        /// `complete`, or `task` where it answers a call.
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
    /// For how long from its creation on the server keeps it; `None` if it does not say, or for ever.
    pub fn ttl(&self) -> Option<Duration> {
        self.ttl_ms.or(self.ttl).map(Duration::from_millis)
    }

    /// After how long it may be asked for again, as the server wishes.
    pub fn poll_interval(&self) -> Option<Duration> {
        self.poll_interval_ms.or(self.poll_interval).map(Duration::from_millis)
    }
}

/// Which of the protocol's two forms a task has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum TaskForm {
    /// That of 2025-11-25.
    Experimental,
    /// That of the extension, from 2026-07-28 on.
    #[default]
    Extension,
}

open_enum! {
    /// How a task stands. An unknown status is taken for one of a task that goes on.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub enum TaskStatus {
        /// It goes on.
        #[default]
        Working = "working",
        /// It waits for input of the client's.
        InputRequired = "input_required",
        /// It has its result.
        Completed = "completed",
        /// It has failed: in the extension with an error of JSON-RPC only, in 2025-11-25 also with a tool's own error.
        Failed = "failed",
        /// It was cancelled.
        Cancelled = "cancelled",
    }
}

impl TaskStatus {
    /// Whether it stays so for ever.
    pub fn is_final(&self) -> bool {
        matches!(self, TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Cancelled)
    }
}
