//! Reads the identity of processes on Linux from `/proc`.

use std::fs;

use mcpwire_process::procfs::{self, ProcessStat};

/// Returns the boot id of the machine and the start time of the process `id` in clock ticks, as `<boot>:<ticks>`. Returns `None`
/// if the process does not exist.
///
/// Within a PID namespace, the process id and this text together identify a process. The system may reuse the id, but not both.
pub(crate) fn started(id: u32) -> Option<String> {
    Some(format!("{}:{}", boot()?, ProcessStat::read(id)?.start_time))
}

fn boot() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(boot.trim().to_owned())
}

/// Returns whether the start time `started` is from an earlier boot of the machine. The process has then ended.
pub(crate) fn is_of_another_boot(started: &str) -> bool {
    boot().is_some_and(|boot| started.split_once(':').is_some_and(|(recorded, _)| recorded != boot))
}

/// Returns the Linux namespaces in which process ids and start times of this process are valid: `pid:[<inode>] time:[<inode>]`.
///
/// Returns `None` if `/proc` shows another PID namespace, so that process ids in it mean other processes.
pub(crate) fn namespaces() -> Option<String> {
    let link = |name| fs::read_link(format!("/proc/self/ns/{name}")).ok()?.into_os_string().into_string().ok();
    let pid = procfs::shows_own_namespace().then(|| link("pid"))??;
    // Old kernels have no time namespaces, so only the PID namespace is returned.
    Some(link("time").map_or_else(|| pid.clone(), |time| format!("{pid} {time}")))
}

/// Returns whether process ids and start times from the namespaces `recorded` have the same meaning for this process.
pub(crate) fn can_judge(recorded: Option<&str>) -> bool {
    recorded.is_some() && recorded == namespaces().as_deref()
}

pub(crate) fn is_zombie(id: u32) -> bool {
    ProcessStat::read(id).is_some_and(|stat| stat.is_zombie)
}

pub(crate) fn leads_a_group(id: u32) -> bool {
    ProcessStat::read(id).is_some_and(|stat| stat.group == id)
}

/// Returns whether no process of the process group is running. Zombies do not count as running.
pub(crate) fn group_is_gone(group: u32) -> bool {
    ProcessStat::all().iter().all(|stat| stat.group != group || stat.is_zombie)
}

/// Returns the ids of the processes whose environment variable [`MARK`](crate::launch::MARK) has the value `mark`. Does not find
/// processes of other users, because this user cannot read their environment.
pub(crate) fn marked(mark: &str) -> Vec<u32> {
    let variable = format!("{}={mark}", crate::launch::MARK);
    let has_mark = |stat: &ProcessStat| {
        let environment = fs::read(format!("/proc/{}/environ", stat.pid)).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|entry| entry == variable.as_bytes())
    };
    let others = ProcessStat::all().into_iter().filter(|stat| stat.pid != std::process::id() && !stat.is_zombie);
    others.filter(has_mark).map(|stat| stat.pid).collect()
}

/// Returns the ids in `processes` and the ids of all their descendants. Leaves out this process: a server may have started this
/// program.
pub(crate) fn descendants(mut processes: Vec<u32>) -> Vec<u32> {
    let mut next = 0;
    while let Some(parent) = processes.get(next).copied() {
        next += 1;
        let children = ProcessStat::children(parent).into_iter().filter(|stat| !stat.is_zombie);
        for child in children {
            if child.pid != std::process::id() && !processes.contains(&child.pid) {
                processes.push(child.pid);
            }
        }
    }
    processes
}

/// Returns the process group and the resident memory in bytes of each process.
pub(crate) fn memory_of_groups() -> Vec<(u32, u64)> {
    let page = rustix::param::page_size() as u64;
    ProcessStat::all().iter().map(|process| (process.group, process.resident_pages * page)).collect()
}
