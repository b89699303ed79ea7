//! [`ReportCallbacks`]: the callbacks of a tool call.

use std::fmt;

use mcpwire_core::{Notification, Progress, Task};

type Callback<'c, T> = Box<dyn FnMut(&T) + Send + 'c>;

/// The callbacks of a tool call for its progress and the status of its task. `'c` is what they borrow.
#[derive(Default)]
pub struct ReportCallbacks<'c> {
    /// Receives the progress notifications of the call.
    pub on_progress: Option<Callback<'c, Progress>>,
    /// Receives the status of the call's task when it changes.
    pub on_status: Option<Callback<'c, Task>>,
}

impl ReportCallbacks<'_> {
    /// Returns whether no callback is set.
    pub fn is_empty(&self) -> bool {
        self.on_progress.is_none() && self.on_status.is_none()
    }

    /// Calls the callback for a progress notification or a task status of the call. Ignores other notifications.
    pub fn call(&mut self, report: &Notification) {
        match report {
            Notification::Progress { progress, .. } => self.on_progress.iter_mut().for_each(|f| f(progress)),
            Notification::TaskStatus { task, .. } => self.on_status.iter_mut().for_each(|f| f(task)),
            _ => {}
        }
    }
}

impl fmt::Debug for ReportCallbacks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReportCallbacks").finish_non_exhaustive()
    }
}
