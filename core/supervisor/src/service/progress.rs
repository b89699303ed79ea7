//! The progress of operations on all servers: boot and shutdown.

use alloc::vec::Vec;

use super::action::Action;
use crate::{CommandId, ErrorCode, HubError};

/// Counts the servers that [`Supervisor::boot`](crate::Supervisor::boot) starts, by result. All counts are 0 when no
/// boot is in progress.
#[derive(Debug, Default)]
pub(super) struct BootProgress {
    pending: usize,
    ready: usize,
    failed: usize,
    cancelled: usize,
}

impl BootProgress {
    /// Adds `servers` to the number of servers to start. The boot cannot complete before [`release`](Self::release) is
    /// called.
    pub(super) fn hold(&mut self, servers: usize) {
        // The extra one is for `release`: a server may reply before the next one receives its command.
        self.pending += servers + 1;
    }

    /// Allows the boot to complete. Call this function when all servers have received the command to start.
    ///
    /// Returns [`Action::Booted`] if all servers have already replied, otherwise `None`.
    pub(super) fn release(&mut self) -> Option<Action> {
        self.count_one()
    }

    /// Counts the reply of a server by its result. Returns [`Action::Booted`] if this was the last reply, otherwise
    /// `None`.
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
    /// The shutdown commands, which succeed when all servers have stopped.
    commands: Vec<CommandId>,
    pending: usize,
}

impl ShutdownProgress {
    /// Adds a shutdown command, and adds `servers` to the number of servers to stop. The shutdown cannot complete
    /// before [`release`](Self::release) is called.
    pub(super) fn hold(&mut self, command: CommandId, servers: usize) {
        self.commands.push(command);
        self.pending += servers + 1;
    }

    /// Allows the shutdown to complete. Call this function when all servers have received the command to stop.
    ///
    /// Returns the shutdown commands that succeed now, or an empty list while servers are still stopping.
    pub(super) fn release(&mut self) -> Vec<CommandId> {
        self.server_stopped()
    }

    /// Counts a server that has stopped. Returns the shutdown commands that succeed now, or an empty list while other
    /// servers are still stopping.
    pub(super) fn server_stopped(&mut self) -> Vec<CommandId> {
        self.pending = self.pending.saturating_sub(1);
        if self.pending > 0 { Vec::new() } else { core::mem::take(&mut self.commands) }
    }
}
