//! A pseudo-terminal, at which the test types, and the processes that a test has started.

use std::fmt;
use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt as _;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::OFlags;
use rustix::process::Pid;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// A pseudo-terminal. `file` is its controlling side, which types and reads the screen.
pub(crate) struct Terminal {
    pub(crate) file: File,
    path: String,
}

impl Terminal {
    pub(crate) fn open() -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a terminal");
        grantpt(&master).expect("it is granted");
        unlockpt(&master).expect("it is unlocked");
        let name = ptsname(&master, Vec::new()).expect("it has a name");
        let path = name.to_str().expect("a path of text").to_owned();
        Self { file: File::from(master), path }
    }

    /// Returns the side for a program.
    pub(crate) fn other_end(&self) -> OwnedFd {
        let mut options = File::options();
        // Otherwise it would become the terminal of a test program that leads a session, which would end with it.
        options.read(true).write(true).custom_flags(OFlags::NOCTTY.bits().cast_signed());
        OwnedFd::from(options.open(&self.path).expect("it opens"))
    }
}

/// An environment variable of the servers that a test starts. It marks their processes in `/proc`.
pub(crate) struct Mark(String);

/// Writes the variable, as `--env` takes it.
impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.variable())
    }
}

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
