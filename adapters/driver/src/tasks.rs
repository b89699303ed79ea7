//! [`RunningTask`]: a handle to a task that a server executes (2025-11-25 tasks, and the tasks extension).

use std::fmt;
use std::future::poll_fn;
use std::time::Duration;

use mcpwire_client::Error;
use mcpwire_core::internal::SingleRequest;
use mcpwire_core::{
    CallTool, CallToolResult, CancelTask, GetTask, ItemList, Json, ListTasks, Notification, RequestOptions, Task,
    TaskHandle, TaskParams, UpdateTask, UpdateTaskParams,
};

use crate::client::McpClient;
use crate::operation::OperationRunner;

/// The result of a call, or the task that the server has created for the call.
pub enum TaskOrResult<R> {
    /// The server has returned the result without creating a task.
    Done(Box<CallToolResult>),
    /// The server executes the call as a task.
    Task(RunningTask<R>),
}

impl<R> TaskOrResult<R> {
    /// Returns the result. If there is a task, waits for its result.
    pub async fn wait(self) -> Result<CallToolResult, Error> {
        match self {
            TaskOrResult::Done(result) => Ok(*result),
            TaskOrResult::Task(mut task) => task.wait().await,
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
    pub fn into_task(self) -> Result<RunningTask<R>, CallToolResult> {
        match self {
            TaskOrResult::Done(result) => Err(*result),
            TaskOrResult::Task(task) => Ok(task),
        }
    }
}

impl<R> fmt::Debug for TaskOrResult<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TaskOrResult::Done(result) => f.debug_tuple("Done").field(result).finish(),
            TaskOrResult::Task(task) => f.debug_tuple("Task").field(task).finish(),
        }
    }
}

/// A handle to a task that a server executes.
///
/// Dropping this value, or a future of its methods, does not affect the task. A program that stores the [`TaskHandle`] can resume
/// the task, over this connection or another one.
///
/// ```no_run
/// # mod mcpwire { pub mod types { pub use mcpwire_driver::protocol::{TaskHandle, TaskProtocol}; } }
/// # async fn run<R>(client: mcpwire_driver::McpClient<R>) -> Result<(), mcpwire_driver::Error> {
/// use mcpwire::types::{TaskHandle, TaskProtocol};
///
/// let stored = TaskHandle::new("786512e2", TaskProtocol::Extension);
/// let mut task = client.task(stored);
/// println!("{}", task.status().await?.status);
/// let result = task.wait().await?;
/// # Ok(())
/// # }
/// ```
pub struct RunningTask<R> {
    client: McpClient<R>,
    handle: TaskHandle,
    options: RequestOptions,
}

impl<R> RunningTask<R> {
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
    pub async fn status(&mut self) -> Result<Task, Error> {
        let params = TaskParams { task_id: &self.handle.task_id };
        let task = self.client.request::<GetTask>(&params, &self.options).await?;
        self.handle.update(&task);
        Ok(task)
    }

    /// Waits for the result of the task, which is the result of the call.
    ///
    /// The client polls the task at the interval that the server suggests. Handlers answer the input requests of the task.
    ///
    /// # Errors
    /// If the task has failed or was cancelled, if its status cannot be requested, or if it does not end in time.
    ///
    /// # Cancel safety
    /// Dropping the future before its end asks the server to cancel the task.
    #[doc(alias = "tasks/result")]
    pub async fn wait(&mut self) -> Result<CallToolResult, Error> {
        self.wait_with(|_| {}).await
    }

    /// Waits for the result of the task, and calls `on_status` whenever the status of the task has changed.
    ///
    /// # Errors
    /// As [`RunningTask::wait`].
    ///
    /// # Cancel safety
    /// Dropping the future before its end asks the server to cancel the task.
    #[doc(alias = "tasks/result")]
    pub async fn wait_with(&mut self, mut on_status: impl FnMut(&Task)) -> Result<CallToolResult, Error> {
        let connection = self.client.connection().clone();
        let options = connection.shared().with_caller_context(&self.options).into_owned();
        let mut follow = SingleRequest::<CallTool, _>::new(self.handle.clone(), &options);
        let mut runner = OperationRunner::new(true);
        let handle = &mut self.handle;
        let mut on_report = |report: &Notification| {
            if let Notification::TaskStatus { task, .. } = report {
                handle.update(task);
                on_status(task);
            }
        };
        poll_fn(|cx| runner.poll(&connection, &mut follow, cx, &mut on_report)).await
    }

    /// Requests the cancellation of the task. The server may need time, or may complete the task nevertheless.
    #[doc(alias = "tasks/cancel")]
    pub async fn cancel(&mut self) -> Result<(), Error> {
        let params = TaskParams { task_id: &self.handle.task_id };
        self.client.request::<CancelTask>(&params, &self.options).await.map(drop)
    }

    /// Sends the input that the task requires: an object of answers by the names in [`Task::input_requests`].
    /// Requires revision 2026-07-28.
    ///
    /// [`RunningTask::wait`] does this automatically.
    #[doc(alias = "tasks/update")]
    pub async fn update(&mut self, input_responses: &Json) -> Result<(), Error> {
        let params = UpdateTaskParams { task_id: &self.handle.task_id, input_responses };
        self.client.request::<UpdateTask>(&params, &self.options).await.map(drop)
    }
}

impl<R> fmt::Debug for RunningTask<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunningTask").field("handle", &self.handle).finish_non_exhaustive()
    }
}

impl<R> McpClient<R> {
    /// Returns a task that was created earlier, over this connection or another one. This sends nothing.
    pub fn task(&self, handle: TaskHandle) -> RunningTask<R> {
        RunningTask { client: self.clone(), handle, options: RequestOptions::new() }
    }

    /// Requests all pages of the server's task list (revision 2025-11-25).
    #[doc(alias = "tasks/list")]
    pub async fn list_tasks(&self) -> Result<ItemList<Task>, Error> {
        self.list_all::<ListTasks>().await
    }
}
