//! [`Pending`]: a request that is under way.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use mcpwire_core::{CallError, Method, Progress, Reply, RequestKey, Ticket};
use mcpwire_process::Error;

use crate::shared::Life;
use crate::state::Come;

/// Replies of this size and more are worth giving back: their memory serves the next large one.
const LARGE: usize = 64 * 1024;

/// A request that has been sent: a future of its result. Dropped before its end, it is cancelled, and the server told.
///
/// It keeps the connection alive.
#[must_use = "a request that is dropped is cancelled"]
pub struct Pending<M: Method> {
    life: Arc<Life>,
    ticket: Ticket<M>,
    done: bool,
}

impl<M: Method> Pending<M> {
    pub(crate) fn new(life: &Arc<Life>, ticket: Ticket<M>) -> Self {
        Pending { life: Arc::clone(life), ticket, done: false }
    }

    /// The request's name within the connection: that of its progress among the notifications.
    pub fn key(&self) -> RequestKey {
        self.ticket.key()
    }

    /// Gives the request up. The server is told. Dropping it does the same.
    pub fn cancel(self) {}

    /// As polling the future, with the progress that has come meanwhile, if it was asked for.
    pub(crate) fn poll_with(
        &mut self,
        cx: &mut Context<'_>,
        on_progress: &mut dyn FnMut(&Progress),
    ) -> Poll<Result<M::Result, CallError>> {
        // Bound first: nothing is told, and no waker dropped, with the lock.
        let come = self.life.0.lock().take(self.ticket.key(), cx);
        match come {
            Come::Nothing { progress, former } => {
                drop(former);
                progress.iter().for_each(on_progress);
                Poll::Pending
            }
            Come::Reply { progress, reply, former } => {
                drop(former);
                self.done = true;
                progress.iter().for_each(on_progress);
                Poll::Ready(self.read(reply))
            }
            Come::Lost => {
                self.done = true;
                Poll::Ready(Err(CallError::WrongTicket { method: M::NAME.into() }))
            }
        }
    }

    /// Reads the reply, in the caller's task and without the lock.
    fn read(&self, mut reply: Reply) -> Result<M::Result, CallError> {
        let result = self.ticket.decode_mut(&mut reply);
        if reply.message().is_some_and(|message| message.len() >= LARGE) {
            self.life.0.lock().engine.recycle(reply);
        }
        result
    }
}

impl<M: Method> Future for Pending<M> {
    type Output = Result<M::Result, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let result = self.poll_with(cx, &mut |_| {});
        result.map(|result| result.map_err(|error| self.life.0.call_error(error)))
    }
}

impl<M: Method> Unpin for Pending<M> {}

impl<M: Method> Drop for Pending<M> {
    fn drop(&mut self) {
        if !self.done {
            let key = self.ticket.key();
            drop(self.life.0.tell(|state| state.give_up(key)));
        }
    }
}

impl<M: Method> fmt::Debug for Pending<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").field("method", &M::NAME).field("ticket", &self.ticket).finish_non_exhaustive()
    }
}
