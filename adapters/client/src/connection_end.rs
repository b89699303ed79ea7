//! [`ConnectionEnd`]: why a connection has ended.

use std::fmt;

use mcpwire_core::CloseReason;

use crate::ProcessReport;

/// Why a connection has ended, and how its process ended.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ConnectionEnd {
    /// Why the connection has ended.
    pub reason: CloseReason,
    /// How the server's process ended, and what it wrote last on standard error. `None` for a pair of streams.
    pub process: Option<Box<ProcessReport>>,
}

impl ConnectionEnd {
    /// Creates the description of an end.
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
