//! Those who wait for a server to run, or to have ended.

use alloc::vec::Vec;

use super::CommandId;
use mcpwire_core::Timestamp;

/// So many may wait for one server. It is more than any host has calls in flight, and bounds what a server that does not
/// come up can make a busy host keep.
pub(super) const MOST: usize = 1_024;

#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// For it to run; some of them not for ever.
    starters: Vec<(CommandId, Option<Timestamp>)>,
    /// For nothing to be left of it.
    stoppers: Vec<CommandId>,
}

impl Waiting {
    /// Whether there was room.
    pub(super) fn for_start(&mut self, command: CommandId, by: Option<Timestamp>) -> bool {
        let room = self.starters.len() < MOST;
        if room {
            self.starters.push((command, by));
        }
        room
    }

    /// Those who want an end are not turned away: each stands for a person or a host that ends.
    pub(super) fn for_stop(&mut self, command: CommandId) {
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

    /// Takes out one that has waited long enough.
    pub(super) fn take_late(&mut self, now: Timestamp) -> Option<CommandId> {
        let late = self.starters.iter().position(|(_, by)| by.is_some_and(|by| by <= now))?;
        Some(self.starters.remove(late).0)
    }
}
