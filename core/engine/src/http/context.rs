//! [`Context`]: the state that the parts of the engine share.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::broken_streams::BrokenStreams;
use super::command::ExchangeId;
use super::endpoint::{Endpoint, RequestHead};
use super::exchanges::{Exchanges, OpenExchange};
use super::purpose::Purpose;
use super::response::{BodyLimits, StreamItem};
use super::send_queue::SendQueue;
use super::settings::Settings;
use crate::random::XorShift64;
use crate::rpc::write::ParamsWriter;
use crate::session::{Phase, RequestFault, Session};
use crate::time::Timestamp;

/// The state that several parts of the engine use, with the steps that combine it.
pub(super) struct Context {
    /// The latest time that the embedder has passed in.
    pub(super) now: Timestamp,
    pub(super) settings: Settings,
    pub(super) session: Session,
    pub(super) endpoint: Endpoint,
    pub(super) queue: SendQueue,
    pub(super) exchanges: Exchanges,
    pub(super) broken_streams: BrokenStreams,
    /// The received parts of responses that wait until the embedder polls events.
    pub(super) inbox: VecDeque<StreamItem>,
    /// Randomizes the delays before streams are reopened.
    pub(super) random: XorShift64,
}

impl Context {
    pub(super) fn new(session: Session, settings: Settings) -> Self {
        Context {
            now: Timestamp::ORIGIN,
            session,
            endpoint: Endpoint::default(),
            queue: SendQueue::default(),
            exchanges: Exchanges::new(),
            broken_streams: BrokenStreams::default(),
            inbox: VecDeque::new(),
            random: XorShift64::new(settings.seed),
            settings,
        }
    }

    /// Moves the time forward. An earlier time changes nothing.
    pub(super) fn advance(&mut self, now: Timestamp) {
        self.now = self.now.max(now);
    }

    /// Returns whether the connection is open.
    pub(super) fn is_ready(&self) -> bool {
        self.session.phase() == Phase::Ready
    }

    pub(super) fn poll_timeout(&self) -> Option<Timestamp> {
        let timeouts = [self.session.poll_timeout(), self.exchanges.poll_timeout(), self.broken_streams.poll_timeout()];
        timeouts.into_iter().flatten().min()
    }

    /// Returns whether no request is in flight, and no message waits to be sent or handled.
    pub(super) fn is_idle(&self) -> bool {
        let nothing_to_send = self.queue.is_empty() && !self.exchanges.has_commands();
        let nothing_received = self.inbox.is_empty() && !self.session.is_in_batch();
        self.session.in_flight() == 0 && nothing_to_send && nothing_received
    }

    /// Frees the buffers of an idle connection.
    pub(super) fn release_buffers(&mut self) {
        self.session.release_buffers();
        self.queue.release_buffers();
        self.exchanges.release_buffers();
        self.inbox = VecDeque::new();
    }

    pub(super) fn body_limits(&self) -> BodyLimits {
        BodyLimits { message: self.session.config().max_message, error: self.settings.max_refusal }
    }

    /// Starts an exchange that posts a message.
    pub(super) fn post(&mut self, purpose: Purpose, method: &str, message: Vec<u8>) -> ExchangeId {
        let head = self.endpoint.post(&self.settings, method, &message);
        self.start(purpose, head, message)
    }

    /// Starts an exchange that requests an event stream. `last_event_id` resumes a broken stream after that event.
    pub(super) fn get(&mut self, purpose: Purpose, last_event_id: Option<&str>) -> ExchangeId {
        let head = self.endpoint.get(&self.settings, last_event_id);
        self.start(purpose, head, Vec::new())
    }

    /// Ends the legacy session on the server, once no exchange is left that could arrive later.
    pub(super) fn delete_session(&mut self) {
        if self.exchanges.len() == 0 && !self.endpoint.is_http_sse() && self.endpoint.has_session_id() {
            let head = self.endpoint.delete(&self.settings);
            self.start(Purpose::DeleteSession, head, Vec::new());
            self.endpoint.forget_session_id();
        }
    }

    /// Starts an exchange with this head and body.
    pub(super) fn start(&mut self, purpose: Purpose, head: RequestHead, body: Vec<u8>) -> ExchangeId {
        self.exchanges.start(purpose, head, body)
    }

    /// Removes an exchange that has ended.
    pub(super) fn remove(&mut self, id: ExchangeId) -> Option<OpenExchange> {
        let exchange = self.exchanges.remove(id)?;
        self.forget_transport_request(&exchange);
        Some(exchange)
    }

    /// Removes an exchange and tells the embedder to abort it, unless it has ended.
    pub(super) fn abort(&mut self, id: ExchangeId) -> Option<OpenExchange> {
        let exchange = self.exchanges.abort(id)?;
        self.forget_transport_request(&exchange);
        Some(exchange)
    }

    fn forget_transport_request(&mut self, exchange: &OpenExchange) {
        if let Some(id) = exchange.purpose.transport_request() {
            self.session.remove_own(id);
        }
    }

    /// Stops work on a request that no caller waits for. Returns whether the request was never sent in this legacy session.
    pub(super) fn give_up(&mut self, request: u64) -> bool {
        self.broken_streams.remove(request);
        // A queued request is new, or was refused, or its session has ended.
        if self.queue.remove_request(request).is_some() {
            return true;
        }
        let Some(id) = self.exchanges.of_request(request) else { return false };
        let is_unsent = self.exchanges.is_unsent_request(id);
        let session = self.abort(id).and_then(|exchange| exchange.session);
        is_unsent || session.is_some_and(|session| session != self.endpoint.generation())
    }

    /// Stops work on all requests that no caller waits for.
    pub(super) fn give_up_unneeded(&mut self) {
        for request in self.exchanges.requests() {
            if !self.session.waits_for(request) {
                self.give_up(request);
            }
        }
    }

    /// Drops all messages that wait, and aborts all exchanges but those that deliver a message to the server.
    pub(super) fn abort_all(&mut self) {
        self.queue.clear();
        self.inbox.clear();
        for id in self.exchanges.dispensable() {
            self.abort(id);
        }
    }

    /// Ends a request of the session without an answer.
    pub(super) fn fail(&mut self, request: u64, fault: RequestFault) {
        self.session.fail(request, fault, self.now, self.queue.buffer());
    }

    /// Writes a request that the transport itself makes. Returns the request's id and the message.
    pub(super) fn write_request(&mut self, method: &str, params: ParamsWriter<'_>) -> (u64, Vec<u8>) {
        let mut message = Vec::new();
        let id = self.session.write_own(method, params, &mut message);
        // The session ends each message with a newline.
        message.pop();
        (id, message)
    }
}
