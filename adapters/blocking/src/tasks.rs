//! [`RunningTask`]: a task that a server works on, as a program uses it.

use std::fmt;
use std::time::Duration;

use mcpwire_client::Error;
use mcpwire_core::{
    CallToolResult, CancelTask, GetTask, ItemList, Json, ListTasks, Notification, RequestOptions, Task, TaskHandle,
    TaskParams, UpdateTask, UpdateTaskParams,
};

use crate::call::OnStatus;
use crate::client::McpClient;

/// What came of a call that may become a task.
#[derive(Debug)]
pub enum TaskOrResult<'c> {
    /// The server had the result at once.
    Done(Box<CallToolResult>),
    /// It works on it.
    Task(RunningTask<'c>),
}

impl<'c> TaskOrResult<'c> {
    /// The result, waited for if it is not there yet.
    pub fn wait(self) -> Result<CallToolResult, Error> {
        match self {
            TaskOrResult::Done(result) => Ok(*result),
            TaskOrResult::Task(mut task) => task.wait(),
        }
    }

    /// What is to be stored of the task, if there is one.
    pub fn handle(&self) -> Option<&TaskHandle> {
        match self {
            TaskOrResult::Done(_) => None,
            TaskOrResult::Task(task) => Some(task.handle()),
        }
    }

    /// The task; the result if there is no task.
    pub fn into_task(self) -> Result<RunningTask<'c>, CallToolResult> {
        match self {
            TaskOrResult::Done(result) => Err(*result),
            TaskOrResult::Task(task) => Ok(task),
        }
    }
}

/// A task that a server works on. Nothing happens to it when this is dropped, or when a wait ends before it does: whoever has
/// its [`TaskHandle`] can come back for it, in this connection or another one.
///
/// ```no_run
/// use mcpwire_blocking::core::{TaskProtocol, TaskHandle};
/// use mcpwire_blocking::{McpClient, McpServerDef};
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
    on_status: Option<OnStatus<'c>>,
}

impl<'c> RunningTask<'c> {
    /// Its name, which the server has given it.
    pub fn id(&self) -> &str {
        &self.handle.task_id
    }

    /// What is to be stored of it, to take it up again.
    pub fn handle(&self) -> &TaskHandle {
        &self.handle
    }

    /// The same, taken out.
    pub fn into_handle(self) -> TaskHandle {
        self.handle
    }

    /// Sets how long the answer to each question may take.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options = self.options.timeout(timeout);
        self
    }

    /// Sets how long [`RunningTask::wait`] may take at all.
    pub fn total_timeout(mut self, timeout: Duration) -> Self {
        self.options = self.options.total_timeout(timeout);
        self
    }

    /// Says who is told how the task stands while it is waited for, whenever that has changed.
    pub fn on_status(mut self, f: impl FnMut(&Task) + 'c) -> Self {
        self.on_status = Some(Box::new(f));
        self
    }

    /// Asks how it stands.
    pub fn status(&mut self) -> Result<Task, Error> {
        let params = TaskParams { task_id: &self.handle.task_id };
        let task = self.client.request::<GetTask>(&params, &self.options)?;
        self.handle.update(&task);
        Ok(task)
    }

    /// Waits for its result: what the call would have answered. The server is asked in the intervals that it wishes, and
    /// what the task asks meanwhile is answered as ever.
    pub fn wait(&mut self) -> Result<CallToolResult, Error> {
        let connection = &mut self.client.connection;
        let now = connection.now();
        let ticket = connection.engine.calls().follow_task(&self.handle, &self.options, now);
        let ticket = ticket.map_err(|error| self.client.send_error(error))?;
        let (handle, on_status) = (&mut self.handle, &mut self.on_status);
        self.client.wait_with(ticket, &mut |report| {
            if let Notification::TaskStatus { task, .. } = report {
                handle.update(task);
                if let Some(on_status) = on_status {
                    on_status(task);
                }
            }
        })
    }

    /// Asks the server to end it. It may take its time, or finish the task all the same.
    pub fn cancel(&mut self) -> Result<(), Error> {
        let params = TaskParams { task_id: &self.handle.task_id };
        self.client.request::<CancelTask>(&params, &self.options).map(drop)
    }

    /// Answers what it asks: an object of answers by the names of [`Task::input_requests`]. [`RunningTask::wait`] does so by
    /// itself. (From 2026-07-28 on; before, what a task asks comes as requests of the server's.)
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
    /// Takes a task up that was begun earlier, in this connection or another one. Nothing is sent yet.
    pub fn task(&mut self, handle: TaskHandle) -> RunningTask<'_> {
        RunningTask { client: self, handle, options: RequestOptions::new(), on_status: None }
    }

    /// Lists the tasks that the server has for this client, all pages (2025-11-25).
    pub fn list_tasks(&mut self) -> Result<ItemList<Task>, Error> {
        self.list_all::<ListTasks>()
    }
}
