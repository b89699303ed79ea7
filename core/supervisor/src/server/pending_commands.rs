//! Commands that wait for the server to run or to stop.

use alloc::vec::Vec;

use super::CommandId;
use mcpwire_core::Timestamp;

/// Maximum number of commands that wait for one start. 1,024: more calls than a host has in flight, and few enough to
/// bound memory while the server does not start.
pub(super) const MAX_START_WAITERS: usize = 1_024;

#[derive(Debug, Default)]
pub(super) struct PendingCommands {
    /// Commands that wait for the server to run, each with an optional deadline.
    start_waiters: Vec<(CommandId, Option<Timestamp>)>,
    /// Commands that wait for the server to stop.
    stop_waiters: Vec<CommandId>,
}

impl PendingCommands {
    /// Adds a command that waits for the server to run. Returns `false` if the queue is full.
    pub(super) fn wait_for_start(&mut self, command: CommandId, by: Option<Timestamp>) -> bool {
        let has_room = self.start_waiters.len() < MAX_START_WAITERS;
        if has_room {
            self.start_waiters.push((command, by));
        }
        has_room
    }

    /// Adds a command that waits for the server to stop.
    ///
    /// The queue has no limit, because only users and the shutdown of the host add commands.
    pub(super) fn wait_for_stop(&mut self, command: CommandId) {
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

    /// Removes and returns a command whose deadline has passed.
    pub(super) fn take_expired(&mut self, now: Timestamp) -> Option<CommandId> {
        let expired = self.start_waiters.iter().position(|(_, by)| by.is_some_and(|by| by <= now))?;
        Some(self.start_waiters.remove(expired).0)
    }
}
