//! [`Pending`]: a request that was sent, and whose result nobody has waited for yet.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use mcpwire_client::Error;
use mcpwire_core::{Method, RequestKey, SubscriptionKey, Ticket};

use crate::client::McpClient;

/// The requests and subscriptions whose handles were dropped, for the client to cancel.
#[derive(Clone, Debug, Default)]
pub(crate) struct DroppedHandles(Arc<Mutex<Vec<DroppedHandle>>>);

#[derive(Clone, Copy, Debug)]
pub(crate) enum DroppedHandle {
    Request(RequestKey),
    Subscription(SubscriptionKey),
}

impl DroppedHandles {
    pub(crate) fn push(&self, handle: DroppedHandle) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(handle);
    }

    pub(crate) fn take(&self) -> Vec<DroppedHandle> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A request that was sent, and whose result was not taken yet. Made by [`McpClient::begin`].
///
/// If it is dropped, the request is cancelled; the server is notified when the client is used the next time.
#[must_use = "a request that is dropped is cancelled"]
pub struct Pending<M: Method> {
    ticket: Ticket<M>,
    dropped: DroppedHandles,
    is_done: bool,
}

impl<M: Method> Pending<M> {
    pub(crate) fn new(ticket: Ticket<M>, client: &mut McpClient) -> Self {
        client.connection.expect(ticket.key());
        Pending { ticket, dropped: client.dropped.clone(), is_done: false }
    }

    /// Returns the key of the request, which its progress notifications contain.
    pub fn key(&self) -> RequestKey {
        self.ticket.key()
    }

    /// Waits for the result. `client` is the one that sent the request.
    ///
    /// # Errors
    /// If the request fails, or the wait is cancelled by a [`Canceller`](crate::Canceller).
    pub fn wait(mut self, client: &mut McpClient) -> Result<M::Result, Error> {
        self.is_done = true;
        client.wait(self.ticket, &mut |_| {})
    }

    /// Cancels the request. The server receives the reason.
    pub fn cancel(mut self, client: &mut McpClient, reason: &str) {
        self.is_done = true;
        client.connection.cancel(self.ticket.key(), reason);
    }
}

impl<M: Method> Drop for Pending<M> {
    fn drop(&mut self) {
        if !self.is_done {
            self.dropped.push(DroppedHandle::Request(self.ticket.key()));
        }
    }
}

impl<M: Method> fmt::Debug for Pending<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").field("method", &M::NAME).field("ticket", &self.ticket).finish_non_exhaustive()
    }
}
