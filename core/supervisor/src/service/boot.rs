//! The start and the end of everything.

use alloc::vec::Vec;

use super::routing::Origin;
use super::{Action, Supervisor};
use crate::{Command, CommandId, ErrorCode, ErrorContract, ServerId};
use mcpwire_core::Timestamp;

#[derive(Debug, Default)]
pub(super) struct Boot {
    left: usize,
    ready: usize,
    failed: usize,
    cancelled: usize,
}

#[derive(Debug, Default)]
pub(super) struct Closing {
    commands: Vec<CommandId>,
    left: usize,
}

impl Supervisor {
    /// Starts all servers that are enabled, a few at a time, and each for itself: one that fails stops nobody.
    /// [`Action::Booted`] tells when all of them have come somewhere.
    pub fn boot(&mut self, now: Timestamp) {
        let enabled = self.servers.iter().filter(|(_, managed)| managed.enabled);
        let ids: Vec<ServerId> = enabled.map(|(id, _)| *id).collect();
        // One more is left until all have been given, so that the first answers are not taken for the last.
        self.boot.get_or_insert_default().left += ids.len() + 1;
        for id in ids {
            self.give(id, Command::Boot, Origin::Boot, now);
        }
        if let Some(boot) = &mut self.boot {
            boot.left -= 1;
        }
        self.tell_booted();
    }

    pub(super) fn booted(&mut self, result: &Result<(), ErrorContract>) {
        let Some(boot) = &mut self.boot else { return };
        boot.left -= 1;
        match result {
            Ok(()) => boot.ready += 1,
            Err(error) if error.code == ErrorCode::Conflict => boot.cancelled += 1,
            Err(_) => boot.failed += 1,
        }
        self.tell_booted();
    }

    fn tell_booted(&mut self) {
        if let Some(&Boot { left: 0, ready, failed, cancelled }) = self.boot.as_ref() {
            self.boot = None;
            self.actions.push_back(Action::Booted { ready, failed, cancelled });
        }
    }

    /// Ends all servers, all at the same time, and starts none any more. Answered when nothing is left of any of them, which
    /// is by `by` at the latest: one second before, they are ended by force.
    pub fn shutdown(&mut self, command: CommandId, by: Timestamp, now: Timestamp) {
        self.closed = true;
        let ids: Vec<ServerId> = self.ids().collect();
        let closing = self.closing.get_or_insert_default();
        closing.commands.push(command);
        // One more is left until all have been given.
        closing.left += ids.len() + 1;
        for id in ids {
            self.give(id, Command::Shutdown { by }, Origin::Closing, now);
        }
        self.one_closed();
    }

    pub(super) fn one_closed(&mut self) {
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
