//! [`Context`]: the state that the parts of the engine share.

use alloc::vec::Vec;

use super::broken_streams::BrokenStreams;
use super::command::ExchangeId;
use super::endpoint::{Endpoint, RequestHead};
use super::exchanges::{Exchanges, OpenExchange};
use super::purpose::Purpose;
use super::response::BodyLimits;
use super::send_queue::SendQueue;
use super::settings::Settings;
use crate::random::XorShift64;
use crate::rpc::write::Push;
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

    pub(super) fn body_limits(&self) -> BodyLimits {
        BodyLimits { message: self.session.config().max_message, error: self.settings.max_refusal }
    }

    /// Starts an exchange that posts a message.
    pub(super) fn post(&mut self, purpose: Purpose, method: &str, message: Vec<u8>) -> ExchangeId {
        let head = self.endpoint.post(&self.settings, method, &message);
        self.start(purpose, head, message)
    }

    /// Starts an exchange that requests an event stream, from its start or after the event with this id.
    pub(super) fn get(&mut self, purpose: Purpose, last_event_id: Option<&str>) -> ExchangeId {
        let head = self.endpoint.get(&self.settings, last_event_id);
        self.start(purpose, head, Vec::new())
    }

    /// Starts the exchange that ends the legacy session on the server, and forgets the session id.
    pub(super) fn delete_session(&mut self) {
        let head = self.endpoint.delete(&self.settings);
        self.start(Purpose::DeleteSession, head, Vec::new());
        self.endpoint.forget_session_id();
    }

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
        // A request that is queued once more was refused, or its session has ended.
        if self.queue.remove_request(request).is_some() {
            return true;
        }
        let Some(id) = self.exchanges.of_request(request) else { return false };
        let is_unsent = self.exchanges.is_unsent_request(id);
        let session = self.abort(id).and_then(|exchange| exchange.session);
        is_unsent || session.is_some_and(|session| session != self.endpoint.generation())
    }

    /// Ends a request of the session without an answer.
    pub(super) fn fail(&mut self, request: u64, fault: RequestFault) {
        self.session.fail(request, fault, self.now, self.queue.buffer());
    }

    /// Writes a request that the transport itself makes. Returns the request's id and the message.
    pub(super) fn write_request(&mut self, method: &str, params: Push<'_>) -> (u64, Vec<u8>) {
        let mut message = Vec::new();
        let id = self.session.write_own(method, params, &mut message);
        // The session ends each message with a newline.
        message.pop();
        (id, message)
    }
}
