//! [`ShutdownReport`]: how a server was ended.

use mcpwire_core::shutdown::Step;

use crate::exit::Exit;

/// How a server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// How its process ended; `None` for a pair of streams.
    pub exit: Option<Exit>,
    /// What it took: closing its input, asking it to end, or a kill.
    pub took: Step,
}

impl ShutdownReport {
    /// Creates the report of a process that has exited.
    pub fn new(exit: Option<Exit>, took: Step) -> Self {
        ShutdownReport { exit, took }
    }

    /// The report of a connection without a process.
    pub fn of_streams() -> Self {
        ShutdownReport { exit: None, took: Step::CloseInput }
    }
}
