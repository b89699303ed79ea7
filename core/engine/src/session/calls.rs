//! [`Calls`]: the requests, notifications and answers that an embedder sends, over any transport.

use alloc::borrow::Cow;
use alloc::string::ToString;
use alloc::vec::Vec;

use serde::Serialize;

use super::caller_requests::{NewRequest, deadlines};
use super::connection::Phase;
use super::error::SendError;
use super::meta::{merged, without};
use super::prepared::{self, CacheUse, Prepared, PreparedRequest, send_error};
use super::request_options::RequestOptions;
use super::server_requests::RefusalReason;
use super::session::Session;
use super::subscriptions::{SubscribeOptions, SubscriptionEvent};
use super::tasks::task_use;
use super::ticket::{RequestKey, ServerRequestId, SubscriptionKey, Ticket};
use crate::rpc::RpcError;
use crate::rpc::write::{self, NO_PARAMS, ParamsWriter};
use crate::time::Timestamp;
use mcpwire_text::json::{Json, JsonText};
use mcpwire_types::{
    CallTool, ClientNotification, Era, GetTask, LoggingLevel, Method, Params, Raw, Requirement, RootsListChanged,
    SetLevel, SetLevelParams, SubscriptionFilter, TaskHandle,
};

/// Sends requests, notifications and answers over the connection of a session.
///
/// [`stdio::Engine::calls`](crate::stdio::Engine::calls) and `http::Engine::calls` create this value. Its methods only
/// write to buffers of the engine. The program that drives the engine must then transmit the data.
#[derive(Debug)]
pub struct Calls<'e> {
    session: &'e mut Session,
    /// Number of unsent bytes that the transport stores outside of the session, such as the bodies of HTTP requests.
    queued: usize,
}

impl<'e> Calls<'e> {
    pub(crate) fn new(session: &'e mut Session, queued: usize) -> Self {
        Calls { session, queued }
    }

    /// Returns the session, which contains the state of the connection.
    pub fn session(&self) -> &Session {
        self.session
    }

    /// Starts to open the connection.
    ///
    /// The opening ends with [`Event::Connected`](crate::Event::Connected) if it succeeds,
    /// [`Event::Restart`](crate::Event::Restart) if the embedder must restart the server, or
    /// [`Event::Closed`](crate::Event::Closed) if it fails.
    ///
    /// # Errors
    /// Returns an error if `initialize` was called before on this session, or if the session is closed.
    #[doc(alias("InitializedNotification", "notifications/initialized"))]
    pub fn initialize(&mut self, now: Timestamp) -> Result<(), SendError> {
        self.session.advance(now);
        self.session.initialize()
    }

    /// Sends a request. The session reports the result or error as [`Event::Reply`](crate::Event::Reply), which the
    /// returned ticket decodes.
    ///
    /// # Errors
    /// Returns an error and sends nothing in any of these cases:
    /// - The connection is not open.
    /// - The session already has [`Config::max_in_flight`](super::Config::max_in_flight) pending requests, or
    ///   [`Config::max_transmit`](super::Config::max_transmit) is exceeded.
    /// - The parameters are not a JSON object.
    /// - The negotiated protocol version does not have the method, or the server did not declare the capability that
    ///   the method requires.
    pub fn request<M: Method>(
        &mut self,
        params: &impl Params<M>,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<Ticket<M>, SendError> {
        self.session.link.connection.check_allowed(M::NAME)?;
        let params: ParamsWriter<'_> = &|out: &mut Vec<u8>| prepared::push(out, params);
        let caching = const { CacheUse::of(M::NAME) };
        self.send(Cow::Borrowed(M::NAME), caching, params, options, now).map(Ticket::new)
    }

    /// Sends a request whose parameters are already serialized. The session reports the result or error as
    /// [`Event::Reply`](crate::Event::Reply), which the returned ticket decodes.
    ///
    /// # Errors
    /// Returns an error in the cases that [`Self::request`] lists, for example if the connection is not open.
    pub fn request_prepared<M: Method>(
        &mut self,
        params: &Prepared<M>,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<Ticket<M>, SendError> {
        self.send_prepared(params.request(), options, now).map(Ticket::new)
    }

    /// Sends a request whose parameters are already serialized, and returns the key of the request.
    ///
    /// Unlike [`Self::request_prepared`], this method has no type parameter. It is therefore compiled only once, which
    /// makes the program smaller.
    ///
    /// # Errors
    /// Returns an error in the cases that [`Self::request`] lists, for example if the connection is not open.
    pub fn send_prepared(
        &mut self,
        request: &PreparedRequest,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<RequestKey, SendError> {
        self.session.link.connection.check_allowed(request.method)?;
        let params: ParamsWriter<'_> = &|out: &mut Vec<u8>| {
            out.extend_from_slice(request.text());
            Ok(())
        };
        self.send(Cow::Borrowed(request.method), request.caching, params, options, now)
    }

    /// Sends a request of any method, without checking that the protocol version and the server support the method.
    ///
    /// The sent `_meta` combines the protocol fields that the session adds, the members of [`RequestOptions::meta`],
    /// and the `_meta` in the parameters. If a key occurs in several of them, the first of these three takes
    /// precedence.
    ///
    /// # Errors
    /// Returns an error and sends nothing if the connection is not open,
    /// [`Config::max_in_flight`](super::Config::max_in_flight) is reached,
    /// [`Config::max_transmit`](super::Config::max_transmit) is exceeded, or the parameters are not a JSON object.
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
            return self.send(method, caching, NO_PARAMS, options, now).map(Ticket::new);
        };
        if !params.is_object() {
            return Err(SendError::NotAnObject { method: method.into_owned() });
        }
        let Some(meta) = params.member_text("_meta").map(Json::trusted) else {
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

    /// Sends a notification to the server.
    ///
    /// # Errors
    /// Returns an error and sends nothing if the connection is not open,
    /// [`Config::max_transmit`](super::Config::max_transmit) is exceeded, the parameters are not a JSON object, or the
    /// negotiated protocol version or the server does not support the notification.
    pub fn notify<N: ClientNotification>(&mut self, params: &N::Params, now: Timestamp) -> Result<(), SendError> {
        self.check_room(now)?;
        self.session.link.connection.check_allowed(N::NAME)?;
        self.send_notification(N::NAME, &|out: &mut Vec<u8>| write::push_object(out, params))
    }

    /// Notifies the server that the roots have changed, if [`Session::declares_roots_list_changed`] returns `true`.
    ///
    /// # Errors
    /// Returns an error and sends nothing in the cases that [`Calls::notify`] lists.
    #[doc(alias = "notifications/roots/list_changed")]
    pub fn notify_roots_changed(&mut self, now: Timestamp) -> Result<(), SendError> {
        if self.session().declares_roots_list_changed() { self.notify::<RootsListChanged>(&(), now) } else { Ok(()) }
    }

    /// Sends a notification of any method, without checking that the protocol version and the server support the
    /// method.
    ///
    /// # Errors
    /// Returns an error and sends nothing if the connection is not open,
    /// [`Config::max_transmit`](super::Config::max_transmit) is exceeded, or the parameters are not a JSON object.
    pub fn notify_raw(&mut self, method: &str, params: Option<&Json>, now: Timestamp) -> Result<(), SendError> {
        self.check_room(now)?;
        self.send_notification(method, &|out: &mut Vec<u8>| write::push_object(out, &params))
    }

    /// Cancels a request, which fails with [`CallError::Cancelled`](crate::CallError::Cancelled). Returns `false` if
    /// the request has already ended.
    ///
    /// The server receives `notifications/cancelled`, which contains `reason` if that is not `None`. Servers log the
    /// reason, and may show it to users. Over HTTP, modern servers (from revision 2026-07-28) receive no notification:
    /// the client closes the response stream of the request instead. Specification: basic/patterns/cancellation.
    #[doc(alias("notifications/cancelled", "CancelledNotification", "CancelledNotificationParams"))]
    pub fn cancel(&mut self, key: RequestKey, reason: Option<&str>, now: Timestamp) -> bool {
        self.session.advance(now);
        let Session { callers, link, .. } = &mut *self.session;
        callers.cancel(key, reason, link)
    }

    /// Sets the minimum level of the log messages that the server sends.
    ///
    /// With a legacy server (up to revision 2025-11-25), sends `logging/setLevel` and returns the ticket of that
    /// request. With a modern server, returns `None`: each later request contains the level.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`Self::request`]. With a modern server instead of [`SendError::NotOffered`]:
    /// - [`SendError::NoLogging`] if the server does not declare the capability `logging`. Such servers send no log messages, so the
    ///   level would have no effect.
    /// - [`SendError::UnknownLogLevel`] for [`LoggingLevel::Other`]: the server would refuse every request with that level.
    pub fn set_log_level(
        &mut self,
        level: &LoggingLevel,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<Option<Ticket<SetLevel>>, SendError> {
        if !self.session.link.connection.is_era(Era::Modern) {
            return self.request(&SetLevelParams { level }, options, now).map(Some);
        }
        self.check_open(now)?;
        let link = &mut self.session.link;
        if link.connection.lacks(Requirement::Logging) {
            return Err(SendError::NoLogging);
        }
        if matches!(level, LoggingLevel::Other(_)) {
            return Err(SendError::UnknownLogLevel { level: alloc::format!("{level}") });
        }
        link.config.log_level = Some(level.clone());
        link.connection.refresh_request_meta(&link.config);
        Ok(None)
    }

    /// Polls a task that was created earlier, over this or another connection, until the task ends.
    ///
    /// The session reports the result of the task as an [`Event::Reply`](crate::Event::Reply). It sends the first poll
    /// at once, and the next ones at the intervals that the server suggests.
    ///
    /// [`RequestOptions::timeout`] limits the time of each poll, and [`RequestOptions::total_timeout`] the time until
    /// the task ends. A cancellation or timeout ends only the polling: the task continues, and `handle` remains valid.
    ///
    /// # Errors
    /// Returns an error if the connection is not open, the protocol version has no tasks, or
    /// [`Config::max_tasks`](super::Config::max_tasks) or [`Config::max_transmit`](super::Config::max_transmit) is
    /// reached.
    pub fn follow_task(
        &mut self,
        handle: &TaskHandle,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<Ticket<CallTool>, SendError> {
        self.check_open(now)?;
        let Session { callers, link, .. } = &mut *self.session;
        link.connection.check_allowed(GetTask::NAME)?;
        callers.waiting.follow_task(handle, deadlines(options, link), link).map(Ticket::new)
    }

    /// Subscribes to changes of lists, resources or tasks.
    ///
    /// A subscription lasts until [`Self::unsubscribe`], or until the server or the connection ends it. After each
    /// [`Event::Subscription`](crate::Event::Subscription), call [`Self::poll_subscription`]. The first event of a
    /// subscription is the server's acknowledgment, or the end of the subscription.
    ///
    /// [`Session::in_flight`] does not count subscriptions. Only the acknowledgment has a deadline.
    ///
    /// With a legacy server (up to revision 2025-11-25), the session sends `resources/subscribe` once for each
    /// resource, even if several subscriptions include the resource. For changes of lists, the session sends nothing,
    /// because a legacy server reports them unasked if its capabilities say so. The acknowledgment names the lists that
    /// the server reports, and the resources that the server did not refuse.
    ///
    /// # Errors
    /// Returns an error and sends nothing if the connection is not open, or if
    /// [`Config::max_subscriptions`](super::Config::max_subscriptions) or
    /// [`Config::max_transmit`](super::Config::max_transmit) is reached.
    #[doc(alias("subscriptions/listen", "resources/subscribe"))]
    pub fn subscribe(
        &mut self,
        wanted: &SubscriptionFilter,
        options: &SubscribeOptions,
        now: Timestamp,
    ) -> Result<SubscriptionKey, SendError> {
        self.check_open(now)?;
        self.session.subscriptions.subscribe(wanted, options, &mut self.session.link)
    }

    /// Ends a subscription and discards its unread events. Returns `false` if the subscription had already ended.
    pub fn unsubscribe(&mut self, key: SubscriptionKey, now: Timestamp) -> bool {
        self.session.advance(now);
        self.session.subscriptions.unsubscribe(key, &mut self.session.link)
    }

    /// Removes and returns the next event of a subscription, or returns `None` if no event is queued.
    ///
    /// The last event of a subscription is [`SubscriptionEvent::Ended`].
    pub fn poll_subscription(&mut self, key: SubscriptionKey) -> Option<SubscriptionEvent> {
        self.session.subscriptions.poll(key)
    }

    /// Answers a request of the server, such as `elicitation/create`. `result` must serialize as a JSON object.
    ///
    /// Returns `false` and sends nothing if the server request is not pending: it was answered or refused before, or
    /// the session has reported [`Event::ServerRequestCancelled`](crate::Event::ServerRequestCancelled).
    ///
    /// # Errors
    /// Returns an error if `result` does not serialize as a JSON object. The server request then still needs an answer.
    pub fn answer(
        &mut self,
        key: ServerRequestId,
        result: &(impl Serialize + ?Sized),
        now: Timestamp,
    ) -> Result<bool, SendError> {
        let result: ParamsWriter<'_> = &|out: &mut Vec<u8>| write::push_object(out, result);
        self.session.advance(now);
        self.session.callers.waiting.answer(key, result, &mut self.session.link)
    }

    /// Refuses a request of the server, such as `elicitation/create`. Returns `false` if the server request is not
    /// pending.
    ///
    /// A legacy server (up to revision 2025-11-25) receives `error` as a JSON-RPC error response. With a modern server,
    /// the client's request for which the server needed the answer fails with
    /// [`InputError::Refused`](crate::InputError::Refused).
    pub fn refuse(&mut self, key: ServerRequestId, error: &RpcError, now: Timestamp) -> bool {
        self.refuse_with(key, &RefusalReason::Error(error), now)
    }

    /// Refuses a request of the server because the program's handler for the request panicked. Returns `false` if the
    /// server request is not pending.
    ///
    /// A legacy server (up to revision 2025-11-25) receives an internal error that does not contain `message`. With a
    /// modern server, the client's request for which the server needed the answer fails with
    /// [`InputError::Panicked`](crate::InputError::Panicked).
    pub fn report_handler_panic(&mut self, key: ServerRequestId, message: &str, now: Timestamp) -> bool {
        self.refuse_with(key, &RefusalReason::Panicked(message), now)
    }

    fn refuse_with(&mut self, key: ServerRequestId, refusal: &RefusalReason<'_>, now: Timestamp) -> bool {
        self.session.advance(now);
        self.session.callers.waiting.refuse(key, refusal, &mut self.session.link)
    }

    fn send_notification(&mut self, method: &str, params: ParamsWriter<'_>) -> Result<(), SendError> {
        let link = &mut self.session.link;
        link.check_open()?;
        link.outbox.notification(method, params).map_err(|error| send_error(method, error))
    }

    fn send(
        &mut self,
        method: Cow<'static, str>,
        caching: CacheUse,
        params: ParamsWriter<'_>,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<RequestKey, SendError> {
        self.check_open(now)?;
        let Session { callers, link, .. } = &mut *self.session;
        let tasks = task_use(&method, options, link);
        callers.send(NewRequest { method, params, caching, tasks }, options, link)
    }

    fn check_open(&mut self, now: Timestamp) -> Result<(), SendError> {
        self.check_room(now)?;
        self.session.link.check_open()
    }

    fn check_room(&mut self, now: Timestamp) -> Result<(), SendError> {
        self.session.advance(now);
        let limit = self.session.config().max_transmit;
        if self.queued > limit && self.session.phase() == Phase::Ready {
            return Err(SendError::TransmitFull { limit });
        }
        Ok(())
    }
}
