//! [`Pending`]: the future of the result of a request that was sent.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use mcpwire_client::{Error, ReportCallbacks};
use mcpwire_core::internal::{ClientState, RequestError};
use mcpwire_core::{CallError, CallTool, Calls, Method, Notification, Reply, RequestKey, Ticket, Timestamp};

use crate::connection::{CheckOutput, ConnectionRef, Shared};

/// The future of the result of a request that was sent. Created by [`McpClient::begin`](crate::McpClient::begin).
///
/// The future is `'static`, so it can be spawned, for example in a `JoinSet`. It keeps the connection alive, and calls the
/// callbacks of a tool call when it is polled.
///
/// # Cancel safety
/// Dropping it before its end cancels the request, and notifies the server. In a loop with `select!`, poll it by reference:
/// `result = &mut pending => ..`.
#[must_use = "a request that is dropped is cancelled"]
pub struct Pending<M: Method> {
    reply: PendingReply,
    ticket: Ticket<M>,
    /// The tool that the request calls, for errors. `None` for other requests, and for calls that do not name their tool.
    tool: Option<Arc<str>>,
    /// The callbacks of a tool call, called when this future is polled.
    callbacks: ReportCallbacks<'static>,
    /// Checks the result against the output schema of the tool.
    check: CheckOutput<M::Result>,
}

impl<M: Method> Pending<M> {
    /// Sends a request by calling `send` under the lock.
    pub(crate) fn begin(
        connection: &ConnectionRef,
        callbacks: ReportCallbacks<'static>,
        send: impl FnOnce(&mut ClientState, &mut Calls<'_>, Timestamp) -> Result<Ticket<M>, RequestError>,
    ) -> Result<Self, Error> {
        let result = connection.with_state(|state, now| {
            let ticket = send(&mut state.connection.client, &mut state.engine.calls(), now)?;
            state.add_caller(ticket.key(), !callbacks.is_empty());
            Ok(ticket)
        });
        let ticket = result.map_err(|error: RequestError| connection.error(error))?;
        let reply = PendingReply::new(connection, ticket.key());
        Ok(Pending { reply, ticket, tool: None, callbacks, check: |_, _, _| Ok(()) })
    }

    /// Returns the error of the request.
    #[cold]
    fn error(&self, error: CallError) -> Error {
        let error = self.reply.connection.error(error);
        match &self.tool {
            Some(tool) => error.with_tool(tool),
            None => error,
        }
    }

    /// Returns the key of the request. Its progress notifications contain the same key.
    pub fn key(&self) -> RequestKey {
        self.ticket.key()
    }

    /// Cancels the request. The server receives the reason.
    pub fn cancel(mut self, reason: &str) {
        self.reply.cancel(reason);
    }
}

impl Pending<CallTool> {
    /// Sets the tool that the request calls. The result is checked against the output schema of the tool.
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
            // Decodes the reply in the caller's task, without holding the lock.
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

/// Waits for the reply to a request. Dropping this value before the reply has arrived cancels the request.
///
/// Without a type parameter, so that it is compiled once for all methods.
pub(crate) struct PendingReply {
    connection: ConnectionRef,
    key: RequestKey,
    is_done: bool,
}

impl PendingReply {
    /// Waits for the reply to a request that was sent. [`State::add_caller`](crate::locked_state::State::add_caller) must have been
    /// called.
    pub(crate) fn new(connection: &ConnectionRef, key: RequestKey) -> Self {
        PendingReply { connection: connection.clone(), key, is_done: false }
    }

    /// Polls for the reply. Never ready again after it was ready.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>, on_report: &mut dyn FnMut(&Notification)) -> Poll<Reply> {
        // A separate statement, so that the lock is released before callbacks run.
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
