//! Finds the processes that a test has started, in `/proc`.

use std::fs;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::Pid;

/// An environment variable of the servers that a test starts. It marks their processes in `/proc`.
pub(crate) struct Mark(String);

impl Mark {
    pub(crate) fn new() -> Self {
        static LAST: AtomicU32 = AtomicU32::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        Self(format!("MCPWIRE_TEST_MARK={}-{number}", process::id()))
    }

    /// Returns the value of `--env` that sets the variable.
    pub(crate) fn variable(&self) -> &str {
        &self.0
    }

    /// Returns the marked processes that are running.
    pub(crate) fn processes(&self) -> Vec<Pid> {
        let entries = fs::read_dir("/proc").expect("there is a /proc");
        let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
        let marked = pids.filter(|pid| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == self.0.as_bytes())
        });
        marked.filter_map(Pid::from_raw).collect()
    }

    /// Fails the test if a marked process is running.
    #[track_caller]
    pub(crate) fn assert_nothing_left(&self) {
        let left: Vec<String> = self.processes().into_iter().map(|pid| command_line(pid.as_raw_pid())).collect();
        assert!(left.is_empty(), "left in the process table: {left:?}");
    }
}

fn command_line(pid: i32) -> String {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    format!("{pid} {}", String::from_utf8_lossy(&line).replace('\0', " "))
}
