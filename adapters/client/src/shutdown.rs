//! [`ShutdownReport`]: how a server was ended.

use mcpwire_core::shutdown::Step;

use crate::exit::Exit;

/// How a server was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// Exit status of the server's process. `None` for a connection without a process.
    pub exit: Option<Exit>,
    /// The last step that was taken before the server exited: closing its input, terminating it, or killing it.
    pub last_step: Step,
}

impl ShutdownReport {
    /// Creates the report of a process.
    pub fn new(exit: Option<Exit>, last_step: Step) -> Self {
        ShutdownReport { exit, last_step }
    }

    /// Creates the report of a connection without a process.
    pub fn without_process() -> Self {
        ShutdownReport { exit: None, last_step: Step::CloseInput }
    }
}
