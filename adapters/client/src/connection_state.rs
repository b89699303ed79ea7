//! [`ConnectionState`]: the state that a client stores for a connection.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;

use mcpwire_core::internal::{AnyEngine, ClientState, OpeningOutcome};
use mcpwire_core::{Calls, CloseReason, Event, SubscribeOptions};

use crate::InvalidMessages;
#[cfg(feature = "http")]
use crate::http::{AuthorizationContext, ContextWatch};

/// The state that a client stores for a connection. It remains readable after the connection has ended.
#[derive(Debug, Default)]
pub struct ConnectionState {
    /// State of the core's operations, such as the list of tools.
    pub client: ClientState,
    /// The invalid messages that the server has sent.
    pub invalid_messages: InvalidMessages,
    /// How the opening of the connection has ended. `None` before.
    pub opening: Option<OpeningOutcome>,
    /// Why the client ended the connection, if a failure of the client did.
    pub failure: Option<Arc<str>>,
    /// Why the connection has ended. `None` while it is open.
    pub close_reason: Option<CloseReason>,
    /// Finds out whether the authorization of the requests has changed. `None` without an authorizer.
    #[cfg(feature = "http")]
    authorization: Option<ContextWatch>,
}

impl ConnectionState {
    /// Begins to watch the authorization of the requests. Call it before the first request.
    #[cfg(feature = "http")]
    pub fn watch_authorization(&mut self, context: Option<&AuthorizationContext>) {
        self.authorization = context.cloned().map(ContextWatch::new);
    }

    /// Tells the engine, and forgets what depends on the authorization of the requests, if it has changed.
    ///
    /// Call it before a request is passed to the engine, and after a response has arrived, before its events are polled.
    #[inline]
    pub fn check_authorization(&mut self, engine: &mut AnyEngine) {
        #[cfg(feature = "http")]
        if self.authorization.is_some() {
            self.check_watched_authorization(engine);
        }
        let _ = engine;
    }

    #[cfg(feature = "http")]
    fn check_watched_authorization(&mut self, engine: &mut AnyEngine) {
        if self.authorization.as_mut().is_some_and(ContextWatch::has_changed)
            && let Some(engine) = engine.http()
        {
            engine.authorization_changed();
            self.client.authorization_changed();
        }
    }

    /// Updates the state for an event of the engine, and sends the messages that the event requires.
    ///
    /// Call this for each event. Replies and progress notifications may be omitted.
    #[inline]
    pub fn handle_event(&mut self, event: &Event, calls: &mut Calls<'_>) {
        match event {
            Event::InvalidMessage { excerpt } => self.invalid_messages.push(excerpt),
            Event::Connected => self.opening = Some(OpeningOutcome::Connected),
            Event::Restart => self.opening = Some(OpeningOutcome::Restart),
            Event::Closed(reason) => {
                if !matches!(self.opening, Some(OpeningOutcome::Connected)) {
                    self.opening = Some(OpeningOutcome::Closed(reason.clone()));
                }
                self.close_reason = Some(reason.clone());
            }
            event => self.client.handle_event(event, calls),
        }
    }
}

/// Returns the options with a random seed, which spreads the times at which clients resubscribe.
pub fn subscription_options(mut options: SubscribeOptions) -> SubscribeOptions {
    options.seed = options.seed.or_else(|| Some(RandomState::new().build_hasher().finish()));
    options
}
