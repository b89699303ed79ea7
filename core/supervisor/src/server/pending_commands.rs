//! Commands that wait for the server to run or to stop.

use alloc::vec::Vec;

use super::CommandId;
use mcpwire_core::Timestamp;

/// Maximum number of commands that may wait for one server to start. The limit bounds the memory use.
pub(super) const MAX_START_WAITERS: usize = 1_024;

#[derive(Debug, Default)]
pub(super) struct PendingCommands {
    /// Commands that wait until the server runs. Each command fails at the given time, or waits without limit if the
    /// time is `None`.
    start_waiters: Vec<(CommandId, Option<Timestamp>)>,
    stop_waiters: Vec<CommandId>,
}

impl PendingCommands {
    /// Adds a command that waits until the server runs, or fails at the time `by`. `None` means no time limit. Returns
    /// `false` if [`MAX_START_WAITERS`] commands are already waiting.
    pub(super) fn wait_for_start(&mut self, command: CommandId, by: Option<Timestamp>) -> bool {
        let has_room = self.start_waiters.len() < MAX_START_WAITERS;
        if has_room {
            self.start_waiters.push((command, by));
        }
        has_room
    }

    pub(super) fn wait_for_stop(&mut self, command: CommandId) {
        // Only users and the shutdown of the host send these commands, so their number needs no limit.
        self.stop_waiters.push(command);
    }

    pub(super) fn take_start_waiters(&mut self) -> Vec<CommandId> {
        core::mem::take(&mut self.start_waiters).into_iter().map(|(command, _)| command).collect()
    }

    pub(super) fn take_stop_waiters(&mut self) -> Vec<CommandId> {
        core::mem::take(&mut self.stop_waiters)
    }

    pub(super) fn deadline(&self) -> Option<Timestamp> {
        self.start_waiters.iter().filter_map(|(_, by)| *by).min()
    }

    pub(super) fn take_expired(&mut self, now: Timestamp) -> Option<CommandId> {
        let expired = self.start_waiters.iter().position(|(_, by)| by.is_some_and(|by| by <= now))?;
        Some(self.start_waiters.remove(expired).0)
    }
}
