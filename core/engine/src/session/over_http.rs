//! What the HTTP transport needs of a [`Session`] beside [`receive`](Session::receive) and the
//! [outbox](Session::outbox_mut).

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::connection::Phase;
use super::error::CallError;
use super::event::Event;
use super::requests::Owner;
use super::session::Session;
use super::subscriptions::SubscriptionEnd;
use crate::rpc::write::{self, Meta, ParamsWriter};
use crate::transport_error::HttpError;

impl Session {
    pub(crate) fn add_event(&mut self, event: Event) {
        self.link.report(event);
    }

    /// Reports that the engine sends a request again, or resumes its event stream. `id` is its JSON-RPC id.
    pub(crate) fn report_retry(&mut self, id: u64) {
        if self.link.config.reports_requests {
            self.add_event(Event::RequestRetried { id });
        }
    }

    /// Forgets the responses that belong to the old authorization, and reports the change if the connection is open.
    pub(crate) fn authorization_changed(&mut self) {
        self.callers.cache.authorization_changed(&mut self.link.requests);
        if self.link.connection.is_ready() {
            self.add_event(Event::AuthorizationChanged);
        }
    }

    /// Returns whether the request with this JSON-RPC id still needs a response.
    pub(crate) fn waits_for(&self, id: u64) -> bool {
        match self.link.requests.owner(id) {
            Some(Owner::Opening(_)) => self.phase() == Phase::Connecting,
            owner => owner.is_some(),
        }
    }

    /// Writes a request that the transport sends for itself, without a caller. Returns the message, and the JSON-RPC id of
    /// the request, which the transport passes to [`Self::remove_own`] when the request has ended.
    pub(crate) fn write_own(&mut self, method: &str, params: ParamsWriter<'_>) -> (u64, Vec<u8>) {
        let mut message = Vec::new();
        let meta = Meta { protocol: self.link.connection.request_meta(false), ..Meta::default() };
        // These parameters cannot fail to serialize.
        let _ = write::request(&mut message, self.link.requests.next_id(), method, params, meta);
        // The newline.
        message.pop();
        (self.link.requests.insert(Owner::Transport), message)
    }

    /// Removes the ended request with this JSON-RPC id from the table of pending requests, if [`Self::write_own`] wrote
    /// it. Ignores all other ids.
    pub(crate) fn remove_own(&mut self, id: u64) {
        if matches!(self.link.requests.owner(id), Some(Owner::Transport)) {
            self.link.requests.remove(id);
        }
    }

    /// Handles a new HTTP session (`Mcp-Session-Id`), which the transport has opened because the server ended the
    /// previous one. Discards the server's unanswered requests, and subscribes to resources again, because the new session
    /// contains neither.
    pub(crate) fn renewed(&mut self) {
        let link = &mut self.link;
        self.callers.waiting.server_requests.withdraw_all(link);
        link.requests.pause(false, link.now);
        self.subscriptions.watch_again(link);
        link.report(Event::SessionReestablished);
    }

    /// Returns whether any subscription has not ended.
    pub(crate) fn has_subscriptions(&self) -> bool {
        self.subscriptions.has_any()
    }

    /// Ends all subscriptions with the error of the request `method`, because the server cannot report changes to the
    /// client any more.
    pub(crate) fn end_subscriptions(&mut self, method: &'static str, error: &HttpError) {
        if self.subscriptions.has_any() {
            let error = CallError::Http { method: method.into(), error: Arc::new(error.clone()) };
            self.subscriptions.end_all(&SubscriptionEnd::Failed(Arc::new(error)), &mut self.link);
        }
    }
}
