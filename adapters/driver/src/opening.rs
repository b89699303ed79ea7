//! [`Opening`]: the state of the opening of a connection.

use mcpwire_core::internal::OpeningOutcome;

/// The state of the opening of a connection, and the tasks that wait for its outcome.
#[derive(Debug, Default)]
pub(crate) struct Opening {
    /// `None` until the opening has ended.
    pub(crate) outcome: Option<OpeningOutcome>,
    /// Whether a call of `initialize` has returned `Ok`.
    pub(crate) is_reported: bool,
    /// Whether a task is restarting the server. Other tasks wait for the outcome.
    pub(crate) is_restarting: bool,
}
