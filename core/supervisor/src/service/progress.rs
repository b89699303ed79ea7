//! The progress of operations on all servers: boot and shutdown.

use alloc::vec::Vec;

use super::action::Action;
use crate::{CommandId, ErrorKind, HubError};

/// The progress of [`Supervisor::boot`](crate::Supervisor::boot). All counts are 0 when no boot is in progress.
#[derive(Debug, Default)]
pub(super) struct BootProgress {
    pending: usize,
    ready: usize,
    failed: usize,
    cancelled: usize,
}

impl BootProgress {
    /// Adds `servers` servers to the boot, which cannot complete before [`release`](Self::release) is called.
    pub(super) fn hold(&mut self, servers: usize) {
        // The extra one is for `release`: a server may reply before the next one receives its command.
        self.pending += servers + 1;
    }

    /// Allows the boot to complete, after all servers have received the command to start. Returns [`Action::Booted`] if
    /// all servers have already replied.
    pub(super) fn release(&mut self) -> Option<Action> {
        self.count_one()
    }

    pub(super) fn server_answered(&mut self, result: &Result<(), HubError>) -> Option<Action> {
        match result {
            Ok(()) => self.ready += 1,
            Err(error) if ended_by_command(error) => self.cancelled += 1,
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

#[derive(Debug, Default)]
pub(super) struct ShutdownProgress {
    /// The shutdown commands, which succeed when all servers have stopped.
    commands: Vec<CommandId>,
    pending: usize,
}

impl ShutdownProgress {
    /// Adds a shutdown command that waits for `servers` servers to stop. The shutdown cannot complete before
    /// [`release`](Self::release) is called.
    pub(super) fn hold(&mut self, command: CommandId, servers: usize) {
        self.commands.push(command);
        self.pending += servers + 1;
    }

    /// Allows the shutdown to complete, after all servers have received the command to stop. Returns the shutdown
    /// commands that succeed now.
    pub(super) fn release(&mut self) -> Vec<CommandId> {
        self.server_stopped()
    }

    /// Records that a server has stopped. Returns the shutdown commands that succeed now: none until the last server
    /// has stopped.
    pub(super) fn server_stopped(&mut self) -> Vec<CommandId> {
        self.pending = self.pending.saturating_sub(1);
        if self.pending > 0 { Vec::new() } else { core::mem::take(&mut self.commands) }
    }
}

/// Returns whether a start ended because another command stopped, disabled or deleted the server.
pub(super) fn ended_by_command(error: &HubError) -> bool {
    matches!(error.kind(), ErrorKind::Cancelled | ErrorKind::Disabled)
}
