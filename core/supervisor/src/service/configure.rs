//! Adds, changes, renames, enables and disables servers.

use core::mem;

use super::start_queue::{CommandOrigin, EnabledChange, EnabledStep, was_ended_by_command};
use super::{ManagedServer, Supervisor};
use crate::{Action, Command, CommandId, ErrorKind, HubError, RateLimiter, Server, ServerId, ServerSpec};
use mcpwire_core::Timestamp;

impl Supervisor {
    /// Adds a server to the supervisor. The server is not started.
    ///
    /// Fails if another server has the same id or name ([`ErrorCode::Conflict`](crate::ErrorCode::Conflict)), if the
    /// name is blank ([`ErrorCode::ValidationError`](crate::ErrorCode::ValidationError)), or after
    /// [`shutdown`](Self::shutdown) was called
    /// ([`ErrorCode::ServiceUnavailable`](crate::ErrorCode::ServiceUnavailable)).
    pub fn add(&mut self, id: ServerId, spec: ServerSpec, now: Timestamp) -> Result<(), HubError> {
        if self.is_closing {
            return Err(HubError::new(ErrorKind::ShuttingDown, "the host is shutting down"));
        }
        if self.servers.contains_key(&id) {
            let message = alloc::format!("an MCP with this id already exists: {id}; choose another id");
            return Err(HubError::conflict("id", message));
        }
        self.names.set(&[(id, &spec.name)])?;
        let seed = self.seed ^ seed_of(id);
        let mut server = Server::new(id, spec.policy, spec.enabled, seed, now);
        server.continue_after(self.last_generation);
        self.catalogue.add(id, &spec.name, spec.filter);
        let managed = ManagedServer {
            server,
            enabled: spec.enabled,
            revision: spec.revision,
            rate: RateLimiter::new(spec.rate),
            enabled_change: None,
            is_urgent: false,
            deadline: None,
        };
        self.servers.insert(id, managed);
        Ok(())
    }

    /// Applies a new configuration to a server. Fails if the server is unknown, or if the name is blank or belongs to
    /// another server.
    ///
    /// Set `replaced` if the program or address of the server has changed. The server then discards its known tools and
    /// starts again, except if it is stopped or disabled. Other changes require no restart.
    ///
    /// If `spec.enabled` has changed to `false`, the server is stopped. If it has changed to `true`, the server is
    /// started as by [`Command::Boot`].
    pub fn update(&mut self, id: ServerId, spec: ServerSpec, replaced: bool, now: Timestamp) -> Result<(), HubError> {
        let Some(managed) = self.servers.get_mut(&id) else { return Err(HubError::unknown_server(id)) };
        self.names.set(&[(id, &spec.name)])?;
        managed.revision = spec.revision;
        managed.rate.set(spec.rate);
        let was = mem::replace(&mut managed.enabled, spec.enabled);
        self.catalogue.add(id, &spec.name, spec.filter);
        if replaced {
            self.catalogue.forget_definitions(id);
        }
        self.announce_catalogue();
        if !spec.enabled && was {
            self.send_command(id, Command::Disable, CommandOrigin::Internal, now);
        }
        let configure = Command::Configure { policy: spec.policy.into(), replaced };
        self.send_command(id, configure, CommandOrigin::Internal, now);
        if spec.enabled && !was {
            self.send_command(id, Command::Enable, CommandOrigin::Internal, now);
            self.send_command(id, Command::Boot, CommandOrigin::Internal, now);
        }
        Ok(())
    }

    /// Renames several servers at once, so that servers can exchange their names. No server is restarted.
    ///
    /// Fails if a server is unknown, if a name is blank, or if a name belongs to another server after the change. Then
    /// no server is renamed.
    pub fn rename(&mut self, names: &[(ServerId, &str)]) -> Result<(), HubError> {
        if let Some((id, _)) = names.iter().find(|(id, _)| !self.servers.contains_key(id)) {
            return Err(HubError::unknown_server(*id));
        }
        self.names.set(names)?;
        for (id, name) in names {
            self.catalogue.rename(*id, name);
            self.announce_catalogue();
        }
        Ok(())
    }

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

fn seed_of(id: ServerId) -> u64 {
    let half = |bits: u128| u64::try_from(bits & u128::from(u64::MAX)).unwrap_or_default();
    half(id.as_u128() >> 64) ^ half(id.as_u128()).rotate_left(29)
}
