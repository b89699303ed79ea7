//! [`ProcessReport`]: the exit status and last output of a server's process.

use std::fmt;

use crate::Exit;

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
