//! [`TaskHandle`]: what a program stores of a task.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use super::{Task, TaskForm, TaskStatus};

/// What a program stores of a task, to follow it in another connection, after a restart, or in another program.
///
/// It can be stored in any format of serde:
///
/// ```
/// use mcpwire_core::{TaskForm, TaskHandle};
///
/// let handle = TaskHandle::new("786512e2", TaskForm::Extension);
/// let stored = serde_json::to_string(&handle)?;
/// assert_eq!(serde_json::from_str::<TaskHandle>(&stored)?, handle);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TaskHandle {
    /// The id that the server gave the task. Anyone who knows the id may be able to access the task.
    pub task_id: String,
    /// The form in which the task was created.
    #[serde(default)]
    pub form: TaskForm,
    /// The status when the handle was last updated.
    #[serde(default)]
    pub status: TaskStatus,
    /// When the task was created, as the server wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// For how long after its creation the server keeps the task, in milliseconds. Absent if the server does not say, or keeps it
    /// for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<u64>,
    /// How long to wait before the next `tasks/get`, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub poll_interval_ms: Option<u64>,
}

impl TaskHandle {
    /// The handle of a task of which only the id is known.
    pub fn new(task_id: impl Into<String>, form: TaskForm) -> Self {
        TaskHandle {
            task_id: task_id.into(),
            form,
            status: TaskStatus::Working,
            created_at: None,
            ttl_ms: None,
            poll_interval_ms: None,
        }
    }

    /// Copies the status and the times of a task into the handle.
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
        assert_eq!((handle.form, handle.status), (TaskForm::Extension, TaskStatus::Other("paused".into())));
    }
}
