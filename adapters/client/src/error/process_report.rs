//! [`ProcessReport`]: what is known about a server's process when something failed.

use std::fmt;

use crate::Exit;

/// What is known about a server's process when something failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessReport {
    /// How the process ended; `None` if it is still running.
    pub exit: Option<Exit>,
    /// The last lines that the process wrote to standard error: bounded, and without terminal control sequences.
    pub stderr_tail: String,
}

impl fmt::Display for ProcessReport {
    /// Writes the report as the end of an error message.
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
