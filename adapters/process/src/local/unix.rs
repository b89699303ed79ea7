//! The process of a server on Unix, with its process group and its descendants, so that a signal reaches all of them.

mod isolation;
#[cfg(target_os = "linux")]
mod linux;

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use mcpwire_client::{Exit, McpServerDef};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process, kill_process_group, test_kill_process_group, waitid,
    waitpid,
};

use isolation::isolate;
#[cfg(target_os = "linux")]
use linux::{Strays, has_only_zombies, leads_its_group};
#[cfg(not(target_os = "linux"))]
use unlisted::{Strays, has_only_zombies, leads_its_group};

use crate::pipes::Pipes;

/// Maximum number of searches for strays (descendants outside the process group) before a kill. A search finds the processes that
/// were started before the previous search stopped their parents. Two or three searches are usually enough.
const MAX_SEARCHES: usize = 16;

/// Interval at which to check whether the killed server and its descendants have exited. A kill usually takes less than 1 ms.
const KILL_POLL_INTERVAL: Duration = Duration::from_millis(2);

/// A server's process on this machine, its process group, and the descendants that have left the group.
#[derive(Debug)]
pub(crate) struct LocalProcess {
    /// The id of the server's process, and of the group that the process led at its start.
    server: Pid,
    state: State,
    strays: Strays,
    /// A file descriptor that becomes readable when the server exits. `None` if the system has no such descriptors.
    descriptor: Option<OwnedFd>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The server is running or a zombie, so its id cannot belong to another process.
    Unreaped,
    /// The server was reaped, so its process id may belong to another process. Its group may still have members, and is
    /// signalled.
    Reaped,
    /// No process is left. The process id and the group id may belong to other processes by now, so nothing is signalled.
    Ended,
}

impl LocalProcess {
    /// Starts the command of the definition `def`. The standard streams of the process are pipes.
    pub(crate) fn start(mut command: Command, def: &McpServerDef) -> io::Result<(Self, Pipes)> {
        isolate(&mut command, def)?;
        let mut child = command.spawn()?;
        let pipes = Pipes::of(&mut child);
        Ok((LocalProcess::new(Pid::from_child(&child)), pipes))
    }

    fn new(server: Pid) -> Self {
        #[cfg(target_os = "linux")]
        let descriptor = rustix::process::pidfd_open(server, rustix::process::PidfdFlags::empty()).ok();
        #[cfg(not(target_os = "linux"))]
        let descriptor = None;
        LocalProcess { server, state: State::Unreaped, strays: Strays::default(), descriptor }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.server.as_raw_nonzero().get().cast_unsigned()
    }

    pub(crate) fn exit_fd(&self) -> Option<BorrowedFd<'_>> {
        self.descriptor.as_ref().map(|descriptor| descriptor.as_fd())
    }

    /// Returns the id of the server's process, or `None` if the process was reaped.
    fn unreaped_server(&self) -> Option<Pid> {
        (self.state == State::Unreaped).then_some(self.server)
    }

    /// Returns the exit status without reaping the process, so that the system cannot give its id to another process.
    ///
    /// Returns `None` if the process is running or was reaped.
    pub(crate) fn observe(&mut self) -> Option<Exit> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = waitid(WaitId::Pid(self.unreaped_server()?), options).ok()??;
        Some(Exit::new(status.exit_status(), status.terminating_signal()))
    }

    /// Reaps the process if it has exited.
    pub(crate) fn reap(&mut self) {
        if let Some(server) = self.unreaped_server()
            && matches!(waitpid(Some(server), WaitOptions::NOHANG), Ok(Some(_)))
        {
            self.state = State::Reaped;
        }
    }

    /// Returns whether processes of the server are left: the server itself until it is reaped, or descendants.
    pub(crate) fn has_processes(&mut self) -> bool {
        if self.state == State::Reaped {
            let group_is_empty =
                test_kill_process_group(self.server) == Err(rustix::io::Errno::SRCH) || has_only_zombies(self.server);
            if group_is_empty && self.strays.running().next().is_none() {
                self.state = State::Ended;
            }
        }
        self.state != State::Ended
    }

    /// Searches for descendants that have left the process group, so that later signals reach them. Returns whether the search
    /// has found new ones.
    pub(crate) fn find_strays(&mut self) -> bool {
        self.state != State::Ended && self.strays.find(self.server, self.unreaped_server())
    }

    /// Sends `SIGTERM` to the server and all its known descendants.
    pub(crate) fn terminate(&mut self) {
        self.find_strays();
        self.signal(Signal::TERM);
    }

    /// Kills the server and all its known descendants.
    pub(crate) fn kill(&mut self) {
        // The processes are stopped first. A stopped process starts no others, so the search is complete when it finds no new
        // processes.
        for _ in 0..MAX_SEARCHES {
            self.signal(Signal::STOP);
            if !self.find_strays() {
                break;
            }
        }
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        if self.state == State::Ended {
            return;
        }
        // A signal fails only if there is no such process, or if the process belongs to another user.
        let _ = kill_process_group(self.server, signal);
        // The server gets the signal through its group, or directly if it has left the group, but not twice: some servers take a
        // second `SIGTERM` as a request to exit at once.
        if let Some(server) = self.unreaped_server()
            && !leads_its_group(server)
        {
            let _ = kill_process(server, signal);
        }
        for stray in self.strays.running() {
            let _ = kill_process(stray, signal);
        }
    }

    /// Blocks until the killed server was reaped and its descendants have exited, at most for `timeout`.
    pub(crate) fn reap_all(&mut self, timeout: Duration) {
        let until = Instant::now() + timeout;
        self.reap();
        while self.has_processes() && Instant::now() < until {
            thread::sleep(KILL_POLL_INTERVAL);
            self.reap();
        }
        if let Some(server) = self.unreaped_server() {
            reap_later(server);
        }
    }
}

/// Starts a thread that reaps the process when it exits. Without this, a killed process that takes long to exit would stay a
/// zombie until this program ends.
fn reap_later(server: Pid) {
    let reap = move || while matches!(waitpid(Some(server), WaitOptions::empty()), Err(rustix::io::Errno::INTR)) {};
    // If the thread cannot be started, the process stays a zombie.
    let _ = thread::Builder::new().name("mcpwire-reaper".into()).spawn(reap);
}

/// Kills all child processes of this program, with their descendants. Call this in a program that is about to exit.
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
/// The caller must know that the process was not reaped. Otherwise its id may belong to another process. On systems other than
/// Unix, this function does nothing.
pub fn kill_tree(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        LocalProcess::new(pid).kill();
    }
}

/// The parts that need `/proc`, for Unix systems other than Linux. These systems do not list the children of a process.
#[cfg(not(target_os = "linux"))]
mod unlisted {
    use rustix::process::Pid;

    /// The descendants of a server that have left its process group. Always empty, because they cannot be found on these systems.
    #[derive(Debug, Default)]
    pub(super) struct Strays {}

    #[expect(clippy::unused_self, reason = "the signatures are the same as on Linux")]
    impl Strays {
        pub(super) fn find(&mut self, _group: Pid, _unreaped_server: Option<Pid>) -> bool {
            false
        }

        pub(super) fn running(&self) -> impl Iterator<Item = Pid> {
            std::iter::empty()
        }
    }

    /// Returns whether the group has only zombies, or only processes that this user may not signal.
    ///
    /// macOS reports `EPERM` in both cases. Processes of another user cannot be ended by this program, so they do not matter.
    /// Other systems are not known to report `EPERM` for zombies.
    pub(super) fn has_only_zombies(group: Pid) -> bool {
        cfg!(target_vendor = "apple") && rustix::process::test_kill_process_group(group) == Err(rustix::io::Errno::PERM)
    }

    /// Returns whether the process is still in the process group that it led at its start.
    pub(super) fn leads_its_group(process: Pid) -> bool {
        rustix::process::getpgid(Some(process)) == Ok(process)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::process::CommandExt as _;

    use super::*;
    use crate::procfs::ProcessStat;

    #[test]
    #[expect(clippy::zombie_processes, reason = "the test is about who waits for it")]
    fn a_process_that_exits_after_the_wait_for_it_is_no_zombie() {
        let child = Command::new("sleep").arg("0.2").process_group(0).spawn().expect("sleep starts");
        let mut process = LocalProcess::new(Pid::from_child(&child));
        let pid = process.pid();
        process.reap_all(Duration::ZERO);
        drop(process);
        let is_child = || ProcessStat::children(std::process::id()).iter().any(|child| child.pid == pid);
        for _ in 0..60_000 {
            if !is_child() {
                return;
            }
            thread::sleep(Duration::from_millis(1));
        }
        panic!("the process is a zombie");
    }
}
