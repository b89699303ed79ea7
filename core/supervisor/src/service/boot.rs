//! Starts all servers when the host starts, and stops them when the host shuts down.

use alloc::vec::Vec;
use core::mem;

use super::Supervisor;
use super::start_queue::{BootCounts, CommandOrigin};
use crate::{Action, Command, CommandId, ServerId};
use mcpwire_core::Timestamp;

impl Supervisor {
    /// Starts all enabled servers, a few at a time. The failure of one server does not affect the others.
    ///
    /// [`Action::Booted`] follows when none of these servers is still starting: each runs, sleeps, has failed or was stopped.
    pub fn boot(&mut self, now: Timestamp) {
        let enabled = self.servers.iter().filter(|(_, managed)| managed.enabled);
        let ids: Vec<ServerId> = enabled.map(|(id, _)| *id).collect();
        self.send_to_all(&ids, &Command::Boot, &CommandOrigin::Boot, now);
        self.finish_boot();
    }

    /// Stops all servers in parallel and rejects later starts.
    ///
    /// An [`Action::Reply`] with the id `command` follows when no process is left, and at the time `by` at the latest.
    /// Processes that still run one second before `by` are killed.
    pub fn shutdown(&mut self, command: CommandId, by: Timestamp, now: Timestamp) {
        self.is_closing = true;
        self.shutdown_commands.push(command);
        let ids: Vec<ServerId> = self.ids().collect();
        self.send_to_all(&ids, &Command::Shutdown { by }, &CommandOrigin::Shutdown, now);
        self.finish_shutdown();
    }

    fn send_to_all(&mut self, ids: &[ServerId], command: &Command, origin: &CommandOrigin, now: Timestamp) {
        // Keep an additional origin until all commands are sent. A server may reply at once, and the operation must not
        // end then.
        let hold = self.add_origin(origin.clone());
        for id in ids {
            self.send_command(*id, command.clone(), origin.clone(), now);
        }
        self.origins.remove(&hold);
    }

    /// Emits [`Action::Booted`] if no server has a pending reply to the boot any more.
    pub(super) fn finish_boot(&mut self) {
        if !self.is_pending(&CommandOrigin::Boot) {
            let BootCounts { ready, failed, cancelled } = mem::take(&mut self.boot_counts);
            self.actions.push_back(Action::Booted { ready, failed, cancelled });
        }
    }

    /// Replies to the shutdown commands if no server has a pending reply to the shutdown any more.
    pub(super) fn finish_shutdown(&mut self) {
        if !self.is_pending(&CommandOrigin::Shutdown) {
            for command in mem::take(&mut self.shutdown_commands) {
                self.reply(command, Ok(()));
            }
        }
    }

    fn is_pending(&self, origin: &CommandOrigin) -> bool {
        self.origins.values().any(|pending| pending == origin)
    }
}
