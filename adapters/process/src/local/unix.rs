//! Processes of Unix.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::process::Child;
use std::time::{Duration, Instant};

use mcpwire_client::Exit;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, WaitId, WaitIdOptions, WaitOptions, waitid, waitpid};

use crate::tree::ProcessTree;

/// How often to check whether the server has exited, on systems without process descriptors, and whether its killed descendants
/// have.
const EXIT_POLL_INTERVAL: Duration = Duration::from_millis(5);

/// A server's process on this machine, and its descendants.
#[derive(Debug)]
pub(crate) struct LocalProcess {
    child: Child,
    tree: ProcessTree,
    /// Becomes readable when the server exits.
    descriptor: Option<OwnedFd>,
}

impl LocalProcess {
    /// Wraps a child that leads its process group.
    pub(crate) fn new(child: Child) -> Self {
        let pid = Pid::from_child(&child);
        #[cfg(target_os = "linux")]
        let descriptor = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok();
        #[cfg(not(target_os = "linux"))]
        let descriptor = None;
        LocalProcess { child, tree: ProcessTree::new(pid), descriptor }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn exit_fd(&self) -> Option<BorrowedFd<'_>> {
        self.descriptor.as_ref().map(|descriptor| descriptor.as_fd())
    }

    /// Returns the exit status, without reaping the process: its id must not be reused while the process is signalled.
    ///
    /// Returns `None` if the process is running or was reaped.
    pub(crate) fn observe(&mut self) -> Option<Exit> {
        let pid = self.tree.unreaped_server()?;
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = waitid(WaitId::Pid(pid), options).ok()??;
        Some(Exit::new(status.exit_status(), status.terminating_signal()))
    }

    /// Reaps the process if it has exited.
    pub(crate) fn reap(&mut self) {
        if matches!(self.child.try_wait(), Ok(Some(_))) {
            self.tree.server_reaped();
        }
    }

    /// Returns whether processes of the server are left. A server that was not reaped is one of them.
    pub(crate) fn has_processes(&mut self) -> bool {
        !self.tree.is_empty()
    }

    /// Searches for descendants that have left the process group, to signal them later.
    pub(crate) fn find_strays(&mut self) {
        self.tree.find_strays();
    }

    pub(crate) fn terminate(&mut self) {
        self.tree.terminate();
    }

    pub(crate) fn kill(&mut self) {
        self.tree.kill();
    }

    /// Blocks until the killed server was reaped and its descendants have exited, at most for `timeout`.
    pub(crate) fn reap_all(&mut self, timeout: Duration) {
        let until = Instant::now() + timeout;
        self.wait_for_exit(until);
        self.reap();
        while self.has_processes() && Instant::now() < until {
            std::thread::sleep(EXIT_POLL_INTERVAL);
        }
        if let Some(server) = self.tree.unreaped_server() {
            reap_later(server);
        }
    }

    /// Blocks until the server has exited, at most until `until`.
    fn wait_for_exit(&mut self, until: Instant) {
        while self.tree.unreaped_server().is_some() && self.observe().is_none() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let wait = if self.descriptor.is_some() { left } else { left.min(EXIT_POLL_INTERVAL) };
            let poll_timeout = Timespec { tv_sec: wait.as_secs().cast_signed(), tv_nsec: wait.subsec_nanos().into() };
            let result = match &self.descriptor {
                Some(fd) => poll(&mut [PollFd::new(fd, PollFlags::IN)], Some(&poll_timeout)),
                None => poll(&mut [], Some(&poll_timeout)),
            };
            if result.is_err_and(|error| error != rustix::io::Errno::INTR) {
                return;
            }
        }
    }
}

/// Reaps a process when it exits, in a thread. Without this, a killed process that takes long to exit would be a zombie until the
/// program ends.
fn reap_later(server: Pid) {
    let reap = move || while matches!(waitpid(Some(server), WaitOptions::empty()), Err(rustix::io::Errno::INTR)) {};
    // Without a thread, the zombie stays.
    let _ = std::thread::Builder::new().name("mcpwire-reaper".into()).spawn(reap);
}

/// Kills all child processes of this program, with their descendants. For a program that is about to exit.
///
/// On systems other than Linux, this function does nothing.
pub fn kill_children() {
    #[cfg(target_os = "linux")]
    for child in crate::procfs::ProcessStat::children(std::process::id()) {
        kill_tree(child.pid);
    }
}

/// Kills a process that leads a process group, with its descendants, as [`Process::kill`](crate::Process::kill) does.
///
/// The caller must know that the process was not reaped: otherwise its id may belong to another process. On systems other than
/// Unix, this function does nothing.
pub fn kill_tree(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        ProcessTree::new(pid).kill();
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::process::CommandExt as _;
    use std::process::Command;

    use super::*;
    use crate::procfs::ProcessStat;

    #[test]
    fn a_process_that_exits_after_the_wait_for_it_is_no_zombie() {
        let child = Command::new("sleep").arg("0.2").process_group(0).spawn().expect("sleep starts");
        let mut process = LocalProcess::new(child);
        let pid = process.pid();
        process.reap_all(Duration::ZERO);
        drop(process);
        let is_child = || ProcessStat::children(std::process::id()).iter().any(|child| child.pid == pid);
        for _ in 0..60_000 {
            if !is_child() {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        panic!("the process is a zombie");
    }
}
