//! [`Engine`]: a session and the exchanges that carry its messages. Adapters drive it.
//!
//! [`Engine`] routes commands, responses and deadlines to the parts of this module. A part is a struct with private state that
//! does not know the engine; it returns what is to be done.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::{BTreeSet, VecDeque};
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::{fmt, mem};

use super::exchange::{Command, ExchangeId, Verb};
use super::exchanges::{Exchanges, OpenExchange, Purpose};
use super::incoming::{BodyLimits, Head, Received, Response};
use super::outgoing::{HeaderWriter, Headers, names_session};
use super::refresh_tools::{ToolRefresh, header_mismatch};
use super::renewal::{self, LegacySession};
use super::reopening::ResumePoint;
use super::request::Request;
use super::send_queue::SendQueue;
use super::settings::{Flavour, Settings};
use super::sse_2024::{Sse2024, SseStreamEnd};
use super::streams::Streams;
use super::tool_headers::ToolHeaders;
use super::unanswered::{Circumstances, NextStep, next_step};
use crate::json::scan::member;
use crate::rpc::peek::{Peek, peek};
use crate::rpc::write::{self, Push};
use crate::rpc::{PeerError, RpcError, WireId};
use crate::session::{Calls, Closed, Config, Event, Negotiate, Phase, Reply, RequestFault, Session};
use crate::time::Timestamp;
use crate::transport_error::{Failure, FailureKind, HttpError};
use crate::types::{Era, ListParams, ProtocolVersion};

/// The longest message that is kept to be sent again. 1 MiB: arguments are rarely beyond some KiB, and the copy doubles what a
/// large call costs.
const MAX_KEPT: usize = 1 << 20;

/// The client's side of a server that is reached over HTTP.
///
/// Parts of responses and time go in; exchanges, events and the next deadline come out; see the [module's page](super) for
/// the loop. Nothing in here waits, and each call does a bounded amount of work.
pub struct Engine {
    session: Session,
    settings: Settings,
    now: Timestamp,
    queue: SendQueue,
    exchanges: Exchanges,
    /// What was received and is not handled yet.
    inbox: VecDeque<Received>,
    /// The negotiated version, once the connection is open.
    version: Option<ProtocolVersion>,
    sse: Sse2024,
    legacy_session: LegacySession,
    streams: Streams,
    tools: ToolHeaders,
    /// Whether the connection has ended and everything was given up.
    is_shut: bool,
}

impl fmt::Debug for Engine {
    /// Leaves out what servers and callers sent: ids of sessions are secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("settings", &self.settings)
            .field("phase", &self.session.phase())
            .field("in_flight", &self.session.in_flight())
            .field("exchanges", &self.exchanges())
            .finish_non_exhaustive()
    }
}

/// What adapters do with an engine.
impl Engine {
    /// Returns an engine that has sent nothing yet.
    pub fn new(mut config: Config, settings: Settings) -> Self {
        if settings.flavour == Some(Flavour::Sse) && config.negotiate == Negotiate::Auto {
            // No modern server uses that transport.
            config.negotiate = Negotiate::Legacy;
        }
        let mut session = Session::new(config);
        session.track_abandoned();
        Engine {
            session,
            streams: Streams::new(settings.seed),
            settings,
            now: Timestamp::ORIGIN,
            queue: SendQueue::default(),
            exchanges: Exchanges::new(),
            inbox: VecDeque::new(),
            version: None,
            sse: Sse2024::default(),
            legacy_session: LegacySession::default(),
            tools: ToolHeaders::default(),
            is_shut: false,
        }
    }

    /// Returns the next thing to do. Poll until there is nothing after each other call, and after the events.
    pub fn poll_exchange(&mut self, now: Timestamp) -> Option<Command> {
        self.advance(now);
        self.sort_outgoing();
        loop {
            if let Some(command) = self.exchanges.poll() {
                return Some(command);
            }
            if !self.send_next() {
                return None;
            }
        }
    }

    /// Handles the head of a response: its status and its headers, in any order. Interim responses (1xx) may be left out.
    ///
    /// Only the headers that the protocol uses are read, and none that is too long for its purpose.
    pub fn response<'h>(
        &mut self,
        id: ExchangeId,
        status: u16,
        headers: impl IntoIterator<Item = (&'h str, &'h [u8])>,
        now: Timestamp,
    ) {
        self.advance(now);
        let mut head = Head::new(status);
        for (name, value) in headers {
            head.add(name, value);
        }
        self.head(id, head);
    }

    /// Handles the next bytes of a response's body. They may be cut anywhere. A piece should not be longer than what is read at
    /// once, because its messages wait for [`Engine::poll_event`].
    pub fn body(&mut self, id: ExchangeId, bytes: &[u8], now: Timestamp) {
        self.advance(now);
        let limits = self.body_limits();
        let Some(open) = self.exchanges.get_running(id) else { return };
        let has_message = open.response.read(id, bytes, limits, &mut self.inbox);
        let OpenExchange { purpose, response, .. } = open;
        match (purpose, response.decoder()) {
            (Purpose::Request(request), Some(decoder)) => request.resume.progressed(decoder, has_message),
            (Purpose::OwnStream, Some(decoder)) => self.streams.own_progressed(decoder, has_message),
            _ => {}
        }
    }

    /// Handles that a response has ended as it should.
    pub fn ended(&mut self, id: ExchangeId, now: Timestamp) {
        self.advance(now);
        self.end(id, None);
    }

    /// Handles that an exchange failed, at whatever point.
    pub fn failed(&mut self, id: ExchangeId, failure: Failure, now: Timestamp) {
        self.advance(now);
        self.end(id, Some(failure));
    }

    /// Returns the next event. Poll until there is none after each input; what the server sent is handled here, message by
    /// message.
    pub fn poll_event(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.session.poll_event() {
                return Some(self.polled(event));
            }
            if self.session.is_in_batch() {
                self.limit_answers();
            }
            if self.session.resume(self.now, self.queue.buffer()) {
                continue;
            }
            let received = self.inbox.pop_front()?;
            self.received(received);
        }
    }

    /// Returns the calls of the connection: requests, notifications, subscriptions, answers.
    pub fn calls(&mut self) -> Calls<'_> {
        let queued = self.exchanges.unsent() + self.queue.bytes();
        Calls::new(&mut self.session, self.queue.buffer(), &mut self.now, queued)
    }

    /// Returns what is known of the connection.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Returns the next deadline: call [`Engine::handle_timeout`] then. Calling it earlier does no harm.
    pub fn poll_timeout(&self) -> Option<Timestamp> {
        if self.is_shut {
            return None;
        }
        let own = [self.legacy_session.poll_timeout(), self.streams.poll_timeout(), self.exchanges.poll_timeout()];
        own.into_iter().chain([self.session.poll_timeout()]).flatten().min()
    }

    /// Handles the deadlines that have passed.
    pub fn handle_timeout(&mut self, now: Timestamp) {
        self.advance(now);
        if self.is_shut {
            return;
        }
        let now = self.now;
        self.session.handle_timeout(now, self.queue.buffer());
        if self.legacy_session.is_hold_over(now) {
            self.initialized_delivered();
        }
        self.streams.handle_timeout(now);
        if let Some(id) = self.legacy_session.overdue_renewal(now) {
            self.abort(id);
            let after = self.session.config().connect_timeout;
            let detail = alloc::format!("no answer to `initialize` within {after:?}");
            self.renewal_failed(&HttpError::Failed(Failure::new(FailureKind::Broken, detail)));
        }
        while let Some(request) = self.streams.next_to_resume(now) {
            if self.session.waits_for(request.id) {
                let headers = self.headers().stream(request.resume.last_event_id());
                self.start(Purpose::Request(request), Verb::Get, headers, Vec::new());
            }
        }
        if self.streams.is_own_due(now) {
            self.request_own_stream();
        }
        while let Some(id) = self.exchanges.overdue_stream(now) {
            self.abort(id);
        }
        while let Some(id) = self.exchanges.overdue_message(now) {
            self.message_overdue(id);
        }
    }

    /// Ends the connection from this side. All requests end, and all exchanges are given up but those that carry a message to the
    /// server, such as that a request was cancelled. A legacy session is ended on the server after those:
    /// [`Engine::poll_exchange`] still returns that exchange, and [`Engine::exchanges`] is 0 once it is done. Nobody needs to wait
    /// for it.
    pub fn close(&mut self) {
        self.session.close(Closed::ByClient);
        self.shut();
    }

    /// Ends the connection as [`Engine::close`] does, because this side cannot go on. Requests that wait end with the reason.
    pub fn close_failed(&mut self, why: Arc<str>) {
        self.session.close(Closed::Failed(why));
        self.shut();
    }

    /// Returns the shape of the transport, once the connection is open: worth remembering for the next time.
    pub fn flavour(&self) -> Option<Flavour> {
        self.version.map(|_| if self.sse.is_open() { Flavour::Sse } else { Flavour::Streamable })
    }

    /// Returns the number of exchanges under way.
    pub fn exchanges(&self) -> usize {
        self.exchanges.len()
    }

    /// Whether nothing is under way: no request, nothing to send, nothing received that was not handled. A stream that waits for
    /// messages of the server does not count.
    pub fn is_idle(&self) -> bool {
        let nothing_received = self.inbox.is_empty() && !self.session.is_in_batch();
        self.session.in_flight() == 0 && self.queue.is_empty() && !self.exchanges.has_commands() && nothing_received
    }

    /// Frees the buffers if nothing is under way.
    pub fn shrink(&mut self) {
        if self.is_idle() {
            self.session.release_buffers();
            self.queue.release_buffers();
            self.exchanges.release_buffers();
            self.inbox = VecDeque::new();
        }
    }

    /// Takes a reply that has been read. Over HTTP its memory is not used again; the call is there for adapters that drive both
    /// kinds of engine.
    pub fn recycle(&mut self, reply: Reply) {
        drop(reply);
    }

    /// Returns the address of the server and how to reach it.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }
}

/// What goes out.
impl Engine {
    /// Sorts what the session wrote.
    fn sort_outgoing(&mut self) {
        let mut never_sent = BTreeSet::new();
        for id in self.session.take_abandoned() {
            if self.give_up(id) {
                never_sent.insert(id);
            }
        }
        while let Some(message) = self.queue.next_line() {
            match peek(&message) {
                Peek::Request { id, method } => {
                    let Some(id) = id.number() else { continue };
                    if self.session.waits_for(id) {
                        let method = method.into_owned().into_boxed_str();
                        let is_repeatable = self.session.is_repeatable(id);
                        self.queue.add_request(Request::new(id, method, message, is_repeatable));
                    } else {
                        never_sent.insert(id);
                    }
                }
                Peek::Notification { method } => {
                    let method = method.into_owned();
                    if method == "notifications/cancelled"
                        && let Some(id) = cancelled_request(&message)
                    {
                        let was_sent = !self.give_up(id) && !never_sent.contains(&id);
                        // The end of the exchange tells a modern server.
                        if self.is_modern() || !was_sent {
                            continue;
                        }
                    }
                    self.queue.add_notification(method, message);
                }
                _ => self.queue.add_answer(&message),
            }
        }
    }

    /// Makes an exchange of the next message, if one may be sent now.
    fn send_next(&mut self) -> bool {
        if self.is_shut || self.sse.is_connecting() {
            return false;
        }
        if let Some(message) = self.queue.take_initialized() {
            self.send_initialized(message);
            return true;
        }
        if self.legacy_session.is_held() || self.streams.is_holding() {
            return false;
        }
        if let Some(request) = self.queue.next_request() {
            self.post(request);
            return true;
        }
        if self.exchanges.messages() >= self.settings.max_posted_messages.max(1) {
            return false;
        }
        match self.queue.next_message() {
            Some((method, message)) => {
                self.post_message(method, message);
                true
            }
            None => false,
        }
    }

    /// Sends a request, for the first time or once more, unless nobody waits for its answer.
    fn post(&mut self, mut request: Request) {
        if !self.session.waits_for(request.id) {
            return;
        }
        if self.legacy_session.is_lost() && !self.sse.is_open() && self.session.phase() == Phase::Ready {
            self.queue.put_back(request);
            return self.renew(Some(self.legacy_session.generation()));
        }
        let Some(message) = request.message.take() else { return };
        let is_initialize = request.is_initialize();
        if is_initialize {
            self.legacy_session.initialize_sent(&message);
            if self.settings.flavour == Some(Flavour::Sse) && self.sse.is_unused() {
                request.message = Some(message);
                return self.connect_sse(request, None);
            }
        }
        let is_modern_call = self.is_modern() && request.is_tool_call();
        if is_modern_call {
            request.header_params = self.tools.headers_of(&message);
        }
        request.is_repeatable = request.is_repeatable || self.tools.is_repeatable(&request.method, &message);
        let mut headers = self.headers().message(&request.method, &message);
        let params = request.header_params.iter();
        headers.extend(params.map(|(name, value)| (Cow::Owned(name.clone()), value.clone())));
        let may_be_resent = is_modern_call || self.legacy_session.id().is_some();
        if is_initialize || (may_be_resent && message.len() <= MAX_KEPT) {
            request.message = Some(message.clone());
        }
        let purpose = if self.sse.is_open() { Purpose::Delivery(request) } else { Purpose::Request(request) };
        self.start(purpose, Verb::Post, headers, message);
    }

    /// Sends a notification, whose method is given, or an answer.
    fn post_message(&mut self, method: Option<String>, message: Vec<u8>) {
        let headers = self.headers().message(method.as_deref().unwrap_or_default(), &message);
        let id = self.start(Purpose::Message { method }, Verb::Post, headers, message);
        self.exchanges.give_up_message_at(id, self.now + self.session.config().request_timeout);
    }

    /// Sends `notifications/initialized`. Everything else waits until the server has accepted it.
    fn send_initialized(&mut self, message: Vec<u8>) {
        self.legacy_session.hold(self.now + self.session.config().probe_timeout);
        self.post_message(Some(INITIALIZED.to_string()), message);
    }

    /// Writes a request of the transport's own.
    fn write_own(&mut self, method: &str, params: Push<'_>) -> (u64, Vec<u8>) {
        let mut message = Vec::new();
        let id = self.session.write_own(method, params, &mut message);
        // Without the newline.
        message.pop();
        (id, message)
    }

    fn start(&mut self, purpose: Purpose, verb: Verb, headers: Headers, body: Vec<u8>) -> ExchangeId {
        let session = names_session(&headers).then(|| self.legacy_session.generation());
        let uri = match verb {
            Verb::Post => self.sse.endpoint().unwrap_or(&self.settings.uri),
            Verb::Get | Verb::Delete => &self.settings.uri,
        };
        self.exchanges.start(purpose, verb, uri.to_string(), headers, body, session)
    }

    /// Gives up what serves a request that nobody waits for. Returns `true` if the request was never sent in this session.
    fn give_up(&mut self, request: u64) -> bool {
        self.streams.forget(request);
        // A request that is queued once more was refused, or its session has ended.
        if self.queue.remove_request(request).is_some() {
            return true;
        }
        self.exchanges.of_request(request).is_some_and(|id| self.abort(id))
    }

    /// Gives up an exchange. Returns `true` if it carried a request that was never sent in this session.
    fn abort(&mut self, id: ExchangeId) -> bool {
        let Some(open) = self.remove(id) else { return false };
        let is_of_past_session = open.session.is_some_and(|session| session != self.legacy_session.generation());
        self.exchanges.tell_aborted(id, &open) || is_of_past_session
    }

    fn remove(&mut self, id: ExchangeId) -> Option<OpenExchange> {
        let open = self.exchanges.remove(id)?;
        if let Some(own) = open.own_request() {
            self.session.remove_own(own);
        }
        Some(open)
    }
}

/// What comes in.
impl Engine {
    fn head(&mut self, id: ExchangeId, head: Head) {
        let limits = self.body_limits();
        let Some(open) = self.exchanges.begin_response(id, &head, limits) else { return };
        match &open.purpose {
            Purpose::Request(request) if request.is_initialize() && head.is_success() => {
                self.legacy_session.opened(head.session);
            }
            Purpose::Renewal { .. } if head.is_success() => self.legacy_session.opened(head.session),
            Purpose::Message { method: Some(method) } if method == INITIALIZED => self.initialized_delivered(),
            Purpose::OwnStream => self.streams.own_responded(open.response.is_event_stream(), head.status),
            _ => {}
        }
    }

    fn end(&mut self, id: ExchangeId, failure: Option<Failure>) {
        let Some(open) = self.exchanges.end(id) else { return };
        if self.is_shut {
            // Nobody polls events any more.
            self.remove(id);
            return self.end_session();
        }
        if failure.is_none() {
            open.response.end(id, &mut self.inbox);
        }
        self.inbox.push_back(Received::Ended { from: id, failure });
    }

    /// Handles the next thing that was received.
    fn received(&mut self, received: Received) {
        match received {
            Received::Message { from, bytes } => self.message(from, bytes),
            Received::Overlong { from, head } => self.overlong(from, &head),
            Received::Endpoint { from, uri } => self.endpoint(from, &uri),
            Received::MessageHandled { from } => self.message_handled(from),
            Received::Ended { from, failure } => self.exchange_ended(from, failure),
        }
    }

    fn message(&mut self, from: ExchangeId, bytes: Vec<u8>) {
        let is_modern = self.is_modern();
        let Some(open) = self.exchanges.get(from) else { return };
        match &open.purpose {
            Purpose::Renewal { id } => {
                let id = *id;
                return self.renewal_message(from, id, bytes);
            }
            Purpose::RefreshTools(refresh) if refresh.is_response(&bytes) => return self.tools_refreshed(from, &bytes),
            Purpose::RefreshTools(_) => return self.receive(bytes),
            Purpose::Request(request) if &*request.method == "tools/list" => {
                self.tools.read_page(&bytes, None);
            }
            Purpose::Request(request) if !request.was_resent && is_modern && request.is_tool_call() => {
                if let Some(error) = header_mismatch(&bytes, request.id) {
                    let call = request.clone();
                    self.abort(from);
                    return self.refresh_tools(call, error);
                }
            }
            _ => {}
        }
        self.receive(bytes);
        self.inbox.push_front(Received::MessageHandled { from });
    }

    fn receive(&mut self, message: Vec<u8>) {
        self.limit_answers();
        self.session.receive(message, self.now, self.queue.buffer());
    }

    /// Lets the session answer the server as long as few answers wait.
    fn limit_answers(&mut self) {
        self.sort_outgoing();
        let room = self.settings.max_queued_answers.saturating_sub(self.queue.answer_bytes());
        self.session.limit_answers(room);
    }

    /// Handles a message that is too long. If it is an answer, its request fails, and no other. A body is given up then; a stream
    /// goes on.
    fn overlong(&mut self, from: ExchangeId, head: &[u8]) {
        let Some(open) = self.exchanges.get(from) else { return };
        let (is_body, request) = (open.response.is_ignored(), open.request());
        let names_request = matches!(peek(head), Peek::Response { id } if id.number().is_some());
        match request {
            Some(id) if is_body || !names_request => {
                let limit = self.session.config().max_message;
                self.fail(id, RequestFault::Invalid(PeerError::too_long(limit, head)));
                if is_body {
                    self.abort(from);
                }
            }
            _ => self.session.receive_overlong(head, self.now, self.queue.buffer()),
        }
    }

    /// Closes the stream of a request that has been answered.
    fn message_handled(&mut self, from: ExchangeId) {
        let Some(open) = self.exchanges.get(from) else { return };
        let Purpose::Request(request) = &open.purpose else { return };
        if open.response.is_event_stream() && !self.session.waits_for(request.id) {
            self.exchanges.close_later(from, self.now);
        }
    }

    /// Handles that a response has ended, after all that it brought.
    fn exchange_ended(&mut self, from: ExchangeId, failure: Option<Failure>) {
        let Some(open) = self.remove(from) else { return };
        let OpenExchange { purpose, mut response, session, .. } = open;
        match purpose {
            Purpose::Request(request) if !self.session.waits_for(request.id) => {}
            Purpose::Request(mut request) => {
                let given = Circumstances {
                    names_session: session.is_some(),
                    is_modern: self.is_modern(),
                    max_attempts: self.settings.max_attempts,
                };
                let step = next_step(&mut request, &mut response, failure, given);
                self.take_step(request, step, session);
            }
            // The answer comes by the stream.
            Purpose::Delivery(_) if failure.is_none() && response.is_success() => {}
            Purpose::Delivery(request) => self.fail(request.id, RequestFault::Http(response.error(failure))),
            Purpose::Message { method } => self.message_ended(method, &mut response, session, failure),
            Purpose::OwnStream => self.streams.own_ended(from, self.now, self.settings.max_attempts),
            Purpose::SseStream => self.sse_stream_ended(response.error(failure)),
            Purpose::Renewal { .. } if self.legacy_session.is_renewed_by(from) => {
                self.renewal_failed(&response.error(failure));
            }
            Purpose::RefreshTools(refresh) => self.continue_refresh(*refresh),
            Purpose::Renewal { .. } | Purpose::Delete => {}
        }
    }

    /// Handles the end of the exchange of a notification, whose method is given, or of an answer.
    fn message_ended(
        &mut self,
        method: Option<String>,
        response: &mut Response,
        session: Option<u32>,
        failure: Option<Failure>,
    ) {
        if method.as_deref() == Some(INITIALIZED) {
            self.initialized_delivered();
        }
        if failure.is_none() && response.is_success() {
            return;
        }
        let is_session_lost = response.status() == 404 && self.legacy_session.is_current(session);
        let error = match response.rpc_error(None).filter(|_| failure.is_none()) {
            Some((error, _)) => HttpError::Status { status: response.status(), excerpt: error.to_string() },
            None => response.error(failure),
        };
        if is_session_lost && self.legacy_session.may_renew_for_message(self.now) {
            self.renew(session);
        } else if is_session_lost && self.session.phase() == Phase::Ready {
            self.renewal_failed(&error);
        }
        self.session.add_event(Event::Undelivered { method, error });
    }

    /// Gives up the exchange of a message: the server does not respond, or its response does not end.
    fn message_overdue(&mut self, id: ExchangeId) {
        let Some(open) = self.remove(id) else { return };
        self.exchanges.tell_aborted(id, &open);
        let OpenExchange { purpose: Purpose::Message { method }, mut response, session, .. } = open else { return };
        let after = self.session.config().request_timeout;
        let detail = || alloc::format!("no response within {after:?}");
        let failure = (!response.has_begun()).then(|| Failure::new(FailureKind::Broken, detail()));
        self.message_ended(method, &mut response, session, failure);
    }

    /// Does what follows for a request whose exchange ended without its answer.
    fn take_step(&mut self, mut request: Request, step: NextStep, session: Option<u32>) {
        match step {
            NextStep::Fail(fault) => self.fail(request.id, fault),
            NextStep::Resume => self.streams.resume_later(request, self.now),
            NextStep::RefreshTools(error) => self.refresh_tools(request, error),
            NextStep::TrySse(fault) => {
                if self.settings.flavour == Some(Flavour::Streamable) || !self.sse.is_unused() {
                    self.fail(request.id, fault);
                } else {
                    self.connect_sse(request, Some(fault));
                }
            }
            // What was refused was not carried out. Nobody knows that of a request whose stream broke off.
            NextStep::SessionEnded { was_refused } => {
                let may_be_resent = !request.was_resent && (was_refused || request.is_repeatable);
                if may_be_resent && request.message.is_some() {
                    request.was_resent = true;
                    request.resume = ResumePoint::default();
                    self.queue.resend(request);
                } else if was_refused {
                    let excerpt = "the session has ended".to_string();
                    self.fail(request.id, RequestFault::Http(HttpError::Status { status: 404, excerpt }));
                } else {
                    self.fail(request.id, RequestFault::Http(HttpError::SessionLost));
                }
                self.renew(session);
            }
        }
    }

    fn fail(&mut self, request: u64, fault: RequestFault) {
        self.session.fail(request, fault, self.now, self.queue.buffer());
    }

    /// Handles an event of the session before the embedder gets it.
    fn polled(&mut self, mut event: Event) -> Event {
        match &mut event {
            Event::Reply(reply) => reply.mirrored = reply.method() == "tools/list" && self.is_modern(),
            Event::Connected => {
                self.version = self.session.server().map(|server| server.protocol_version);
                // The answer to the other of the two requests that open a connection is not needed any more.
                for request in self.exchanges.requests() {
                    if !self.session.waits_for(request) {
                        self.give_up(request);
                    }
                }
            }
            Event::Closed(_) => self.shut(),
            _ => {}
        }
        event
    }

    /// Gives up everything but the messages that are on their way to the server.
    fn shut(&mut self) {
        if mem::replace(&mut self.is_shut, true) {
            return;
        }
        self.queue.clear();
        self.inbox.clear();
        for id in self.exchanges.dispensable() {
            self.abort(id);
        }
        self.end_session();
    }

    /// Tells the server that the session has ended, once nothing else is under way that could arrive later.
    fn end_session(&mut self) {
        if self.exchanges.len() == 0 && !self.sse.is_open() && self.legacy_session.id().is_some() {
            let headers = self.headers().stream("");
            self.start(Purpose::Delete, Verb::Delete, headers, Vec::new());
            self.legacy_session.take_id();
        }
    }
}

/// Sessions and streams of legacy servers.
impl Engine {
    /// Handles that the server has accepted `notifications/initialized`, or will not.
    fn initialized_delivered(&mut self) {
        let was_held = self.legacy_session.release();
        let may_listen = was_held && self.settings.listen && self.streams.is_own_unrequested();
        if may_listen && !self.sse.is_open() && !self.is_modern() && self.session.phase() == Phase::Ready {
            self.request_own_stream();
            let capabilities = &self.session.config().capabilities;
            // The server may ask something on that stream.
            if capabilities.roots.is_some() || capabilities.sampling.is_some() || capabilities.elicitation.is_some() {
                self.streams.hold_requests(self.now);
            }
        }
    }

    fn request_own_stream(&mut self) {
        let headers = self.headers().stream(self.streams.own_resume().last_event_id());
        let id = self.start(Purpose::OwnStream, Verb::Get, headers, Vec::new());
        self.streams.own_requested(id);
    }

    /// Opens a session in place of the one that the server has ended, unless that was noticed before.
    fn renew(&mut self, session: Option<u32>) {
        if self.session.phase() != Phase::Ready || !self.legacy_session.end(session) {
            return;
        }
        if let Some(own_stream) = self.streams.session_ended() {
            self.abort(own_stream);
        }
        let params = self.legacy_session.initialize_params().to_vec();
        let (id, message) = self.write_own("initialize", &|out: &mut Vec<u8>| {
            out.extend_from_slice(&params);
            Ok(())
        });
        let headers = self.headers().message("initialize", &message);
        let exchange = self.start(Purpose::Renewal { id }, Verb::Post, headers, message);
        let deadline = self.now + self.session.config().connect_timeout;
        self.legacy_session.renewal_started(exchange, self.now, deadline);
    }

    /// Handles a message on the exchange that opens a new session by the request with this id.
    fn renewal_message(&mut self, from: ExchangeId, id: u64, message: Vec<u8>) {
        if !matches!(peek(&message), Peek::Response { id: of } if of.number() == Some(id)) {
            return self.receive(message);
        }
        if !self.legacy_session.is_renewed_by(from) {
            return;
        }
        match renewal::read_initialize(&message, id, self.version) {
            Ok(()) => {
                self.legacy_session.renewed();
                self.session.remove_own(id);
                self.exchanges.close_later(from, self.now);
                self.send_initialized(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_vec());
                self.session.renewed(self.now, self.queue.buffer());
            }
            Err(error) => {
                self.abort(from);
                self.renewal_failed(&error);
            }
        }
    }

    /// Fails the requests that waited for the new session. The next one tries it again: its caller may know that the server is
    /// back.
    fn renewal_failed(&mut self, error: &HttpError) {
        self.legacy_session.renewal_failed();
        for request in self.queue.take_resend() {
            self.fail(request.id, RequestFault::Http(error.clone()));
        }
    }

    /// Requests the stream of events of HTTP+SSE, which names the endpoint for `initialize`.
    fn connect_sse(&mut self, initialize: Request, refusal: Option<RequestFault>) {
        self.sse.connect(initialize, refusal);
        let headers = self.headers().stream("");
        self.start(Purpose::SseStream, Verb::Get, headers, Vec::new());
    }

    fn endpoint(&mut self, from: ExchangeId, named: &[u8]) {
        let is_stream = self.exchanges.get(from).is_some_and(|open| matches!(open.purpose, Purpose::SseStream));
        if !is_stream || !self.sse.is_connecting() {
            return;
        }
        match self.sse.endpoint_named(named, &self.settings.uri) {
            Some(Ok(initialize)) => self.queue.resend(initialize),
            Some(Err((initialize, error))) => {
                self.abort(from);
                self.fail(initialize, RequestFault::Http(error));
            }
            None => {}
        }
    }

    fn sse_stream_ended(&mut self, error: HttpError) {
        match self.sse.stream_ended(error) {
            SseStreamEnd::NotOpened { initialize, fault } => self.fail(initialize, fault),
            SseStreamEnd::Closed { initialize, error } if self.session.phase() == Phase::Connecting => {
                self.fail(initialize, RequestFault::Http(error));
            }
            SseStreamEnd::Closed { .. } => self.session.close(Closed::ByServer),
            SseStreamEnd::Ignored => {}
        }
    }
}

/// The tool list, where the server does not agree with the headers of a call.
impl Engine {
    fn refresh_tools(&mut self, call: Request, error: RpcError) {
        if call.message.is_none() {
            return self.fail(call.id, RequestFault::Server(error));
        }
        self.request_tools(ToolRefresh::new(call, error));
    }

    fn request_tools(&mut self, mut refresh: ToolRefresh) {
        let params = ListParams { cursor: refresh.next_page() };
        let (id, message) = self.write_own("tools/list", &|out: &mut Vec<u8>| write::push_object(out, &params));
        refresh.page_requested(id);
        let headers = self.headers().message("tools/list", &message);
        self.start(Purpose::RefreshTools(Box::new(refresh)), Verb::Post, headers, message);
    }

    /// Handles a page of the list. What else the server sends on its exchange does not matter.
    fn tools_refreshed(&mut self, from: ExchangeId, page: &[u8]) {
        let Some(open) = self.remove(from) else { return };
        self.exchanges.tell_aborted(from, &open);
        if let Purpose::RefreshTools(mut refresh) = open.purpose {
            refresh.read_page(page, &mut self.tools);
            self.continue_refresh(*refresh);
        }
    }

    /// Requests the next page, or sends the call once more.
    fn continue_refresh(&mut self, refresh: ToolRefresh) {
        if refresh.next_page().is_some() && self.session.waits_for(refresh.call().id) {
            return self.request_tools(refresh);
        }
        match refresh.finish(&self.tools) {
            Ok(call) => self.queue.resend(call),
            Err((call, error)) => self.fail(call, RequestFault::Server(error)),
        }
    }
}

/// What several of these need.
impl Engine {
    fn advance(&mut self, now: Timestamp) {
        self.now = self.now.max(now);
    }

    fn is_modern(&self) -> bool {
        self.version.is_some_and(|version| version.era() == Era::Modern)
    }

    fn headers(&self) -> HeaderWriter<'_> {
        HeaderWriter { settings: &self.settings, version: self.version, session: self.legacy_session.id() }
    }

    fn body_limits(&self) -> BodyLimits {
        BodyLimits { message: self.session.config().max_message, error: self.settings.max_refusal }
    }
}

const INITIALIZED: &str = "notifications/initialized";

/// Returns the id of the request that `notifications/cancelled` names.
fn cancelled_request(message: &[u8]) -> Option<u64> {
    WireId(member(member(message, "params")?, "requestId")?).number()
}
