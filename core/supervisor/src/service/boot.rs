//! Starts and stops all servers.

use alloc::vec::Vec;

use super::Supervisor;
use super::origins::CommandOrigin;
use crate::{Command, CommandId, ServerId};
use mcpwire_core::Timestamp;

impl Supervisor {
    /// Starts all enabled servers, a few at a time. The failure of one server does not affect the others.
    ///
    /// [`Action::Booted`](crate::Action::Booted) follows when none of these servers is still starting.
    pub fn boot(&mut self, now: Timestamp) {
        let enabled = self.servers.iter().filter(|(_, managed)| managed.enabled);
        let ids: Vec<ServerId> = enabled.map(|(id, _)| *id).collect();
        self.boot_progress.hold(ids.len());
        for id in ids {
            self.send_command(id, Command::Boot, CommandOrigin::Boot, now);
        }
        let report = self.boot_progress.release();
        self.actions.extend(report);
    }

    /// Stops all servers in parallel and rejects later starts.
    ///
    /// An [`Action::Reply`](crate::Action::Reply) with the id `command` follows when no process is left, and at the
    /// time `by` at the latest. Processes that still run one second before `by` are killed.
    pub fn shutdown(&mut self, command: CommandId, by: Timestamp, now: Timestamp) {
        self.is_closing = true;
        let ids: Vec<ServerId> = self.ids().collect();
        self.shutdown_progress.hold(command, ids.len());
        for id in ids {
            self.send_command(id, Command::Shutdown { by }, CommandOrigin::Shutdown, now);
        }
        let answered = self.shutdown_progress.release();
        self.reply_to_all(answered);
    }
}
