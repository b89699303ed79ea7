//! [`TaskHandle`]: the data that a program stores to follow a task later.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use super::{Task, TaskProtocol, TaskStatus};

/// Stored data of a task, to follow the task from another connection, program, or after a restart.
///
/// Serde can serialize it in any format:
///
/// ```
/// use mcpwire_core::{TaskProtocol, TaskHandle};
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
    /// Form in which the server created the task.
    #[serde(default)]
    pub form: TaskProtocol,
    /// Status of the task when the handle was last updated.
    #[serde(default)]
    pub status: TaskStatus,
    /// Time of creation, as the server wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// Time for which the server keeps the task after its creation, in milliseconds. Absent if the server sent none, or
    /// keeps the task without limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<u64>,
    /// Time to wait before the next `tasks/get`, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub poll_interval_ms: Option<u64>,
}

impl TaskHandle {
    /// Creates a handle from the id of a task. Its status is [`TaskStatus::Working`].
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

    /// Updates the handle with the status and times of a task.
    pub fn update(&mut self, task: &Task) {
        self.status = task.status.clone();
        self.created_at = task.created_at.clone().or(self.created_at.take());
        self.ttl_ms = task.ttl_ms.or(task.ttl);
        self.poll_interval_ms = task.poll_interval_ms.or(task.poll_interval);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_of_a_later_version_can_be_read() {
        let handle: TaskHandle = serde_json::from_str(r#"{"taskId":"t","status":"paused","more":1}"#).unwrap();
        assert_eq!((handle.form, handle.status), (TaskProtocol::Extension, TaskStatus::Other("paused".into())));
    }
}
