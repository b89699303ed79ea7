//! [`Pending`]: a request that was sent, as a future that resolves to the result.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use mcpwire_client::{Error, ReportCallbacks};
use mcpwire_core::internal::{ClientState, RequestError};
use mcpwire_core::{CallError, CallTool, Calls, Method, Notification, Reply, RequestKey, Ticket, Timestamp};

use crate::connection::{CheckOutput, ConnectionRef, Shared};

/// A request that was sent, as a future that resolves to the result. Created by [`McpClient::begin`](crate::McpClient::begin) and
/// [`Call::begin`](crate::Call::begin).
///
/// The future is `'static`, so it can be spawned, for example in a `JoinSet`. It keeps the connection alive. While it is polled,
/// it calls the callbacks of a tool call.
///
/// # Cancel safety
/// Dropping the future before its end cancels the request, and notifies the server. In a loop with `select!`, poll the future by
/// reference: `result = &mut pending => ..`.
#[must_use = "a request that is dropped is cancelled"]
pub struct Pending<M: Method> {
    reply: PendingReply,
    ticket: Ticket<M>,
    /// The name of the tool that the request calls, for errors. `None` for a request that was sent by `McpClient::begin`.
    tool: Option<Arc<str>>,
    /// The progress and status callbacks of a tool call. They are called when this future is polled.
    callbacks: ReportCallbacks<'static>,
    /// Checks the result of a tool call against the output schema of the tool. Does nothing for other requests.
    check: CheckOutput<M::Result>,
}

impl<M: Method> Pending<M> {
    /// Sends a request by calling `send` under the lock, and registers its caller.
    pub(crate) fn begin(
        connection: &ConnectionRef,
        callbacks: ReportCallbacks<'static>,
        send: impl FnOnce(&mut ClientState, &mut Calls<'_>, Timestamp) -> Result<Ticket<M>, RequestError>,
    ) -> Result<Self, Error> {
        let result = connection.with_state(|state, now| {
            let ticket = send(&mut state.connection.client, &mut state.engine.calls(), now)?;
            state.add_caller(ticket.key(), !callbacks.is_empty(), None);
            Ok(ticket)
        });
        let ticket = result.map_err(|error: RequestError| connection.error(error))?;
        let reply = PendingReply::new(connection, ticket.key());
        Ok(Pending { reply, ticket, tool: None, callbacks, check: |_, _, _| Ok(()) })
    }

    /// Converts the error of the request, and adds the name of the tool.
    #[cold]
    fn error(&self, error: CallError) -> Error {
        let error = self.reply.connection.error(error);
        match &self.tool {
            Some(tool) => error.with_tool(tool),
            None => error,
        }
    }

    /// Returns the key of the request. The progress notifications of the request contain the same key.
    pub fn key(&self) -> RequestKey {
        self.ticket.key()
    }

    /// Cancels the request, and notifies the server with `reason`. Dropping the future does the same, without a specific reason.
    pub fn cancel(mut self, reason: &str) {
        self.reply.cancel(reason);
    }
}

impl Pending<CallTool> {
    /// Sets the name of the tool that the request calls. Errors then contain the name, and the result is checked against the
    /// tool's output schema.
    pub(crate) fn of_tool(mut self, tool: Arc<str>) -> Self {
        self.tool = Some(tool);
        self.check = Shared::check_output;
        self
    }
}

impl<M: Method> Future for Pending<M> {
    type Output = Result<M::Result, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let callbacks = &mut this.callbacks;
        this.reply.poll(cx, &mut |report| callbacks.call(report)).map(|reply| {
            // The reply is decoded here, in the caller's task and without the lock.
            let result = this.ticket.decode(reply).map_err(|error| this.error(error))?;
            let tool = this.tool.as_deref().unwrap_or_default();
            (this.check)(&this.reply.connection, tool, &result).map(|()| result)
        })
    }
}

impl<M: Method> Unpin for Pending<M> {}

impl<M: Method> fmt::Debug for Pending<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").field("method", &M::NAME).field("ticket", &self.ticket).finish_non_exhaustive()
    }
}

/// A request whose reply has not been taken yet. Dropping this value before the reply has arrived cancels the request.
///
/// It has no type parameter, so that it is compiled once for all methods.
pub(crate) struct PendingReply {
    connection: ConnectionRef,
    key: RequestKey,
    is_done: bool,
}

impl PendingReply {
    /// Creates the value for a request that was sent. The caller must have called
    /// [`State::add_caller`](crate::locked_state::State::add_caller) for the same key.
    pub(crate) fn new(connection: &ConnectionRef, key: RequestKey) -> Self {
        PendingReply { connection: connection.clone(), key, is_done: false }
    }

    /// Polls for the reply, and calls `on_report` with the reports that have arrived. Must not be called again after it was
    /// ready: it would return `Pending` forever.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>, on_report: &mut dyn FnMut(&Notification)) -> Poll<Reply> {
        // This is a separate statement, so that the lock is released before the callbacks run.
        let (reply, reports) = self.connection.lock().poll_reply(self.key, cx);
        self.is_done = reply.is_ready();
        reports.iter().for_each(on_report);
        reply
    }

    /// Cancels the request, unless its reply has arrived.
    fn cancel(&mut self, reason: &str) {
        if !self.is_done {
            self.is_done = true;
            self.connection.with_state(|state, now| {
                state.engine.calls().cancel(self.key, Some(reason), now);
                state.remove_caller(self.key);
            });
        }
    }
}

impl Drop for PendingReply {
    fn drop(&mut self) {
        self.cancel("no longer needed");
    }
}
