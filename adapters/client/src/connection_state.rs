//! [`ConnectionState`]: what a client remembers of its connection while it is open and after its end.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;

use mcpwire_core::internal::ClientState;
use mcpwire_core::{Calls, CloseReason, Event, SubscribeOptions};

use crate::InvalidMessages;

/// What a client remembers of its connection while it is open and after its end.
#[derive(Debug, Default)]
pub struct ConnectionState {
    /// What the core's operations remember.
    pub client: ClientState,
    /// The messages of the server that could not be read.
    pub invalid_messages: InvalidMessages,
    /// Why this side could not continue, if that has ended the connection.
    pub failure: Option<Arc<str>>,
    /// Why the connection has ended.
    pub close_reason: Option<CloseReason>,
}

impl ConnectionState {
    /// Updates the state for an event of the session, and sends what must be sent because of the event.
    ///
    /// Call this for each event except replies and the progress of requests.
    #[inline]
    pub fn handle_event(&mut self, event: &Event, calls: &mut Calls<'_>) {
        match event {
            Event::InvalidMessage { excerpt } => self.invalid_messages.push(excerpt),
            Event::Closed(reason) => self.close_reason = Some(reason.clone()),
            event => self.client.handle_event(event, calls),
        }
    }
}

/// Returns the options of a subscription with a random seed for the times at which it is opened again.
pub fn subscription_options(mut options: SubscribeOptions) -> SubscribeOptions {
    options.seed = options.seed.or_else(|| Some(RandomState::new().build_hasher().finish()));
    options
}
