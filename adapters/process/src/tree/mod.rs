//! [`ProcessTree`]: a server's process and its descendants, to signal all of them.

#[cfg(target_os = "linux")]
mod linux;

use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process_group};

#[cfg(target_os = "linux")]
use linux::{Strays, has_only_zombies, leads_its_group};
#[cfg(not(target_os = "linux"))]
use unlisted::{Strays, has_only_zombies, leads_its_group};

/// Maximum number of searches for strays before a kill. Each search finds the processes that were started before the previous
/// search stopped their parents, so two or three are usually enough.
const MAX_SEARCHES: usize = 16;

/// A server's process, its process group, and the descendants that have left the group.
#[derive(Debug)]
pub(crate) struct ProcessTree {
    /// The id of the server's process, and of the group that the process led at its start.
    server: Pid,
    state: State,
    strays: Strays,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The server is running or a zombie, so its id cannot belong to another process.
    Unreaped,
    /// The id of the server may be signalled only as the id of its group.
    Reaped,
    /// No process is left. The ids may belong to other processes by now, so nothing is signalled.
    Ended,
}

impl ProcessTree {
    pub(crate) fn new(server: Pid) -> Self {
        ProcessTree { server, state: State::Unreaped, strays: Strays::default() }
    }

    /// Returns the id of the server's process, unless the process was reaped.
    pub(crate) fn unreaped_server(&self) -> Option<Pid> {
        (self.state == State::Unreaped).then_some(self.server)
    }

    /// Records that the server's process was reaped.
    pub(crate) fn server_reaped(&mut self) {
        if self.state == State::Unreaped {
            self.state = State::Reaped;
        }
    }

    /// Returns whether no process is left. A server that was not reaped counts as a process.
    pub(crate) fn is_empty(&mut self) -> bool {
        if self.state == State::Reaped {
            let group_is_empty =
                test_kill_process_group(self.server) == Err(rustix::io::Errno::SRCH) || has_only_zombies(self.server);
            let mut has_strays = false;
            self.strays.for_each(&mut |_| has_strays = true);
            if group_is_empty && !has_strays {
                self.state = State::Ended;
            }
        }
        self.state == State::Ended
    }

    /// Searches for descendants that have left the group. Returns whether there are new ones.
    pub(crate) fn find_strays(&mut self) -> bool {
        self.state != State::Ended && self.strays.find(self.server, self.unreaped_server())
    }

    /// Sends `SIGTERM` to all processes.
    pub(crate) fn terminate(&mut self) {
        self.find_strays();
        self.signal(Signal::TERM);
    }

    /// Kills all processes.
    pub(crate) fn kill(&mut self) {
        // A stopped process starts no others, so all processes are known when a search finds no new ones.
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
        // No process gets a signal twice: some servers take the second `SIGTERM` as a request to exit at once.
        if let Some(server) = self.unreaped_server()
            && !leads_its_group(server)
        {
            let _ = kill_process(server, signal);
        }
        self.strays.for_each(&mut |stray| {
            let _ = kill_process(stray, signal);
        });
    }
}

/// Unix systems that have no list of the children of a process.
#[cfg(not(target_os = "linux"))]
mod unlisted {
    use rustix::process::Pid;

    /// The descendants of a server that have left its process group. They are not found here.
    #[derive(Debug, Default)]
    pub(super) struct Strays {}

    #[expect(clippy::unused_self, reason = "the signatures are the same as on Linux")]
    impl Strays {
        pub(super) fn find(&mut self, _group: Pid, _unreaped_server: Option<Pid>) -> bool {
            false
        }

        pub(super) fn for_each(&self, _f: &mut dyn FnMut(Pid)) {}
    }

    /// Returns whether the group has only zombies, or only processes that this user may not signal.
    ///
    /// macOS reports `EPERM` in both cases, and processes of another user cannot be ended anyway. Other systems are not known to
    /// report it for zombies.
    pub(super) fn has_only_zombies(group: Pid) -> bool {
        cfg!(target_vendor = "apple") && rustix::process::test_kill_process_group(group) == Err(rustix::io::Errno::PERM)
    }

    /// Returns whether the process is in the group that it led at its start.
    pub(super) fn leads_its_group(process: Pid) -> bool {
        rustix::process::getpgid(Some(process)) == Ok(process)
    }
}
