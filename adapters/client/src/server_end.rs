//! [`Exit`], [`ProcessReport`] and [`ConnectionEnd`]: describe how a server's process and its connection have ended.

use std::fmt;

use mcpwire_core::CloseReason;

/// The exit status of a server's process: an exit code, or the signal that ended it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exit {
    /// The exit code. `None` if a signal ended the process, or if the code is unknown.
    pub code: Option<i32>,
    /// The number of the signal that ended the process. `None` if the process exited by itself.
    pub signal: Option<i32>,
}

impl Exit {
    /// Creates an exit status from an exit code or a signal number. If both are `None`, the process exited and its status is
    /// unknown.
    pub fn new(code: Option<i32>, signal: Option<i32>) -> Self {
        Exit { code, signal }
    }

    /// Returns whether the process exited with the code 0.
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

/// Returns the name of a signal. Returns `None` for signals whose number differs between Unix systems.
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

/// The exit status of a server's process and its last output on standard error, which explain an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessReport {
    exit: Option<Exit>,
    stderr_tail: String,
}

impl ProcessReport {
    /// Creates a report. `exit` is `None` if the process is still running. `stderr_tail` has its last lines on standard error.
    pub fn new(exit: Option<Exit>, stderr_tail: impl Into<String>) -> Self {
        ProcessReport { exit, stderr_tail: stderr_tail.into() }
    }

    /// Returns the exit status of the process. `None` if the process is still running.
    pub fn exit(&self) -> Option<Exit> {
        self.exit
    }

    /// Returns the last lines that the process wrote to standard error: at most 12 lines and 2 KiB, without control characters.
    pub fn stderr_tail(&self) -> &str {
        &self.stderr_tail
    }
}

impl fmt::Display for ProcessReport {
    /// Formats the report to follow an error message, so it starts with `; `.
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

/// Why a connection has ended, with the exit status and last output of the server's process.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ConnectionEnd {
    /// Why the connection has ended.
    pub reason: CloseReason,
    /// Exit status and last output of the server's process. `None` for a connection without a process.
    pub process: Option<Box<ProcessReport>>,
}

impl ConnectionEnd {
    /// Creates the description of the end of a connection. `process` is `None` for a connection without a process.
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
