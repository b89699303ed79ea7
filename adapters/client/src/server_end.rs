//! How a server and its connection have ended: [`Exit`], [`ProcessReport`] and [`ConnectionEnd`].

use std::fmt;

use mcpwire_core::CloseReason;

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

/// The exit status and last output of a server's process, as part of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessReport {
    exit: Option<Exit>,
    stderr_tail: String,
}

impl ProcessReport {
    /// Creates a report. `exit` is `None` if the process is still running.
    pub fn new(exit: Option<Exit>, stderr_tail: impl Into<String>) -> Self {
        ProcessReport { exit, stderr_tail: stderr_tail.into() }
    }

    /// Returns the exit status of the process. `None` if it is still running.
    pub fn exit(&self) -> Option<Exit> {
        self.exit
    }

    /// Returns the last lines on standard error: at most 12 lines and 2 KiB, without control characters.
    pub fn stderr_tail(&self) -> &str {
        &self.stderr_tail
    }
}

impl fmt::Display for ProcessReport {
    /// Formats the report as the end of an error message, starting with `; `.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.exit {
            Some(exit) => write!(f, "; its process {exit}")?,
            None => f.write_str("; its process is still running")?,
        }
        if self.stderr_tail.is_empty() {
            return f.write_str(", and wrote nothing on standard error");
        }
        f.write_str("; its last lines on standard error:")?;
        for line in self.stderr_tail.lines() {
            write!(f, "\n  {line}")?;
        }
        Ok(())
    }
}

/// Why a connection has ended, and the state of the server's process.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ConnectionEnd {
    /// Why the connection has ended.
    pub reason: CloseReason,
    /// Exit status and last output of the server's process. `None` for a connection without a process.
    pub process: Option<Box<ProcessReport>>,
}

impl ConnectionEnd {
    /// Creates a connection end.
    pub fn new(reason: CloseReason, process: Option<Box<ProcessReport>>) -> Self {
        ConnectionEnd { reason, process }
    }
}

impl fmt::Display for ConnectionEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)?;
        match &self.process {
            Some(process) => process.fmt(f),
            None => Ok(()),
        }
    }
}
