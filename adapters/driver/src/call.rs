//! [`Call`]: builds a tool call with options, and sends it.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use mcpwire_client::{Error, ReportCallbacks};
use mcpwire_core::internal::{Prepared, ToolCall};
use mcpwire_core::{
    CallError, CallTool, CallToolAsTask, CallToolOutcome, CallToolParams, CallToolRaw, CallToolResult, Calls, Json,
    Method, Progress, RequestOptions, SendError, Task, TaskMode,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::client::McpClient;
use crate::connection::{CheckOutput, Shared};
use crate::operation::OperationRunner;
use crate::pending::Pending;
use crate::tasks::TaskOrResult;

/// A tool call that was not sent yet. Created by [`McpClient::call_tool`]. Awaiting it sends the call.
///
/// A call owns its client, the name of the tool and the serialized arguments. It borrows only its callbacks: without callbacks
/// that borrow, the future that [`Call::send`] returns is `'static` and can be spawned, whatever the name and the arguments
/// were borrowed from: `set.spawn(client.call_tool(&name, &arguments).send())`.
#[must_use = "a call is sent when it is awaited"]
pub struct Call<'c, R> {
    client: McpClient<R>,
    name: Arc<str>,
    /// The serialized name and arguments, or why they could not be serialized.
    request: Result<Prepared<CallTool>, SendError>,
    options: RequestOptions,
    callbacks: ReportCallbacks<'c>,
}

impl<'c, R> Call<'c, R> {
    pub(crate) fn new(client: McpClient<R>, name: &str, arguments: &impl Serialize) -> Self {
        let request = Prepared::new(&CallToolParams { name, arguments });
        let options = RequestOptions::new();
        Call { client, name: name.into(), request, options, callbacks: ReportCallbacks::default() }
    }

    /// Replaces all options of the request. Callbacks are not replaced.
    pub fn options(mut self, options: RequestOptions) -> Self {
        let wants_progress = self.callbacks.on_progress.is_some();
        self.options = if wants_progress { options.progress() } else { options };
        self
    }

    /// Sets the maximum time without a response or progress.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options = self.options.timeout(timeout);
        self
    }

    /// Sets the maximum total duration of the call, regardless of progress.
    pub fn total_timeout(mut self, timeout: Duration) -> Self {
        self.options = self.options.total_timeout(timeout);
        self
    }

    /// Requests progress notifications, and calls `f` with each. Each notification restarts the timeout.
    ///
    /// The task that awaits the call calls `f`.
    #[doc(alias = "notifications/progress")]
    pub fn on_progress(mut self, f: impl FnMut(&Progress) + Send + 'c) -> Self {
        self.options = self.options.progress();
        self.callbacks.on_progress = Some(Box::new(f));
        self
    }

    /// Calls `f` whenever the status of the task changes, if the server executes the call as a task.
    ///
    /// The task of this program that awaits the call calls `f`.
    #[doc(alias = "notifications/tasks/status")]
    pub fn on_status(mut self, f: impl FnMut(&Task) + Send + 'c) -> Self {
        self.callbacks.on_status = Some(Box::new(f));
        self
    }

    /// Allows the server to execute the call as a task, and waits for the result of the task.
    ///
    /// In revision 2025-11-25, the client requests a task if the tool supports tasks. Use [`Call::as_task`] to get the task itself.
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

    /// Sends the call again if the server ends the HTTP session before it responds. The server may then execute the call
    /// twice.
    pub fn repeatable(mut self) -> Self {
        self.options = self.options.repeatable();
        self
    }

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

    /// Sends the call, and decodes the structured content of its result.
    ///
    /// # Errors
    /// In addition to the errors of a call: [`CallError::Structured`] if the tool failed, or if the structured content
    /// is missing or does not match `T`.
    #[doc(alias = "structuredContent")]
    pub async fn structured<T: DeserializeOwned>(self) -> Result<T, Error> {
        let (client, tool) = (self.client.clone(), Arc::clone(&self.name));
        let result = self.send().await?;
        result
            .structured()
            .map_err(|error| client.call_error(CallError::Structured { error: error.of_tool(&*tool).into() }))
    }

    /// Sends the call, and returns its result as the JSON that the server sent.
    pub fn raw(self) -> CallFuture<'c, R, CallToolRaw> {
        CallFuture::new(self)
    }

    /// Sends the call, and returns the task that the server creates, or the result if the server creates none.
    ///
    /// The callbacks are called until the server responds. [`RunningTask::wait_with`](crate::RunningTask::wait_with) reports the
    /// status of the task.
    pub async fn as_task(mut self) -> Result<TaskOrResult<R>, Error> {
        let (client, tool) = (self.client.clone(), Arc::clone(&self.name));
        self.options = self.options.task(TaskMode::Handle);
        Ok(match CallFuture::<R, CallToolAsTask>::new(self).await? {
            CallToolOutcome::Done(result) => {
                client.connection().shared().check_output(&tool, &result)?;
                TaskOrResult::Done(Box::new(result))
            }
            CallToolOutcome::Task(created) => TaskOrResult::Task(client.task(created.handle())),
        })
    }
}

impl<R> Call<'static, R> {
    /// Sends the call without waiting for its result.
    ///
    /// Unlike [`Call::send`], this does not request the list of tools, so a tool that requires a task must be in the loaded
    /// list.
    ///
    /// The callbacks must be `'static`, because the returned [`Pending`] keeps them. It calls them when it is polled.
    ///
    /// # Errors
    /// If the arguments do not serialize to a JSON object or a list of pairs, or if the call cannot be sent.
    pub fn begin(self) -> Result<Pending<CallTool>, Error> {
        let Call { client, name, request, mut options, callbacks } = self;
        let shared = client.connection().shared();
        shared.add_caller_context(&mut options, &name);
        let request = request.map_err(|error| shared.not_sent_error(error).with_tool(&name))?;
        let call = ToolCall::new(Arc::clone(&name), request, options);
        let send = |state: &mut _, calls: &mut Calls<'_>, now| call.send_now(state, calls, now);
        match Pending::begin(client.connection(), callbacks, send) {
            Ok(pending) => Ok(pending.of_tool(name).checked()),
            Err(error) => Err(error.with_tool(&name)),
        }
    }
}

impl<'c, R> IntoFuture for Call<'c, R> {
    type Output = Result<CallToolResult, Error>;
    type IntoFuture = CallFuture<'c, R, CallTool>;

    fn into_future(self) -> Self::IntoFuture {
        self.send()
    }
}

/// The future of a tool call. The first poll sends the call. Dropping the future before its end cancels the call.
#[must_use = "a call is sent when it is awaited"]
pub struct CallFuture<'c, R, M: Method> {
    client: McpClient<R>,
    name: Arc<str>,
    callbacks: ReportCallbacks<'c>,
    /// Checks the result against the output schema of the tool.
    check: CheckOutput<M::Result>,
    stage: Stage<M>,
}

enum Stage<M: Method> {
    New { request: Result<Prepared<CallTool>, SendError>, options: RequestOptions },
    Running { call: ToolCall<M, Prepared<M>>, runner: OperationRunner },
    Done,
}

impl<'c, R, M: Method> CallFuture<'c, R, M> {
    fn new(call: Call<'c, R>) -> Self {
        let Call { client, name, request, options, callbacks } = call;
        CallFuture { client, name, callbacks, check: |_, _, _| Ok(()), stage: Stage::New { request, options } }
    }

    fn poll_call(&mut self, cx: &mut Context<'_>) -> Poll<Result<M::Result, Error>> {
        let Stage::Running { call, runner } = &mut self.stage else { return Poll::Pending };
        let callbacks = &mut self.callbacks;
        let result = runner.poll(self.client.connection(), call, cx, &mut |report| callbacks.call(report));
        match result {
            Poll::Ready(Ok(result)) => {
                let checked = (self.check)(self.client.connection().shared(), &self.name, &result);
                Poll::Ready(checked.map(|()| result))
            }
            result => result.map_err(|error| error.with_tool(&self.name)),
        }
    }
}

impl<R, M: Method> Future for CallFuture<'_, R, M> {
    type Output = Result<M::Result, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        if matches!(this.stage, Stage::New { .. })
            && let Stage::New { request, mut options } = mem::replace(&mut this.stage, Stage::Done)
        {
            let shared = this.client.connection().shared();
            shared.add_caller_context(&mut options, &this.name);
            let request = request.map_err(|error| shared.not_sent_error(error).with_tool(&this.name))?;
            let call = ToolCall::new(Arc::clone(&this.name), request.with_method(), options);
            let runner = OperationRunner::new(!this.callbacks.is_empty());
            this.stage = Stage::Running { call, runner };
        }
        let result = this.poll_call(cx);
        if result.is_ready() {
            this.stage = Stage::Done;
        }
        result
    }
}

// No field is structurally pinned.
impl<R, M: Method> Unpin for CallFuture<'_, R, M> {}

impl<R> fmt::Debug for Call<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("tool", &self.name).field("options", &self.options).finish_non_exhaustive()
    }
}

impl<R, M: Method> fmt::Debug for CallFuture<'_, R, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallFuture").field("tool", &self.name).finish_non_exhaustive()
    }
}
