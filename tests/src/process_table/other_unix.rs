//! Processes by their ids, on Unix systems other than Linux.

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

/// Whether there is a process with this id.
pub fn process_exists(pid: u32) -> bool {
    i32::try_from(pid).ok().and_then(Pid::from_raw).is_some_and(|pid| test_kill_process(pid).is_ok())
}

/// Kills a process, and nothing else of its group.
pub(crate) fn kill(pid: u32) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("it is a process id");
    kill_process(pid, Signal::KILL).expect("the process is ours");
}
