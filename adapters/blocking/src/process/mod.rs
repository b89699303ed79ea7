//! A server's process: started in a group of its own, watched, and ended with all that it started.

mod exit;
mod group;
mod spawn;
mod stderr;

pub use exit::Exit;
pub use spawn::{SpawnError, SpawnErrorKind};

pub(crate) use stderr::{Follower, Stderr};

use std::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use std::time::Duration;

use crate::definition::McpServerDef;

/// A process that ends, with its group, when this is dropped.
pub(crate) struct Process {
    child: Child,
    group: group::Group,
    exit: Option<Exit>,
    /// The process has been reaped: its id may belong to another one.
    reaped: bool,
}

/// The pipes of a process.
pub(crate) struct Pipes {
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
    pub(crate) stderr: ChildStderr,
}

/// How long a killed process is waited for when its client is dropped. A kill is quick; what takes longer is stuck in the
/// kernel, and nothing helps.
const REAP: Duration = Duration::from_millis(500);

impl Process {
    pub(crate) fn spawn(def: &McpServerDef) -> Result<(Process, Pipes), SpawnError> {
        let mut child = spawn::spawn(def)?;
        let pipes = match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
            (Some(stdin), Some(stdout), Some(stderr)) => Pipes { stdin, stdout, stderr },
            _ => unreachable!("`spawn` asks for all three"),
        };
        let group = group::Group::of(&child);
        Ok((Process { child, group, exit: None, reaped: false }, pipes))
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Something to poll that becomes readable when the process exits, where the system has such a thing.
    #[cfg(unix)]
    pub(crate) fn exit_fd(&self) -> Option<std::os::fd::BorrowedFd<'_>> {
        self.group.exit_fd()
    }

    /// How the process ended, if it has. Leaves it unreaped, so that its id stays its own.
    pub(crate) fn observe(&mut self) -> Option<&Exit> {
        if self.exit.is_none() && !self.reaped {
            self.exit = self.group.observe(&mut self.child);
        }
        self.exit.as_ref()
    }

    /// How the process ended, as far as is known.
    pub(crate) fn exit(&self) -> Option<&Exit> {
        self.exit.as_ref()
    }

    /// After the process has exited: whether others of its group live on.
    pub(crate) fn left_others_behind(&mut self) -> bool {
        self.reap();
        !self.group.is_empty()
    }

    /// Asks the whole group to end.
    pub(crate) fn terminate(&mut self) {
        self.group.terminate(&mut self.child);
    }

    /// Ends the whole group.
    pub(crate) fn kill(&mut self) {
        self.group.kill(&mut self.child);
    }

    fn reap(&mut self) {
        if !self.reaped && self.exit.is_some() {
            self.reaped = matches!(self.child.try_wait(), Ok(Some(_)));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.observe().is_some() && !self.left_others_behind() {
            return;
        }
        self.kill();
        if !self.reaped {
            self.group.wait_for_exit(&mut self.child, REAP);
            let _ = self.observe();
            self.reap();
        }
    }
}
