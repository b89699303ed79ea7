//! Reads the identity of processes on Unix systems other than Linux, with the command `ps`.

use std::process::Command;

use rustix::process::{Pid, test_kill_process_group};

fn ps(id: u32, field: &str) -> Option<String> {
    let output = Command::new("ps").args(["-o", field, "-p", &id.to_string()]).env("LC_ALL", "C").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// Returns the start time of the process `id`, with a precision of one second. Returns `None` if the process does not exist.
pub(crate) fn started(id: u32) -> Option<String> {
    ps(id, "lstart=")
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

/// Always returns an empty list: the environment of other processes cannot be read on these systems.
pub(crate) fn marked(_: &str) -> Vec<u32> {
    Vec::new()
}

/// Returns `processes` unchanged: their descendants cannot be found on these systems.
pub(crate) fn descendants(processes: Vec<u32>) -> Vec<u32> {
    processes
}
