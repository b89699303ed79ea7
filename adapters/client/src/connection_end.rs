//! [`ConnectionEnd`]: why a connection has ended.

use std::fmt;

use mcpwire_core::CloseReason;

use crate::ProcessReport;

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
