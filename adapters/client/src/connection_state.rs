//! [`ConnectionState`]: the state that a client stores for a connection.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;

use mcpwire_core::internal::ClientState;
use mcpwire_core::{Calls, CloseReason, Event, SubscribeOptions};

use crate::InvalidMessages;

/// The state that a client stores for a connection. It remains readable after the connection has ended.
#[derive(Debug, Default)]
pub struct ConnectionState {
    /// State of the core's operations, such as the list of tools.
    pub client: ClientState,
    /// The invalid messages that the server has sent.
    pub invalid_messages: InvalidMessages,
    /// Why the client ended the connection, if a failure of the client did.
    pub failure: Option<Arc<str>>,
    /// Why the connection has ended. `None` while it is open.
    pub close_reason: Option<CloseReason>,
}

impl ConnectionState {
    /// Updates the state for an event of the engine, and sends the messages that the event requires.
    ///
    /// Call this for each event. Replies and progress notifications may be omitted.
    #[inline]
    pub fn handle_event(&mut self, event: &Event, calls: &mut Calls<'_>) {
        match event {
            Event::InvalidMessage { excerpt } => self.invalid_messages.push(excerpt),
            Event::Closed(reason) => self.close_reason = Some(reason.clone()),
            event => self.client.handle_event(event, calls),
        }
    }
}

/// Returns the options with a random seed, which spreads the times at which clients resubscribe.
pub fn subscription_options(mut options: SubscribeOptions) -> SubscribeOptions {
    options.seed = options.seed.or_else(|| Some(RandomState::new().build_hasher().finish()));
    options
}
