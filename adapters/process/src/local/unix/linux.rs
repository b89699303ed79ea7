//! Finds the descendants of a server and zombies on Linux, by reading `/proc`.

use rustix::process::Pid;

use crate::procfs::{self, ProcessStat};

/// Maximum number of processes that one search visits. This is more than a server needs, and few enough that a fork bomb does not
/// stall the program.
const MAX_VISITED: usize = 4_096;

/// The descendants of a server that have left its process group.
#[derive(Debug, Default)]
pub(super) struct Strays(Vec<Stray>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stray {
    pid: u32,
    /// The start time in clock ticks, to recognize a reused process id. See [`ProcessStat::start_time`].
    start_time: u64,
}

impl Strays {
    /// Searches the descendants of the server and of all known strays for processes that have left the group. Returns whether the
    /// search has found new strays.
    pub(super) fn find(&mut self, group: Pid, unreaped_server: Option<Pid>) -> bool {
        let known = self.0.len();
        let mut visited: Vec<u32> = unreaped_server.into_iter().chain(self.running()).map(id).collect();
        let mut next = 0;
        while let Some(parent) = visited.get(next).copied() {
            next += 1;
            for child in procfs::child_ids(parent) {
                if visited.len() < MAX_VISITED
                    && !visited.contains(&child)
                    && let Some(stat) = ProcessStat::read(child)
                {
                    visited.push(child);
                    if stat.group != id(group) {
                        self.0.push(Stray { pid: child, start_time: stat.start_time });
                    }
                }
            }
        }
        self.0.len() > known
    }

    /// Returns the process ids of the strays that are still running.
    pub(super) fn running(&self) -> impl Iterator<Item = Pid> {
        let is_running = |stray: &&Stray| {
            ProcessStat::read(stray.pid).is_some_and(|stat| stat.start_time == stray.start_time && !stat.is_zombie)
        };
        self.0.iter().filter(is_running).filter_map(|stray| Pid::from_raw(stray.pid.cast_signed()))
    }
}

/// Returns whether the group has only zombies: processes that have exited and that no parent has reaped.
///
/// In a container whose init process reaps no children, zombies would keep the group non-empty forever.
pub(super) fn has_only_zombies(group: Pid) -> bool {
    let members: Vec<_> = ProcessStat::all().into_iter().filter(|stat| stat.group == id(group)).collect();
    !members.is_empty() && members.iter().all(|stat| stat.is_zombie)
}

/// Returns whether the process is still in the process group that it led at its start.
///
/// Does not use `getpgid`: for a group of another PID namespace it returns zero, which is not a valid [`Pid`]. Without `/proc`
/// this returns `false`. The server may then get a signal twice, which is better than no signal.
pub(super) fn leads_its_group(process: Pid) -> bool {
    ProcessStat::read(id(process)).is_some_and(|stat| stat.group == id(process))
}

fn id(pid: Pid) -> u32 {
    pid.as_raw_nonzero().get().cast_unsigned()
}
