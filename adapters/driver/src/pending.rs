//! [`Pending`]: a request that is under way.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use mcpwire_core::{CallError, Method, Notification, Params, Prepared, Reply, RequestKey, RequestOptions, Ticket};
use mcpwire_process::Error;

use crate::shared::Lives;
use crate::slots::Keep;
use crate::state::Come;

/// Replies of this size and more are worth giving back: their memory serves the next large one.
const LARGE: usize = 64 * 1024;

/// A request that has been sent: a future of its result. Dropped before its end, it is cancelled, and the server told.
///
/// It keeps the connection alive.
#[must_use = "a request that is dropped is cancelled"]
pub struct Pending<M: Method> {
    life: Lives,
    ticket: Ticket<M>,
    done: bool,
}

impl<M: Method> Pending<M> {
    /// Sends a request. With `reports`, what is reported about it is kept for whoever polls it.
    pub(crate) fn begin(
        life: &Lives,
        params: &impl Params<M>,
        options: &RequestOptions,
        reports: Option<Keep>,
    ) -> Result<Self, Error> {
        // What it takes to write the parameters is the caller's, and may take its time: not under the lock.
        let params = Prepared::<M>::new(params).map_err(|error| life.shared().refused(error))?;
        let options = &*life.shared().traced(options);
        let now = life.shared().clock.now();
        let ticket = life.shared().send(|state| {
            let ticket = state.engine.request_prepared(&params, options, now)?;
            state.expect(ticket.key(), reports);
            Ok(ticket)
        })?;
        Ok(Pending::new(life, ticket))
    }

    pub(crate) fn new(life: &Lives, ticket: Ticket<M>) -> Self {
        Pending { life: life.clone(), ticket, done: false }
    }

    /// The request's name within the connection: that of its progress among the notifications.
    pub fn key(&self) -> RequestKey {
        self.ticket.key()
    }

    /// Gives the request up. The server is told. Dropping it does the same.
    pub fn cancel(self) {}

    /// As polling the future, with what was reported meanwhile, if that was asked for.
    pub(crate) fn poll_with(
        &mut self,
        cx: &mut Context<'_>,
        on_report: &mut dyn FnMut(&Notification),
    ) -> Poll<Result<M::Result, CallError>> {
        let come = come(&self.life, self.ticket.key(), cx, on_report);
        self.done = come.is_ready();
        come.map(|reply| match reply {
            Some(reply) => self.read(reply),
            None => Err(CallError::WrongTicket { method: M::NAME.into() }),
        })
    }

    /// Reads the reply, in the caller's task and without the lock.
    fn read(&self, mut reply: Reply) -> Result<M::Result, CallError> {
        let result = self.ticket.decode_mut(&mut reply);
        if reply.message().is_some_and(|message| message.len() >= LARGE) {
            self.life.shared().lock().engine.recycle(reply);
        }
        result
    }
}

/// What has come for a request: its reply, or nothing if nobody knows of it.
fn come(
    life: &Lives,
    key: RequestKey,
    cx: &mut Context<'_>,
    on_report: &mut dyn FnMut(&Notification),
) -> Poll<Option<Reply>> {
    // Bound first: nothing is told, and no waker dropped, with the lock.
    let come = life.shared().lock().take(key, cx);
    let (reports, former, reply) = match come {
        Come::Nothing { reports, former } => (reports, former, Poll::Pending),
        Come::Reply { reports, reply, former } => (reports, former, Poll::Ready(Some(reply))),
        Come::Lost => return Poll::Ready(None),
    };
    drop(former);
    reports.iter().for_each(on_report);
    reply
}

impl<M: Method> Future for Pending<M> {
    type Output = Result<M::Result, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let result = self.poll_with(cx, &mut |_| {});
        result.map(|result| result.map_err(|error| self.life.shared().call_error(error)))
    }
}

impl<M: Method> Unpin for Pending<M> {}

impl<M: Method> Drop for Pending<M> {
    fn drop(&mut self) {
        if !self.done {
            let key = self.ticket.key();
            drop(self.life.shared().tell(|state| state.give_up(key)));
        }
    }
}

impl<M: Method> fmt::Debug for Pending<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").field("method", &M::NAME).field("ticket", &self.ticket).finish_non_exhaustive()
    }
}
