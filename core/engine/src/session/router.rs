//! [`Session`]: owns the state of one connection, opens and closes the connection, and receives messages.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem;
use core::time::Duration;

use super::caller_requests::CallerRequests;
use super::config::Config;
use super::connection::{Connection, Negotiated, Phase};
use super::context::Context;
use super::error::{CloseReason, RequestFault, SendError};
use super::event::Event;
use super::incoming::{self, Batch};
use super::opening::{Opening, OpeningContext, OpeningEnd};
use super::parts::Parts;
use super::request_keys::RequestKey;
use super::requests::{Owner, Requests};
use super::server_info::ServerInfo;
use super::server_requests::ServerRequests;
use super::stats::Stats;
use super::subscriptions::Subscriptions;
use crate::cache::is_cacheable;
use crate::rpc::received::{MessageBytes, ReceivedKind};
#[cfg(feature = "http")]
use crate::rpc::write::{self, Meta, ParamsWriter};
use crate::rpc::{PeerError, Received, Response, WireId, decode};
use crate::time::Timestamp;
#[cfg(feature = "http")]
use crate::transport_error::HttpError;
use mcpwire_types::method::Method;
use mcpwire_types::{Era, LoggingLevel};

/// The client side of one connection to a server.
///
/// The methods of a session report the state of the connection. To send requests, notifications, and answers to
/// requests of the server, use [`Calls`](super::Calls).
#[derive(Debug)]
pub struct Session {
    config: Config,
    connection: Connection,
    /// Description of the server. `None` until the connection is open; remains `Some` after the connection has ended.
    server: Option<Arc<ServerInfo>>,
    requests: Requests,
    callers: CallerRequests,
    server_requests: ServerRequests,
    subscriptions: Subscriptions,
    events: VecDeque<Event>,
    batch: Option<Batch>,
    stats: Stats,
    /// While the transmit buffer contains this many bytes or more, the session does not answer requests of the server.
    /// `usize::MAX` if the transport sets no limit.
    answer_limit: usize,
}

/// Methods by which the embedder reads the state of the session.
impl Session {
    /// Returns the phase of the connection: new, connecting, ready or closed.
    pub fn phase(&self) -> Phase {
        self.connection.phase()
    }

    /// Returns the description of the server, or `None` if the connection was never open.
    ///
    /// The description remains available after the connection has ended.
    pub fn server(&self) -> Option<&ServerInfo> {
        self.server.as_deref()
    }

    /// Returns the description of the server as an [`Arc`], or `None` if the connection was never open.
    pub fn shared_server(&self) -> Option<Arc<ServerInfo>> {
        self.server.clone()
    }

    /// Returns the number of requests of the client that have no reply yet.
    ///
    /// Includes requests for which the server has required input, and tool calls whose tasks the session polls.
    pub fn in_flight(&self) -> usize {
        self.callers.len(&self.requests)
    }

    /// Returns whether the request with this key has no reply yet. Returns `false` for an unknown key.
    pub fn is_waiting(&self, key: RequestKey) -> bool {
        self.callers.is_pending(key, &self.requests)
    }

    /// Returns the number of subscriptions of the client.
    ///
    /// An ended subscription still counts until the embedder has polled its last event,
    /// [`SubscriptionEvent::Ended`](crate::SubscriptionEvent::Ended).
    #[inline]
    pub fn subscriptions(&self) -> usize {
        self.subscriptions.len()
    }

    /// Returns whether the cache may contain a response to requests of the method `M`.
    ///
    /// If it may, process all received data before sending such a request: the server may have reported a change that
    /// makes the cached response stale.
    #[inline]
    pub fn keeps_answers_to<M: Method>(&self) -> bool {
        self.callers.has_cached_responses() && const { is_cacheable(M::NAME) }
    }

    /// Returns whether an event is queued for the embedder. Messages of a JSON-RPC batch that are not handled yet may
    /// cause further events.
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// Returns whether the client must send [`RootsListChanged`](crate::RootsListChanged) when its roots change.
    ///
    /// This is so while the connection to a legacy server (up to revision 2025-11-25) is open, if
    /// [`Config::capabilities`] declares `roots.listChanged` (specification: client/roots, "Root List Changes").
    pub fn declares_roots_list_changed(&self) -> bool {
        self.connection.is_era(Era::Legacy) && self.config.capabilities.declares_roots_list_changed()
    }

    /// Returns counters of the messages that the session ignored or refused, and of the requests answered from the
    /// cache.
    pub fn stats(&self) -> Stats {
        self.stats
    }

    /// Returns the configuration of the session.
    pub fn config(&self) -> &Config {
        &self.config
    }
}

/// Methods that create the session, handle deadlines, and open and close the connection.
impl Session {
    pub(crate) fn new(config: Config) -> Self {
        Session {
            connection: Connection::New,
            server: None,
            requests: Requests::default(),
            callers: CallerRequests::new(&config),
            server_requests: ServerRequests::default(),
            subscriptions: Subscriptions::default(),
            events: VecDeque::new(),
            batch: None,
            stats: Stats::default(),
            answer_limit: usize::MAX,
            config,
        }
    }

    /// Creates the session for the server that is restarted after [`Event::Restart`], and moves this session's
    /// configuration to it.
    ///
    /// The new session accepts only legacy versions (up to revision 2025-11-25). Its connect timeout is shorter by
    /// `spent`, the time since the first attempt to connect began.
    pub(crate) fn restarted(&mut self, spent: Duration) -> Session {
        Session::new(mem::take(&mut self.config).after_restart(spent))
    }

    /// Sends the first request on the connection: `server/discover` or `initialize`.
    pub(super) fn initialize(&mut self, now: Timestamp, out: &mut Vec<u8>) -> Result<(), SendError> {
        match &self.connection {
            Connection::New => {}
            Connection::Closed => return Err(SendError::Closed),
            _ => return Err(SendError::AlreadyInitialized),
        }
        let context = &mut OpeningContext { now, out, requests: &mut self.requests, config: &self.config };
        self.connection = Connection::Opening(Opening::begin(context));
        Ok(())
    }

    pub(super) fn declare_tasks(&mut self) {
        self.connection.declare_tasks(&self.config);
    }

    /// Sets the log level in the `_meta` of later requests. Only modern servers (from revision 2026-07-28) read the
    /// level there.
    pub(super) fn set_log_level(&mut self, level: &LoggingLevel) {
        self.config.log_level = Some(level.clone());
        self.connection.refresh_request_meta(&self.config);
    }

    pub(crate) fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Forgets the responses that belong to the old authorization, and reports the change if the connection is open.
    #[cfg(feature = "http")]
    pub(crate) fn authorization_changed(&mut self) {
        self.callers.authorization_changed(&mut self.requests);
        if self.phase() == Phase::Ready {
            self.add_event(Event::AuthorizationChanged);
        }
    }

    #[cfg(feature = "http")]
    pub(crate) fn add_event(&mut self, event: Event) {
        self.events.push_back(event);
    }

    /// Reports that the engine sends a request again, or resumes its event stream. `id` is its JSON-RPC id.
    #[cfg(feature = "http")]
    pub(crate) fn report_retry(&mut self, id: u64) {
        if self.config.reports_requests() {
            self.add_event(Event::RequestRetried { id });
        }
    }

    /// Returns the next time at which [`Self::handle_timeout`] must be called, or `None` if no deadline is pending.
    pub(crate) fn poll_timeout(&self) -> Option<Timestamp> {
        let opening = match &self.connection {
            Connection::Opening(opening) => Some(opening.poll_timeout()),
            _ => None,
        };
        [opening, self.requests.poll_timeout(), self.callers.poll_timeout(), self.subscriptions.poll_timeout()]
            .into_iter()
            .flatten()
            .min()
    }

    /// Handles all deadlines that have expired by `now`. Appends the messages to send to `out`.
    pub(crate) fn handle_timeout(&mut self, now: Timestamp, out: &mut Vec<u8>) {
        self.step_opening(now, out, Opening::handle_timeout);
        self.parts(now, out).handle_timeout();
    }

    /// Frees the buffers of requests and events, if no request is pending and no event is queued.
    pub(crate) fn release_buffers(&mut self) {
        if self.in_flight() == 0 && self.events.is_empty() {
            self.requests.release_buffers();
            self.callers.release_buffers();
            self.events = VecDeque::new();
        }
    }

    /// Ends the connection for `reason`, and fails all its requests. Does nothing if the connection has already ended.
    pub(crate) fn close(&mut self, reason: CloseReason) {
        let end = match &mut self.connection {
            Connection::Closed => return,
            Connection::Opening(opening) => opening.close(&reason),
            _ => None,
        };
        match end {
            Some(end) => self.end_opening(end),
            None => self.end_with_event(reason),
        }
    }

    fn end_with_event(&mut self, reason: CloseReason) {
        self.end(&reason);
        self.events.push_back(Event::Closed(reason));
    }

    fn end(&mut self, reason: &CloseReason) {
        self.connection = Connection::Closed;
        // Nothing is sent or cached any more, so any time will do.
        self.parts(Timestamp::ORIGIN, &mut Vec::new()).close(reason);
    }

    fn step_opening(
        &mut self,
        now: Timestamp,
        out: &mut Vec<u8>,
        step: impl FnOnce(&mut Opening, &mut OpeningContext<'_>) -> Option<OpeningEnd>,
    ) {
        let Connection::Opening(opening) = &mut self.connection else { return };
        let context = &mut OpeningContext { now, out, requests: &mut self.requests, config: &self.config };
        if let Some(end) = step(opening, context) {
            self.end_opening(end);
        }
    }

    fn end_opening(&mut self, end: OpeningEnd) {
        match end {
            OpeningEnd::Connected(server) => self.open(server),
            OpeningEnd::Failed(error) => self.end_with_event(CloseReason::NotOpened(error)),
            OpeningEnd::Restart => {
                self.end(&CloseReason::ByServer);
                self.events.push_back(Event::Restart);
            }
        }
    }

    fn open(&mut self, server: Arc<ServerInfo>) {
        self.connection = Connection::Ready(Negotiated::new(&server, &self.config));
        self.subscriptions.open(server.capabilities.as_ref());
        self.callers.open(&server);
        self.server = Some(server);
        self.events.push_back(Event::Connected);
    }

    /// Borrows the parts of the session together with the [`Context`] that they share. `out` is the transmit buffer.
    #[inline]
    pub(super) fn parts<'a>(&'a mut self, now: Timestamp, out: &'a mut Vec<u8>) -> Parts<'a> {
        Parts {
            callers: &mut self.callers,
            server_requests: &mut self.server_requests,
            subscriptions: &mut self.subscriptions,
            context: Context {
                now,
                out,
                events: &mut self.events,
                requests: &mut self.requests,
                stats: &mut self.stats,
                answer_limit: self.answer_limit,
                connection: &self.connection,
                config: &self.config,
            },
        }
    }
}

/// Methods that receive messages of the server.
impl Session {
    /// Handles a received message. Of a JSON-RPC batch, handles only the messages up to the first that causes an event;
    /// [`Self::resume`] handles the others.
    pub(crate) fn receive(&mut self, received: Received<impl MessageBytes>, now: Timestamp, out: &mut Vec<u8>) {
        while self.resume(now, out) {}
        if self.connection.is_closed() {
            return;
        }
        if received.kind == ReceivedKind::Batch {
            self.batch = Some(Batch::new(received.message.into_bytes()));
            self.resume(now, out);
        } else {
            self.receive_one(received, now, out);
        }
    }

    /// Handles further messages of the current JSON-RPC batch, until one of them causes an event or the batch ends.
    /// Returns `false` if no batch is being read.
    ///
    /// Handling the whole batch at once could queue events that need far more memory than the batch.
    #[inline]
    pub(crate) fn resume(&mut self, now: Timestamp, out: &mut Vec<u8>) -> bool {
        self.batch.is_some() && self.resume_batch(now, out)
    }

    /// Returns whether a JSON-RPC batch is being read.
    pub(crate) fn is_in_batch(&self) -> bool {
        self.batch.is_some()
    }

    /// Not inlined, because there is no batch for almost all messages.
    #[inline(never)]
    fn resume_batch(&mut self, now: Timestamp, out: &mut Vec<u8>) -> bool {
        let Some(mut batch) = self.batch.take() else { return false };
        let before = self.events.len();
        while let Some(element) = batch.next_message() {
            if self.connection.is_closed() {
                continue;
            }
            self.receive_one(Received::new(&batch.bytes[element]), now, out);
            if self.events.len() > before {
                self.batch = Some(batch);
                return true;
            }
        }
        if !batch.has_messages {
            self.parts(now, out).invalid_message(&batch.bytes);
        }
        true
    }

    fn receive_one(&mut self, received: Received<impl MessageBytes>, now: Timestamp, out: &mut Vec<u8>) {
        let Received { message, kind } = received;
        let bytes = message.bytes();
        match kind {
            ReceivedKind::Response(response) => self.response(response, message, now, out),
            ReceivedKind::ForeignResponse => self.stats.unmatched += 1,
            ReceivedKind::Request { id, method } => {
                self.parts(now, out).request(WireId(&bytes[id]), &method.of(bytes), bytes);
            }
            ReceivedKind::Notification { method } => self.parts(now, out).notification(&method.of(bytes), bytes),
            ReceivedKind::OrphanError => self.orphan_error(bytes, now, out),
            ReceivedKind::Invalid | ReceivedKind::Batch => self.parts(now, out).invalid_message(bytes),
        }
    }

    fn response(&mut self, response: Response, message: impl MessageBytes, now: Timestamp, out: &mut Vec<u8>) {
        match self.requests.remove(response.id) {
            Some(Owner::Opening(request)) => {
                let message = message.bytes();
                self.step_opening(now, out, |opening, context| opening.receive(request, response, message, context));
            }
            Some(owner) => self.parts(now, out).response(owner, response, message),
            None if self.requests.was_sent(response.id) => self.stats.late += 1,
            None => self.stats.unmatched += 1,
        }
    }

    /// Fails the request with the JSON-RPC id `id`, for example because its HTTP exchange failed. Returns `false` if no
    /// such request is pending.
    pub(crate) fn fail(&mut self, id: u64, fault: RequestFault, now: Timestamp, out: &mut Vec<u8>) -> bool {
        match self.requests.remove(id) {
            Some(Owner::Opening(request)) => {
                self.step_opening(now, out, |opening, context| opening.fail(request, fault, context));
            }
            Some(owner) => self.parts(now, out).fail(owner, id, fault),
            None => return false,
        }
        true
    }

    /// Handles the beginning of a message that exceeds [`Config::max_message`]. If `head` contains the id of a pending
    /// request, that request fails. Otherwise reports an invalid message.
    pub(crate) fn receive_overlong(&mut self, head: &Received<&[u8]>, now: Timestamp, out: &mut Vec<u8>) {
        if self.connection.is_closed() {
            return;
        }
        let is_known = head.response().is_some_and(|it| self.fail_overlong(it.id, head.message, now, out));
        if !is_known {
            self.parts(now, out).invalid_message(head.message);
        }
    }

    /// Handles the end of a message that exceeds [`Config::max_message`]. If `tail` contains the id of a pending
    /// request, that request fails.
    ///
    /// A server may send the id of a response after the result, so the beginning of the message need not contain the
    /// id.
    pub(crate) fn receive_overlong_end(&mut self, tail: &[u8], now: Timestamp, out: &mut Vec<u8>) {
        if let Some(id) = incoming::overlong_end_id(tail) {
            self.fail_overlong(id, tail, now, out);
        }
    }

    fn fail_overlong(&mut self, id: u64, seen: &[u8], now: Timestamp, out: &mut Vec<u8>) -> bool {
        let error = PeerError::too_long(self.config.max_message, seen);
        self.fail(id, RequestFault::Invalid(error), now, out)
    }

    /// Handles an error response without an id: as the response to `server/discover` while [`Opening::is_probing`]
    /// returns `true`, otherwise as an [`Event::UnmatchedError`].
    fn orphan_error(&mut self, message: &[u8], now: Timestamp, out: &mut Vec<u8>) {
        let Some(error) = decode::orphan_error(message) else { return self.parts(now, out).invalid_message(message) };
        if matches!(&self.connection, Connection::Opening(opening) if opening.is_probing()) {
            self.step_opening(now, out, |opening, context| opening.probe_failed(error, context));
        } else {
            self.events.push_back(Event::UnmatchedError(error));
        }
    }
}

/// Methods for the HTTP transport, which sends each message in an HTTP exchange of its own.
#[cfg(feature = "http")]
impl Session {
    /// Returns whether the request with this JSON-RPC id still needs a response.
    pub(crate) fn waits_for(&self, id: u64) -> bool {
        match self.requests.owner(id) {
            Some(Owner::Opening(_)) => self.connection.phase() == Phase::Connecting,
            owner => owner.is_some(),
        }
    }

    /// Returns whether the server may execute the request with this JSON-RPC id twice (see
    /// [`RequestOptions::repeatable`](super::RequestOptions::repeatable)).
    pub(crate) fn is_repeatable(&self, id: u64) -> bool {
        matches!(self.requests.owner(id), Some(Owner::Caller(caller)) if caller.repeatable)
    }

    /// Sets the size of the transmit buffer, in bytes, at which the session stops answering requests of the server.
    ///
    /// The transport moves the answers into a queue of limited size, and passes the free space of that queue as
    /// `limit`.
    pub(crate) fn limit_answers(&mut self, limit: usize) {
        self.answer_limit = limit;
    }

    /// Starts to record the ids of requests that are cancelled or time out, for [`Self::take_abandoned`].
    pub(crate) fn track_abandoned(&mut self) {
        self.requests.track_abandoned();
    }

    /// Returns the JSON-RPC ids of the requests that were cancelled or timed out since the last call. The transport may
    /// close the HTTP exchanges of these requests.
    pub(crate) fn take_abandoned(&mut self) -> Vec<u64> {
        self.requests.take_abandoned()
    }

    /// Writes a request that the HTTP transport sends for itself, without a caller. Returns the JSON-RPC id of the
    /// request, which the transport passes to [`Self::remove_own`] when the request has ended.
    pub(crate) fn write_own(&mut self, method: &str, params: ParamsWriter<'_>, out: &mut Vec<u8>) -> u64 {
        let id = self.requests.next_id();
        let meta = Meta { protocol: self.connection.request_meta(), ..Meta::default() };
        // These parameters cannot fail to serialize.
        let _ = write::request(out, id, method, params, meta);
        self.requests.insert(Owner::Transport)
    }

    /// Removes the ended request with this JSON-RPC id from the table of pending requests, if [`Self::write_own`] wrote
    /// it. Ignores all other ids.
    pub(crate) fn remove_own(&mut self, id: u64) {
        if matches!(self.requests.owner(id), Some(Owner::Transport)) {
            self.requests.remove(id);
        }
    }

    /// Handles a new HTTP session (`Mcp-Session-Id`), which the transport has opened because the server ended the
    /// previous one.
    pub(crate) fn renewed(&mut self, now: Timestamp, out: &mut Vec<u8>) {
        self.parts(now, out).session_replaced();
    }

    /// Returns whether any subscription has not ended.
    pub(crate) fn has_subscriptions(&self) -> bool {
        self.subscriptions.has_any()
    }

    /// Ends all subscriptions with the error of the request `method`, because the server cannot report changes to the
    /// client any more.
    pub(crate) fn end_subscriptions(
        &mut self,
        method: &'static str,
        error: &HttpError,
        now: Timestamp,
        out: &mut Vec<u8>,
    ) {
        self.parts(now, out).end_subscriptions(method, error);
    }
}
