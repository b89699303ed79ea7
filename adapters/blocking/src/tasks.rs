//! [`RunningTask`]: a task that a server executes.

use std::fmt;
use std::time::Duration;

use mcpwire_client::Error;
use mcpwire_core::internal::SingleRequest;
use mcpwire_core::{
    CallTool, CallToolResult, CancelTask, GetTask, ItemList, Json, ListTasks, Notification, RequestOptions, Task,
    TaskHandle, TaskParams, UpdateTask, UpdateTaskParams,
};

use crate::client::McpClient;

/// The outcome of a call that may become a task.
#[derive(Debug)]
pub enum TaskOrResult<'c> {
    /// The server has returned the result without a task.
    Done(Box<CallToolResult>),
    /// The server executes the call as a task.
    Task(RunningTask<'c>),
}

impl<'c> TaskOrResult<'c> {
    /// Returns the result. Waits for the task if the server has created one.
    pub fn wait(self) -> Result<CallToolResult, Error> {
        match self {
            TaskOrResult::Done(result) => Ok(*result),
            TaskOrResult::Task(mut task) => task.wait(),
        }
    }

    /// Returns the handle to store, or `None` if there is no task.
    pub fn handle(&self) -> Option<&TaskHandle> {
        match self {
            TaskOrResult::Done(_) => None,
            TaskOrResult::Task(task) => Some(task.handle()),
        }
    }

    /// Returns the task, or the result if there is no task.
    pub fn into_task(self) -> Result<RunningTask<'c>, CallToolResult> {
        match self {
            TaskOrResult::Done(result) => Err(*result),
            TaskOrResult::Task(task) => Ok(task),
        }
    }
}

/// A task that a server executes.
///
/// Dropping this value, or cancelling a wait, does not affect the task on the server. A program that stores the [`TaskHandle`] can
/// wait for the task later, over this connection or another one.
///
/// ```no_run
/// # mod mcpwire { pub use mcpwire_blocking::McpServerDef; pub mod types { pub use mcpwire_blocking::protocol::{TaskHandle,
/// # TaskProtocol}; } pub mod blocking { pub use mcpwire_blocking::McpClient; } }
/// use mcpwire::McpServerDef;
/// use mcpwire::blocking::McpClient;
/// use mcpwire::types::{TaskHandle, TaskProtocol};
///
/// let mut client = McpClient::connect_and_initialize(&McpServerDef::new("my-server"))?;
/// let stored = TaskHandle::new("786512e2", TaskProtocol::Extension);
/// let mut task = client.task(stored);
/// println!("{}", task.status()?.status);
/// let result = task.wait()?;
/// # Ok::<(), mcpwire_blocking::Error>(())
/// ```
pub struct RunningTask<'c> {
    client: &'c mut McpClient,
    handle: TaskHandle,
    options: RequestOptions,
}

impl RunningTask<'_> {
    /// Returns the id of the task.
    pub fn id(&self) -> &str {
        &self.handle.task_id
    }

    /// Returns the handle to store, for use with [`McpClient::task`] later. Each status of the task updates the handle.
    pub fn handle(&self) -> &TaskHandle {
        &self.handle
    }

    /// Converts the task to its handle.
    pub fn into_handle(self) -> TaskHandle {
        self.handle
    }

    /// Sets the timeout of each request about the task.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options = self.options.timeout(timeout);
        self
    }

    /// Sets the maximum time that [`RunningTask::wait`] waits for the end of the task.
    pub fn total_timeout(mut self, timeout: Duration) -> Self {
        self.options = self.options.total_timeout(timeout);
        self
    }

    /// Requests the status of the task.
    #[doc(alias = "tasks/get")]
    pub fn status(&mut self) -> Result<Task, Error> {
        let params = TaskParams { task_id: &self.handle.task_id };
        let task = self.client.request::<GetTask>(&params, &self.options)?;
        self.handle.update(&task);
        Ok(task)
    }

    /// Waits for the result of the task, which is the result of the call.
    ///
    /// The client polls the task at the interval that the server suggests, and answers the requests of the task.
    #[doc(alias = "tasks/result")]
    pub fn wait(&mut self) -> Result<CallToolResult, Error> {
        self.wait_with(|_| {})
    }

    /// Waits for the result of the task, and calls `on_status` whenever the status of the task has changed.
    #[doc(alias = "tasks/result")]
    pub fn wait_with(&mut self, mut on_status: impl FnMut(&Task)) -> Result<CallToolResult, Error> {
        let handle = self.handle.clone();
        let options = self.client.connection.context.with_caller_context(&self.options).into_owned();
        let mut follow = SingleRequest::<CallTool, _>::new(handle, &options);
        let handle = &mut self.handle;
        self.client.run(&mut follow, &mut |report| {
            if let Notification::TaskStatus { task, .. } = report {
                handle.update(task);
                on_status(task);
            }
        })
    }

    /// Requests the cancellation of the task. The server may take time, or complete the task nevertheless.
    #[doc(alias = "tasks/cancel")]
    pub fn cancel(&mut self) -> Result<(), Error> {
        let params = TaskParams { task_id: &self.handle.task_id };
        self.client.request::<CancelTask>(&params, &self.options).map(drop)
    }

    /// Sends the input that the task requires: an object of answers by the names in [`Task::input_requests`].
    ///
    /// [`RunningTask::wait`] does this automatically. Revision 2026-07-28 and later: a task of an earlier revision sends requests to
    /// the client instead.
    #[doc(alias = "tasks/update")]
    pub fn update(&mut self, input_responses: &Json) -> Result<(), Error> {
        let params = UpdateTaskParams { task_id: &self.handle.task_id, input_responses };
        self.client.request::<UpdateTask>(&params, &self.options).map(drop)
    }
}

impl fmt::Debug for RunningTask<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunningTask").field("handle", &self.handle).finish_non_exhaustive()
    }
}

impl McpClient {
    /// Returns a task that was created earlier, over this connection or another one. Sends nothing.
    pub fn task(&mut self, handle: TaskHandle) -> RunningTask<'_> {
        RunningTask { client: self, handle, options: RequestOptions::new() }
    }

    /// Requests all pages of the server's task list (revision 2025-11-25).
    #[doc(alias = "tasks/list")]
    pub fn list_tasks(&mut self) -> Result<ItemList<Task>, Error> {
        self.list_all::<ListTasks>()
    }
}
