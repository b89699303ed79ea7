//! [`GracePeriods`]: how long the steps of a shutdown take. [`ShutdownReport`]: what it took to end a server.

use std::time::Duration;

use crate::Exit;

/// A step of the sequence that ends a server's process. The client performs the steps in this order until the process has exited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShutdownStep {
    /// Close the server's stdin, which tells the server to exit.
    CloseInput,
    /// Ask the server's process group to exit (`SIGTERM`).
    Terminate,
    /// Kill the server's process group (`SIGKILL`).
    Kill,
    /// Wait until the deadline, the exit of the server, or the end of its whole process group. Then ask for the next step.
    Wait,
    /// The shutdown is complete; there is nothing left to do.
    Done,
}

/// How long a server process may continue to run after each step of its shutdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(alias = "ShutdownTimeouts")]
pub struct GracePeriods {
    /// Time from [`ShutdownStep::CloseInput`] to [`ShutdownStep::Terminate`]. Default: 3 s, as in the official MCP clients.
    pub after_close: Duration,
    /// Time from [`ShutdownStep::Terminate`] to [`ShutdownStep::Kill`]. Default: 2 s, so that a server is killed at most 5 s after
    /// the start of the shutdown.
    pub after_terminate: Duration,
}

impl Default for GracePeriods {
    fn default() -> Self {
        GracePeriods { after_close: Duration::from_secs(3), after_terminate: Duration::from_secs(2) }
    }
}

/// The result of a shutdown: the exit status of the server, and the step that ended it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// Exit status of the server's process. `None` for a connection without a process.
    pub exit: Option<Exit>,
    /// The last step before the server exited: [`ShutdownStep::CloseInput`], [`ShutdownStep::Terminate`] or
    /// [`ShutdownStep::Kill`].
    pub last_step: ShutdownStep,
}

impl ShutdownReport {
    /// Creates the report of a server that runs as a process.
    pub fn new(exit: Option<Exit>, last_step: ShutdownStep) -> Self {
        ShutdownReport { exit, last_step }
    }

    /// Creates the report of a connection without a process.
    pub fn without_process() -> Self {
        ShutdownReport { exit: None, last_step: ShutdownStep::CloseInput }
    }
}
