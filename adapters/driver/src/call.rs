//! [`Call`]: the call of a tool, with what it may have of its own.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use mcpwire_core::{
    CallError, CallTool, CallToolParams, CallToolRaw, CallToolResult, Json, Method, Params, Progress, RequestOptions,
};
use mcpwire_process::Error;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::client::McpClient;
use crate::pending::Pending;

type OnProgress<'c> = Box<dyn FnMut(&Progress) + Send + 'c>;

/// A call of a tool that has not been sent yet. Made by [`McpClient::call_tool`]; awaited, it is sent.
#[must_use = "a call is sent when it is awaited"]
pub struct Call<'c, R, A> {
    client: &'c McpClient<R>,
    name: &'c str,
    arguments: A,
    options: RequestOptions,
    on_progress: Option<OnProgress<'c>>,
}

impl<'c, R, A: Serialize> Call<'c, R, A> {
    pub(crate) fn new(client: &'c McpClient<R>, name: &'c str, arguments: A) -> Self {
        Call { client, name, arguments, options: RequestOptions::new(), on_progress: None }
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

    /// Sets members of the request's `_meta`: an object.
    pub fn meta(mut self, meta: Json) -> Self {
        self.options = self.options.meta(meta);
        self
    }

    /// The call's future: the same as awaiting the call itself.
    pub fn call(self) -> Calling<'c, R, CallTool, A> {
        Calling::new(self)
    }

    /// Sends the call and waits for its result, of which the structured content is read into a type of the caller's.
    ///
    /// # Errors
    /// Also if the result has no structured content, or another than was expected
    /// ([`CallError::Structured`]).
    pub async fn structured<T: DeserializeOwned>(self) -> Result<T, Error> {
        let (client, tool) = (self.client, self.name);
        let result = self.call().await?;
        result.structured().map_err(|error| client.call_error(CallError::Structured { error: error.of_tool(tool) }))
    }

    /// The call's future, with the result as the JSON that the server sent.
    pub fn raw(self) -> Calling<'c, R, CallToolRaw, A> {
        Calling::new(self)
    }
}

impl<'c, R, A: Serialize> IntoFuture for Call<'c, R, A> {
    type Output = Result<CallToolResult, Error>;
    type IntoFuture = Calling<'c, R, CallTool, A>;

    fn into_future(self) -> Self::IntoFuture {
        self.call()
    }
}

/// A call as a future. It is sent when it is first polled, and cancelled when it is dropped before its end.
#[must_use = "a call is sent when it is awaited"]
pub struct Calling<'c, R, M: Method, A> {
    client: &'c McpClient<R>,
    name: &'c str,
    on_progress: Option<OnProgress<'c>>,
    stage: Stage<'c, M, A>,
}

enum Stage<'c, M: Method, A> {
    New {
        arguments: A,
        options: RequestOptions,
    },
    Waiting(Pending<M>),
    /// The server's list of tools is looked at, to tell what its error means.
    Explaining(Pin<Box<dyn Future<Output = Error> + Send + 'c>>),
    Done,
}

impl<'c, R, M: Method, A> Calling<'c, R, M, A> {
    fn new(call: Call<'c, R, A>) -> Self {
        let Call { client, name, arguments, options, on_progress } = call;
        Calling { client, name, on_progress, stage: Stage::New { arguments, options } }
    }
}

impl<R, M, A> Future for Calling<'_, R, M, A>
where
    M: Method,
    A: Serialize,
    for<'a> CallToolParams<'a, A>: Params<M>,
{
    type Output = Result<M::Result, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        loop {
            match &mut this.stage {
                Stage::New { .. } => {
                    let Stage::New { arguments, options } = mem::replace(&mut this.stage, Stage::Done) else {
                        continue;
                    };
                    if this.client.lacks(this.name) {
                        let error = CallError::ToolNotFound { tool: this.name.into(), error: None };
                        return Poll::Ready(Err(this.client.call_error(error)));
                    }
                    let params = CallToolParams { name: this.name, arguments: &arguments };
                    this.stage = Stage::Waiting(this.client.begin::<M>(&params, &options)?);
                }
                Stage::Waiting(pending) => {
                    let result = match &mut this.on_progress {
                        Some(on_progress) => pending.poll_with(cx, on_progress),
                        None => pending.poll_with(cx, &mut |_| {}),
                    };
                    let Poll::Ready(result) = result else { return Poll::Pending };
                    this.stage = Stage::Done;
                    let error = match result {
                        Ok(result) => return Poll::Ready(Ok(result)),
                        Err(error) => error,
                    };
                    let (client, tool) = (this.client, this.name);
                    this.stage = Stage::Explaining(client.explain(tool, error));
                }
                Stage::Explaining(explaining) => {
                    let Poll::Ready(error) = explaining.as_mut().poll(cx) else { return Poll::Pending };
                    this.stage = Stage::Done;
                    return Poll::Ready(Err(error));
                }
                // As futures do that are polled after their end.
                Stage::Done => return Poll::Pending,
            }
        }
    }
}

// Nothing in it is pinned.
impl<R, M: Method, A> Unpin for Calling<'_, R, M, A> {}

impl<R, A> fmt::Debug for Call<'_, R, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("tool", &self.name).field("options", &self.options).finish_non_exhaustive()
    }
}

impl<R, M: Method, A> fmt::Debug for Calling<'_, R, M, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Calling").field("tool", &self.name).finish_non_exhaustive()
    }
}
