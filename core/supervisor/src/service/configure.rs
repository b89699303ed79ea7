//! Adds, changes and renames servers.

use core::mem;

use super::pending::CommandOrigin;
use super::{ManagedServer, Supervisor};
use crate::{Command, ErrorKind, HubError, RateLimiter, Server, ServerId, ServerSpec};
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
}

fn seed_of(id: ServerId) -> u64 {
    let half = |bits: u128| u64::try_from(bits & u128::from(u64::MAX)).unwrap_or_default();
    half(id.as_u128() >> 64) ^ half(id.as_u128()).rotate_left(29)
}
