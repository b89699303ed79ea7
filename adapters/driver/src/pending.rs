//! [`Pending`]: a request that is under way.

use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};

use mcpwire_client::Error;
use mcpwire_core::internal::{KnownTools, Prepared, PreparedRequest, Step};
use mcpwire_core::{
    CallError, Calls, Method, Notification, Params, Reply, RequestKey, RequestOptions, Ticket, Timestamp,
};

use crate::shared::Lives;
use crate::state::Come;

/// Replies of this size and more are worth giving back.
const LARGE: usize = 64 * 1024;

/// A request that has been sent: a future of its result. Dropped before its end, it is cancelled, and the server told.
///
/// It keeps the connection alive.
#[must_use = "a request that is dropped is cancelled"]
pub struct Pending<M: Method> {
    sent: Sent,
    ticket: Ticket<M>,
}

impl<M: Method> Pending<M> {
    /// Sends a request. With `wants_reports`, what is reported about it is kept for whoever polls it.
    pub(crate) fn begin(
        life: &Lives,
        params: &impl Params<M>,
        options: &RequestOptions,
        wants_reports: bool,
    ) -> Result<Self, Error> {
        // What it takes to write the parameters is the caller's, and may take its time: not under the lock.
        let params = Prepared::<M>::new(params).map_err(|error| life.shared().refused(error))?;
        let sent = Sent::begin(life, params.request(), options, wants_reports)?;
        Ok(Pending { ticket: params.ticket(sent.key), sent })
    }

    pub(crate) fn new(life: &Lives, ticket: Ticket<M>) -> Self {
        Pending { sent: Sent { life: life.clone(), key: ticket.key(), done: false }, ticket }
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
        self.sent.poll(cx, on_report).map(|reply| match reply {
            Some(reply) => self.read(reply),
            None => Err(CallError::WrongTicket { method: M::NAME.into() }),
        })
    }

    /// Reads the reply, in the caller's task and without the lock.
    fn read(&self, mut reply: Reply) -> Result<M::Result, CallError> {
        let result = self.ticket.decode_mut(&mut reply);
        self.sent.give_back(reply);
        result
    }
}

impl<M: Method> Future for Pending<M> {
    type Output = Result<M::Result, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let result = self.poll_with(cx, &mut |_| {});
        result.map(|result| result.map_err(|error| self.sent.life.shared().call_error(error)))
    }
}

impl<M: Method> Unpin for Pending<M> {}

impl<M: Method> fmt::Debug for Pending<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").field("method", &M::NAME).field("ticket", &self.ticket).finish_non_exhaustive()
    }
}

/// What a step of a machine has led to.
pub(crate) enum Turn<T> {
    /// A request was sent, whose reply is to be waited for.
    Wait(Sent),
    /// Nothing yet: the next step can be taken at once.
    Again,
    /// The machine has ended.
    Done(T),
}

/// The same, whatever its method: what is compiled once, and not for each method. Dropped before its end, the request is
/// cancelled.
pub(crate) struct Sent {
    life: Lives,
    key: RequestKey,
    done: bool,
}

impl Sent {
    /// Sends a request, and makes room for what comes of it.
    pub(crate) fn begin(
        life: &Lives,
        request: &PreparedRequest,
        options: &RequestOptions,
        wants_reports: bool,
    ) -> Result<Self, Error> {
        let shared = life.shared();
        let options = &*shared.traced(options);
        let now = shared.clock.now();
        let key = shared.send(|state| {
            let key = state.engine.calls().send_prepared(request, options, now)?;
            state.expect(key, wants_reports);
            Ok(key)
        })?;
        Ok(Sent { life: life.clone(), key, done: false })
    }

    /// Takes a step of one of the core's machines, and makes room for the reply if it has sent a request.
    pub(crate) fn step<T>(
        life: &Lives,
        wants_reports: bool,
        poll: impl FnOnce(&mut KnownTools, &mut Calls<'_>, Timestamp) -> Step<T>,
    ) -> Turn<T> {
        let shared = life.shared();
        let now = shared.clock.now();
        let step = shared.tell(|state| {
            let step = poll(&mut state.tools, &mut state.engine.calls(), now);
            if let Step::Wait(key) = step {
                state.expect(key, wants_reports);
            }
            step
        });
        match step {
            Step::Wait(key) => Turn::Wait(Sent { life: life.clone(), key, done: false }),
            // The driver reads all the time.
            Step::Drain => Turn::Again,
            Step::Done(result) => Turn::Done(result),
        }
    }

    /// Waits for the reply, and has it read without the lock.
    pub(crate) async fn receive(mut self, read: impl FnOnce(&mut Reply)) -> Result<(), Error> {
        match poll_fn(|cx| self.poll(cx, &mut |_| {})).await {
            Some(mut reply) => {
                read(&mut reply);
                self.give_back(reply);
                Ok(())
            }
            None => Err(self.lost()),
        }
    }

    /// Returns the error of a request that the connection does not know.
    pub(crate) fn lost(&self) -> Error {
        self.life.shared().call_error(CallError::WrongTicket { method: "a request".into() })
    }

    /// What has come for it: the reply, or nothing if nobody knows of the request.
    pub(crate) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        on_report: &mut dyn FnMut(&Notification),
    ) -> Poll<Option<Reply>> {
        // Bound first: nothing is told, and no waker dropped, with the lock.
        let come = self.life.shared().lock().take(self.key, cx);
        let (reports, former, reply) = match come {
            Come::Nothing { reports, former } => (reports, former, Poll::Pending),
            Come::Reply { reports, reply, former } => (reports, former, Poll::Ready(Some(reply))),
            Come::Lost => (VecDeque::new(), None, Poll::Ready(None)),
        };
        self.done = reply.is_ready();
        drop(former);
        reports.iter().for_each(on_report);
        reply
    }

    /// Gives back the memory of a reply that has been read, if that is worth it: it serves the next large one.
    pub(crate) fn give_back(&self, reply: Reply) {
        if reply.message().is_some_and(|message| message.len() >= LARGE) {
            self.life.shared().lock().engine.recycle(reply);
        }
    }
}

impl Drop for Sent {
    fn drop(&mut self) {
        if !self.done {
            let shared = self.life.shared();
            let now = shared.clock.now();
            drop(shared.tell(|state| state.give_up(self.key, now)));
        }
    }
}
