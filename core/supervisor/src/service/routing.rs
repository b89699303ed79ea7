//! Between the machines and the host: commands in, effects out.

use super::{Action, Managed, Supervisor};
use crate::{Command, CommandId, Effect, ErrorContract, ServerId, State};
use mcpwire_core::Timestamp;

/// Who a command is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// Whoever uses this, and by which name.
    Embedder(CommandId),
    /// Nobody who would wait for it.
    Nobody,
    /// The start of everything.
    Boot,
    /// The end of everything.
    Closing,
    /// The start that a flag brings with it.
    Toggle,
    /// The end after a start that has failed.
    Reverted { command: CommandId, error: ErrorContract },
}

impl Supervisor {
    /// Gives a command to a machine.
    pub(super) fn give(&mut self, id: ServerId, command: Command, origin: Origin, now: Timestamp) {
        let Some(managed) = self.servers.get_mut(&id) else { return };
        managed.urgent = match command {
            Command::Start | Command::Restart | Command::Reach { .. } => true,
            Command::Boot => false,
            _ => managed.urgent,
        };
        self.next_command += 1;
        let name = CommandId(self.next_command);
        self.origins.insert(name, origin);
        managed.server.command(name, command, now);
        self.pump(id, now);
    }

    /// Passes on what a machine has put out.
    pub(super) fn pump(&mut self, id: ServerId, now: Timestamp) {
        while let Some(effect) = self.servers.get_mut(&id).and_then(|managed| managed.server.poll_effect()) {
            match effect {
                Effect::Reply { command, result } => {
                    if let Some(origin) = self.origins.remove(&command) {
                        self.answered(id, origin, result);
                    }
                }
                Effect::ToolsChanged => {
                    let tools = self.servers.get(&id).and_then(|managed| managed.server.tools().cloned());
                    let changes = self.catalogue.set_tools(id, tools);
                    self.tell_catalogue();
                    if !changes.is_empty() {
                        self.actions.push_back(Action::ToolsRedefined { server: id, changes });
                    }
                }
                Effect::Resolve { generation } => self.ask_for_slot(id, generation, now),
                effect => {
                    self.actions.push_back(Action::Perform { server: id, effect });
                }
            }
        }
        self.mind_gate(id);
        self.set_timer(id);
        self.forget_deleted(id);
        self.open_gate(now);
    }

    fn answered(&mut self, id: ServerId, origin: Origin, result: Result<(), ErrorContract>) {
        match origin {
            Origin::Embedder(command) => self.reply(command, result),
            Origin::Nobody => {}
            Origin::Boot => self.booted(&result),
            Origin::Closing => self.one_closed(),
            Origin::Toggle => self.toggled(id, result),
            Origin::Reverted { command, error } => self.reply(command, Err(error)),
        }
    }

    pub(super) fn reply(&mut self, command: CommandId, result: Result<(), ErrorContract>) {
        self.actions.push_back(Action::Reply { command, result });
    }

    /// Once is enough, until it has been heard. It comes first: whoever is answered or notified by another action may look
    /// at the tools at once, on another thread, and must find them as they are by then.
    pub(super) fn tell_catalogue(&mut self) {
        if !self.catalogue_told {
            self.catalogue_told = true;
            self.actions.push_front(Action::CatalogueChanged);
        }
    }

    fn set_timer(&mut self, id: ServerId) {
        let Some(managed) = self.servers.get_mut(&id) else { return };
        let timer = managed.server.poll_timeout();
        if timer != managed.timer {
            if let Some(at) = managed.timer {
                self.timers.remove(&(at, id));
            }
            if let Some(at) = timer {
                self.timers.insert((at, id));
            }
            managed.timer = timer;
        }
    }

    fn forget_deleted(&mut self, id: ServerId) {
        if self.servers.get(&id).is_none_or(|managed| managed.server.state() != State::Deleted) {
            return;
        }
        if let Some(Managed { server, key, timer, toggle, .. }) = self.servers.remove(&id) {
            self.last_generation = self.last_generation.max(server.generation());
            self.names.remove(&key);
            if let Some(at) = timer {
                self.timers.remove(&(at, id));
            }
            if let Some(toggle) = toggle {
                let error = ErrorContract::conflict("", "the MCP server is deleted");
                self.reply(toggle.command(), Err(error));
            }
        }
        self.catalogue.remove(id);
        self.tell_catalogue();
        self.actions.push_back(Action::Removed { server: id });
    }
}
