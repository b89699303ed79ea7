//! Enables and disables servers, both in the stored configuration and at runtime.

use super::Supervisor;
use super::pending::{CommandOrigin, EnabledChange, EnabledStep, was_ended_by_command};
use crate::{Action, Command, CommandId, HubError, ServerId};
use mcpwire_core::Timestamp;

impl Supervisor {
    /// Saves a new value of a server's enabled flag in the stored configuration, then starts or stops the server. The
    /// result follows in an [`Action::Reply`] with the id `command`.
    ///
    /// If the server fails to start, the flag is set to `false` again, and the command fails with the error of the
    /// start. A server that only requires a login stays enabled.
    ///
    /// `revision` is the configuration revision that the caller has read. The command fails with a conflict if the
    /// configuration has another revision.
    pub fn set_enabled(&mut self, id: ServerId, command: CommandId, enabled: bool, revision: u64, now: Timestamp) {
        let Some(managed) = self.servers.get_mut(&id) else {
            return self.reply(command, Err(HubError::unknown_server(id)));
        };
        if managed.enabled_change.is_some() {
            let message = "the MCP server is already being enabled or disabled; try again when that has finished";
            return self.reply(command, Err(HubError::conflict("enabled", message)));
        }
        if managed.revision != revision {
            let message = "the configuration has changed since it was read; read it again and repeat the change";
            return self.reply(command, Err(HubError::conflict("revision", message)));
        }
        if managed.enabled == enabled {
            return self.enable_or_disable(id, command, enabled, None, now);
        }
        managed.enabled_change = Some(EnabledChange { command, step: EnabledStep::Saving { enabled } });
        self.actions.push_back(Action::Persist { server: id, enabled, revision });
    }

    /// Completes an [`Action::Persist`] of the server `id`. The embedder calls this function when it has saved the
    /// enabled flag.
    ///
    /// `result` is the new revision of the saved configuration, or the error with which saving failed.
    pub fn persisted(&mut self, id: ServerId, result: Result<u64, HubError>, now: Timestamp) {
        let Some(managed) = self.servers.get_mut(&id) else { return };
        let is_saving = |change: &mut EnabledChange| !matches!(change.step, EnabledStep::Starting { .. });
        let Some(EnabledChange { command, step }) = managed.enabled_change.take_if(is_saving) else { return };
        match (step, result) {
            (EnabledStep::Saving { enabled }, Ok(revision)) => {
                managed.revision = revision;
                managed.enabled = enabled;
                self.enable_or_disable(id, command, enabled, Some(revision), now);
            }
            (EnabledStep::Reverting { error }, Ok(revision)) => {
                managed.revision = revision;
                managed.enabled = false;
                self.send_command(id, Command::Disable, CommandOrigin::EnableFailed { command, error }, now);
            }
            // The server stays enabled, because the configuration changed meanwhile or cannot be written.
            (EnabledStep::Reverting { error }, Err(_)) => self.reply(command, Err(error)),
            (_, Err(error)) => self.reply(command, Err(error)),
            (EnabledStep::Starting { .. }, Ok(_)) => {}
        }
    }

    /// Starts or stops a server after its enabled flag was saved. `revision` is the revision of the saved
    /// configuration, or `None` if the flag already had the new value.
    fn enable_or_disable(
        &mut self,
        id: ServerId,
        command: CommandId,
        enabled: bool,
        revision: Option<u64>,
        now: Timestamp,
    ) {
        if !enabled {
            return self.send_command(id, Command::Disable, CommandOrigin::Embedder(command), now);
        }
        if let Some(managed) = self.servers.get_mut(&id) {
            managed.enabled_change = Some(EnabledChange { command, step: EnabledStep::Starting { revision } });
        }
        self.send_command(id, Command::Enable, CommandOrigin::Internal, now);
        self.send_command(id, Command::Start, CommandOrigin::Enable, now);
    }

    /// Completes [`EnabledStep::Starting`]: replies to the embedder or, if the start failed, asks it to save the
    /// enabled flag as `false`. Has no effect in another state.
    pub(super) fn enable_finished(&mut self, id: ServerId, result: Result<(), HubError>) {
        let Some(managed) = self.servers.get_mut(&id) else { return };
        let Some(EnabledChange { command, step }) = managed.enabled_change.take() else { return };
        let EnabledStep::Starting { revision: saved } = step else { return };
        let revision = managed.revision;
        match result {
            // The flag stays `true` if another command ended the start, if the user only has to log in, if this
            // operation did not save the flag, or if the configuration has changed meanwhile.
            Err(error)
                if !was_ended_by_command(&error)
                    && !self.is_closing
                    && !managed.server.requires_login()
                    && saved == Some(revision) =>
            {
                managed.enabled_change = Some(EnabledChange { command, step: EnabledStep::Reverting { error } });
                self.actions.push_back(Action::Persist { server: id, enabled: false, revision });
            }
            result => self.reply(command, result),
        }
    }
}
