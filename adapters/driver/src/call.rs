//! [`Call`]: a tool call with options. [`RunningTask`]: a call that the server executes as a task.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use mcpwire_client::{Error, ReportCallbacks};
use mcpwire_core::internal::{Prepared, ToolCall};
use mcpwire_core::{CallTool, CallToolRaw, CallToolResult, Calls, Method, RequestOptions, SendError, TaskHandle};
use serde::Serialize;

use crate::client::McpClient;
use crate::connection::{CheckOutput, Shared};
use crate::operation::OperationRunner;
use crate::pending::Pending;

mcpwire_client::call_builder! {
    /// Awaiting this value sends the call.
    ///
    /// A call owns its client, the name of the tool and the serialized arguments. Only the callbacks may borrow. If they do not,
    /// the future of [`Call::send`] is `'static` and can be spawned, even if the name and the arguments are borrowed:
    /// `set.spawn(client.call_tool(&name, &arguments).send())`.
    #[must_use = "a call is sent when it is awaited"]
    async Call<'c, R> { client: McpClient<R>, callbacks: ReportCallbacks<'c> } -> TaskOrResult<R>
}

mcpwire_client::running_task! {
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
    async RunningTask<R> { client: McpClient<R> }
}

impl<R> McpClient<R> {
    /// Returns a builder that sends a tool call. Awaiting the builder sends the call.
    ///
    /// `arguments` is a value that serializes to a JSON object, or a list of pairs of a name and a value. This method serializes
    /// the arguments at once, so the call borrows neither `name` nor `arguments`. If they cannot be serialized, sending the call
    /// fails.
    ///
    /// If the tool itself fails, the call returns a result whose [`is_error`](CallToolResult::is_error) is set. If the loaded
    /// list of tools is valid and does not contain the name, the call fails without a request. Dropping the call before its end
    /// cancels the call, and notifies the server.
    #[doc(alias = "tools/call")]
    pub fn call_tool<'c>(&self, name: impl AsRef<str>, arguments: impl Serialize) -> Call<'c, R> {
        Call::new(self.clone(), name.as_ref(), &arguments)
    }

    /// Returns a handle to a task that the server has created earlier, over this connection or another one. This sends nothing.
    ///
    /// Use it to continue to wait for a task after a restart of the program, with a stored `handle`.
    pub fn task(&self, handle: TaskHandle) -> RunningTask<R> {
        RunningTask::new(self.clone(), handle)
    }

    fn check_output(&self, tool: &str, result: &CallToolResult) -> Result<(), Error> {
        self.connection.check_output(tool, result)
    }
}

impl<'c, R> Call<'c, R> {
    /// Sends the call, and waits for its result.
    ///
    /// This is the same as awaiting the call itself. The first poll of the future sends the call.
    ///
    /// # Errors
    /// If the arguments do not serialize to a JSON object or a list of pairs, or if the call fails. A tool that fails is not an
    /// error: [`CallToolResult::is_error`].
    ///
    /// # Cancel safety
    /// Dropping the future before its end cancels the call, and notifies the server. The tool may have run or may still run.
    pub fn send(self) -> CallFuture<'c, R, CallTool> {
        CallFuture { check: Shared::check_output, ..CallFuture::new(self) }
    }

    /// Sends the call, and returns its result as the JSON that the server sent, without decoding it or checking it against the
    /// output schema.
    pub fn raw(self) -> CallFuture<'c, R, CallToolRaw> {
        CallFuture::new(self)
    }

    /// Sends the call, and returns the client and the result. The result is not checked against the output schema.
    async fn run<M: Method>(self) -> Result<(McpClient<R>, M::Result), Error> {
        let client = self.client.clone();
        let result = CallFuture::<R, M>::new(self).await?;
        Ok((client, result))
    }
}

impl<R> Call<'static, R> {
    /// Sends the call without waiting for its result.
    ///
    /// Unlike [`Call::send`], this does not request the list of tools. If the tool requires a task, call
    /// [`McpClient::list_tools`] before.
    ///
    /// The returned [`Pending`] owns the callbacks, so they must be `'static`. It calls them when it is polled.
    ///
    /// # Errors
    /// If the arguments do not serialize to a JSON object or a list of pairs, or if the call cannot be sent.
    pub fn begin(self) -> Result<Pending<CallTool>, Error> {
        let Call { client, name, request, mut options, callbacks } = self;
        let shared = &client.connection;
        shared.context.add_caller_context(&mut options, &name);
        let request = request.map_err(|error| shared.error(error).with_tool(&name))?;
        let call = ToolCall::new(Arc::clone(&name), request, options);
        let send = |state: &mut _, calls: &mut Calls<'_>, now| call.send_now(state, calls, now);
        let pending = Pending::begin(shared, callbacks, send).map_err(|error| error.with_tool(&name))?;
        Ok(pending.of_tool(name))
    }
}

impl<'c, R> IntoFuture for Call<'c, R> {
    type Output = Result<CallToolResult, Error>;
    type IntoFuture = CallFuture<'c, R, CallTool>;

    fn into_future(self) -> Self::IntoFuture {
        self.send()
    }
}

/// The future of a tool call. Returned by [`Call::send`] and [`Call::raw`]. The first poll sends the call. Dropping the future
/// before its end cancels the call.
#[must_use = "a call is sent when it is awaited"]
pub struct CallFuture<'c, R, M: Method> {
    client: McpClient<R>,
    name: Arc<str>,
    callbacks: ReportCallbacks<'c>,
    /// Checks the result against the output schema of the tool. Does nothing for [`Call::raw`].
    check: CheckOutput<M::Result>,
    stage: Stage<M>,
}

enum Stage<M: Method> {
    New { request: Result<Prepared<CallTool>, SendError>, options: RequestOptions },
    Running { call: ToolCall<M>, runner: OperationRunner },
    Done,
}

impl<'c, R, M: Method> CallFuture<'c, R, M> {
    fn new(call: Call<'c, R>) -> Self {
        let Call { client, name, request, options, callbacks } = call;
        CallFuture { client, name, callbacks, check: |_, _, _| Ok(()), stage: Stage::New { request, options } }
    }
}

impl<R, M: Method> Future for CallFuture<'_, R, M> {
    type Output = Result<M::Result, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let shared = &this.client.connection;
        if matches!(this.stage, Stage::New { .. })
            && let Stage::New { request, mut options } = mem::replace(&mut this.stage, Stage::Done)
        {
            shared.context.add_caller_context(&mut options, &this.name);
            let request = request.map_err(|error| shared.error(error).with_tool(&this.name))?;
            let call = ToolCall::new(Arc::clone(&this.name), request.with_method(), options);
            let runner = OperationRunner::new(!this.callbacks.is_empty());
            this.stage = Stage::Running { call, runner };
        }
        let Stage::Running { call, runner } = &mut this.stage else { return Poll::Pending };
        let callbacks = &mut this.callbacks;
        let result = ready!(runner.poll(shared, call, cx, &mut |report| callbacks.call(report)));
        this.stage = Stage::Done;
        let result = result.map_err(|error| error.with_tool(&this.name))?;
        Poll::Ready((this.check)(shared, &this.name, &result).map(|()| result))
    }
}

// No field is structurally pinned, so the future may be moved after it was polled.
impl<R, M: Method> Unpin for CallFuture<'_, R, M> {}

impl<R, M: Method> fmt::Debug for CallFuture<'_, R, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallFuture").field("tool", &self.name).finish_non_exhaustive()
    }
}
