//! [`Engine`]: an MCP session and the HTTP exchanges that carry its messages. Adapters drive the engine.
//!
//! [`Engine`] routes commands, responses and deadlines to the structs of this module, which are its parts. Each part
//! owns its state and does not know the engine. Parts work with a [`Transport`]. If another part must act, a part returns
//! an enum that says so.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::{fmt, mem};

use super::command::{Command, ExchangeId};
use super::endpoint::SessionGeneration;
use super::exchanges::{ExchangeEnd, OpenExchange};
use super::get_stream::GetStream;
use super::http_sse::HttpSse;
use super::legacy_session::{Expired, LegacySession};
use super::messages::{
    close_if_answered, limit_answers, post_message, post_request, receive, receive_overlong, resume_streams,
    sort_messages,
};
use super::recovery::{Recovery, recover};
use super::request::{Purpose, Request};
use super::response::{Head, StreamItem};
use super::resume_point::ResumePoint;
use super::send_queue::{Allowed, INITIALIZED, NextMessage};
use super::settings::{Flavour, Settings};
use super::tool_calls::{ToolCalls, refresh_tools};
use super::transport::Transport;
use crate::rpc::Received;
use crate::session::{Calls, CloseReason, Config, Event, Negotiate, Outbox, RequestFault, Session};
use crate::time::Timestamp;
use crate::transport_error::{Failure, FailureKind};

/// The client side of a connection to an MCP server over HTTP. The engine does no I/O.
///
/// The embedder polls commands and makes the HTTP requests. It passes the parts of the HTTP responses and the time to
/// the engine, and polls events and the next timeout. The [module documentation](super) shows the loop. No method
/// blocks.
pub struct Engine {
    transport: Transport,
    legacy_session: LegacySession,
    get_stream: GetStream,
    http_sse: HttpSse,
    tool_calls: ToolCalls,
    /// Whether the connection is closed. If so, the engine starts no HTTP exchange except the `DELETE` request that
    /// ends the legacy session.
    is_shut: bool,
}

impl fmt::Debug for Engine {
    /// Formats the engine without messages, session ids and other secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("settings", self.settings())
            .field("phase", &self.session().phase())
            .field("in_flight", &self.session().in_flight())
            .field("exchanges", &self.exchanges())
            .finish_non_exhaustive()
    }
}

/// Methods that the embedder calls.
impl Engine {
    /// Creates an engine for a new connection. The engine sends nothing until [`Calls::initialize`] is called.
    pub fn new(mut config: Config, settings: Settings) -> Self {
        if settings.flavour == Some(Flavour::Sse) && config.negotiate == Negotiate::Auto {
            // Modern servers (from revision 2026-07-28) do not offer HTTP+SSE.
            config.negotiate = Negotiate::Legacy;
        }
        Engine {
            transport: Transport::new(Session::new(config, Outbox::of_messages()), settings),
            legacy_session: LegacySession::default(),
            get_stream: GetStream::default(),
            http_sse: HttpSse::default(),
            tool_calls: ToolCalls::default(),
            is_shut: false,
        }
    }

    /// Returns the next command to the embedder: start or abort an HTTP exchange. Returns `None` if there is no command
    /// at present.
    ///
    /// After each call of another method, call this method until it returns `None`.
    pub fn poll_exchange(&mut self, now: Timestamp) -> Option<Command> {
        self.transport.session.advance(now);
        sort_messages(&mut self.transport);
        loop {
            if let Some(command) = self.transport.exchanges.commands.pop_front() {
                return Some(command);
            }
            let message = self.transport.queue.next(self.allowed())?;
            self.send(message);
        }
    }

    /// Handles the head of an HTTP response: the status, and the headers in any order.
    ///
    /// The engine ignores interim responses (1xx), headers that the protocol does not use, and header values longer
    /// than 8 KiB.
    pub fn response<'h>(
        &mut self,
        id: ExchangeId,
        status: u16,
        headers: impl IntoIterator<Item = (&'h str, &'h [u8])>,
        now: Timestamp,
    ) {
        self.transport.session.advance(now);
        let mut head = Head::new(status);
        for (name, value) in headers {
            head.add(name, value);
        }
        self.receive_head(id, head);
    }

    /// Handles the next bytes of a response body, which may be split anywhere.
    ///
    /// Pass in each piece as soon as it is read from the socket. The engine keeps the messages of the piece until
    /// [`Engine::poll_event`] handles them.
    pub fn body(&mut self, id: ExchangeId, bytes: &[u8], now: Timestamp) {
        self.transport.session.advance(now);
        let limits = self.transport.body_limits();
        let Some(exchange) = self.transport.exchanges.get_running(id) else { return };
        let has_message = exchange.response.read(id, bytes, limits, &mut self.transport.inbox);
        let OpenExchange { purpose, response, .. } = exchange;
        match (purpose, response.decoder()) {
            (Purpose::Request(request), Some(decoder)) => request.resume.progressed(decoder, has_message),
            (Purpose::GetStream, Some(decoder)) => self.get_stream.resume.progressed(decoder, has_message),
            _ => {}
        }
    }

    /// Handles the end of an HTTP response whose whole body was passed to [`Engine::body`].
    pub fn ended(&mut self, id: ExchangeId, now: Timestamp) {
        self.transport.session.advance(now);
        self.end_exchange(id, None);
    }

    /// Handles an HTTP exchange that failed before its response was complete. `failure` says why.
    pub fn failed(&mut self, id: ExchangeId, failure: Failure, now: Timestamp) {
        self.transport.session.advance(now);
        self.end_exchange(id, Some(failure));
    }

    /// Says that later requests have another authorization context than those before: another login, more scopes, or no
    /// login any more. A refresh of the same login is none.
    ///
    /// The engine removes cached responses that are not `public`, and caches no response to a request that is pending
    /// (specification: server/utilities/caching, "Cache Scope Field"). It reports
    /// [`Event::AuthorizationChanged`] if the connection is open. Call this before the first request with the new
    /// authorization, and before [`Engine::poll_event`] handles its response.
    pub fn authorization_changed(&mut self) {
        self.transport.session.authorization_changed();
        self.tool_calls.authorization_changed(self.transport.exchanges.last_id);
    }

    /// Returns the next event, or `None` if there is none at present.
    ///
    /// Whenever you have passed a part of an HTTP response or a timeout to the engine, call this method until it
    /// returns `None`. The engine handles received messages only during these calls.
    pub fn poll_event(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.transport.session.poll_event() {
                return Some(self.inspect(event));
            }
            if self.transport.session.is_in_batch() {
                limit_answers(&mut self.transport);
            }
            if self.transport.session.resume() {
                continue;
            }
            let (from, item) = self.transport.inbox.pop_front()?;
            match item {
                StreamItem::Message(message) => self.receive_message(from, message),
                StreamItem::Overlong(head) => receive_overlong(from, &head, &mut self.transport),
                StreamItem::Endpoint(uri) => self.http_sse.receive_endpoint(from, &uri, &mut self.transport),
                StreamItem::MessageHandled => close_if_answered(from, &mut self.transport),
                StreamItem::Ended(failure) => self.exchange_ended(from, failure),
            }
        }
    }

    /// Returns a handle for sending requests and notifications, for answering server requests, and for managing
    /// subscriptions.
    pub fn calls(&mut self) -> Calls<'_> {
        let queued = self.transport.exchanges.unsent + self.transport.queue.bytes();
        Calls::new(&mut self.transport.session, queued)
    }

    /// Returns the session: the negotiated version, the server's capabilities and the pending requests.
    pub fn session(&self) -> &Session {
        &self.transport.session
    }

    /// Returns when to call [`Engine::handle_timeout`], or `None` if no timeout is running. Earlier calls are harmless.
    pub fn poll_timeout(&self) -> Option<Timestamp> {
        if self.is_shut {
            return None;
        }
        let parts = [self.legacy_session.poll_timeout(&self.transport), self.get_stream.poll_timeout()];
        parts.into_iter().chain([self.transport.poll_timeout()]).flatten().min()
    }

    /// Handles every timeout whose time is `now` or earlier. Call this method when the time that
    /// [`Engine::poll_timeout`] returned has come.
    pub fn handle_timeout(&mut self, now: Timestamp) {
        self.transport.session.advance(now);
        if self.is_shut {
            return;
        }
        let now = self.transport.now();
        self.transport.session.handle_timeout();
        match self.legacy_session.handle_timeout(&mut self.transport) {
            Expired::Nothing => {}
            Expired::Initialized => self.initialized(),
            Expired::Lost => self.renew_session(Some(self.transport.endpoint.generation)),
        }
        resume_streams(&mut self.transport);
        self.get_stream.handle_timeout(&mut self.transport);
        self.renew_lost_session();
        while let Some(id) = self.transport.exchanges.overdue(now) {
            self.abort_overdue(id);
        }
    }

    /// Closes the connection: pending requests fail, and the engine aborts their HTTP exchanges.
    ///
    /// The exchanges of notifications and of answers to server requests continue until the server has responded, and those
    /// that wait are started, up to [`Settings::max_posted_messages`]. Then
    /// [`Engine::poll_exchange`] returns the command for the `DELETE` request that ends a legacy session. When
    /// [`Engine::exchanges`] returns 0, the engine has nothing left to send. The embedder may also stop earlier.
    pub fn close(&mut self) {
        self.send_last_messages();
        self.transport.session.close(CloseReason::ByClient);
        self.shut();
    }

    /// Closes the connection as [`Engine::close`] does, but because of a failure in the client. Pending requests fail
    /// with the error message `why`.
    pub fn close_failed(&mut self, why: Arc<str>) {
        self.send_last_messages();
        self.transport.session.close(CloseReason::Failed(why));
        self.shut();
    }

    /// Returns the HTTP transport that the server uses, or `None` before the connection is open.
    ///
    /// Store it in [`Settings::flavour`] to skip the detection in later connections.
    pub fn flavour(&self) -> Option<Flavour> {
        let endpoint = &self.transport.endpoint;
        endpoint.version.map(|_| if endpoint.is_http_sse() { Flavour::Sse } else { Flavour::Streamable })
    }

    /// Returns the number of HTTP exchanges that have not ended, including those that have not started.
    pub fn exchanges(&self) -> usize {
        self.transport.exchanges.len()
    }

    /// Returns whether no request is pending, no message waits to be sent, and every received message has been handled.
    ///
    /// An idle engine may have open event streams.
    pub fn is_idle(&self) -> bool {
        self.transport.is_idle()
    }

    /// Frees the engine's buffers if the engine [is idle](Self::is_idle). Does nothing otherwise.
    pub fn shrink(&mut self) {
        if self.is_idle() {
            self.transport.release_buffers();
        }
    }

    /// Returns the settings that the engine was created with.
    pub fn settings(&self) -> &Settings {
        &self.transport.settings
    }
}

/// Methods that send messages.
impl Engine {
    fn allowed(&self) -> Allowed {
        if self.is_shut || self.http_sse.is_connecting() {
            Allowed::Nothing
        } else if self.legacy_session.is_holding() || self.get_stream.is_holding() {
            Allowed::Initialized
        } else if self.transport.exchanges.messages() >= self.settings().max_posted_messages.max(1) {
            Allowed::Requests
        } else {
            Allowed::Everything
        }
    }

    /// Starts the exchanges of the notifications and answers that wait, as far as they may be sent now. One may be the
    /// cancellation of a request that was dropped a moment ago.
    fn send_last_messages(&mut self) {
        sort_messages(&mut self.transport);
        self.transport.queue.drop_requests();
        while self.allowed() == Allowed::Everything
            && let Some(message) = self.transport.queue.next(Allowed::Everything)
        {
            self.send(message);
        }
    }

    fn send(&mut self, message: NextMessage) {
        match message {
            NextMessage::Initialized(message) => self.legacy_session.send_initialized(message, &mut self.transport),
            NextMessage::Request(request) => self.send_request(request),
            NextMessage::Message(method, message) => post_message(method, message, &mut self.transport),
        }
    }

    /// Sends a request, unless its caller no longer waits for the response. If the server has ended the legacy session,
    /// puts the request back into the queue and opens a new session first.
    fn send_request(&mut self, mut request: Request) {
        let transport = &mut self.transport;
        if !transport.session.waits_for(request.id) {
            return;
        }
        if self.legacy_session.is_lost() && !transport.endpoint.is_http_sse() && transport.is_ready() {
            transport.queue.resend.push_front(request);
            let session = transport.endpoint.generation;
            return self.renew_session(Some(session));
        }
        if request.is_initialize() {
            self.legacy_session.initialize_sent(request.params());
            if self.http_sse.must_connect(&transport.settings) {
                return self.http_sse.connect(request, None, transport);
            }
        }
        self.tool_calls.prepare(&mut request, transport);
        post_request(request, transport);
    }
}

/// Methods that handle HTTP responses.
impl Engine {
    /// Handles the head of an HTTP response.
    fn receive_head(&mut self, id: ExchangeId, mut head: Head) {
        let limits = self.transport.body_limits();
        let session_id = head.session_id.take();
        let Some(exchange) = self.transport.exchanges.begin_response(id, head, limits) else { return };
        match &exchange.purpose {
            purpose if purpose.opens_session() && exchange.response.is_success() => {
                self.transport.endpoint.session_id = session_id;
            }
            Purpose::Message(Some(method)) if method == INITIALIZED => self.initialized(),
            Purpose::GetStream => self.get_stream.responded(exchange.response.is_event_stream()),
            _ => {}
        }
    }

    /// Queues the end of an HTTP exchange behind its messages that are still in the inbox. [`Self::exchange_ended`]
    /// handles the end later.
    fn end_exchange(&mut self, id: ExchangeId, failure: Option<Failure>) {
        let Some(exchange) = self.transport.exchanges.end(id) else { return };
        if self.is_shut {
            // After the end of the connection, adapters need not poll events, so this method handles the end of the
            // exchange.
            self.transport.remove(id);
            return self.transport.delete_session();
        }
        if failure.is_none() {
            exchange.response.end(id, &mut self.transport.inbox);
        }
        self.transport.inbox.push_back((id, StreamItem::Ended(failure)));
    }

    /// Passes a message from the server to the session, unless the HTTP engine handles the message itself.
    ///
    /// `from` is the exchange in which the message arrived.
    fn receive_message(&mut self, from: ExchangeId, message: Vec<u8>) {
        let transport = &mut self.transport;
        if transport.exchanges.get(from).is_none() {
            return;
        }
        let received = Received::new(message);
        if let Some(response) = received.response() {
            let message = &received.message;
            let is_handled = self.legacy_session.receive(from, response, message, transport)
                || self.tool_calls.receive(from, response, message, transport);
            if is_handled {
                return;
            }
        }
        receive(from, received, transport);
    }

    /// Handles the end of an HTTP exchange whose messages have all been handled. `failure` is `None` if the response is
    /// complete.
    fn exchange_ended(&mut self, from: ExchangeId, failure: Option<Failure>) {
        let Some(exchange) = self.transport.remove(from) else { return };
        let transport = &mut self.transport;
        let (purpose, end) = exchange.into_end(failure);
        match purpose {
            Purpose::Request(request) if !transport.session.waits_for(request.id) => {}
            Purpose::Request(request) => self.recover(request, end),
            // The JSON-RPC response arrives on the event stream.
            Purpose::RequestOverSse(_) if end.is_success() => {}
            Purpose::RequestOverSse(request) => {
                transport.session.fail(request.id, RequestFault::Http(end.into_error()));
            }
            Purpose::Message(method) => self.message_ended(method, end),
            Purpose::GetStream => {
                let renewal_at = self.legacy_session.earliest_renewal(transport.now());
                if self.get_stream.ended(from, &end, renewal_at, transport) {
                    transport.session.end_subscriptions("GET", &end.into_error());
                }
                self.renew_lost_session();
            }
            Purpose::SseStream => self.http_sse.stream_ended(end.into_error(), transport),
            Purpose::RenewSession { .. } => self.legacy_session.renewal_ended(from, end, transport),
            Purpose::RefreshTools(refresh) => self.tool_calls.continue_refresh(*refresh, None, transport),
            Purpose::DeleteSession => {}
        }
    }

    /// Handles a request whose HTTP exchange ended without the JSON-RPC response. The function [`recover`] decides how.
    fn recover(&mut self, mut request: Request, end: ExchangeEnd) {
        let transport = &mut self.transport;
        let session = end.session;
        let may_use_sse = self.http_sse.may_fall_back(&transport.settings);
        match recover(&mut request, end, may_use_sse, transport) {
            Recovery::Fail(fault) => {
                transport.session.fail(request.id, fault);
            }
            Recovery::ResumeStream => {
                request.resume.next_attempt(transport.now(), &mut transport.random);
                transport.broken_streams.push(request);
            }
            Recovery::RefreshTools(error) => refresh_tools(request, error, transport),
            Recovery::TrySse(fault) => self.http_sse.connect(request, Some(fault), transport),
            Recovery::RenewAndResend => {
                transport.queue.resend.push_back(Request {
                    was_resent: true,
                    resume: ResumePoint::default(),
                    ..request
                });
                self.renew_session(session);
            }
            Recovery::RenewAndFail(fault) => {
                transport.session.fail(request.id, fault);
                self.renew_session(session);
            }
        }
    }

    /// Handles the end of an exchange that carried a notification with this method, or an answer to a server request.
    fn message_ended(&mut self, method: Option<String>, end: ExchangeEnd) {
        if method.as_deref() == Some(INITIALIZED) {
            self.initialized();
        }
        if end.is_success() {
            return;
        }
        let (session, is_session_unknown) = (end.session, end.response.status == Some(404));
        let error = end.into_message_error();
        if is_session_unknown && self.legacy_session.message_refused(session, &error, &mut self.transport) {
            self.renew_session(session);
        }
        self.transport.session.add_event(Event::DeliveryFailed { method, error });
    }

    /// Aborts an HTTP exchange, because the server has not responded to the notification or answer in time, or has not ended
    /// the event stream that has delivered the JSON-RPC response.
    fn abort_overdue(&mut self, id: ExchangeId) {
        let Some(exchange) = self.transport.abort(id) else { return };
        let after = self.transport.session.config().request_timeout;
        let detail = || alloc::format!("no response within {after:?}");
        let failure = (!exchange.response.has_begun()).then(|| Failure::new(FailureKind::Broken, detail()));
        if let (Purpose::Message(method), end) = exchange.into_end(failure) {
            self.message_ended(method, end);
        }
    }

    /// Updates the engine's state for an event of the session, before [`Self::poll_event`] returns the event.
    ///
    /// If the event is a tool list from a modern server, marks it, so that [`Ticket`](crate::Ticket) removes tools with
    /// invalid `x-mcp-header` annotations.
    fn inspect(&mut self, mut event: Event) -> Event {
        match &mut event {
            Event::Reply(reply) => {
                reply.over_modern_http = reply.method() == "tools/list" && self.transport.endpoint.is_modern();
            }
            Event::Connected => {
                let server = self.transport.session.server();
                self.transport.endpoint.version = server.map(|server| server.protocol_version);
                // If two requests were sent to open the connection, the slower one is no longer needed.
                self.transport.give_up_unneeded();
            }
            Event::Closed(_) => self.shut(),
            _ => {}
        }
        event
    }
}

impl Engine {
    /// If requests wait for the server's response to `notifications/initialized`, ends that wait and opens the `GET`
    /// event stream.
    fn initialized(&mut self) {
        if self.legacy_session.initialized() {
            self.get_stream.open(&mut self.transport);
        }
    }

    /// Opens a new legacy session in place of `ended`, which the server has ended. Does nothing if the client has
    /// already replaced that session or is replacing it.
    fn renew_session(&mut self, ended: Option<SessionGeneration>) {
        if self.legacy_session.end(ended, &mut self.transport) {
            let was_listening = self.get_stream.session_ended(&mut self.transport);
            self.legacy_session.renew(was_listening, &mut self.transport);
        }
    }

    /// Opens a new legacy session if the `GET` event stream has found that the server has ended the current one, and the
    /// time for that has come.
    fn renew_lost_session(&mut self) {
        if self.get_stream.must_renew_session(self.transport.now()) {
            self.renew_session(Some(self.transport.endpoint.generation));
        }
    }

    fn shut(&mut self) {
        if !mem::replace(&mut self.is_shut, true) {
            self.transport.abort_all();
            self.transport.delete_session();
        }
    }
}
