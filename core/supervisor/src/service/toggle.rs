//! Enables and disables servers, in the configuration and at runtime.
//!
//! ```text
//! on:   persist on ─▶ start ─▶ runs: done
//!                       └─▶ fails ─▶ persist off, if the revision is still ours ─▶ disable ─▶ the error of the start
//!                       └─▶ wants a login: stays on, so that there can be one
//! off:  persist off ─▶ end ─▶ done
//! ```

use super::routing::Origin;
use super::{Action, Supervisor};
use crate::{Command, CommandId, ErrorCode, ErrorContract, ServerId};
use mcpwire_core::Timestamp;

/// An operation of [`Supervisor::set_enabled`] in progress.
#[derive(Clone, Debug)]
pub(super) enum Toggle {
    /// The new flag is being saved.
    Persisting { command: CommandId, enabled: bool },
    /// The server is being started. `revision` is that of the saved flag, or `None` if the server was already enabled.
    Starting { command: CommandId, revision: Option<u64> },
    /// The server failed to start, and the flag is being restored.
    Reverting { command: CommandId, error: ErrorContract },
}

impl Toggle {
    pub(super) fn command(&self) -> CommandId {
        match self {
            Toggle::Persisting { command, .. }
            | Toggle::Starting { command, .. }
            | Toggle::Reverting { command, .. } => *command,
        }
    }
}

impl Supervisor {
    /// Saves the enabled flag of a server to the configuration, then starts or stops the server.
    ///
    /// If the start fails, the flag is restored and the command fails with the error of the start. A server that
    /// requires a login stays enabled. Later automatic starts never change the flag.
    ///
    /// `revision` is the configuration revision that the caller has read. If it is outdated, the command fails with a
    /// conflict.
    pub fn set_enabled(&mut self, id: ServerId, command: CommandId, enabled: bool, revision: u64, now: Timestamp) {
        let Some(managed) = self.servers.get_mut(&id) else {
            return self.reply(command, Err(ErrorContract::unknown_server(id)));
        };
        if managed.toggle.is_some() {
            let error = ErrorContract::conflict("enabled", "the MCP server is already being switched on or off");
            return self.reply(command, Err(error));
        }
        if managed.revision != revision {
            let error = ErrorContract::conflict("revision", "the configuration has changed since it was read");
            return self.reply(command, Err(error));
        }
        if managed.enabled != enabled {
            managed.toggle = Some(Toggle::Persisting { command, enabled });
            self.actions.push_back(Action::Persist { server: id, enabled, revision });
        } else if enabled {
            managed.toggle = Some(Toggle::Starting { command, revision: None });
            self.enable_and_start(id, now);
        } else {
            self.send_command(id, Command::Disable, Origin::Embedder(command), now);
        }
    }

    /// Handles the outcome of [`Action::Persist`]: the revision of the saved configuration, or the error.
    pub fn persisted(&mut self, id: ServerId, result: Result<u64, ErrorContract>, now: Timestamp) {
        let Some(managed) = self.servers.get_mut(&id) else { return };
        let is_start = matches!(managed.toggle, Some(Toggle::Starting { .. }));
        let Some(toggle) = (if is_start { None } else { managed.toggle.take() }) else { return };
        match (toggle, result) {
            (Toggle::Persisting { command, enabled }, Ok(revision)) => {
                managed.revision = revision;
                managed.enabled = enabled;
                if enabled {
                    managed.toggle = Some(Toggle::Starting { command, revision: Some(revision) });
                    self.enable_and_start(id, now);
                } else {
                    self.send_command(id, Command::Disable, Origin::Embedder(command), now);
                }
            }
            (Toggle::Reverting { command, error }, Ok(revision)) => {
                managed.revision = revision;
                managed.enabled = false;
                self.send_command(id, Command::Disable, Origin::Reverted { command, error }, now);
            }
            // The configuration changed meanwhile or cannot be written, so the flag stays.
            (Toggle::Reverting { command, error }, Err(_)) => self.reply(command, Err(error)),
            (toggle, Err(error)) => self.reply(toggle.command(), Err(error)),
            (Toggle::Starting { .. }, Ok(_)) => {}
        }
    }

    fn enable_and_start(&mut self, id: ServerId, now: Timestamp) {
        self.send_command(id, Command::Enable, Origin::Internal, now);
        self.send_command(id, Command::Start, Origin::Toggle, now);
    }

    /// Completes `set_enabled` after the start, and restores the flag if the start failed.
    pub(super) fn finish_set_enabled(&mut self, id: ServerId, result: Result<(), ErrorContract>) {
        let Some(managed) = self.servers.get_mut(&id) else { return };
        let Some(Toggle::Starting { command, revision }) = managed.toggle.take() else { return };
        let Err(error) = result else { return self.reply(command, Ok(())) };
        // A server that was stopped, disabled or deleted meanwhile did not fail, and neither did one whose host shuts
        // down.
        let failed = error.code != ErrorCode::Conflict && !self.closed;
        let wants_login = managed.server.wants_login();
        if failed && !wants_login && revision == Some(managed.revision) {
            let revision = managed.revision;
            managed.toggle = Some(Toggle::Reverting { command, error });
            self.actions.push_back(Action::Persist { server: id, enabled: false, revision });
        } else {
            self.reply(command, Err(error));
        }
    }
}
