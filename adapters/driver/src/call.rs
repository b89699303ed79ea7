//! [`Call`]: the call of a tool, with what it may have of its own.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use mcpwire_client::Error;
use mcpwire_core::internal::{Prepared, ToolCall};
use mcpwire_core::{
    CallError, CallTool, CallToolAsTask, CallToolOutcome, CallToolParams, CallToolRaw, CallToolResult, Json, Method,
    Notification, Params, Progress, RequestOptions, SendError, Task, TaskMode,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::client::McpClient;
use crate::pending::{Sent, Turn};
use crate::tasks::TaskOrResult;

type OnReport<'c, T> = Box<dyn FnMut(&T) + Send + 'c>;

/// A call of a tool that has not been sent yet. Made by [`McpClient::call_tool`]; awaited, it is sent.
#[must_use = "a call is sent when it is awaited"]
pub struct Call<'c, R, A> {
    client: &'c McpClient<R>,
    name: &'c str,
    arguments: A,
    options: RequestOptions,
    on_progress: Option<OnReport<'c, Progress>>,
    on_status: Option<OnReport<'c, Task>>,
}

impl<'c, R, A: Serialize> Call<'c, R, A> {
    pub(crate) fn new(client: &'c McpClient<R>, name: &'c str, arguments: A) -> Self {
        let options = RequestOptions::new();
        Call { client, name, arguments, options, on_progress: None, on_status: None }
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

    /// Asks the server to report progress, and says who is told: by the task that awaits the call. Reports put off the
    /// timeout.
    pub fn on_progress(mut self, f: impl FnMut(&Progress) + Send + 'c) -> Self {
        self.options = self.options.progress();
        self.on_progress = Some(Box::new(f));
        self
    }

    /// Says who is told how the task stands that the call has become, whenever that has changed: by the task that awaits the
    /// call.
    pub fn on_status(mut self, f: impl FnMut(&Task) + Send + 'c) -> Self {
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

    /// Sends the call, and gives the task that the server makes of it, or the result if it makes none. Who is told of
    /// progress is of no interest here.
    pub async fn as_task(mut self) -> Result<TaskOrResult<R>, Error> {
        let client = self.client;
        self.options = self.options.task(TaskMode::Handle);
        Ok(match CallFuture::<R, CallToolAsTask, A>::new(self).await? {
            CallToolOutcome::Done(result) => TaskOrResult::Done(Box::new(result)),
            CallToolOutcome::Task(created) => TaskOrResult::Task(client.task(created.handle())),
        })
    }

    /// The call's future: the same as awaiting the call itself.
    pub fn call(self) -> CallFuture<'c, R, CallTool, A> {
        CallFuture::new(self)
    }

    /// Sends the call and waits for its result, of which the structured content is read into a type of the caller's.
    ///
    /// # Errors
    /// Also if the result has no structured content, or another than was expected
    /// ([`CallError::Structured`]).
    pub async fn structured<T: DeserializeOwned>(self) -> Result<T, Error> {
        let (client, tool) = (self.client, self.name);
        let result = self.call().await?;
        result
            .structured()
            .map_err(|error| client.call_error(CallError::Structured { error: error.of_tool(tool).into() }))
    }

    /// The call's future, with the result as the JSON that the server sent.
    pub fn raw(self) -> CallFuture<'c, R, CallToolRaw, A> {
        CallFuture::new(self)
    }
}

impl<'c, R, A: Serialize> IntoFuture for Call<'c, R, A> {
    type Output = Result<CallToolResult, Error>;
    type IntoFuture = CallFuture<'c, R, CallTool, A>;

    fn into_future(self) -> Self::IntoFuture {
        self.call()
    }
}

/// A call as a future. It is sent when it is first polled, and cancelled when it is dropped before its end.
#[must_use = "a call is sent when it is awaited"]
pub struct CallFuture<'c, R, M: Method, A> {
    client: &'c McpClient<R>,
    name: &'c str,
    on_progress: Option<OnReport<'c, Progress>>,
    on_status: Option<OnReport<'c, Task>>,
    stage: Stage<'c, M, A>,
}

#[expect(
    clippy::large_enum_variant,
    reason = "it lives in the future of one call, which is in that stage for most of its life"
)]
enum Stage<'c, M: Method, A> {
    New {
        arguments: A,
        options: RequestOptions,
    },
    Running {
        call: ToolCall<'c, M>,
        /// Until it is sent.
        params: Option<Prepared<M>>,
        /// The request that is waited for.
        sent: Option<Sent>,
    },
    Done,
}

impl<'c, R, M: Method, A> CallFuture<'c, R, M, A> {
    fn new(call: Call<'c, R, A>) -> Self {
        let Call { client, name, arguments, options, on_progress, on_status } = call;
        CallFuture { client, name, on_progress, on_status, stage: Stage::New { arguments, options } }
    }

    fn poll_call(&mut self, cx: &mut Context<'_>) -> Poll<Result<M::Result, Error>> {
        let Stage::Running { call, params, sent } = &mut self.stage else { return Poll::Pending };
        let life = self.client.life();
        let (on_progress, on_status) = (&mut self.on_progress, &mut self.on_status);
        let wants_reports = on_progress.is_some() || on_status.is_some();
        loop {
            if let Some(waiting) = sent {
                let reply = waiting.poll(cx, &mut |report| match report {
                    Notification::Progress { progress, .. } => on_progress.iter_mut().for_each(|f| f(progress)),
                    Notification::TaskStatus { task, .. } => on_status.iter_mut().for_each(|f| f(task)),
                    _ => {}
                });
                let Poll::Ready(reply) = reply else { return Poll::Pending };
                let Some(mut reply) = reply else { return Poll::Ready(Err(waiting.lost())) };
                call.receive(&mut reply);
                waiting.give_back(reply);
                *sent = None;
                if let Some(result) = call.take_result() {
                    return Poll::Ready(Ok(result));
                }
            }
            let step = Sent::step(life, wants_reports, |tools, calls, now| {
                call.poll(tools, calls, now, |calls, options| match params.take() {
                    Some(params) => calls.send_prepared(params.request(), options, now),
                    None => Err(SendError::Closed),
                })
            });
            match step {
                Turn::Wait(waiting) => *sent = Some(waiting),
                Turn::Again => {}
                Turn::Done(result) => return Poll::Ready(result.map_err(|error| life.shared().request_error(error))),
            }
        }
    }
}

impl<R, M, A> Future for CallFuture<'_, R, M, A>
where
    M: Method,
    A: Serialize,
    for<'a> CallToolParams<'a, A>: Params<M>,
{
    type Output = Result<M::Result, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        if matches!(this.stage, Stage::New { .. })
            && let Stage::New { arguments, options } = mem::replace(&mut this.stage, Stage::Done)
        {
            // To serialise the arguments is the caller's work, and may take its time: it is done outside of the lock.
            let shared = this.client.life().shared();
            let params = Prepared::<M>::new(&CallToolParams { name: this.name, arguments: &arguments });
            let params = Some(params.map_err(|error| shared.refused(error))?);
            let call = ToolCall::new(this.name, shared.traced(&options).into_owned());
            this.stage = Stage::Running { call, params, sent: None };
        }
        let result = this.poll_call(cx);
        if result.is_ready() {
            this.stage = Stage::Done;
        }
        result
    }
}

// Nothing in it is pinned.
impl<R, M: Method, A> Unpin for CallFuture<'_, R, M, A> {}

impl<R, A> fmt::Debug for Call<'_, R, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("tool", &self.name).field("options", &self.options).finish_non_exhaustive()
    }
}

impl<R, M: Method, A> fmt::Debug for CallFuture<'_, R, M, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallFuture").field("tool", &self.name).finish_non_exhaustive()
    }
}
