//! [`ClientState`]: what a client remembers about its server between operations. [`OpeningOutcome`]: how the opening of a
//! connection ended, and what follows.

use super::known_tools::KnownTools;
#[cfg(feature = "http")]
use crate::session::RequestOptions;
use crate::session::{Calls, CloseReason, ConnectError, Event, Notification, ServerInfo};
#[cfg(feature = "http")]
use crate::time::Timestamp;
use mcpwire_types::LoggingLevel;

/// What a client remembers about its server between operations.
#[derive(Debug, Default)]
pub struct ClientState {
    /// The tools of the server, as far as they are known.
    pub tools: KnownTools,
    /// The log level that the program has set with a legacy server.
    pub(super) log_level: Option<LoggingLevel>,
}

impl ClientState {
    /// Forgets what depends on the authorization of the requests, because it has changed.
    #[cfg(feature = "http")]
    pub fn authorization_changed(&mut self) {
        self.tools.authorization_changed();
    }

    /// Updates the state for an event of the session, and sends what must be sent because of the event.
    ///
    /// Call this for each event that is neither a reply nor the progress of a request. If the server has ended its HTTP
    /// session, and a new one was opened, this sends the log level again: the level was part of the ended session.
    #[inline]
    pub fn handle_event(&mut self, event: &Event, calls: &mut Calls<'_>) {
        match event {
            Event::Notification(Notification::ToolsChanged) => self.tools.invalidate(),
            #[cfg(feature = "http")]
            Event::SessionReestablished => self.restore_log_level(calls),
            _ => {
                let _ = calls;
            }
        }
    }

    /// Sends the log level again. Nobody waits for the reply: if the server refuses the level, its log messages are
    /// those of its default level. The request begins at the latest time that was passed to the engine.
    #[cfg(feature = "http")]
    #[cold]
    fn restore_log_level(&self, calls: &mut Calls<'_>) {
        if let Some(level) = &self.log_level {
            let _ = calls.set_log_level(level, &RequestOptions::new(), Timestamp::ORIGIN);
        }
    }
}

/// How the opening of a connection ended.
#[derive(Clone, Debug)]
pub enum OpeningOutcome {
    /// The connection is open.
    Connected,
    /// The server has ended because it was asked for its era. It must be started again, and opened as a legacy server.
    Restart,
    /// The connection could not be opened.
    Closed(CloseReason),
}

impl OpeningOutcome {
    /// Returns the error of an opening that was not followed by a restart, or `None` if the connection is open.
    pub fn into_error(self) -> Option<ConnectError> {
        match self {
            OpeningOutcome::Connected => None,
            // Nothing is left to restart: a pair of streams, or a server that has ended a second time.
            OpeningOutcome::Restart => Some(ConnectError::Closed),
            OpeningOutcome::Closed(reason) => Some(reason.into_opening_error()),
        }
    }

    /// Returns whether `connect_and_initialize` lists the tools of this server: unless the capabilities of the server
    /// say that it has none.
    pub fn lists_tools(server: &ServerInfo) -> bool {
        server.capabilities.as_ref().is_none_or(|capabilities| capabilities.tools.is_some())
    }
}
