//! A look into the process table. Only Linux lets us see all of it, in `/proc`; elsewhere no process is ever found by its
//! mark, and the tests look for those that they know.

use std::fs;
use std::path::Path;
use std::process;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

/// A process that was killed may take a moment to go; one that is left stays.
const GRACE: Duration = Duration::from_secs(60);

/// Whether there is a process with this id, other than one whose parent is gone and that nobody has collected yet.
pub fn process_exists(pid: u32) -> bool {
    if !cfg!(target_os = "linux") {
        return i32::try_from(pid).ok().and_then(Pid::from_raw).is_some_and(|pid| test_kill_process(pid).is_ok());
    }
    status(pid).is_some_and(|status| status.state != 'Z' || status.parent == process::id())
}

/// Whether a process that was killed has ended: what nobody here can wait for takes its moment to go.
pub fn has_ended(pid: u32) -> bool {
    let begin = Instant::now();
    while process_exists(pid) && begin.elapsed() < GRACE {
        thread::sleep(Duration::from_millis(2));
    }
    !process_exists(pid)
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

/// Waits until no process has this word in its command line and none of this process' ended children is uncollected.
/// Those that stay are the answer.
///
/// A process that has ended has no command line any more. An ended child of another test, which runs at the same time,
/// is not told apart, but it does not stay.
pub(crate) fn left_over(word: &str) -> Vec<u32> {
    let begin = Instant::now();
    let mut left: Vec<u32> = marked(word).into_iter().chain(ended_children()).collect();
    while !left.is_empty() && begin.elapsed() < GRACE {
        thread::sleep(Duration::from_millis(2));
        left.retain(|pid| process_exists(*pid));
    }
    left
}

fn ended_children() -> impl Iterator<Item = u32> {
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
