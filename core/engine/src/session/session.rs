//! [`Session`]: owns the state of one connection, and opens and closes the connection.

use alloc::borrow::Cow;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::caller_requests::CallerRequests;
use super::config::Config;
use super::connection::{Connection, Negotiated, Opening, Phase};
use super::error::{CloseReason, SendError};
use super::event::Event;
use super::handshake::{HandshakeAction, ServerInfo};
use super::link::{Link, Stats};
use super::meta::protocol_fields;
use super::outbox::{Outbox, RequestHead};
use super::requests::{OpeningRequest, Owner};
use super::subscriptions::{SubscriptionEnd, Subscriptions};
use super::ticket::RequestKey;
use crate::cache::is_cacheable;
use crate::own_requests::InitializeParams;
use crate::rpc::Batch;
use crate::rpc::write::{self, Meta, NO_PARAMS, ParamsWriter};
use crate::time::Timestamp;
use mcpwire_types::{Era, Extra, Method, ProtocolVersion};

/// The client side of one connection to a server.
///
/// The methods of a session report the state of the connection. To send requests, notifications, and answers to
/// requests of the server, use [`Calls`](super::Calls).
#[derive(Debug)]
pub struct Session {
    pub(super) link: Link,
    /// Description of the server. `None` until the connection is open; remains `Some` after the connection has ended.
    server: Option<Arc<ServerInfo>>,
    pub(super) callers: CallerRequests,
    pub(super) subscriptions: Subscriptions,
    /// The JSON-RPC batch that is being read.
    pub(super) batch: Option<Batch>,
}

/// Methods by which the embedder reads the state of the session.
impl Session {
    /// Returns the phase of the connection: new, connecting, ready or closed.
    pub fn phase(&self) -> Phase {
        self.link.connection.phase()
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
        self.callers.len(&self.link.requests)
    }

    /// Returns whether the request with this key has no reply yet. Returns `false` for an unknown key.
    pub fn is_waiting(&self, key: RequestKey) -> bool {
        self.callers.is_pending(key, &self.link.requests)
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
        !self.callers.cache.is_empty() && const { is_cacheable(M::NAME) }
    }

    /// Returns whether an event is queued for the embedder. Messages of a JSON-RPC batch that are not handled yet may
    /// cause further events.
    pub fn has_events(&self) -> bool {
        !self.link.events.is_empty()
    }

    /// Returns whether the client must send [`RootsListChanged`](crate::RootsListChanged) when its roots change.
    ///
    /// This is so while the connection to a legacy server (up to revision 2025-11-25) is open, if
    /// [`Config::capabilities`] declares `roots.listChanged` (specification: client/roots, "Root List Changes").
    pub fn declares_roots_list_changed(&self) -> bool {
        self.link.connection.is_era(Era::Legacy) && self.link.config.capabilities.declares_roots_list_changed()
    }

    /// Returns counters of the messages that the session ignored or refused, and of the requests answered from the
    /// cache.
    pub fn stats(&self) -> Stats {
        self.link.stats
    }

    /// Returns the configuration of the session.
    pub fn config(&self) -> &Config {
        &self.link.config
    }
}

/// Methods that create the session, handle deadlines, and open and close the connection.
impl Session {
    /// Creates a session that puts its messages into `outbox`.
    pub(crate) fn new(config: Config, outbox: Outbox) -> Self {
        Session {
            server: None,
            callers: CallerRequests::new(&config),
            subscriptions: Subscriptions::default(),
            batch: None,
            link: Link::new(config, outbox),
        }
    }

    /// Returns the latest time that was passed to [`Self::advance`].
    #[cfg(feature = "http")]
    pub(crate) fn now(&self) -> Timestamp {
        self.link.now
    }

    /// Sets the current time to `now`. Does nothing if `now` is earlier than the current time.
    pub(crate) fn advance(&mut self, now: Timestamp) {
        self.link.now = self.link.now.max(now);
    }

    /// Returns the messages to send.
    pub(crate) fn outbox(&self) -> &Outbox {
        &self.link.outbox
    }

    /// Returns the messages to send, so that the transport can take them.
    pub(crate) fn outbox_mut(&mut self) -> &mut Outbox {
        &mut self.link.outbox
    }

    /// Sends the first request on the connection: `server/discover` or `initialize`.
    pub(super) fn initialize(&mut self) -> Result<(), SendError> {
        match &self.link.connection {
            Connection::New => {}
            Connection::Closed => return Err(SendError::Closed),
            _ => return Err(SendError::AlreadyInitialized),
        }
        let mut opening = Opening::new(&self.link.config, self.link.now);
        let action = opening.handshake.start();
        self.link.connection = Connection::Opening(opening);
        self.perform(action);
        Ok(())
    }

    pub(crate) fn poll_event(&mut self) -> Option<Event> {
        self.link.events.pop_front()
    }

    /// Returns the next time at which [`Self::handle_timeout`] must be called, or `None` if no deadline is pending.
    pub(crate) fn poll_timeout(&self) -> Option<Timestamp> {
        let opening = match &self.link.connection {
            Connection::Opening(opening) => Some(opening.poll_timeout()),
            _ => None,
        };
        [
            opening,
            self.link.requests.poll_timeout(),
            self.callers.waiting.poll_timeout(),
            self.subscriptions.poll_timeout(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Handles all deadlines that have expired.
    pub(crate) fn handle_timeout(&mut self) {
        if let Connection::Opening(opening) = &mut self.link.connection {
            let action = opening.handle_timeout(self.link.now, &self.link.config);
            self.perform(action);
        }
        self.subscriptions.handle_timeout(&mut self.link);
        self.callers.handle_timeout(&mut self.link);
    }

    /// Frees the buffers of requests and events, if no request is pending and no event is queued.
    pub(crate) fn release_buffers(&mut self) {
        if self.in_flight() == 0 && self.link.events.is_empty() {
            self.link.requests.release_buffers();
            self.callers.waiting.paused.release_buffers();
            self.link.events = VecDeque::new();
        }
    }

    /// Ends the connection for `reason`, and fails all its requests. Does nothing if the connection has already ended.
    pub(crate) fn close(&mut self, reason: CloseReason) {
        let end = match &mut self.link.connection {
            Connection::Closed => return,
            Connection::Opening(opening) => opening.close(&reason),
            _ => None,
        };
        match end {
            Some(end) => self.perform(end),
            None => self.end_with_event(reason),
        }
    }

    fn end_with_event(&mut self, reason: CloseReason) {
        self.end(&reason);
        self.link.report(Event::Closed(reason));
    }

    fn end(&mut self, reason: &CloseReason) {
        let link = &mut self.link;
        link.connection = Connection::Closed;
        self.callers.close(reason, link);
        self.callers.waiting.server_requests.withdraw_all(link);
        let end = match reason {
            CloseReason::ByClient => SubscriptionEnd::ByClient,
            reason => SubscriptionEnd::Dropped(reason.clone()),
        };
        self.subscriptions.end_all(&end, link);
    }

    /// Lets the handshake continue, and performs its next action. Does nothing if the connection is not being opened.
    pub(super) fn step_opening(&mut self, step: impl FnOnce(&mut Opening) -> HandshakeAction) {
        if let Connection::Opening(opening) = &mut self.link.connection {
            let action = step(opening);
            self.perform(action);
        }
    }

    fn perform(&mut self, action: HandshakeAction) {
        match action {
            HandshakeAction::Nothing => {}
            HandshakeAction::SendDiscover(version) => {
                let protocol = protocol_fields(&self.link.config, version, false);
                self.send_opening(OpeningRequest::Discover, Some(version), NO_PARAMS, &protocol);
            }
            HandshakeAction::SendInitialize(version) => {
                let Config { capabilities, client_info, .. } = &self.link.config;
                let params = InitializeParams {
                    protocol_version: version.as_str().into(),
                    capabilities: capabilities.clone(),
                    client_info: client_info.clone(),
                    extra: Extra::default(),
                };
                let params: ParamsWriter<'_> = &|out: &mut Vec<u8>| write::push_object(out, &params);
                self.send_opening(OpeningRequest::Initialize, None, params, "");
            }
            HandshakeAction::Open(server) => self.open(server),
            HandshakeAction::Fail(error) => self.end_with_event(CloseReason::NotOpened(error)),
            HandshakeAction::Restart => {
                self.end(&CloseReason::ByServer);
                self.link.report(Event::Restart);
            }
        }
    }

    fn send_opening(
        &mut self,
        request: OpeningRequest,
        version: Option<ProtocolVersion>,
        params: ParamsWriter<'_>,
        protocol: &str,
    ) {
        let Link { outbox, requests, .. } = &mut self.link;
        let method = Cow::Borrowed(request.method());
        let head = RequestHead { id: requests.next_id(), method: &method, version, is_repeatable: false };
        // These parameters cannot fail to serialize.
        let _ = outbox.request(head, params, Meta { protocol, ..Meta::default() });
        requests.insert(Owner::Opening(request));
    }

    fn open(&mut self, server: Arc<ServerInfo>) {
        if server.era == Era::Legacy {
            // Empty parameters cannot fail to serialize.
            let _ = self.link.outbox.notification("notifications/initialized", NO_PARAMS);
        }
        self.link.connection = Connection::Ready(Negotiated::new(Arc::clone(&server), &self.link.config));
        self.subscriptions.open(server.capabilities.as_ref());
        self.server = Some(server);
        self.link.report(Event::Connected);
    }
}
