//! Routes commands to the servers, and their effects to the host.

use super::{Action, Managed, Supervisor};
use crate::{Command, CommandId, Effect, ErrorContract, ServerId, State};
use mcpwire_core::Timestamp;

/// The sender of a command, who receives the reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The embedder, with its own command id.
    Embedder(CommandId),
    /// The supervisor itself; the reply is dropped.
    Internal,
    /// [`Supervisor::boot`].
    Boot,
    /// [`Supervisor::shutdown`].
    Closing,
    /// The start after [`Supervisor::set_enabled`] enabled the server.
    Toggle,
    /// The stop after an enabled server failed to start; `error` answers the embedder's command.
    Reverted { command: CommandId, error: ErrorContract },
}

impl Supervisor {
    /// Sends a command to a server.
    pub(super) fn send_command(&mut self, id: ServerId, command: Command, origin: Origin, now: Timestamp) {
        let Some(managed) = self.servers.get_mut(&id) else { return };
        managed.urgent = match command {
            Command::Start | Command::Restart | Command::PrepareCall { .. } => true,
            Command::Boot => false,
            _ => managed.urgent,
        };
        self.next_command += 1;
        let name = CommandId(self.next_command);
        self.origins.insert(name, origin);
        managed.server.command(name, command, now);
        self.drain_effects(id, now);
    }

    /// Drains the effects of a server and turns them into actions.
    pub(super) fn drain_effects(&mut self, id: ServerId, now: Timestamp) {
        while let Some(effect) = self.servers.get_mut(&id).and_then(|managed| managed.server.poll_effect()) {
            match effect {
                Effect::Reply { command, result } => {
                    if let Some(origin) = self.origins.remove(&command) {
                        self.route_reply(id, origin, result);
                    }
                }
                Effect::ToolsChanged => {
                    let tools = self.servers.get(&id).and_then(|managed| managed.server.tools().cloned());
                    let changes = self.catalogue.set_tools(id, tools);
                    self.announce_catalogue();
                    if !changes.is_empty() {
                        self.actions.push_back(Action::ToolsRedefined { server: id, changes });
                    }
                }
                Effect::Resolve { generation } => self.queue_start(id, generation, now),
                effect => {
                    self.actions.push_back(Action::Perform { server: id, effect });
                }
            }
        }
        self.update_start_queue(id);
        self.set_timer(id);
        self.forget_deleted(id);
        self.start_queued(now);
    }

    fn route_reply(&mut self, id: ServerId, origin: Origin, result: Result<(), ErrorContract>) {
        match origin {
            Origin::Embedder(command) => self.reply(command, result),
            Origin::Internal => {}
            Origin::Boot => self.server_booted(&result),
            Origin::Closing => self.server_closed(),
            Origin::Toggle => self.finish_set_enabled(id, result),
            Origin::Reverted { command, error } => self.reply(command, Err(error)),
        }
    }

    pub(super) fn reply(&mut self, command: CommandId, result: Result<(), ErrorContract>) {
        self.actions.push_back(Action::Reply { command, result });
    }

    /// Queues [`Action::CatalogueChanged`] before all other actions, unless it is queued already.
    ///
    /// An embedder that handles another action may read the tools on another thread, and must find the current ones.
    pub(super) fn announce_catalogue(&mut self) {
        if !self.catalogue_announced {
            self.catalogue_announced = true;
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
        self.announce_catalogue();
        self.actions.push_back(Action::Removed { server: id });
    }
}
