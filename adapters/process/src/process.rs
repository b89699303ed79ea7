//! A server's process: started in a group of its own, watched, and ended with all that it started.

#[cfg(unix)]
use std::fs::File;
#[cfg(unix)]
use std::io;
#[cfg(unix)]
use std::os::fd::OwnedFd;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use std::time::Duration;

use crate::{group, spawn};
use mcpwire_client::{AnyLauncher, Exit, Launch, LaunchedControl, LaunchedServer, McpServerDef, SpawnError};

/// A process that ends, with its group, when this is dropped.
#[derive(Debug)]
pub struct Process {
    kind: Kind,
    exit: Option<Exit>,
}

#[derive(Debug)]
enum Kind {
    /// A process of this machine.
    Local(Local),
    /// A server that a launcher has started elsewhere.
    Launched(Box<LaunchedControl>),
}

#[derive(Debug)]
struct Local {
    child: Child,
    group: group::Group,
    /// The process has been reaped: its id may belong to another one.
    reaped: bool,
}

/// A server that was started.
pub enum Started {
    /// A process of this machine, and its pipes.
    Local(Process, Pipes),
    /// A server that a launcher has started elsewhere.
    Elsewhere(Box<LaunchedServer>),
}

/// The pipes of a process, as the system gave them: an adapter makes them its runtime's.
#[derive(Debug)]
pub struct Pipes {
    /// What the server reads.
    pub stdin: ChildStdin,
    /// What it says.
    pub stdout: ChildStdout,
    /// What it wants a person to read.
    pub stderr: ChildStderr,
}

#[cfg(unix)]
impl Pipes {
    /// The same as files that do not block: what the server reads, what it says, and what a person is to read.
    pub fn into_files(self) -> io::Result<[File; 3]> {
        use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

        let files = [OwnedFd::from(self.stdin), self.stdout.into(), self.stderr.into()].map(File::from);
        for file in &files {
            fcntl_setfl(file, fcntl_getfl(file)? | OFlags::NONBLOCK)?;
        }
        Ok(files)
    }
}

/// Tells of the exit of a process. On Unix it is a descriptor that becomes readable then; nothing is to be read from it.
#[derive(Debug)]
pub struct ExitHandle(#[cfg(unix)] OwnedFd, #[cfg(not(unix))] std::convert::Infallible);

#[cfg(unix)]
impl From<ExitHandle> for OwnedFd {
    fn from(handle: ExitHandle) -> Self {
        handle.0
    }
}

#[cfg(unix)]
impl std::os::fd::AsFd for ExitHandle {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(unix)]
impl std::os::fd::AsRawFd for ExitHandle {
    fn as_raw_fd(&self) -> std::os::fd::RawFd {
        self.0.as_raw_fd()
    }
}

/// How long a killed process is waited for when its client is dropped. A kill is quick; what takes longer is stuck in the
/// kernel, and nothing helps.
const REAP: Duration = Duration::from_millis(500);

impl Started {
    /// Starts a server, with the launcher of the program if there is one.
    pub fn start(def: &McpServerDef, launcher: Option<&dyn AnyLauncher>) -> Result<Self, SpawnError> {
        let (process, pipes) = match launcher.map(|launcher| launcher.start(def)).transpose()? {
            None => Process::spawn(def)?,
            Some(Launch::Command(other)) => Process::spawn(&other)?,
            Some(Launch::Server(server)) => return Ok(Started::Elsewhere(server)),
        };
        Ok(Started::Local(process, pipes))
    }
}

impl Process {
    /// Starts a server, without a shell, in a process group of its own.
    pub fn spawn(def: &McpServerDef) -> Result<(Process, Pipes), SpawnError> {
        let mut child = spawn::spawn(def)?;
        let pipes = match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
            (Some(stdin), Some(stdout), Some(stderr)) => Pipes { stdin, stdout, stderr },
            _ => unreachable!("`spawn` asks for all three"),
        };
        let group = group::Group::of(&child);
        Ok((Process { kind: Kind::Local(Local { child, group, reaped: false }), exit: None }, pipes))
    }

    /// Creates the process of a server that a launcher has started elsewhere.
    pub fn launched(control: LaunchedControl) -> Process {
        Process { kind: Kind::Launched(Box::new(control)), exit: None }
    }

    /// Returns the id of the process, or `None` if it runs elsewhere.
    pub fn pid(&self) -> Option<u32> {
        match &self.kind {
            Kind::Local(local) => Some(local.child.id()),
            Kind::Launched(_) => None,
        }
    }

    /// What tells a runtime of the exit, where the system has such a thing.
    pub fn exit_handle(&self) -> Option<ExitHandle> {
        #[cfg(unix)]
        return self.exit_fd()?.try_clone_to_owned().ok().map(ExitHandle);
        #[cfg(not(unix))]
        return None;
    }

    /// Something to poll that becomes readable when the process exits, where the system has such a thing.
    #[cfg(unix)]
    pub fn exit_fd(&self) -> Option<std::os::fd::BorrowedFd<'_>> {
        match &self.kind {
            Kind::Local(local) => local.group.exit_fd(),
            Kind::Launched(_) => None,
        }
    }

    /// How the process ended, if it has. Leaves it unreaped, so that its id stays its own.
    pub fn observe(&mut self) -> Option<&Exit> {
        if self.exit.is_none() {
            self.exit = match &mut self.kind {
                Kind::Local(local) if local.reaped => None,
                Kind::Local(local) => local.group.observe(&mut local.child),
                Kind::Launched(control) => control.observe(),
            };
        }
        self.exit.as_ref()
    }

    /// How the process ended, as far as is known.
    pub fn exit(&self) -> Option<&Exit> {
        self.exit.as_ref()
    }

    /// After the process has exited: whether others of its group live on.
    pub fn left_others_behind(&mut self) -> bool {
        let has_exited = self.exit.is_some();
        match &mut self.kind {
            Kind::Local(local) => {
                local.reap(has_exited);
                !local.group.is_empty()
            }
            Kind::Launched(_) => false,
        }
    }

    /// Asks the whole group to end.
    pub fn terminate(&mut self) {
        if let Kind::Local(local) = &mut self.kind {
            local.group.terminate(&mut local.child);
        }
    }

    /// Ends the whole group.
    pub fn kill(&mut self) {
        match &mut self.kind {
            Kind::Local(local) => local.group.kill(&mut local.child),
            Kind::Launched(control) => control.kill(),
        }
    }
}

impl Local {
    fn reap(&mut self, has_exited: bool) {
        if !self.reaped && has_exited {
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
        if let Kind::Local(local) = &mut self.kind
            && !local.reaped
        {
            local.group.wait_for_exit(&mut local.child, REAP);
            let has_exited = local.group.observe(&mut local.child).is_some();
            local.reap(has_exited);
        }
    }
}
