//! The process table of Linux, from `/proc`.

use std::fs;
use std::path::Path;
use std::process;

use rustix::process::{Pid, Signal, kill_process};

/// Whether there is a process with this id, other than one whose parent is gone and that nobody has collected yet.
pub fn process_exists(pid: u32) -> bool {
    status(pid).is_some_and(|status| status.state != 'Z' || status.parent == process::id())
}

/// Kills a process, and nothing else of its group.
pub(crate) fn kill(pid: u32) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("it is a process id");
    kill_process(pid, Signal::KILL).expect("the process is ours");
}

/// The most memory that this process has ever used, in bytes, where the system tells.
pub fn peak_memory() -> Option<usize> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: usize = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// The processes that have this word in their command line.
pub(crate) fn marked(word: &str) -> Vec<u32> {
    processes().filter(|pid| command_line(*pid).split('\0').any(|argument| argument == word)).collect()
}

pub(crate) fn ended_children() -> impl Iterator<Item = u32> {
    processes().filter(|pid| status(*pid).is_some_and(|status| status.state == 'Z' && status.parent == process::id()))
}

fn processes() -> impl Iterator<Item = u32> {
    fs::read_dir("/proc").into_iter().flatten().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

fn command_line(pid: u32) -> String {
    let bytes = fs::read(Path::new("/proc").join(pid.to_string()).join("cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

struct Status {
    state: char,
    parent: u32,
}

/// From `/proc/PID/stat`: `PID (name) STATE PARENT ...`, where the name may hold anything.
fn status(pid: u32) -> Option<Status> {
    let text = fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")).ok()?;
    let mut words = text.rsplit_once(')')?.1.split_whitespace();
    let state = words.next()?.chars().next()?;
    let parent = words.next()?.parse().ok()?;
    Some(Status { state, parent })
}
