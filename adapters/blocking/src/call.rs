//! [`Call`]: a tool call with options. [`RunningTask`]: a call that the server executes as a task.

use std::sync::Arc;

use mcpwire_client::Error;
use mcpwire_core::internal::ToolCall;
use mcpwire_core::{CallTool, CallToolRaw, CallToolResult, Json, Method, TaskHandle};
use serde::Serialize;

use crate::client::McpClient;
use crate::pending::Pending;

mcpwire_client::call_builder! {
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
    ///
    /// A call that the server may execute as a task, so that the program can wait for its result after a restart:
    ///
    /// ```no_run
    /// # use mcpwire_blocking::{McpClient, McpServerDef};
    /// # let mut client = McpClient::connect_and_initialize(&McpServerDef::new("my-server"))?;
    /// # let arguments = mcpwire_blocking::protocol::Json::parse("{}").unwrap();
    /// let outcome = client.call_tool("build", &arguments).as_task()?;
    /// if let Some(handle) = outcome.handle() {
    ///     println!("{}", handle.task_id); // store the handle, and pass it to `McpClient::task` later
    /// }
    /// let result = outcome.wait()?;
    /// # Ok::<(), mcpwire_blocking::Error>(())
    /// ```
    #[must_use = "a call is sent by `send`, `structured`, `raw`, `begin` or `as_task`"]
    blocking Call<'client, 'c> { client: &'client mut McpClient, callbacks: ReportCallbacks<'c> } -> TaskOrResult<'client>
}

mcpwire_client::running_task! {
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
    blocking RunningTask<'c> { client: &'c mut McpClient }
}

impl McpClient {
    /// Returns a builder for a tool call. [`Call::send`] sends the call, and waits for its result.
    ///
    /// `arguments` is a value that serializes to a JSON object, or a list of pairs of a name and a value. This method serializes
    /// the arguments at once. If they cannot be serialized, sending the call fails.
    ///
    /// If the tool itself fails, the call returns a result whose [`is_error`](CallToolResult::is_error) is set. If the loaded
    /// list of tools is valid and does not contain the name, the call fails without a request.
    #[doc(alias = "tools/call")]
    pub fn call_tool<'c>(&mut self, name: impl AsRef<str>, arguments: impl Serialize) -> Call<'_, 'c> {
        Call::new(self, name.as_ref(), &arguments)
    }

    /// Returns a handle to a task that the server has created earlier, over this connection or another one. This sends nothing.
    ///
    /// Use it to continue to wait for a task after a restart of the program, with a stored `handle`.
    pub fn task(&mut self, handle: TaskHandle) -> RunningTask<'_> {
        RunningTask::new(self, handle)
    }

    /// Checks the result of a tool against the tool's output schema, if the program has set a validator.
    pub(crate) fn check_output(&mut self, tool: &str, result: &CallToolResult) -> Result<(), Error> {
        let checked =
            self.connection.io.context.check_output(self.connection.io.state.client.tools.list(), tool, result);
        checked.map_err(|error| self.connection.error(error).with_tool(tool))
    }
}

impl<'client> Call<'client, '_> {
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

    /// Sends the call, and returns its result as the JSON that the server sent, without decoding it or checking it against the
    /// output schema.
    pub fn raw(self) -> Result<Json, Error> {
        self.run::<CallToolRaw>().map(|(_, result)| result)
    }

    /// Sends the call, and returns the client and the result. The result is not checked against the output schema.
    fn run<M: Method>(self) -> Result<(&'client mut McpClient, M::Result), Error> {
        let Call { client, name, request, mut options, mut callbacks } = self;
        client.connection.io.context.add_caller_context(&mut options, &name);
        let request = request.map_err(|error| client.connection.error(error).with_tool(&name))?;
        let call = ToolCall::<M>::new(Arc::clone(&name), request.with_method(), options);
        let result = client.run_reporting(call, &mut |report| callbacks.call(report));
        let result = result.map_err(|error| error.with_tool(&name))?;
        Ok((client, result))
    }
}

impl Call<'_, 'static> {
    /// Sends the call without waiting for its result.
    ///
    /// Unlike [`Call::send`], this does not request the list of tools. If the tool requires a task, call
    /// [`McpClient::list_tools`] before.
    ///
    /// The client owns the callbacks, so they must be `'static`. Each method of the client that reads from the server may call
    /// them, not only [`Pending::wait`]. If a callback panics, the call is cancelled, and [`Pending::wait`] panics.
    ///
    /// # Errors
    /// If the arguments do not serialize to a JSON object or a list of pairs, or if the call cannot be sent.
    pub fn begin(self) -> Result<Pending<CallTool>, Error> {
        let Call { client, name, request, mut options, callbacks } = self;
        client.connection.io.context.add_caller_context(&mut options, &name);
        let request = request.map_err(|error| client.connection.error(error).with_tool(&name))?;
        let call = ToolCall::new(Arc::clone(&name), request, options);
        match client.begin_with(callbacks, |state, calls, now| call.send_now(state, calls, now)) {
            Ok(pending) => Ok(pending.of_tool(name)),
            Err(error) => Err(error.with_tool(&name)),
        }
    }
}
