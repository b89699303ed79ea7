//! [`Exit`]: the exit status of a process.

use std::fmt;

/// The exit status of a server's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exit {
    /// The exit code. `None` if a signal ended the process.
    pub code: Option<i32>,
    /// The number of the signal that ended the process.
    pub signal: Option<i32>,
}

impl Exit {
    /// Creates an exit status from an exit code or the number of a signal.
    pub fn new(code: Option<i32>, signal: Option<i32>) -> Self {
        Exit { code, signal }
    }

    /// Returns whether the exit code is 0.
    pub fn success(&self) -> bool {
        self.code == Some(0)
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.code, self.signal) {
            (_, Some(signal)) => match signal_name(signal) {
                Some(name) => write!(f, "was ended by signal {signal} ({name})"),
                None => write!(f, "was ended by signal {signal}"),
            },
            (Some(code), None) => write!(f, "exited with code {code}"),
            (None, None) => f.write_str("exited"),
        }
    }
}

/// Returns the name of a signal whose number is the same on all Unix systems.
fn signal_name(signal: i32) -> Option<&'static str> {
    Some(match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        _ => return None,
    })
}
