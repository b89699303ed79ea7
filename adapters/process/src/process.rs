//! [`Process`]: a server's process and its descendants.

#[cfg(unix)]
use std::os::fd::OwnedFd;
use std::time::Duration;

use crate::local::LocalProcess;
use crate::pipes::Pipes;
use crate::spawn::spawn;
use mcpwire_client::{
    Exit, LaunchKind, LaunchedServer, LaunchedServerHandle, Launcher, McpServerDef, SpawnError, launch,
};

/// A running server: its process and its descendants, or a server that a [`Launcher`] has started. Dropping this value kills the
/// server and its descendants.
#[derive(Debug)]
pub struct Process {
    kind: Kind,
    /// The exit status of the process. `None` until [`Process::observe`] has seen the exit.
    exit: Option<Exit>,
}

#[derive(Debug)]
enum Kind {
    Local(LocalProcess),
    /// A server that a [`Launcher`] has started, for example in a container. This crate manages no process for it.
    Launched(Box<LaunchedServerHandle>),
}

/// The result of starting a server: the process with its pipes, or a server that a [`Launcher`] has started.
pub enum RunningServer {
    /// A process of this machine, and the pipes to its standard streams.
    Local(Process, Pipes),
    /// A server that a [`Launcher`] of the program has started in another way, for example in a container.
    Launched(Box<LaunchedServer>),
}

/// A file descriptor that becomes readable when a process exits, so that a runtime can wait for the exit. It contains no data to
/// read. Only Linux has such descriptors.
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

/// Maximum time that dropping a [`Process`] waits for the killed process to exit. A process that takes longer is blocked in the
/// kernel, and waiting does not help.
const REAP_TIMEOUT: Duration = Duration::from_millis(500);

impl RunningServer {
    /// Starts a server. If the program has set a `launcher`, asks the launcher first.
    pub fn start(def: &McpServerDef, launcher: Option<&dyn Launcher>) -> Result<Self, SpawnError> {
        let (process, pipes) = match launcher.map(|launcher| launch(launcher, def)).transpose()? {
            None => Process::spawn(def)?,
            Some(LaunchKind::Command(other)) => Process::spawn(&other)?,
            Some(LaunchKind::Server(server)) => return Ok(RunningServer::Launched(server)),
        };
        Ok(RunningServer::Local(process, pipes))
    }
}

impl Process {
    /// Starts a server without a shell: on Unix in a new process group, or in a new session with the feature `setsid`, and on
    /// Windows in a job object and without a window.
    ///
    /// # Errors
    /// If the system cannot start the command of the definition.
    pub fn spawn(def: &McpServerDef) -> Result<(Process, Pipes), SpawnError> {
        let (local, pipes) = spawn(def)?;
        Ok((Process { kind: Kind::Local(local), exit: None }, pipes))
    }

    /// Wraps a server that a [`Launcher`] has started, so that dropping the returned value ends it.
    pub fn launched(server: LaunchedServerHandle) -> Process {
        Process { kind: Kind::Launched(Box::new(server)), exit: None }
    }

    /// Returns the id of the process, or `None` for a server that a launcher has started.
    pub fn pid(&self) -> Option<u32> {
        match &self.kind {
            Kind::Local(local) => Some(local.pid()),
            Kind::Launched(_) => None,
        }
    }

    /// Returns a descriptor that becomes readable when the process exits. Returns `None` if the system has no such descriptors,
    /// or if a launcher has started the server.
    pub fn exit_handle(&self) -> Option<ExitHandle> {
        #[cfg(unix)]
        return self.exit_fd()?.try_clone_to_owned().ok().map(ExitHandle);
        #[cfg(not(unix))]
        return None;
    }

    /// Borrows the descriptor that [`Process::exit_handle`] clones, without cloning it.
    #[cfg(unix)]
    pub fn exit_fd(&self) -> Option<std::os::fd::BorrowedFd<'_>> {
        match &self.kind {
            Kind::Local(local) => local.exit_fd(),
            Kind::Launched(_) => None,
        }
    }

    /// Checks whether the process has exited, and returns its exit status.
    ///
    /// This does not reap the process, so that the system cannot give its id to another process.
    pub fn observe(&mut self) -> Option<&Exit> {
        if self.exit.is_none() {
            self.exit = match &mut self.kind {
                Kind::Local(local) => local.observe(),
                Kind::Launched(server) => server.observe(),
            };
        }
        self.exit.as_ref()
    }

    /// Returns the exit status that [`Process::observe`] has seen, without a new check. Returns `None` if it has not seen the
    /// exit.
    pub fn exit(&self) -> Option<&Exit> {
        self.exit.as_ref()
    }

    /// Searches for descendants that have left the process group, so that later signals reach them too.
    ///
    /// Call this before the process exits. After the exit, the system no longer tells which processes were its descendants.
    pub(crate) fn find_strays(&mut self) {
        if let Kind::Local(local) = &mut self.kind {
            local.find_strays();
        }
    }

    /// Returns whether the process or one of its descendants is running. If the process itself has exited, this function reaps it
    /// first.
    pub(crate) fn has_processes(&mut self) -> bool {
        match &mut self.kind {
            Kind::Local(local) => {
                if self.exit.is_some() {
                    local.reap();
                }
                local.has_processes()
            }
            Kind::Launched(_) => false,
        }
    }

    /// Sends `SIGTERM` to the process and its descendants. On Windows, kills them.
    ///
    /// Does nothing for a server that a [`Launcher`] has started.
    pub fn terminate(&mut self) {
        if let Kind::Local(local) = &mut self.kind {
            local.terminate();
        }
    }

    /// Sends `SIGKILL` to the process and its descendants. If a [`Launcher`] has started the server, ends the server through its
    /// handle.
    pub fn kill(&mut self) {
        match &mut self.kind {
            Kind::Local(local) => local.kill(),
            Kind::Launched(server) => server.kill(),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.observe().is_some() && !self.has_processes() {
            return;
        }
        self.kill();
        if let Kind::Local(local) = &mut self.kind {
            local.reap_all(REAP_TIMEOUT);
        }
    }
}
