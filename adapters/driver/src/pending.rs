//! [`Pending`]: a request that was sent and has no result yet.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use mcpwire_client::Error;
use mcpwire_core::internal::{ClientState, RequestError};
use mcpwire_core::{CallError, Calls, Method, Notification, Reply, RequestKey, Ticket, Timestamp};

use crate::shared::ConnectionRef;
use crate::state::SlotPoll;

/// The buffers of replies of at least this size are reused.
const LARGE: usize = 64 * 1024;

/// A request that was sent, and whose result was not taken yet: a future of the result. Made by
/// [`McpClient::begin`](crate::McpClient::begin).
///
/// The future is `'static`, so it can be spawned, for example in a `JoinSet`. It keeps the connection alive. If it is
/// dropped, the request is cancelled.
#[must_use = "a request that is dropped is cancelled"]
pub struct Pending<M: Method> {
    reply: PendingReply,
    ticket: Ticket<M>,
    /// The tool that the request calls, for errors. `None` for other requests, and for calls that do not name their tool.
    tool: Option<Box<str>>,
}

impl<M: Method> Pending<M> {
    /// Sends a request by `send`, which is called under the lock.
    pub(crate) fn begin(
        connection: &ConnectionRef,
        send: impl FnOnce(&mut ClientState, &mut Calls<'_>, Timestamp) -> Result<Ticket<M>, RequestError>,
    ) -> Result<Self, Error> {
        let shared = connection.shared();
        let now = shared.clock.now();
        let result = shared.with_state(|state| {
            let ticket = send(&mut state.record.client, &mut state.engine.calls(), now)?;
            state.expect(ticket.key(), false);
            Ok(ticket)
        });
        let ticket = result.map_err(|error| shared.request_error(error))?;
        Ok(Pending { reply: PendingReply::new(connection, ticket.key()), ticket, tool: None })
    }

    /// Sets the tool that the request calls.
    pub(crate) fn of_tool(mut self, tool: &str) -> Self {
        self.tool = Some(tool.into());
        self
    }

    /// Returns the error of the request.
    #[cold]
    fn error(&self, error: CallError) -> Error {
        let error = self.reply.connection.shared().call_error(error);
        match &self.tool {
            Some(tool) => error.with_tool(tool),
            None => error,
        }
    }

    /// Returns the key of the request, which its progress notifications contain.
    pub fn key(&self) -> RequestKey {
        self.ticket.key()
    }

    /// Cancels the request. The server receives the reason.
    pub fn cancel(mut self, reason: &str) {
        self.reply.cancel(reason);
    }
}

impl<M: Method> Future for Pending<M> {
    type Output = Result<M::Result, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.reply.poll(cx, &mut |_| {}).map(|reply| {
            let Some(mut reply) = reply else { return Err(self.reply.connection.shared().lost()) };
            // The reply is decoded in the caller's task, outside of the lock.
            let result = self.ticket.decode_mut(&mut reply);
            self.reply.give_back(reply);
            result.map_err(|error| self.error(error))
        })
    }
}

impl<M: Method> Unpin for Pending<M> {}

impl<M: Method> fmt::Debug for Pending<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").field("method", &M::NAME).field("ticket", &self.ticket).finish_non_exhaustive()
    }
}

/// The reply to a request of any method. If it is dropped before the reply has arrived, the request is cancelled.
///
/// It has no type parameter, so it is compiled once and not for each method.
pub(crate) struct PendingReply {
    connection: ConnectionRef,
    key: RequestKey,
    is_done: bool,
}

impl PendingReply {
    /// Waits for the reply to a request that was sent, and for which the state has a slot.
    pub(crate) fn new(connection: &ConnectionRef, key: RequestKey) -> Self {
        PendingReply { connection: connection.clone(), key, is_done: false }
    }

    /// Returns the reply, or `None` if the connection does not know the request.
    pub(crate) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        on_report: &mut dyn FnMut(&Notification),
    ) -> Poll<Option<Reply>> {
        // A statement of its own, so that callbacks run and wakers are dropped without the lock.
        let poll = self.connection.shared().lock().poll_slot(self.key, cx);
        let (reports, unused_waker, reply) = match poll {
            SlotPoll::Pending { reports, unused_waker } => (reports, unused_waker, Poll::Pending),
            SlotPoll::Reply { reports, reply, unused_waker } => (reports, unused_waker, Poll::Ready(Some(reply))),
            SlotPoll::Unknown => (VecDeque::new(), None, Poll::Ready(None)),
        };
        self.is_done = reply.is_ready();
        drop(unused_waker);
        reports.iter().for_each(on_report);
        reply
    }

    /// Lets the engine reuse the buffer of a large reply that was decoded.
    pub(crate) fn give_back(&self, reply: Reply) {
        if reply.message().is_some_and(|message| message.len() >= LARGE) {
            self.connection.shared().lock().engine.recycle(reply);
        }
    }

    /// Cancels the request, unless its reply was taken.
    fn cancel(&mut self, reason: &str) {
        if !self.is_done {
            self.is_done = true;
            let shared = self.connection.shared();
            let now = shared.clock.now();
            drop(shared.with_state(|state| state.cancel(self.key, reason, now)));
        }
    }
}

impl Drop for PendingReply {
    fn drop(&mut self) {
        self.cancel("no longer needed");
    }
}
