//! [`OpeningOutcome`]: how the opening of a connection ended, and what follows.

use crate::session::{CloseReason, ConnectError, ServerInfo};

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
