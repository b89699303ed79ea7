//! A task, its status and its handle, and the parameters and results of task requests.

use alloc::string::String;
use core::time::Duration;

use serde::{Deserialize, Serialize};

use crate::result::paged_list;
use mcpwire_text::json::from_json::Mismatch;
use mcpwire_text::json::result::check_complete;
use mcpwire_text::json::{ItemList, Json};
use mcpwire_text::object;
use mcpwire_text::open_enum;
use mcpwire_text::result;

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

/// The data that a program stores to wait for a task later: over another connection, in another program, or after a
/// restart.
///
/// A handle can be serialized in any format of serde:
///
/// ```
/// # mod mcpwire { pub mod types { pub use mcpwire_types::{TaskHandle, TaskProtocol}; } }
/// use mcpwire::types::{TaskHandle, TaskProtocol};
///
/// let handle = TaskHandle::new("786512e2", TaskProtocol::Extension);
/// let stored = serde_json::to_string(&handle)?;
/// assert_eq!(serde_json::from_str::<TaskHandle>(&stored)?, handle);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TaskHandle {
    /// Id of the task. Keep it secret: anyone who knows the id may be able to access the task.
    pub task_id: String,
    /// Task protocol that the server used to create the task: the experimental protocol or the tasks extension.
    #[serde(default)]
    pub form: TaskProtocol,
    /// Status of the task when this handle was created or last updated.
    #[serde(default)]
    pub status: TaskStatus,
    /// When the server created the task: the text that the server sent, not parsed. `None` if the server sent none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// Time for which the server stores the task after creating it, in milliseconds. `None` if the server sent no time,
    /// or stores the task without limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<u64>,
    /// Time that the client should wait before the next `tasks/get` request for the task, in milliseconds. `None` if
    /// the server sent no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub poll_interval_ms: Option<u64>,
}

impl TaskHandle {
    /// Creates a handle to the task with the id `task_id`, which the server created with the task protocol `form`. The
    /// handle's status is [`TaskStatus::Working`].
    pub fn new(task_id: impl Into<String>, form: TaskProtocol) -> Self {
        TaskHandle {
            task_id: task_id.into(),
            form,
            status: TaskStatus::Working,
            created_at: None,
            ttl_ms: None,
            poll_interval_ms: None,
        }
    }

    /// Updates this handle from `task`, a newer state of the same task. If `task` has no `created_at`, the handle
    /// retains its own.
    pub fn update(&mut self, task: &Task) {
        self.status = task.status.clone();
        self.created_at = task.created_at.clone().or(self.created_at.take());
        self.ttl_ms = task.ttl_ms.or(task.ttl);
        self.poll_interval_ms = task.poll_interval_ms.or(task.poll_interval);
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_of_a_later_version_can_be_read() {
        let handle: TaskHandle = serde_json::from_str(r#"{"taskId":"t","status":"paused","more":1}"#).unwrap();
        assert_eq!((handle.form, handle.status), (TaskProtocol::Extension, TaskStatus::Other("paused".into())));
    }
}
