//! [`Opening`]: the progress of the opening of a connection.

use std::task::Waker;

use mcpwire_core::internal::OpeningOutcome;

/// The progress of the opening, and the tasks that wait for it.
#[derive(Debug, Default)]
pub(crate) struct Opening {
    pub(crate) outcome: Option<OpeningOutcome>,
    /// Whether a caller has learned that the connection is open.
    pub(crate) is_reported: bool,
    /// Whether one of the waiting tasks restarts the server.
    pub(crate) is_restarting: bool,
    pub(crate) wakers: Vec<Waker>,
}
