//! [`Lifecycle`]: how far a connection is, and why it has ended.

use mcpwire_core::CloseReason;
use mcpwire_core::internal::OpeningOutcome;

/// How far a connection is. The events of the engine advance it, and the client does if it restarts the server.
#[derive(Debug, Default)]
pub enum Lifecycle {
    /// The connection is not open yet.
    #[default]
    Opening,
    /// The connection is open.
    Open,
    /// The server has ended when it received `server/discover`. The client is to restart it.
    Restart,
    /// The client is restarting the server.
    Restarting,
    /// The connection has ended.
    Ended {
        /// Why it has ended.
        reason: CloseReason,
        /// Whether it was open before.
        was_open: bool,
    },
}

impl Lifecycle {
    /// Ends the connection, unless it has already ended.
    pub fn end(&mut self, reason: CloseReason) {
        if !matches!(self, Lifecycle::Ended { .. }) {
            *self = Lifecycle::Ended { reason, was_open: matches!(self, Lifecycle::Open) };
        }
    }

    /// Returns how the opening has ended. `None` before, and while the server is being restarted.
    pub fn opening_outcome(&self) -> Option<OpeningOutcome> {
        match self {
            Lifecycle::Opening | Lifecycle::Restarting => None,
            Lifecycle::Open | Lifecycle::Ended { was_open: true, .. } => Some(OpeningOutcome::Connected),
            Lifecycle::Restart => Some(OpeningOutcome::Restart),
            Lifecycle::Ended { reason, was_open: false } => Some(OpeningOutcome::Closed(reason.clone())),
        }
    }

    /// Returns why the connection has ended. `None` if it has not.
    pub fn close_reason(&self) -> Option<&CloseReason> {
        match self {
            Lifecycle::Ended { reason, .. } => Some(reason),
            _ => None,
        }
    }
}
