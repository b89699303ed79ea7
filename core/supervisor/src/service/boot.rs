//! Starts and stops all servers.

use alloc::vec::Vec;

use super::routing::Origin;
use super::{Action, Supervisor};
use crate::{Command, CommandId, ErrorCode, ErrorContract, ServerId};
use mcpwire_core::Timestamp;

#[derive(Debug, Default)]
pub(super) struct BootProgress {
    left: usize,
    ready: usize,
    failed: usize,
    cancelled: usize,
}

#[derive(Debug, Default)]
pub(super) struct ShutdownProgress {
    commands: Vec<CommandId>,
    left: usize,
}

impl Supervisor {
    /// Starts all enabled servers, a few at a time. A failed server does not affect the others.
    ///
    /// [`Action::Booted`] reports that all of them run, sleep or have failed.
    pub fn boot(&mut self, now: Timestamp) {
        let enabled = self.servers.iter().filter(|(_, managed)| managed.enabled);
        let ids: Vec<ServerId> = enabled.map(|(id, _)| *id).collect();
        // One extra count is held until all commands are sent, so that early replies do not complete the boot.
        self.boot.get_or_insert_default().left += ids.len() + 1;
        for id in ids {
            self.send_command(id, Command::Boot, Origin::Boot, now);
        }
        if let Some(boot) = &mut self.boot {
            boot.left -= 1;
        }
        self.report_boot();
    }

    pub(super) fn server_booted(&mut self, result: &Result<(), ErrorContract>) {
        let Some(boot) = &mut self.boot else { return };
        boot.left -= 1;
        match result {
            Ok(()) => boot.ready += 1,
            Err(error) if error.code == ErrorCode::Conflict => boot.cancelled += 1,
            Err(_) => boot.failed += 1,
        }
        self.report_boot();
    }

    fn report_boot(&mut self) {
        if let Some(&BootProgress { left: 0, ready, failed, cancelled }) = self.boot.as_ref() {
            self.boot = None;
            self.actions.push_back(Action::Booted { ready, failed, cancelled });
        }
    }

    /// Stops all servers in parallel and rejects later starts.
    ///
    /// The command is answered when no process is left, and no later than `by`. Servers are killed one second before
    /// `by`.
    pub fn shutdown(&mut self, command: CommandId, by: Timestamp, now: Timestamp) {
        self.closed = true;
        let ids: Vec<ServerId> = self.ids().collect();
        let closing = self.closing.get_or_insert_default();
        closing.commands.push(command);
        // One extra count is held until all commands are sent.
        closing.left += ids.len() + 1;
        for id in ids {
            self.send_command(id, Command::Shutdown { by }, Origin::Closing, now);
        }
        self.server_closed();
    }

    pub(super) fn server_closed(&mut self) {
        let Some(closing) = &mut self.closing else { return };
        closing.left -= 1;
        if closing.left == 0 {
            for command in core::mem::take(&mut closing.commands) {
                self.reply(command, Ok(()));
            }
            self.closing = None;
        }
    }
}
