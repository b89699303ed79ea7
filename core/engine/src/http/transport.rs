//! [`Transport`]: the session and the state of its HTTP transport, which the parts of the HTTP engine share.

use alloc::vec::Vec;

use super::command::ExchangeId;
use super::endpoint::Endpoint;
use super::exchanges::{Exchanges, OpenExchange};
use super::request::{Purpose, Request};
use super::response::{BodyLimits, Inbox};
use super::send_queue::SendQueue;
use super::settings::Settings;
use crate::random::XorShift64;
use crate::session::{Phase, Session};
use crate::time::Timestamp;

pub(super) struct Transport {
    pub(super) settings: Settings,
    pub(super) session: Session,
    pub(super) endpoint: Endpoint,
    pub(super) queue: SendQueue,
    pub(super) exchanges: Exchanges,
    /// The requests whose event stream broke before the JSON-RPC response arrived (specification, revision 2025-11-25:
    /// basic/transports, "Resumability and Redelivery"). The engine resumes each at its [`ResumePoint::reopened_at`].
    ///
    /// [`ResumePoint::reopened_at`]: super::resume_point::ResumePoint::reopened_at
    pub(super) broken_streams: Vec<Request>,
    pub(super) inbox: Inbox,
    /// Random number generator for the delays before event streams are reopened.
    pub(super) random: XorShift64,
}

impl Transport {
    pub(super) fn new(session: Session, settings: Settings) -> Self {
        Transport {
            session,
            endpoint: Endpoint::default(),
            queue: SendQueue::default(),
            exchanges: Exchanges::default(),
            broken_streams: Vec::new(),
            inbox: Inbox::new(),
            random: XorShift64::new(settings.seed),
            settings,
        }
    }

    /// Returns the latest time that the embedder has passed to the engine.
    pub(super) fn now(&self) -> Timestamp {
        self.session.now()
    }

    pub(super) fn is_ready(&self) -> bool {
        self.session.phase() == Phase::Ready
    }

    pub(super) fn poll_timeout(&self) -> Option<Timestamp> {
        let resuming = self.broken_streams.iter().filter_map(|request| request.resume.reopened_at);
        let timeouts = [self.session.poll_timeout(), self.exchanges.poll_timeout()];
        timeouts.into_iter().flatten().chain(resuming).min()
    }

    /// Returns whether no request is pending, no message waits to be sent, and every received message has been handled.
    pub(super) fn is_idle(&self) -> bool {
        let nothing_to_send =
            self.session.outbox().bytes().is_empty() && self.queue.is_empty() && self.exchanges.commands.is_empty();
        let nothing_received = self.inbox.is_empty() && !self.session.is_in_batch();
        self.session.in_flight() == 0 && nothing_to_send && nothing_received
    }

    /// Frees the buffers of the session, the queues and the exchanges. Call this method only if [`Self::is_idle`]
    /// returns `true`, because it empties the queues.
    pub(super) fn release_buffers(&mut self) {
        self.session.release_buffers();
        self.session.outbox_mut().release_buffers();
        self.queue = SendQueue::default();
        self.exchanges.commands.shrink_to_fit();
        self.inbox = Inbox::new();
    }

    pub(super) fn body_limits(&self) -> BodyLimits {
        BodyLimits { message: self.session.config().max_message, error: self.settings.max_refusal }
    }

    /// Starts a `POST` exchange that sends `message`, which is not a request of the session.
    pub(super) fn post(&mut self, purpose: Purpose, message: Vec<u8>) -> ExchangeId {
        let head = self.endpoint.post_message(&self.settings, purpose.method());
        self.exchanges.start(purpose, head, message)
    }

    /// Starts a `GET` exchange for an event stream. With `last_event_id`, asks the server to resume a broken stream
    /// after that event.
    pub(super) fn get(&mut self, purpose: Purpose, last_event_id: Option<&str>) -> ExchangeId {
        let head = self.endpoint.get(&self.settings, last_event_id);
        self.exchanges.start(purpose, head, Vec::new())
    }

    /// Sends the `DELETE` request that ends the legacy session, if there is a session and no HTTP exchange is open.
    ///
    /// The session must outlive all other exchanges, because the server refuses requests of an ended session.
    pub(super) fn delete_session(&mut self) {
        if self.exchanges.len() == 0 && !self.endpoint.is_http_sse() && self.endpoint.session_id.is_some() {
            let head = self.endpoint.delete(&self.settings);
            self.exchanges.start(Purpose::DeleteSession, head, Vec::new());
            self.endpoint.session_id = None;
        }
    }

    pub(super) fn remove(&mut self, id: ExchangeId) -> Option<OpenExchange> {
        let exchange = self.exchanges.remove(id)?;
        self.forget_transport_request(&exchange);
        Some(exchange)
    }

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

    /// Abandons the request with the JSON-RPC id `request`, because no caller waits for its response.
    ///
    /// Returns `true` if the server needs no `notifications/cancelled`, because the request was not sent in the current
    /// session.
    pub(super) fn give_up(&mut self, request: u64) -> bool {
        self.broken_streams.retain(|broken| broken.id != request);
        // A queued request is new, or the server refused it, or it was sent in a session that has ended.
        if self.queue.remove_request(request).is_some() {
            return true;
        }
        let Some(id) = self.exchanges.of_request(request) else { return false };
        let is_unsent = self.exchanges.is_unsent_request(id);
        let session = self.abort(id).and_then(|exchange| exchange.session);
        is_unsent || session.is_some_and(|session| session != self.endpoint.generation)
    }

    pub(super) fn give_up_unneeded(&mut self) {
        for request in self.exchanges.requests() {
            if !self.session.waits_for(request) {
                self.give_up(request);
            }
        }
    }

    /// Drops all queued and received messages, and aborts all HTTP exchanges except those that still deliver a
    /// notification or an answer to a server request.
    pub(super) fn abort_all(&mut self) {
        self.session.outbox_mut().clear();
        self.queue = SendQueue::default();
        self.inbox.clear();
        for id in self.exchanges.dispensable() {
            self.abort(id);
        }
    }
}
