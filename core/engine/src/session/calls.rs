//! [`Calls`]: everything that an embedder asks of a connection, over any transport.

use alloc::borrow::Cow;
use alloc::string::ToString;
use alloc::vec::Vec;

use serde::Serialize;

use super::caller_requests::NewRequest;
use super::config::RequestOptions;
use super::connection::Phase;
use super::context::Context;
use super::error::SendError;
use super::json_objects::{merged, without};
use super::parts::Parts;
use super::prepared::{self, CacheUse, Prepared, PreparedRequest, send_error};
use super::request_keys::{RequestKey, ServerRequestId, SubscriptionKey};
use super::requests::TaskUse;
use super::router::Session;
use super::server_requests::{AnswerOutcome, RefusalReason};
use super::subscriptions::{SubscribeOptions, SubscriptionEvent};
use super::ticket::Ticket;
use crate::json::Json;
use crate::method::{CallTool, ClientNotification, GetTask, Method, Params, Raw, SetLevel};
use crate::revisions::{self, Requirement};
use crate::rpc::RpcError;
use crate::rpc::write::{self, ParamsWriter};
use crate::time::Timestamp;
use crate::types::{Era, LoggingLevel, SetLevelParams, SubscriptionFilter, TaskHandle};

/// The requests, notifications and answers that an embedder can send over a connection.
///
/// [`stdio::Engine::calls`](crate::stdio::Engine::calls) and `http::Engine::calls` return this handle. The calls only write to
/// the buffers of the engine: afterwards, the adapter sends what the engine wants to send.
#[derive(Debug)]
pub struct Calls<'e> {
    session: &'e mut Session,
    /// The messages to send, one per line.
    out: &'e mut Vec<u8>,
    /// The latest time that the engine knows. It never goes back.
    now: &'e mut Timestamp,
    /// The number of bytes that wait to be sent in addition to `out`.
    queued: usize,
}

impl<'e> Calls<'e> {
    pub(crate) fn new(session: &'e mut Session, out: &'e mut Vec<u8>, now: &'e mut Timestamp, queued: usize) -> Self {
        Calls { session, out, now, queued }
    }

    /// Returns the state of the connection.
    pub fn session(&self) -> &Session {
        self.session
    }

    /// Starts to open the connection.
    ///
    /// The opening ends with [`Event::Connected`](crate::Event::Connected), [`Event::Restart`](crate::Event::Restart) or
    /// [`Event::Closed`](crate::Event::Closed).
    ///
    /// # Errors
    /// If the connection was opened before.
    pub fn initialize(&mut self, now: Timestamp) -> Result<(), SendError> {
        self.advance(now);
        self.session.initialize(*self.now, self.out)
    }

    /// Sends a request. The request ends with an [`Event::Reply`](crate::Event::Reply), which the ticket decodes.
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
        self.context().connection.check_allowed(M::NAME, const { revisions::bit(M::NAME) })?;
        let params: ParamsWriter<'_> = &|out: &mut Vec<u8>| prepared::push(out, params);
        let caching = const { CacheUse::of(M::NAME) };
        self.send(Cow::Borrowed(M::NAME), caching, params, options, now).map(Ticket::new)
    }

    /// Sends a request whose parameters are already serialized. See [`Self::request`].
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

    /// Sends a request of any method whose parameters are already serialized. [`Prepared::ticket`] turns the key into a ticket.
    ///
    /// # Errors
    /// As [`Self::request`].
    pub fn send_prepared(
        &mut self,
        request: &PreparedRequest,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<RequestKey, SendError> {
        self.context().connection.check_allowed(request.method, request.bit)?;
        let params: ParamsWriter<'_> = &|out: &mut Vec<u8>| {
            out.extend_from_slice(request.text());
            Ok(())
        };
        self.send(Cow::Borrowed(request.method), request.caching, params, options, now)
    }

    /// Sends a request of any method, even if the protocol version or the server does not have the method.
    ///
    /// A member `_meta` of the parameters is merged with the protocol fields.
    ///
    /// # Errors
    /// As [`Self::request`], except those of [`revisions`].
    pub fn request_raw(
        &mut self,
        method: &str,
        params: Option<&Json>,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<Ticket<Raw>, SendError> {
        let caching = CacheUse::of(method);
        let method = Cow::Owned(method.to_string());
        let Some(params) = params else {
            let none: ParamsWriter<'_> = &|out: &mut Vec<u8>| write::push_object(out, &());
            return self.send(method, caching, none, options, now).map(Ticket::new);
        };
        if !params.is_object() {
            return Err(SendError::NotAnObject { method: method.into_owned() });
        }
        let Some(meta) = params.member::<Json>("_meta") else {
            let push: ParamsWriter<'_> = &|out: &mut Vec<u8>| write::push_object(out, params);
            return self.send(method, caching, push, options, now).map(Ticket::new);
        };
        let meta = Some(match &options.meta {
            Some(first) => merged(first, &meta),
            None => meta,
        });
        let options = RequestOptions { meta, ..options.clone() };
        let params = without(params, "_meta");
        let push: ParamsWriter<'_> = &|out: &mut Vec<u8>| write::push_object(out, &params);
        self.send(method, caching, push, &options, now).map(Ticket::new)
    }

    /// Sends a notification.
    ///
    /// # Errors
    /// As [`Self::request`].
    pub fn notify<N: ClientNotification>(&mut self, params: &N::Params, now: Timestamp) -> Result<(), SendError> {
        self.check_room(now)?;
        self.context().connection.check_allowed(N::NAME, const { revisions::bit(N::NAME) })?;
        self.send_notification(N::NAME, &|out: &mut Vec<u8>| write::push_object(out, params))
    }

    /// Sends a notification of any method.
    ///
    /// # Errors
    /// As [`Self::request_raw`].
    pub fn notify_raw(&mut self, method: &str, params: Option<&Json>, now: Timestamp) -> Result<(), SendError> {
        self.check_room(now)?;
        let push: ParamsWriter<'_> = &|out: &mut Vec<u8>| match params {
            Some(params) => write::push_object(out, params),
            None => write::push_object(out, &()),
        };
        self.send_notification(method, push)
    }

    /// Cancels a request, which ends with [`CallError::Cancelled`](crate::CallError::Cancelled). Returns `false` if the request
    /// had ended already.
    ///
    /// Sends `notifications/cancelled` with the reason, if one is given. Servers write the reason to their logs, and may show
    /// it to people. Over HTTP, modern servers get no reason: the response stream of the request is closed instead.
    /// Specification: basic/patterns/cancellation.
    pub fn cancel(&mut self, key: RequestKey, reason: Option<&str>, now: Timestamp) -> bool {
        let Parts { callers, server_requests, mut context, .. } = self.parts(now);
        callers.cancel(key, reason, server_requests, &mut context)
    }

    /// Sets the minimum level of the log messages that the server sends.
    ///
    /// In the legacy era this sends a request, and returns its ticket. In the modern era each later request contains the level.
    ///
    /// # Errors
    /// As [`Self::request`], in both eras. In the modern era also for [`LoggingLevel::Other`]: the server would refuse every
    /// later request.
    pub fn set_log_level(
        &mut self,
        level: &LoggingLevel,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<Option<Ticket<SetLevel>>, SendError> {
        if !self.context().connection.is_era(Era::Modern) {
            return self.request(&SetLevelParams { level }, options, now).map(Some);
        }
        self.check_room(now)?;
        let context = self.context();
        context.check_open()?;
        if context.connection.is_undeclared(const { revisions::bit(SetLevel::NAME) }) {
            return Err(SendError::NotOffered { method: SetLevel::NAME, requires: Requirement::Logging });
        }
        if matches!(level, LoggingLevel::Other(_)) {
            let reason = alloc::format!("there is no log level `{level}`");
            return Err(SendError::Params { method: SetLevel::NAME.into(), reason });
        }
        self.session.set_log_level(level);
        Ok(None)
    }

    /// Follows a task that was created earlier, over this connection or another.
    ///
    /// Ends with the [`Event::Reply`](crate::Event::Reply) that the call of the task would have got. Polls the server at once,
    /// and then in the intervals that the server suggests.
    ///
    /// [`RequestOptions::timeout`] limits each poll, [`RequestOptions::total_timeout`] all polls together. A cancel or a timeout
    /// ends the polling only: the task continues, and its handle remains valid.
    ///
    /// # Errors
    /// If the connection is not open, a limit is reached, or the protocol version has no tasks.
    pub fn follow_task(
        &mut self,
        handle: &TaskHandle,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<Ticket<CallTool>, SendError> {
        self.check_room(now)?;
        let context = self.context();
        context.check_open()?;
        context.connection.check_allowed(GetTask::NAME, const { revisions::bit(GetTask::NAME) })?;
        self.session.declare_tasks();
        let Parts { callers, server_requests, mut context, .. } = self.parts(now);
        callers.follow_task(handle, options, server_requests, &mut context).map(Ticket::new)
    }

    /// Subscribes to changes, until [`Self::unsubscribe`] or until the server or the connection ends the subscription.
    ///
    /// After each [`Event::Subscription`](crate::Event::Subscription), call [`Self::poll_subscription`]. The first event of a
    /// subscription is the acknowledgment of the server, or the end of the subscription.
    ///
    /// [`Session::in_flight`] does not count subscriptions, and the only deadline of a subscription is that of the
    /// acknowledgment. Up to 2025-11-25, a subscription is a `resources/subscribe` for each resource, and the list changes in
    /// the server's capabilities. The acknowledgment contains what the server has declared and not refused. Several
    /// subscriptions to one resource share one `resources/subscribe`.
    ///
    /// # Errors
    /// If nothing is sent: the connection is not open, or a limit is reached.
    pub fn subscribe(
        &mut self,
        wanted: &SubscriptionFilter,
        options: &SubscribeOptions,
        now: Timestamp,
    ) -> Result<SubscriptionKey, SendError> {
        self.check_room(now)?;
        let Parts { subscriptions, mut context, .. } = self.parts(now);
        subscriptions.subscribe(wanted, options, &mut context)
    }

    /// Ends a subscription and drops its events. Returns `false` if the subscription had ended already.
    pub fn unsubscribe(&mut self, key: SubscriptionKey, now: Timestamp) -> bool {
        let Parts { subscriptions, mut context, .. } = self.parts(now);
        subscriptions.unsubscribe(key, &mut context)
    }

    /// Returns the next event of a subscription. [`SubscriptionEvent::Ended`] is the last one.
    pub fn poll_subscription(&mut self, key: SubscriptionKey) -> Option<SubscriptionEvent> {
        self.session.parts(*self.now, self.out).subscriptions.poll(key)
    }

    /// Answers a request of the server with an object. Returns `false` if the answer is not needed any more.
    ///
    /// An answer is not needed if the server has cancelled its request, or if the client's request that needs the input or the
    /// connection has ended.
    ///
    /// # Errors
    /// If the result does not serialize as an object. Then the request of the server is still pending.
    pub fn answer(
        &mut self,
        key: ServerRequestId,
        result: &(impl Serialize + ?Sized),
        now: Timestamp,
    ) -> Result<bool, SendError> {
        let result: ParamsWriter<'_> = &|out: &mut Vec<u8>| write::push_object(out, result);
        let Parts { server_requests, mut context, .. } = self.parts(now);
        let answered = server_requests.answer(key, result, &mut context)?;
        Ok(self.input_answered(answered))
    }

    /// Refuses a request of the server. Returns `false` as [`Self::answer`] does.
    pub fn refuse(&mut self, key: ServerRequestId, error: &RpcError, now: Timestamp) -> bool {
        self.refuse_with(key, &RefusalReason::Error(error), now)
    }

    /// Refuses a request of the server because the program's handler panicked. Returns `false` as [`Self::answer`] does.
    ///
    /// A legacy server gets an internal error, without the message of the panic. In the modern era, the client's request that
    /// needs the input fails with [`InputError::Panicked`](crate::InputError::Panicked), and nothing is sent.
    pub fn report_handler_panic(&mut self, key: ServerRequestId, message: &str, now: Timestamp) -> bool {
        self.refuse_with(key, &RefusalReason::Panicked(message), now)
    }

    fn refuse_with(&mut self, key: ServerRequestId, refusal: &RefusalReason<'_>, now: Timestamp) -> bool {
        let Parts { server_requests, mut context, .. } = self.parts(now);
        let answered = server_requests.refuse(key, refusal, &mut context);
        self.input_answered(answered)
    }

    /// Passes an answer on to the client's request that needs it.
    fn input_answered(&mut self, answered: AnswerOutcome) -> bool {
        let Parts { callers, server_requests, mut context, .. } = self.session.parts(*self.now, self.out);
        callers.input_answered(answered, server_requests, &mut context)
    }

    fn send_notification(&mut self, method: &str, params: ParamsWriter<'_>) -> Result<(), SendError> {
        let context = self.context();
        context.check_open()?;
        write::notification(context.out, method, params).map_err(|error| send_error(method, error))
    }

    fn send(
        &mut self,
        method: Cow<'static, str>,
        caching: CacheUse,
        params: ParamsWriter<'_>,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<RequestKey, SendError> {
        self.check_room(now)?;
        let Parts { callers, context, .. } = self.parts(now);
        context.check_open()?;
        let (tasks, task_param) = callers.task_use(&method, options, &context);
        if tasks != TaskUse::None {
            self.session.declare_tasks();
        }
        let Parts { callers, mut context, .. } = self.parts(now);
        callers.send(NewRequest { method, params, caching, tasks, task_param }, options, &mut context)
    }

    /// Checks that the bytes that wait to be sent are within [`Config::max_transmit`](super::Config::max_transmit).
    fn check_room(&mut self, now: Timestamp) -> Result<(), SendError> {
        self.advance(now);
        let limit = self.session.config().max_transmit;
        if self.queued > limit && self.session.phase() == Phase::Ready {
            return Err(SendError::TransmitFull { limit });
        }
        Ok(())
    }

    /// Advances the time of the engine, and borrows the parts of the session.
    fn parts(&mut self, now: Timestamp) -> Parts<'_> {
        self.advance(now);
        self.session.parts(*self.now, self.out)
    }

    fn context(&mut self) -> Context<'_> {
        self.session.parts(*self.now, self.out).context
    }

    fn advance(&mut self, now: Timestamp) {
        *self.now = now.max(*self.now);
    }
}
