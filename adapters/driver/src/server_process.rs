//! [`ServerProcess`]: the server's process, its exit status and its last output on standard error.

use mcpwire_client::{Exit, ProcessReport, StderrTail};
use mcpwire_process::Process;

/// The server's process. The id, the exit status and the last output stay available after the process has ended.
#[derive(Default)]
pub(crate) struct ServerProcess {
    /// The process. `None` after [`ServerProcess::take`], and for a connection without a process.
    process: Option<Process>,
    /// The id of the process, even if the process has ended. `None` for a connection without a process.
    pub(crate) pid: Option<u32>,
    /// The exit status. Set by [`ServerProcess::take`], if the process has exited by then.
    exit: Option<Exit>,
    pub(crate) stderr: StderrTail,
}

impl ServerProcess {
    pub(crate) fn new(process: Option<Process>) -> Self {
        let pid = process.as_ref().and_then(Process::pid);
        ServerProcess { process, pid, ..ServerProcess::default() }
    }

    /// Returns the process, or `None` if it was taken or the connection has no process.
    pub(crate) fn process(&mut self) -> Option<&mut Process> {
        self.process.as_mut()
    }

    /// Removes and returns the process, and stores its exit status if it has exited.
    ///
    /// Dropping a running process kills it and waits for its exit. The caller must release the lock of the connection before it
    /// drops the process.
    pub(crate) fn take(&mut self) -> Option<Process> {
        let process = self.process.take()?;
        self.exit = process.exit().copied();
        Some(process)
    }

    /// Returns the exit status and last output of the process, or `None` if there is no process.
    pub(crate) fn report(&mut self) -> Option<Box<ProcessReport>> {
        let exit = match &mut self.process {
            Some(process) => process.observe().copied(),
            None => Some(self.exit?),
        };
        Some(Box::new(ProcessReport::new(exit, self.stderr.excerpt())))
    }
}
