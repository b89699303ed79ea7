//! [`Calls`]: everything that an embedder asks of a connection, whatever carries it.

use alloc::borrow::Cow;
use alloc::string::ToString;
use alloc::vec::Vec;

use serde::Serialize;

use super::config::RequestOptions;
use super::error::SendError;
use super::keys::{AskKey, RequestKey, SubscriptionKey};
use super::objects::{merged, without};
use super::prepared::{self, Caching, Prepared, PreparedRequest};
use super::server::Phase;
use super::server_requests::Refusal;
use super::subscriptions::{SubscribeOptions, SubscriptionEvent};
use super::ticket::Ticket;
use super::{NewRequest, Session};
use crate::json::Json;
use crate::method::{CallTool, GetTask, Method, Notice, Params, Raw, SetLevel};
use crate::revisions::{self, Need};
use crate::rpc::RpcError;
use crate::rpc::write::{self, Push};
use crate::time::Timestamp;
use crate::types::{LoggingLevel, SetLevelParams, SubscriptionFilter, TaskHandle};

/// The calls of a connection, as [`stdio::Engine::calls`](crate::stdio::Engine::calls) and `http::Engine::calls` hand them out.
///
/// Nothing is sent at once: an adapter sends what the engine gives it afterwards.
#[derive(Debug)]
pub struct Calls<'e> {
    session: &'e mut Session,
    /// The messages to send, one a line.
    out: &'e mut Vec<u8>,
    /// The time of the engine, which never goes back.
    now: &'e mut Timestamp,
    /// The bytes that wait to be sent besides those in `out`.
    queued: usize,
}

impl<'e> Calls<'e> {
    pub(crate) fn new(session: &'e mut Session, out: &'e mut Vec<u8>, now: &'e mut Timestamp, queued: usize) -> Self {
        Calls { session, out, now, queued }
    }

    /// Returns what is known of the connection.
    pub fn session(&self) -> &Session {
        self.session
    }

    /// Begins to open the connection. It ends in [`Event::Connected`](crate::Event::Connected),
    /// [`Event::Restart`](crate::Event::Restart) or [`Event::Closed`](crate::Event::Closed).
    ///
    /// # Errors
    /// If the connection was opened before, or has ended.
    pub fn initialize(&mut self, now: Timestamp) -> Result<(), SendError> {
        let now = self.at(now);
        self.session.initialize(now, self.out)
    }

    /// Sends a request. It ends in an [`Event::Reply`](crate::Event::Reply) that the ticket decodes.
    ///
    /// # Errors
    /// If nothing is sent: the connection is not open, a limit is reached, the parameters are not a JSON object, or the protocol
    /// version or the server does not have the method ([`revisions`]).
    pub fn request<M: Method>(
        &mut self,
        params: &impl Params<M>,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<Ticket<M>, SendError> {
        self.session.check_allowed(M::NAME, const { revisions::bit(M::NAME) })?;
        let params: Push<'_> = &|out: &mut Vec<u8>| prepared::push(out, params);
        let caching = const { Caching::of(M::NAME) };
        self.send(Cow::Borrowed(M::NAME), caching, params, options, now).map(Ticket::new)
    }

    /// Sends a request whose parameters are serialised already. See [`Self::request`].
    ///
    /// # Errors
    /// As [`Self::request`].
    pub fn request_prepared<M: Method>(
        &mut self,
        params: &Prepared<M>,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<Ticket<M>, SendError> {
        self.send_prepared(params.request(), options, now).map(Ticket::new)
    }

    /// Sends a request whose parameters are serialised already, whatever its method. [`Prepared::ticket`] makes a ticket of the
    /// key.
    ///
    /// # Errors
    /// As [`Self::request`].
    pub fn send_prepared(
        &mut self,
        request: &PreparedRequest,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<RequestKey, SendError> {
        self.session.check_allowed(request.method, request.bit)?;
        let params: Push<'_> = &|out: &mut Vec<u8>| {
            out.extend_from_slice(request.text());
            Ok(())
        };
        self.send(Cow::Borrowed(request.method), request.caching, params, options, now)
    }

    /// Sends a request of any method, even if the protocol version or the server does not have it. A `_meta` among the parameters
    /// is merged with the protocol fields of the era.
    ///
    /// # Errors
    /// As [`Self::request`], without those of [`revisions`].
    pub fn request_raw(
        &mut self,
        method: &str,
        params: Option<&Json>,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<Ticket<Raw>, SendError> {
        let caching = Caching::of(method);
        let method = Cow::Owned(method.to_string());
        let Some(params) = params else {
            let none: Push<'_> = &|out: &mut Vec<u8>| write::push_object(out, &());
            return self.send(method, caching, none, options, now).map(Ticket::new);
        };
        if !params.is_object() {
            return Err(SendError::NotAnObject { method: method.into_owned() });
        }
        let Some(meta) = params.member::<Json>("_meta") else {
            let push: Push<'_> = &|out: &mut Vec<u8>| write::push_object(out, params);
            return self.send(method, caching, push, options, now).map(Ticket::new);
        };
        let meta = Some(match &options.meta {
            Some(first) => merged(first, &meta),
            None => meta,
        });
        let options = RequestOptions { meta, ..options.clone() };
        let params = without(params, "_meta");
        let push: Push<'_> = &|out: &mut Vec<u8>| write::push_object(out, &params);
        self.send(method, caching, push, &options, now).map(Ticket::new)
    }

    /// Sends a notification.
    ///
    /// # Errors
    /// As [`Self::request`].
    pub fn notify<N: Notice>(&mut self, params: &N::Params, now: Timestamp) -> Result<(), SendError> {
        self.check_room(now)?;
        self.session.check_allowed(N::NAME, const { revisions::bit(N::NAME) })?;
        self.session.notify(N::NAME, &|out: &mut Vec<u8>| write::push_object(out, params), self.out)
    }

    /// Sends a notification of any method.
    ///
    /// # Errors
    /// As [`Self::request_raw`].
    pub fn notify_raw(&mut self, method: &str, params: Option<&Json>, now: Timestamp) -> Result<(), SendError> {
        self.check_room(now)?;
        let push: Push<'_> = &|out: &mut Vec<u8>| match params {
            Some(params) => write::push_object(out, params),
            None => write::push_object(out, &()),
        };
        self.session.notify(method, push, self.out)
    }

    /// Cancels a request, which ends with [`CallError::Cancelled`](crate::CallError::Cancelled). Returns `false` if it had
    /// ended already.
    ///
    /// The server gets `notifications/cancelled` with the reason, if one is given (2026-07-28,
    /// basic/patterns/cancellation). The reason is for the server's log, and the server may show it to people. Over HTTP,
    /// modern servers get no reason: the request's response stream is closed instead.
    pub fn cancel(&mut self, key: RequestKey, reason: Option<&str>, now: Timestamp) -> bool {
        let now = self.at(now);
        self.session.cancel(key, reason, now, self.out)
    }

    /// Sets the lowest level of log messages that the server sends. A legacy server is told by a request, which the ticket is
    /// for; to a modern server each later request says it.
    ///
    /// # Errors
    /// As [`Self::request`], in both eras. Also for a level that the specification does not have, if the server is modern: it
    /// would refuse all requests.
    pub fn set_log_level(
        &mut self,
        level: &LoggingLevel,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<Option<Ticket<SetLevel>>, SendError> {
        if !self.session.is_modern() {
            return self.request(&SetLevelParams { level }, options, now).map(Some);
        }
        self.check_room(now)?;
        self.session.check_open(self.out)?;
        if self.session.is_undeclared(const { revisions::bit(SetLevel::NAME) }) {
            return Err(SendError::NotOffered { method: SetLevel::NAME, needs: Need::Logging });
        }
        if matches!(level, LoggingLevel::Other(_)) {
            let reason = alloc::format!("there is no log level `{level}`");
            return Err(SendError::Params { method: SetLevel::NAME.into(), reason });
        }
        self.session.set_log_level(level);
        Ok(None)
    }

    /// Follows a task that was created earlier, in this connection or another one. It ends as its call would have, in an
    /// [`Event::Reply`](crate::Event::Reply) that the ticket decodes. The server is polled at once, and then in the intervals
    /// that it wishes.
    ///
    /// [`RequestOptions::timeout`] is that of each poll, [`RequestOptions::total_timeout`] that of all of them. To cancel, or to
    /// run out of time, ends the polling only: whoever has the handle may come back for the task.
    ///
    /// # Errors
    /// If the connection is not open, a limit is reached, or the revision that is spoken has no tasks.
    pub fn follow_task(
        &mut self,
        handle: &TaskHandle,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<Ticket<CallTool>, SendError> {
        let now = self.check_room(now)?;
        self.session.check_open(self.out)?;
        self.session.check_allowed(GetTask::NAME, const { revisions::bit(GetTask::NAME) })?;
        self.session.follow_task(handle, options, now, self.out).map(Ticket::new)
    }

    /// Subscribes to changes until [`Self::unsubscribe`], the server's end of it, or that of the connection.
    /// [`Event::Subscription`](crate::Event::Subscription) says that there is something to take by
    /// [`Self::poll_subscription`]: first that the server has acknowledged it, or that it is over.
    ///
    /// A subscription is not counted by [`Session::in_flight`], and its only deadline is that of the acknowledgment. Up to
    /// 2025-11-25 it consists of `resources/subscribe` and the list changes that the server declares; what the server does not
    /// declare or refuses is not acknowledged. Two subscriptions to a resource are one for the server.
    ///
    /// # Errors
    /// If nothing is sent: the connection is not open, or a limit is reached.
    pub fn subscribe(
        &mut self,
        wanted: &SubscriptionFilter,
        options: &SubscribeOptions,
        now: Timestamp,
    ) -> Result<SubscriptionKey, SendError> {
        let now = self.check_room(now)?;
        self.session.subscribe(wanted, options, now, self.out)
    }

    /// Ends a subscription and drops its changes. The server is told. Returns `false` if it was over already.
    pub fn unsubscribe(&mut self, key: SubscriptionKey, now: Timestamp) -> bool {
        let now = self.at(now);
        self.session.unsubscribe(key, now, self.out)
    }

    /// Returns the next change of a subscription. After [`SubscriptionEvent::Ended`] the subscription is forgotten.
    pub fn poll_subscription(&mut self, key: SubscriptionKey) -> Option<SubscriptionEvent> {
        self.session.poll_subscription(key)
    }

    /// Answers a request of the server with an object. Returns `false` if nobody waits for the answer any more: the server has
    /// cancelled it, the request that it was for has ended, or the connection has.
    ///
    /// # Errors
    /// If the result does not serialise as an object; the server still waits then.
    pub fn answer(
        &mut self,
        key: AskKey,
        result: &(impl Serialize + ?Sized),
        now: Timestamp,
    ) -> Result<bool, SendError> {
        let now = self.at(now);
        self.session.answer(key, &|out: &mut Vec<u8>| write::push_object(out, result), now, self.out)
    }

    /// Refuses a request of the server. Returns `false` as [`Self::answer`] does.
    pub fn refuse(&mut self, key: AskKey, error: &RpcError, now: Timestamp) -> bool {
        let now = self.at(now);
        self.session.refuse(key, &Refusal::Error(error), now, self.out)
    }

    /// Refuses a request of the server, because the program's handler panicked with this message. Returns `false` as
    /// [`Self::answer`] does.
    ///
    /// A legacy server is answered with an internal error that does not contain the message. In the modern era, the request
    /// that the server wanted the input for fails with [`InputError::Panicked`](crate::InputError::Panicked), and the server is
    /// not told.
    pub fn handler_panicked(&mut self, key: AskKey, message: &str, now: Timestamp) -> bool {
        let now = self.at(now);
        self.session.refuse(key, &Refusal::Panicked(message), now, self.out)
    }

    fn send(
        &mut self,
        method: Cow<'static, str>,
        caching: Caching,
        params: Push<'_>,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<RequestKey, SendError> {
        let now = self.check_room(now)?;
        self.session.send(NewRequest { method, params, caching }, options, now, self.out)
    }

    /// Fails if more waits to be sent than the limit. Returns the time of the engine.
    fn check_room(&mut self, now: Timestamp) -> Result<Timestamp, SendError> {
        let now = self.at(now);
        let limit = self.session.config().max_transmit;
        if self.queued > limit && self.session.phase() == Phase::Ready {
            return Err(SendError::TransmitFull { limit });
        }
        Ok(now)
    }

    fn at(&mut self, now: Timestamp) -> Timestamp {
        *self.now = now.max(*self.now);
        *self.now
    }
}
