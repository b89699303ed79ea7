//! Commands that wait for the server to run or to stop.

use alloc::vec::Vec;

use super::CommandId;
use mcpwire_core::Timestamp;

/// Maximum number of commands that wait for one start. It exceeds any host's calls in flight and bounds memory while a
/// server does not start.
pub(super) const MAX_START_WAITERS: usize = 1_024;

#[derive(Debug, Default)]
pub(super) struct PendingCommands {
    /// Commands that wait for the server to run, with an optional deadline.
    starters: Vec<(CommandId, Option<Timestamp>)>,
    /// Commands that wait for the server to stop.
    stoppers: Vec<CommandId>,
}

impl PendingCommands {
    /// Adds a command that waits for the server to run. Returns `false` if the queue is full.
    pub(super) fn wait_for_start(&mut self, command: CommandId, by: Option<Timestamp>) -> bool {
        let room = self.starters.len() < MAX_START_WAITERS;
        if room {
            self.starters.push((command, by));
        }
        room
    }

    /// Adds a command that waits for the server to stop. The queue is unbounded: each entry stands for a user or a host
    /// that shuts down.
    pub(super) fn wait_for_stop(&mut self, command: CommandId) {
        self.stoppers.push(command);
    }

    pub(super) fn take_starters(&mut self) -> Vec<CommandId> {
        core::mem::take(&mut self.starters).into_iter().map(|(command, _)| command).collect()
    }

    pub(super) fn take_stoppers(&mut self) -> Vec<CommandId> {
        core::mem::take(&mut self.stoppers)
    }

    pub(super) fn deadline(&self) -> Option<Timestamp> {
        self.starters.iter().filter_map(|(_, by)| *by).min()
    }

    /// Removes and returns a command whose deadline has passed.
    pub(super) fn take_expired(&mut self, now: Timestamp) -> Option<CommandId> {
        let late = self.starters.iter().position(|(_, by)| by.is_some_and(|by| by <= now))?;
        Some(self.starters.remove(late).0)
    }
}
