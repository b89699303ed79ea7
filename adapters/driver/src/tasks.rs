//! [`RunningTask`]: a task that a server works on, as a program uses it.

use std::fmt;
use std::future::poll_fn;
use std::time::Duration;

use mcpwire_client::Error;
use mcpwire_core::{
    CallToolResult, CancelTask, GetTask, ItemList, Json, ListTasks, Notification, RequestOptions, Task, TaskHandle,
    TaskParams, UpdateTask, UpdateTaskParams,
};

use crate::client::McpClient;
use crate::pending::Pending;

/// What came of a call that may become a task.
pub enum TaskOrResult<R> {
    /// The server had the result at once.
    Done(Box<CallToolResult>),
    /// It works on it.
    Task(RunningTask<R>),
}

impl<R> TaskOrResult<R> {
    /// The result, waited for if it is not there yet.
    pub async fn wait(self) -> Result<CallToolResult, Error> {
        match self {
            TaskOrResult::Done(result) => Ok(*result),
            TaskOrResult::Task(task) => task.wait().await,
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

/// A task that a server works on. Nothing happens to it when this is dropped, or when a wait ends before it does: whoever has
/// its [`TaskHandle`] can come back for it, in this connection or another one.
pub struct RunningTask<R> {
    client: McpClient<R>,
    handle: TaskHandle,
    options: RequestOptions,
}

impl<R> RunningTask<R> {
    /// Its name, which the server has given it.
    pub fn id(&self) -> &str {
        &self.handle.task_id
    }

    /// What is to be stored of it, to take it up again: as it was when this was made.
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

    /// Asks how it stands.
    pub async fn status(&self) -> Result<Task, Error> {
        self.client.request::<GetTask>(&TaskParams { task_id: self.id() }, &self.options).await
    }

    /// Waits for its result: what the call would have answered. The server is asked in the intervals that it wishes, and
    /// what the task asks meanwhile is answered as ever.
    pub async fn wait(&self) -> Result<CallToolResult, Error> {
        self.wait_with(|_| {}).await
    }

    /// As [`RunningTask::wait`], and says who is told how the task stands, whenever that has changed.
    pub async fn wait_with(&self, mut on_status: impl FnMut(&Task)) -> Result<CallToolResult, Error> {
        let life = self.client.life();
        let now = life.shared().clock.now();
        let ticket = life.shared().send(|state| {
            let ticket = state.engine.calls().follow_task(&self.handle, &self.options, now)?;
            state.expect(ticket.key(), true);
            Ok(ticket)
        })?;
        let mut pending = Pending::new(life, ticket);
        let mut report = |report: &Notification| {
            if let Notification::TaskStatus { task, .. } = report {
                on_status(task);
            }
        };
        poll_fn(|cx| pending.poll_with(cx, &mut report)).await.map_err(|error| self.client.call_error(error))
    }

    /// Asks the server to end it. It may take its time, or finish the task all the same.
    pub async fn cancel(&self) -> Result<(), Error> {
        self.client.request::<CancelTask>(&TaskParams { task_id: self.id() }, &self.options).await.map(drop)
    }

    /// Answers what it asks: an object of answers by the names of [`Task::input_requests`]. [`RunningTask::wait`] does so by
    /// itself. (From 2026-07-28 on; before, what a task asks comes as requests of the server's.)
    pub async fn update(&self, input_responses: &Json) -> Result<(), Error> {
        let params = UpdateTaskParams { task_id: self.id(), input_responses };
        self.client.request::<UpdateTask>(&params, &self.options).await.map(drop)
    }
}

impl<R> fmt::Debug for RunningTask<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunningTask").field("handle", &self.handle).finish_non_exhaustive()
    }
}

impl<R> McpClient<R> {
    /// Takes a task up that was begun earlier, in this connection or another one. Nothing is sent yet.
    pub fn task(&self, handle: TaskHandle) -> RunningTask<R> {
        RunningTask { client: self.clone(), handle, options: RequestOptions::new() }
    }

    /// Lists the tasks that the server has for this client, all pages (2025-11-25).
    pub async fn list_tasks(&self) -> Result<ItemList<Task>, Error> {
        self.list_all::<ListTasks>().await
    }
}
