//! [`Call`]: the call of a tool, with what it may have of its own.

use std::time::Duration;

use mcpwire_core::internal::{Step, ToolCall};
use mcpwire_core::{
    CallError, CallTool, CallToolAsTask, CallToolOutcome, CallToolParams, CallToolRaw, CallToolResult, Json, Method,
    Notification, Params, Progress, RequestOptions, Task, TaskMode,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::client::McpClient;
use crate::connection::Connection;
use crate::tasks::TaskOrResult;
use mcpwire_client::Error;

type OnProgress<'c> = Box<dyn FnMut(&Progress) + 'c>;

pub(crate) type OnStatus<'c> = Box<dyn FnMut(&Task) + 'c>;

/// A call of a tool that has not been sent yet. Made by [`McpClient::call_tool`].
///
/// ```no_run
/// # use std::time::Duration;
/// # use mcpwire_blocking::{McpClient, McpServerDef};
/// # let mut client = McpClient::connect_and_initialize(&McpServerDef::new("my-server"))?;
/// # let arguments = mcpwire_blocking::core::Json::parse("{}").unwrap();
/// let result = client
///     .call_tool("build", &arguments)
///     .timeout(Duration::from_secs(120))
///     .on_progress(|progress| eprintln!("{} of {:?}", progress.progress, progress.total))
///     .call()?;
/// # Ok::<(), mcpwire_blocking::Error>(())
/// ```
#[must_use = "a call is sent by `call` or `raw`"]
pub struct Call<'c, A> {
    client: &'c mut McpClient,
    name: &'c str,
    arguments: A,
    options: RequestOptions,
    on_progress: Option<OnProgress<'c>>,
    on_status: Option<OnStatus<'c>>,
}

impl<'c, A: Serialize> Call<'c, A> {
    pub(crate) fn new(client: &'c mut McpClient, name: &'c str, arguments: A) -> Self {
        Call { client, name, arguments, options: RequestOptions::new(), on_progress: None, on_status: None }
    }

    /// Sets how long the answer may take, counted from the request or from its last progress.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options = self.options.timeout(timeout);
        self
    }

    /// Sets how long the answer may take at all.
    pub fn total_timeout(mut self, timeout: Duration) -> Self {
        self.options = self.options.total_timeout(timeout);
        self
    }

    /// Asks the server to report progress, and says who is told. Reports put off the timeout.
    pub fn on_progress(mut self, f: impl FnMut(&Progress) + 'c) -> Self {
        self.options = self.options.progress();
        self.on_progress = Some(Box::new(f));
        self
    }

    /// Says who is told how the task stands that the call has become, whenever that has changed.
    pub fn on_status(mut self, f: impl FnMut(&Task) + 'c) -> Self {
        self.on_status = Some(Box::new(f));
        self
    }

    /// Lets the server make a task of the call, whatever the client's capabilities declare, and asks one of 2025-11-25 for
    /// it if the tool may be called so. The call ends with the result of the task; [`Call::as_task`] gives the task itself.
    pub fn follow_task(mut self) -> Self {
        self.options = self.options.task(TaskMode::Follow);
        self
    }

    /// Sets for how long a server of 2025-11-25 is to keep a task.
    pub fn task_ttl(mut self, ttl: Duration) -> Self {
        self.options = self.options.task_ttl(ttl);
        self
    }

    /// Sets members of the request's `_meta`: an object.
    pub fn meta(mut self, meta: Json) -> Self {
        self.options = self.options.meta(meta);
        self
    }

    /// Sends the call and waits for its result.
    pub fn call(self) -> Result<CallToolResult, Error> {
        self.run::<CallTool>()
    }

    /// Sends the call and waits for its result, of which the structured content is read into a type of the caller's.
    ///
    /// # Errors
    /// Also if the result has no structured content, or another than was expected
    /// ([`CallError::Structured`]).
    pub fn structured<T: DeserializeOwned>(self) -> Result<T, Error> {
        let Call { client, name, arguments, options, on_progress, on_status } = self;
        let result = Call { client: &mut *client, name, arguments, options, on_progress, on_status }.call()?;
        result
            .structured()
            .map_err(|error| client.call_error(CallError::Structured { error: error.of_tool(name).into() }))
    }

    /// Sends the call and waits for its result, as the JSON that the server sent.
    pub fn raw(self) -> Result<Json, Error> {
        self.run::<CallToolRaw>()
    }

    /// Sends the call, and gives the task that the server makes of it, or the result if it makes none. Who is told of
    /// progress is of no interest here.
    ///
    /// ```no_run
    /// # use mcpwire_blocking::{McpClient, McpServerDef, TaskOrResult};
    /// # let mut client = McpClient::connect_and_initialize(&McpServerDef::new("my-server"))?;
    /// # let arguments = mcpwire_blocking::core::Json::parse("{}").unwrap();
    /// let started = client.call_tool("build", &arguments).as_task()?;
    /// if let Some(handle) = started.handle() {
    ///     println!("{}", handle.task_id); // to be stored, and given to `McpClient::task` later, or elsewhere
    /// }
    /// let result = started.wait()?;
    /// # Ok::<(), mcpwire_blocking::Error>(())
    /// ```
    pub fn as_task(mut self) -> Result<TaskOrResult<'c>, Error> {
        self.options = self.options.task(TaskMode::Handle);
        let (client, outcome) = self.send::<CallToolAsTask>()?;
        Ok(match outcome {
            CallToolOutcome::Done(result) => TaskOrResult::Done(Box::new(result)),
            CallToolOutcome::Task(created) => TaskOrResult::Task(client.task(created.handle())),
        })
    }

    fn run<M>(self) -> Result<M::Result, Error>
    where
        M: Method,
        for<'a> CallToolParams<'a, A>: Params<M>,
    {
        self.send::<M>().map(|(_, result)| result)
    }

    fn send<M>(self) -> Result<(&'c mut McpClient, M::Result), Error>
    where
        M: Method,
        for<'a> CallToolParams<'a, A>: Params<M>,
    {
        let Call { client, name, arguments, options, mut on_progress, mut on_status } = self;
        client.unsubscribe_unwanted();
        let options = client.connection.context.traced(&options).into_owned();
        let params = CallToolParams { name, arguments: &arguments };
        let mut call = ToolCall::<M>::new(name, options);
        let mut on_report = |report: &Notification| match (report, &mut on_progress, &mut on_status) {
            (Notification::Progress { progress, .. }, Some(on_progress), _) => on_progress(progress),
            (Notification::TaskStatus { task, .. }, _, Some(on_status)) => on_status(task),
            _ => {}
        };
        loop {
            let now = client.connection.now();
            let Connection { engine, tools, .. } = &mut client.connection;
            let step = call.poll(tools, &mut engine.calls(), now, |calls, options| {
                calls.request::<M>(&params, options, now).map(|ticket| ticket.key())
            });
            match step {
                Step::Wait(key) => {
                    let mut reply = client.reply(key, now, &mut on_report)?;
                    call.receive(&mut reply);
                    client.connection.engine.recycle(reply);
                    if let Some(result) = call.take_result() {
                        return Ok((client, result));
                    }
                }
                Step::Drain => client.connection.catch_up(),
                Step::Done(Ok(result)) => return Ok((client, result)),
                Step::Done(Err(error)) => return Err(client.request_error(error)),
            }
        }
    }
}
