//! The progress of operations on all servers: boot and shutdown.

use alloc::vec::Vec;

use super::action::Action;
use crate::{CommandId, ErrorCode, HubError};

/// Counts the servers that [`Supervisor::boot`](crate::Supervisor::boot) starts. All counts are 0 when no boot is in
/// progress.
#[derive(Debug, Default)]
pub(super) struct BootProgress {
    pending: usize,
    ready: usize,
    failed: usize,
    cancelled: usize,
}

impl BootProgress {
    /// Adds servers to start, and holds the end of the boot back until [`release`](Self::release).
    ///
    /// Servers may answer while the commands are still being sent.
    pub(super) fn hold(&mut self, servers: usize) {
        self.pending += servers + 1;
    }

    /// Allows the boot to end. Returns the report if all servers have already answered.
    pub(super) fn release(&mut self) -> Option<Action> {
        self.count_one()
    }

    /// Counts the answer of a server. Returns the report after the last answer.
    pub(super) fn server_answered(&mut self, result: &Result<(), HubError>) -> Option<Action> {
        match result {
            Ok(()) => self.ready += 1,
            Err(error) if error.code == ErrorCode::Conflict => self.cancelled += 1,
            Err(_) => self.failed += 1,
        }
        self.count_one()
    }

    fn count_one(&mut self) -> Option<Action> {
        self.pending = self.pending.saturating_sub(1);
        if self.pending > 0 {
            return None;
        }
        let BootProgress { ready, failed, cancelled, .. } = core::mem::take(self);
        Some(Action::Booted { ready, failed, cancelled })
    }
}

/// Counts the servers that [`Supervisor::shutdown`](crate::Supervisor::shutdown) stops.
#[derive(Debug, Default)]
pub(super) struct ShutdownProgress {
    /// Commands to answer when all servers are stopped.
    commands: Vec<CommandId>,
    pending: usize,
}

impl ShutdownProgress {
    /// Adds a command and the servers to stop, and holds its answer back until [`release`](Self::release).
    pub(super) fn hold(&mut self, command: CommandId, servers: usize) {
        self.commands.push(command);
        self.pending += servers + 1;
    }

    /// Allows the shutdown to end. Returns the commands to answer if all servers have already stopped.
    pub(super) fn release(&mut self) -> Vec<CommandId> {
        self.server_stopped()
    }

    /// Counts a stopped server. Returns the commands to answer after the last server.
    pub(super) fn server_stopped(&mut self) -> Vec<CommandId> {
        self.pending = self.pending.saturating_sub(1);
        if self.pending > 0 { Vec::new() } else { core::mem::take(&mut self.commands) }
    }
}
