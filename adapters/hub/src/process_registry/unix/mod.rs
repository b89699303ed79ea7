//! Finds and ends the processes of a server whose hub has ended, on Unix systems.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;

use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process};

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(not(target_os = "linux"))]
use other as system;

pub(crate) use system::memory_of_groups;
pub(super) use system::{can_judge, is_of_another_boot, namespaces, started};
use system::{descendants, group_is_gone, is_zombie, leads_a_group, marked};

/// Interval at which to check whether the signalled processes have ended.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Maximum time to wait until killed processes have ended: 1 s. The kernel needs microseconds, unless a disk does not respond.
const KILL_TIMEOUT: Duration = Duration::from_secs(1);

fn pid(pid: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(pid).ok()?)
}

/// Returns whether a process with this id exists and is not a zombie.
pub(super) fn exists(id: u32) -> bool {
    pid(id).is_some_and(|pid| test_kill_process(pid) != Err(rustix::io::Errno::SRCH)) && !is_zombie(id)
}

/// The running processes of one server whose hub has ended.
pub(super) struct Target {
    /// The process groups in which all processes belong to the server, each by its id.
    groups: Vec<u32>,
    /// The process id and the start time of each running process of the server. The start time is `None` if it could not be read.
    processes: Vec<(u32, Option<String>)>,
}

impl Target {
    /// Finds the process of a server by its process id `id` and its start time `when`, and its descendants. Returns `None` if
    /// none of these processes is running.
    ///
    /// On Linux, also finds processes whose environment variable [`MARK`](crate::launch::MARK) has the value `mark`. The hub sets
    /// this variable for each server.
    pub(super) fn find(id: u32, when: Option<&str>, mark: &str) -> Option<Target> {
        // All processes of an earlier boot have ended, and `mark` is unique only within one boot. A marked process would be a
        // different one.
        if when.is_some_and(is_of_another_boot) {
            return None;
        }
        let mut target = Target { groups: Vec::new(), processes: Vec::new() };
        // Without a recorded start time, the id may belong to another process by now.
        if when.is_some() && started(id).as_deref() == when && !is_zombie(id) {
            target.add(id);
            if leads_a_group(id) {
                target.groups.push(id);
            }
        }
        for process in marked(mark) {
            target.add(process);
        }
        for process in descendants(target.processes.iter().map(|(id, _)| *id).collect()) {
            target.add(process);
        }
        (!target.processes.is_empty()).then_some(target)
    }

    fn add(&mut self, id: u32) {
        if !self.processes.iter().any(|(known, _)| *known == id) {
            self.processes.push((id, started(id)));
        }
    }

    pub(super) fn is_gone(&self) -> bool {
        self.processes.iter().all(|(id, when)| !is_same(*id, when.as_deref()))
            && self.groups.iter().all(|group| group_is_gone(*group))
    }

    fn signal(&self, signal: Signal) {
        // Errors are ignored: a signal fails only if the process has ended or belongs to another user.
        for group in self.groups.iter().filter_map(|group| pid(*group)) {
            let _ = kill_process_group(group, signal);
        }
        for (id, when) in &self.processes {
            if is_same(*id, when.as_deref())
                && let Some(pid) = pid(*id)
            {
                let _ = kill_process(pid, signal);
            }
        }
    }
}

/// Returns whether the process with the id `id` that was started at the time `when` is still running. A process with this id but
/// another start time is a different process.
fn is_same(id: u32, when: Option<&str>) -> bool {
    started(id).as_deref() == when && exists(id)
}

/// Sends `SIGTERM` to all processes of `targets`. Sends `SIGKILL` to the processes that are still running after `grace`.
pub(super) fn end(targets: &[&Target], grace: Duration) {
    for (signal, timeout) in [(Signal::TERM, grace), (Signal::KILL, KILL_TIMEOUT)] {
        let left: Vec<&&Target> = targets.iter().filter(|target| !target.is_gone()).collect();
        for target in &left {
            target.signal(signal);
        }
        let until = Instant::now() + timeout;
        while left.iter().any(|target| !target.is_gone()) && Instant::now() < until {
            thread::sleep(POLL_INTERVAL);
        }
    }
}
