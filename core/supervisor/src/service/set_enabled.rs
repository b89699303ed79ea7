//! Enables and disables servers, in the configuration and at runtime.

use super::Supervisor;
use super::action::Action;
use super::managed::EnabledChange;
use super::origins::CommandOrigin;
use crate::{Command, CommandId, HubError, ServerId};
use mcpwire_core::Timestamp;

impl Supervisor {
    /// Saves a new value of a server's enabled flag in the configuration, then starts or stops the server. The result
    /// follows in an [`Action::Reply`] with the id `command`.
    ///
    /// If the server fails to start, the flag is set to `false` again, and the command fails with the error of the
    /// start. A server that only requires a login remains enabled.
    ///
    /// `revision` is the configuration revision that the caller has read. The command fails with a conflict if the
    /// configuration has another revision.
    pub fn set_enabled(&mut self, id: ServerId, command: CommandId, enabled: bool, revision: u64, now: Timestamp) {
        let Some(managed) = self.servers.get_mut(&id) else {
            return self.reply(command, Err(HubError::unknown_server(id)));
        };
        if managed.enabled_change.is_some() {
            let error = HubError::conflict(
                "enabled",
                "the MCP server is already being enabled or disabled; try again when that has finished",
            );
            return self.reply(command, Err(error));
        }
        if managed.revision != revision {
            let error = HubError::conflict(
                "revision",
                "the configuration has changed since it was read; read it again and repeat the change",
            );
            return self.reply(command, Err(error));
        }
        if managed.enabled != enabled {
            managed.enabled_change = Some(EnabledChange::Saving { command, enabled });
            self.actions.push_back(Action::Persist { server: id, enabled, revision });
        } else if enabled {
            managed.enabled_change = Some(EnabledChange::Starting { command, revision: None });
            self.enable_and_start(id, now);
        } else {
            self.send_command(id, Command::Disable, CommandOrigin::Embedder(command), now);
        }
    }

    /// Handles the outcome of [`Action::Persist`] for the server `id`.
    ///
    /// `result` is the new revision of the saved configuration, or the error with which the save failed.
    pub fn persisted(&mut self, id: ServerId, result: Result<u64, HubError>, now: Timestamp) {
        let Some(managed) = self.servers.get_mut(&id) else { return };
        if matches!(managed.enabled_change, Some(EnabledChange::Starting { .. })) {
            return;
        }
        let Some(change) = managed.enabled_change.take() else { return };
        match (change, result) {
            (EnabledChange::Saving { command, enabled }, Ok(revision)) => {
                managed.revision = revision;
                managed.enabled = enabled;
                if enabled {
                    managed.enabled_change = Some(EnabledChange::Starting { command, revision: Some(revision) });
                    self.enable_and_start(id, now);
                } else {
                    self.send_command(id, Command::Disable, CommandOrigin::Embedder(command), now);
                }
            }
            (EnabledChange::Reverting { command, error }, Ok(revision)) => {
                managed.revision = revision;
                managed.enabled = false;
                self.send_command(id, Command::Disable, CommandOrigin::EnableFailed { command, error }, now);
            }
            // The configuration changed meanwhile or cannot be written, so the server stays enabled.
            (EnabledChange::Reverting { command, error }, Err(_)) => self.reply(command, Err(error)),
            (change, Err(error)) => self.reply(change.command(), Err(error)),
            (EnabledChange::Starting { .. }, Ok(_)) => {}
        }
    }

    fn enable_and_start(&mut self, id: ServerId, now: Timestamp) {
        self.send_command(id, Command::Enable, CommandOrigin::Internal, now);
        self.send_command(id, Command::Start, CommandOrigin::Enable, now);
    }
}
