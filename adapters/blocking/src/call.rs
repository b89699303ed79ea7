//! [`Call`]: a tool call and its options.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcpwire_core::internal::{Prepared, ToolCall};
use mcpwire_core::{
    CallError, CallTool, CallToolAsTask, CallToolOutcome, CallToolParams, CallToolRaw, CallToolResult, Json, Method,
    Progress, RequestOptions, SendError, Task, TaskMode,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::client::McpClient;
use crate::pending::Pending;
use crate::tasks::TaskOrResult;
use mcpwire_client::{Error, ReportCallbacks};

/// A tool call that was not sent yet. Returned by [`McpClient::call_tool`].
///
/// ```no_run
/// # use std::time::Duration;
/// # use mcpwire_blocking::{McpClient, McpServerDef};
/// # let mut client = McpClient::connect_and_initialize(&McpServerDef::new("my-server"))?;
/// # let arguments = mcpwire_blocking::protocol::Json::parse("{}").unwrap();
/// let result = client
///     .call_tool("build", &arguments)
///     .timeout(Duration::from_secs(120))
///     .on_progress(|progress| eprintln!("{} of {:?}", progress.progress, progress.total))
///     .send()?;
/// # Ok::<(), mcpwire_blocking::Error>(())
/// ```
#[must_use = "a call is sent by `send`, `structured`, `raw`, `begin` or `as_task`"]
pub struct Call<'client, 'c> {
    client: &'client mut McpClient,
    name: Arc<str>,
    /// The serialized name and arguments, or why they could not be serialized.
    request: Result<Prepared<CallTool>, SendError>,
    options: RequestOptions,
    callbacks: ReportCallbacks<'c>,
}

impl<'client, 'c> Call<'client, 'c> {
    pub(crate) fn new(client: &'client mut McpClient, name: &str, arguments: &impl Serialize) -> Self {
        let request = Prepared::new(&CallToolParams { name, arguments });
        let options = RequestOptions::new();
        Call { client, name: name.into(), request, options, callbacks: ReportCallbacks::default() }
    }

    /// Replaces all options of the request. The callbacks stay.
    pub fn options(mut self, options: RequestOptions) -> Self {
        let wants_progress = self.callbacks.on_progress.is_some();
        self.options = if wants_progress { options.progress() } else { options };
        self
    }

    /// Sets the maximum time without a response or progress. The default is [`Config::request_timeout`](mcpwire_core::Config).
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options = self.options.timeout(timeout);
        self
    }

    /// Sets the maximum total duration of the call, regardless of progress.
    pub fn total_timeout(mut self, timeout: Duration) -> Self {
        self.options = self.options.total_timeout(timeout);
        self
    }

    /// Requests progress notifications, and calls `f` with each. Progress restarts the timeout.
    #[doc(alias = "notifications/progress")]
    pub fn on_progress(mut self, f: impl FnMut(&Progress) + Send + 'c) -> Self {
        self.options = self.options.progress();
        self.callbacks.on_progress = Some(Box::new(f));
        self
    }

    /// Calls `f` whenever the status of the task changes, if the server executes the call as a task.
    #[doc(alias = "notifications/tasks/status")]
    pub fn on_status(mut self, f: impl FnMut(&Task) + Send + 'c) -> Self {
        self.callbacks.on_status = Some(Box::new(f));
        self
    }

    /// Allows the server to execute the call as a task, and waits for the result of the task.
    ///
    /// With a server of revision 2025-11-25, the client requests a task if the tool allows one. [`Call::as_task`] returns the task
    /// instead.
    pub fn follow_task(mut self) -> Self {
        self.options = self.options.task(TaskMode::Follow);
        self
    }

    /// Sets how long the server should keep the task after its creation (revision 2025-11-25).
    pub fn task_ttl(mut self, ttl: Duration) -> Self {
        self.options = self.options.task_ttl(ttl);
        self
    }

    /// Adds members to the `_meta` of the request. `meta` must be an object.
    pub fn meta(mut self, meta: Json) -> Self {
        self.options = self.options.meta(meta);
        self
    }

    /// Sends the call to the server even if the client's cache contains a valid response.
    pub fn fresh(mut self) -> Self {
        self.options = self.options.fresh();
        self
    }

    /// Sends the call again if the server ends the HTTP session before it responds. The server may then execute the call twice.
    pub fn repeatable(mut self) -> Self {
        self.options = self.options.repeatable();
        self
    }

    /// Sends the call, and waits for its result.
    ///
    /// # Errors
    /// If the arguments do not serialize to a JSON object or a list of pairs, or if the call fails. A tool that fails is not an
    /// error: [`CallToolResult::is_error`].
    pub fn send(self) -> Result<CallToolResult, Error> {
        let tool = Arc::clone(&self.name);
        let (client, result) = self.run::<CallTool>()?;
        client.check_output(&tool, &result)?;
        Ok(result)
    }

    /// Sends the call, and decodes the structured content of its result.
    ///
    /// # Errors
    /// If the call or the tool fails, or if the structured content is missing or not a `T` ([`CallError::Structured`]).
    #[doc(alias = "structuredContent")]
    pub fn structured<T: DeserializeOwned>(self) -> Result<T, Error> {
        let tool = Arc::clone(&self.name);
        let (client, result) = self.run::<CallTool>()?;
        client.check_output(&tool, &result)?;
        result
            .structured()
            .map_err(|error| client.call_error(CallError::Structured { error: error.of_tool(&*tool).into() }))
    }

    /// Sends the call, and returns its result as the JSON that the server sent.
    pub fn raw(self) -> Result<Json, Error> {
        self.run::<CallToolRaw>().map(|(_, result)| result)
    }

    /// Sends the call, and returns the task that the server creates, or the result if the server creates none.
    ///
    /// The callbacks are called until the server responds. [`RunningTask::wait_with`](crate::RunningTask::wait_with) reports the
    /// status of the task.
    ///
    /// ```no_run
    /// # use mcpwire_blocking::{McpClient, McpServerDef, TaskOrResult};
    /// # let mut client = McpClient::connect_and_initialize(&McpServerDef::new("my-server"))?;
    /// # let arguments = mcpwire_blocking::protocol::Json::parse("{}").unwrap();
    /// let outcome = client.call_tool("build", &arguments).as_task()?;
    /// if let Some(handle) = outcome.handle() {
    ///     println!("{}", handle.task_id); // store the handle, and pass it to `McpClient::task` later
    /// }
    /// let result = outcome.wait()?;
    /// # Ok::<(), mcpwire_blocking::Error>(())
    /// ```
    pub fn as_task(mut self) -> Result<TaskOrResult<'client>, Error> {
        let tool = Arc::clone(&self.name);
        self.options = self.options.task(TaskMode::Handle);
        let (client, outcome) = self.run::<CallToolAsTask>()?;
        Ok(match outcome {
            CallToolOutcome::Done(result) => {
                client.check_output(&tool, &result)?;
                TaskOrResult::Done(Box::new(result))
            }
            CallToolOutcome::Task(created) => TaskOrResult::Task(client.task(created.handle())),
        })
    }

    fn run<M: Method>(self) -> Result<(&'client mut McpClient, M::Result), Error> {
        let Call { client, name, request, options, mut callbacks } = self;
        let options = client.connection.context.with_tool_caller_context(&options, Some(&name)).into_owned();
        let request = request.map_err(|error| client.send_error(error).with_tool(&name))?;
        let mut call = ToolCall::<M, _>::new(Arc::clone(&name), request.with_method(), options);
        let result = client.run(&mut call, &mut |report| callbacks.call(report));
        let result = result.map_err(|error| error.with_tool(&name))?;
        Ok((client, result))
    }
}

impl Call<'_, 'static> {
    /// Sends the call without waiting for its result.
    ///
    /// Unlike [`Call::send`], this does not list the tools first. If the tool requires a task, call [`McpClient::list_tools`] before.
    ///
    /// The callbacks must be `'static`, because the client keeps them. It calls them while any of its methods reads, not only
    /// [`Pending::wait`]. If a callback panics, the call is cancelled, and [`Pending::wait`] panics.
    ///
    /// # Errors
    /// If the arguments do not serialize to a JSON object or a list of pairs, or if the call cannot be sent.
    pub fn begin(self) -> Result<Pending<CallTool>, Error> {
        let Call { client, name, request, options, callbacks } = self;
        let options = client.connection.context.with_tool_caller_context(&options, Some(&name)).into_owned();
        let request = request.map_err(|error| client.send_error(error).with_tool(&name))?;
        let call = ToolCall::new(Arc::clone(&name), request, options);
        match client.begin_with(callbacks, |state, calls, now| call.send_now(state, calls, now)) {
            Ok(pending) => Ok(pending.of_tool(name).checked()),
            Err(error) => Err(error.with_tool(&name)),
        }
    }
}

impl fmt::Debug for Call<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("tool", &self.name).field("options", &self.options).finish_non_exhaustive()
    }
}
