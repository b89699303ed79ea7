//! Processes of Unix: which one it is, and ending it with all that it started.

use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process};

/// How often is looked whether they are gone.
const TICK: Duration = Duration::from_millis(10);

/// How long a process may take to be gone after it was killed. It takes microseconds, unless a disk hangs.
const AFTER_KILL: Duration = Duration::from_secs(1);

fn pid(pid: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(pid).ok()?)
}

/// Whether there is such a process.
pub(super) fn exists(id: u32) -> bool {
    pid(id).is_some_and(|pid| test_kill_process(pid) != Err(rustix::io::Errno::SRCH)) && !is_zombie(id)
}

/// What of a server is left.
pub(super) struct Target {
    /// Whole groups, by the process that leads them. These were seen to be the server's.
    groups: Vec<u32>,
    /// Processes, each with when it was started.
    processes: Vec<(u32, Option<String>)>,
}

impl Target {
    /// What is left of the process that was started then, and of what it started. `None` if nothing is, as far as can be told.
    pub(super) fn find(id: u32, when: Option<&str>, mark: &str) -> Option<Target> {
        let mut target = Target { groups: Vec::new(), processes: Vec::new() };
        // Without a time it cannot be told from another that has its id now.
        if when.is_some() && started(id).as_deref() == when && !is_zombie(id) {
            target.processes.push((id, started(id)));
            if leads_a_group(id) {
                target.groups.push(id);
            }
        }
        for process in marked(mark) {
            if process != id || target.processes.is_empty() {
                target.processes.push((process, started(process)));
            }
        }
        (!target.processes.is_empty()).then_some(target)
    }

    pub(super) fn is_gone(&self) -> bool {
        self.processes.iter().all(|(id, when)| !is_still(*id, when.as_deref()))
            && self.groups.iter().all(|group| group_is_gone(*group))
    }

    fn signal(&self, signal: Signal) {
        // Whoever is gone by now cannot be told anything, and need not.
        for group in self.groups.iter().filter_map(|group| pid(*group)) {
            let _ = kill_process_group(group, signal);
        }
        for (id, when) in &self.processes {
            if is_still(*id, when.as_deref())
                && let Some(pid) = pid(*id)
            {
                let _ = kill_process(pid, signal);
            }
        }
    }
}

fn is_still(id: u32, when: Option<&str>) -> bool {
    started(id).as_deref() == when && exists(id)
}

/// Asks all of them to end, and kills those that do not.
pub(super) fn end(targets: &[&Target], grace: Duration) {
    for (signal, grace_periods) in [(Signal::TERM, grace), (Signal::KILL, AFTER_KILL)] {
        let left: Vec<&&Target> = targets.iter().filter(|target| !target.is_gone()).collect();
        for target in &left {
            target.signal(signal);
        }
        let until = Instant::now() + grace_periods;
        while left.iter().any(|target| !target.is_gone()) && Instant::now() < until {
            thread::sleep(TICK);
        }
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs;

    /// The fields of `/proc/<pid>/stat` behind the name, which is in brackets and may hold anything.
    fn stat(id: u32) -> Option<Vec<String>> {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        let fields = stat.rsplit_once(')')?.1;
        Some(fields.split_ascii_whitespace().map(str::to_owned).collect())
    }

    /// When a process was started: the id of the boot, and the ticks since then (field 22 of `proc(5)`).
    pub(crate) fn started(id: u32) -> Option<String> {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        Some(format!("{}:{}", boot.trim(), stat(id)?.get(19)?))
    }

    /// Whether it has ended, and only waits for its parent to take notice.
    pub(crate) fn is_zombie(id: u32) -> bool {
        stat(id).is_some_and(|fields| matches!(fields.first().map(String::as_str), Some("Z" | "X")))
    }

    pub(crate) fn leads_a_group(id: u32) -> bool {
        stat(id).is_some_and(|fields| fields.get(2) == Some(&id.to_string()))
    }

    fn processes() -> impl Iterator<Item = u32> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
    }

    /// Whether no process is in the group any more but such as only wait for their parent.
    pub(crate) fn group_is_gone(group: u32) -> bool {
        let group = group.to_string();
        !processes().any(|id| {
            stat(id).is_some_and(|fields| {
                fields.get(2) == Some(&group) && !matches!(fields.first().map(String::as_str), Some("Z" | "X"))
            })
        })
    }

    /// The processes that were started with this mark in their environment. Those of other users cannot be looked at.
    pub(crate) fn marked(mark: &str) -> Vec<u32> {
        let variable = format!("{}={mark}", crate::launch::MARK);
        let has_it = |id: &u32| {
            let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|entry| entry == variable.as_bytes())
        };
        processes().filter(|id| *id != std::process::id()).filter(has_it).filter(|id| !is_zombie(*id)).collect()
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::process::Command;

    use rustix::process::{Pid, test_kill_process_group};

    fn ps(id: u32, field: &str) -> Option<String> {
        let output = Command::new("ps").args(["-o", field, "-p", &id.to_string()]).env("LC_ALL", "C").output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// When a process was started, to the second.
    pub(crate) fn started(id: u32) -> Option<String> {
        ps(id, "lstart=")
    }

    pub(crate) fn is_zombie(id: u32) -> bool {
        ps(id, "stat=").is_some_and(|stat| stat.starts_with('Z'))
    }

    pub(crate) fn leads_a_group(id: u32) -> bool {
        ps(id, "pgid=").is_some_and(|group| group == id.to_string())
    }

    pub(crate) fn group_is_gone(group: u32) -> bool {
        let group = i32::try_from(group).ok().and_then(Pid::from_raw);
        group.is_none_or(|group| test_kill_process_group(group) == Err(rustix::io::Errno::SRCH))
    }

    /// The environment of others cannot be read here.
    pub(crate) fn marked(_: &str) -> Vec<u32> {
        Vec::new()
    }
}

pub(super) use system::started;
use system::{group_is_gone, is_zombie, leads_a_group, marked};
