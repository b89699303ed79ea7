//! [`ConnectionState`] and [`InvalidMessages`]: the state that a client stores for a connection.

use mcpwire_core::internal::{AnyEngine, ClientState};
use mcpwire_core::{Calls, Event};

use crate::Lifecycle;

#[cfg(feature = "http")]
use crate::http::{AuthorizationContext, ContextWatch};

/// The state that a client stores for a connection. It remains readable after the connection has ended.
#[derive(Debug, Default)]
pub struct ConnectionState {
    /// State of the core's operations, such as the list of tools.
    pub client: ClientState,
    /// The invalid messages that the server has sent.
    pub invalid_messages: InvalidMessages,
    /// How far the connection is.
    pub lifecycle: Lifecycle,
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
        if self.authorization.as_mut().is_some_and(ContextWatch::has_changed)
            && let Some(engine) = engine.http()
        {
            engine.authorization_changed();
            self.client.authorization_changed();
        }
        let _ = engine;
    }

    /// Updates the state for an event of the engine, and sends the messages that the event requires.
    ///
    /// Call this for each event. Replies and progress notifications may be omitted.
    #[inline]
    pub fn handle_event(&mut self, event: &Event, calls: &mut Calls<'_>) {
        match event {
            Event::InvalidMessage { excerpt } => self.invalid_messages.push(excerpt),
            Event::Connected => self.lifecycle = Lifecycle::Open,
            Event::Restart => self.lifecycle = Lifecycle::Restart,
            Event::Closed(reason) => self.lifecycle.end(reason.clone()),
            event => self.client.handle_event(event, calls),
        }
    }
}

/// Maximum number of stored excerpts. 8: enough to recognize log messages that a server prints by mistake.
const MAX_EXCERPTS: usize = 8;

/// The number of invalid messages that a server has sent, and the beginnings of the last 8.
///
/// A large number usually means that the server prints log messages on its standard output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InvalidMessages {
    count: u64,
    /// Oldest first.
    excerpts: Vec<String>,
}

impl InvalidMessages {
    /// Counts an invalid message. `excerpt` is its beginning, without control characters.
    #[cold]
    pub fn push(&mut self, excerpt: &str) {
        self.count += 1;
        if self.excerpts.len() == MAX_EXCERPTS {
            self.excerpts.remove(0);
        }
        self.excerpts.push(excerpt.to_owned());
    }

    /// Returns the number of invalid messages since the connection was opened.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the beginnings of the last 8 invalid messages, oldest first, without control characters.
    pub fn excerpts(&self) -> impl Iterator<Item = &str> {
        self.excerpts.iter().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_excerpts_are_stored() {
        let mut invalid = InvalidMessages::default();
        (0..20).for_each(|n| invalid.push(&n.to_string()));
        assert_eq!(invalid.count(), 20);
        assert_eq!(invalid.excerpts().collect::<Vec<_>>(), ["12", "13", "14", "15", "16", "17", "18", "19"]);
    }
}
