//! [`TaskHandle`]: the data that a program stores to follow a task later.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use super::{Task, TaskProtocol, TaskStatus};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_of_a_later_version_can_be_read() {
        let handle: TaskHandle = serde_json::from_str(r#"{"taskId":"t","status":"paused","more":1}"#).unwrap();
        assert_eq!((handle.form, handle.status), (TaskProtocol::Extension, TaskStatus::Other("paused".into())));
    }
}
