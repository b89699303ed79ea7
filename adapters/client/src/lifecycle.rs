//! [`Lifecycle`]: whether a connection is opening, open or ended, and why it has ended.

use mcpwire_core::CloseReason;
use mcpwire_core::internal::OpeningOutcome;

/// Whether a connection is opening, open or ended. Events of the engine change the state. The client changes it too when it
/// restarts the server.
#[derive(Debug, Default)]
pub enum Lifecycle {
    /// The connection is not open yet.
    #[default]
    Opening,
    /// The connection is open.
    Open,
    /// The server has exited when it received `server/discover`. The client must restart it with a legacy protocol version.
    Restart,
    /// The client is restarting the server, to open the connection with a legacy protocol version.
    Restarting,
    /// The connection has ended.
    Ended {
        /// Why it has ended.
        reason: CloseReason,
        /// Whether the connection was open before it ended.
        was_open: bool,
    },
}

impl Lifecycle {
    /// Records that the connection has ended. Does nothing if it had already ended, so that the first reason remains.
    pub fn end(&mut self, reason: CloseReason) {
        if !matches!(self, Lifecycle::Ended { .. }) {
            *self = Lifecycle::Ended { reason, was_open: matches!(self, Lifecycle::Open) };
        }
    }

    /// Returns how the attempt to open the connection has ended. `None` while the connection is being opened or the server is
    /// being restarted.
    pub fn opening_outcome(&self) -> Option<OpeningOutcome> {
        match self {
            Lifecycle::Opening | Lifecycle::Restarting => None,
            Lifecycle::Open | Lifecycle::Ended { was_open: true, .. } => Some(OpeningOutcome::Connected),
            Lifecycle::Restart => Some(OpeningOutcome::Restart),
            Lifecycle::Ended { reason, was_open: false } => Some(OpeningOutcome::Closed(reason.clone())),
        }
    }

    /// Returns why the connection has ended. `None` if it has not ended.
    pub fn close_reason(&self) -> Option<&CloseReason> {
        match self {
            Lifecycle::Ended { reason, .. } => Some(reason),
            _ => None,
        }
    }
}
