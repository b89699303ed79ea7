//! [`ConnectionState`] and [`InvalidMessages`]: what a client stores about a connection besides the engine.

use std::fmt;

use mcpwire_core::internal::{AnyEngine, ClientState};
use mcpwire_core::{Calls, Event};

use crate::Lifecycle;

#[cfg(feature = "http")]
use crate::http::{AuthorizationContext, ContextWatch};

/// What a client stores about a connection besides the engine, such as the tool list. It can be read after the connection has
/// ended.
#[derive(Debug, Default)]
pub struct ConnectionState {
    /// The results that the operations of the engine store, such as the tool list.
    pub client: ClientState,
    /// The invalid messages that the server has sent.
    pub invalid_messages: InvalidMessages,
    /// Whether the connection is opening, open or ended.
    pub lifecycle: Lifecycle,
    /// Detects whether the requests have another authorization. `None` if nothing can change the authorization.
    #[cfg(feature = "http")]
    authorization: Option<ContextWatch>,
}

impl ConnectionState {
    /// Sets the context that reports another authorization of the requests. Call this before the first request.
    #[cfg(feature = "http")]
    pub fn watch_authorization(&mut self, context: Option<&AuthorizationContext>) {
        self.authorization = context.cloned().map(ContextWatch::new);
    }

    /// If the authorization of the requests has changed, tells the engine, and invalidates the tool list unless it is public.
    ///
    /// Call this before passing a request to the engine. Also call it after a response has arrived, before polling its events.
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

/// Maximum number of stored beginnings of invalid messages. 8: enough to recognize log messages that a server prints by mistake.
const MAX_EXCERPTS: usize = 8;

/// The number of invalid messages that a server has sent, and the beginnings of the first one and of the last 8.
///
/// A large number usually means that the server prints log messages on its standard output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InvalidMessages {
    count: u64,
    /// The beginning of the first invalid message. Empty if there is none.
    first: String,
    /// The beginnings of the last invalid messages, oldest first. At most [`MAX_EXCERPTS`].
    excerpts: Vec<String>,
}

impl InvalidMessages {
    /// Counts an invalid message. `excerpt` is its beginning, without control characters.
    #[cold]
    pub fn push(&mut self, excerpt: &str) {
        self.count += 1;
        if self.count == 1 {
            excerpt.clone_into(&mut self.first);
        }
        if self.excerpts.len() == MAX_EXCERPTS {
            self.excerpts.remove(0);
        }
        self.excerpts.push(excerpt.to_owned());
    }

    /// Returns the number of invalid messages since the connection was opened.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the beginning of the first invalid message, without control characters. `None` if there is no invalid message.
    pub fn first(&self) -> Option<&str> {
        Some(self.first.as_str()).filter(|_| self.count > 0)
    }

    /// Returns the beginnings of the last 8 invalid messages, oldest first, without control characters.
    pub fn excerpts(&self) -> impl Iterator<Item = &str> {
        self.excerpts.iter().map(String::as_str)
    }
}

impl fmt::Display for InvalidMessages {
    /// Formats the messages to follow an error message, so it starts with `; `. Formats nothing if there are none.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.count {
            0 => Ok(()),
            1 => write!(f, "; it sent 1 message that is not MCP: {}", self.first),
            count => write!(f, "; it sent {count} messages that are not MCP, the first: {}", self.first),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_excerpts_are_stored() {
        let mut invalid = InvalidMessages::default();
        (0..20).for_each(|n| invalid.push(&n.to_string()));
        assert_eq!((invalid.count(), invalid.first()), (20, Some("0")));
        assert_eq!(invalid.to_string(), "; it sent 20 messages that are not MCP, the first: 0");
        assert_eq!(invalid.excerpts().collect::<Vec<_>>(), ["12", "13", "14", "15", "16", "17", "18", "19"]);
    }
}
