//! What is kept of a task.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use super::{Task, TaskForm, TaskStatus};

/// What is to be kept of a task: enough to take it up again in another connection, after a restart, by another program.
///
/// It is plain data in the eyes of serde, in any format:
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
    /// Its name, which the server has given it. Whoever knows it may be able to get at the task.
    pub task_id: String,
    /// The form that it was created in.
    #[serde(default)]
    pub form: TaskForm,
    /// How it stood when it was last looked at.
    #[serde(default)]
    pub status: TaskStatus,
    /// When it was created, as the server wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// For how many milliseconds from then on the server keeps it; absent if it did not say, or for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<u64>,
    /// After how many milliseconds it may be asked for again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub poll_interval_ms: Option<u64>,
}

impl TaskHandle {
    /// The handle of a task of which no more than its name is known.
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

    /// Takes in how the task stands.
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
