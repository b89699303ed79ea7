//! Reads the identity of processes on Unix systems other than Linux, such as macOS, with the crate `sysinfo`.

use rustix::process::{getpgid, test_kill_process_group};
use sysinfo::{Pid, Process, ProcessRefreshKind, ProcessStatus, ProcessesToUpdate, System, UpdateKind};

/// Returns the value of `f` for the process `id`, or `None` if there is no such process.
fn with_process<T>(id: u32, f: impl FnOnce(&Process) -> T) -> Option<T> {
    let (mut system, id) = (System::new(), Pid::from_u32(id));
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[id]), true, ProcessRefreshKind::nothing());
    system.process(id).map(f)
}

/// Reads all processes with the properties `kind`.
fn all(kind: ProcessRefreshKind) -> System {
    let mut system = System::new();
    system.refresh_processes_specifics(ProcessesToUpdate::All, true, kind.without_tasks());
    system
}

fn group(id: u32) -> Option<u32> {
    getpgid(super::pid(id)).ok().map(|group| group.as_raw_nonzero().get().cast_unsigned())
}

/// Returns the start time of the process `id` in seconds since 1970. Returns `None` if the process does not exist.
pub(crate) fn started(id: u32) -> Option<String> {
    with_process(id, Process::start_time).filter(|time| *time > 0).map(|time| time.to_string())
}

/// Always returns `false`. The start time contains the date, so it already differs between processes of different boots.
pub(crate) fn is_of_another_boot(_: &str) -> bool {
    false
}

pub(crate) fn namespaces() -> Option<String> {
    None
}

/// Always returns `true`: these systems have no PID namespaces, so process ids are valid on the whole machine.
pub(crate) fn can_judge(_: Option<&str>) -> bool {
    true
}

/// Returns whether the process is a zombie. Also returns `true` for processes that this user may not look at, because no server
/// of this user is among them: macOS tells nothing of zombies either.
pub(crate) fn is_zombie(id: u32) -> bool {
    with_process(id, |process| process.status() == ProcessStatus::Zombie).unwrap_or(true)
}

pub(crate) fn leads_a_group(id: u32) -> bool {
    group(id) == Some(id)
}

pub(crate) fn group_is_gone(group: u32) -> bool {
    super::pid(group).is_none_or(|group| test_kill_process_group(group) == Err(rustix::io::Errno::SRCH))
}

/// Returns the ids of the processes whose environment variable [`MARK`](crate::launch::MARK) has the value `mark`. Does not find
/// processes of other users, because this user cannot read their environment.
pub(crate) fn marked(mark: &str) -> Vec<u32> {
    let variable = format!("{}={mark}", crate::launch::MARK);
    let system = all(ProcessRefreshKind::nothing().with_environ(UpdateKind::Always));
    let has_mark = |process: &&Process| process.environ().iter().any(|entry| *entry == *variable);
    let found = system.processes().values().filter(has_mark).map(|process| process.pid().as_u32());
    found.filter(|id| *id != std::process::id()).collect()
}

/// Returns the ids in `processes` and the ids of all their descendants. Leaves out this process: a server may have started this
/// program.
pub(crate) fn descendants(mut processes: Vec<u32>) -> Vec<u32> {
    let system = all(ProcessRefreshKind::nothing());
    let mut next = 0;
    while let Some(parent) = processes.get(next).copied() {
        next += 1;
        let children = system.processes().values().filter(|child| child.parent() == Some(Pid::from_u32(parent)));
        for id in children.map(|child| child.pid().as_u32()) {
            if id != std::process::id() && !processes.contains(&id) {
                processes.push(id);
            }
        }
    }
    processes
}

/// Returns the process group and the resident memory in bytes of each process.
pub(crate) fn memory_of_groups() -> Vec<(u32, u64)> {
    let system = all(ProcessRefreshKind::nothing().with_memory());
    let with_group = |process: &Process| Some((group(process.pid().as_u32())?, process.memory()));
    system.processes().values().filter_map(with_group).collect()
}
