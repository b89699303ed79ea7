//! Applies the changes of the configuration file to the running hub. If one change is invalid, none is applied.

use std::collections::HashMap;
use std::sync::Arc;

use mcpwire_supervisor::Command;
use uuid::Uuid;

use super::available_tools::server_id;
use super::hub_state::HubState;
use super::managed_server::{CheckedConfig, ManagedServer};
use crate::HubError;
use crate::config::McpConfig;
use crate::store::Loaded;

impl HubState {
    /// Reads the configuration file again, and applies its changes to the servers. New enabled servers are started. A server
    /// whose entry in the file is unreadable is not changed.
    pub(super) async fn reload(self: &Arc<Self>) -> Result<(), HubError> {
        let Some(store) = self.settings.store.clone() else { return Ok(()) };
        let _changing = self.changing.lock().await;
        let file = self.settings.tasks.block(move || store.load()).await??;
        let before: Vec<Arc<McpConfig>> = self.lock().iter().map(|server| Arc::clone(&server.config)).collect();
        let ConfigChanges { removed, changed, added } = ConfigChanges::new(&before, file)?;
        // All changes are checked before the first is applied. This check calls a callback of the program, so it may fail.
        let check = |configs: Vec<McpConfig>| -> Result<Vec<CheckedConfig>, HubError> {
            configs.into_iter().map(|config| CheckedConfig::new(config, &self.settings)).collect()
        };
        let (changed, added) = (check(changed)?, check(added)?);
        // The removed servers are stopped first, because the other servers may then have the names of the removed servers.
        for id in removed {
            self.command(server_id(id), Command::Delete).await?;
        }
        let enabled: Vec<_> = added.iter().filter(|added| added.config.enabled).map(CheckedConfig::id).collect();
        let added: Vec<_> = added.into_iter().map(|checked| ManagedServer::new(checked, &self.settings)).collect();
        self.update(|servers, now| {
            servers.replace(changed, now)?;
            added.into_iter().try_for_each(|server| servers.add(server, now))
        })?;
        for id in enabled {
            let hub = Arc::clone(self);
            self.settings.tasks.spawn(async move { drop(hub.command(id, Command::Boot).await) });
        }
        Ok(())
    }
}

/// The changes to the servers of the hub that make them equal to the configuration file. Servers are compared by their ids, so a
/// renamed server counts as changed.
#[derive(Debug, Default, PartialEq)]
struct ConfigChanges {
    /// The ids of the servers that the file no longer contains.
    removed: Vec<Uuid>,
    /// The new configurations of servers that the hub already has.
    changed: Vec<McpConfig>,
    /// The configurations of servers that the hub does not have yet.
    added: Vec<McpConfig>,
}

impl ConfigChanges {
    /// Compares the configurations `before`, which the hub has, with the configuration file. A server whose entry in the file is
    /// unreadable counts as unchanged.
    ///
    /// # Errors
    ///
    /// `VALIDATION_ERROR` if a configuration in the file is invalid. `CONFLICT` with the field `name` if two servers would have
    /// the same name.
    fn new(before: &[Arc<McpConfig>], file: Loaded) -> Result<Self, HubError> {
        let mut changes = ConfigChanges::default();
        let mut names = HashMap::new();
        for config in before.iter().filter(|config| file.get(config.id).is_none()) {
            if file.broken.iter().any(|entry| entry.id == Some(config.id)) {
                names.insert(config.folded_name(), config.id);
            } else {
                changes.removed.push(config.id);
            }
        }
        let before: HashMap<Uuid, &McpConfig> = before.iter().map(|config| (config.id, &**config)).collect();
        for config in file.configs {
            config.validate()?;
            if let Some(other) = names.insert(config.folded_name(), config.id) {
                let message = format!(
                    "the servers {other} and {} would both have the name `{}`. Nothing was changed. Give one of them \
                     another name in the configuration file",
                    config.id,
                    config.name.trim()
                );
                return Err(HubError::conflict("name", message));
            }
            match before.get(&config.id) {
                None => changes.added.push(config),
                Some(before) if **before != config => changes.changed.push(config),
                Some(_) => {}
            }
        }
        Ok(changes)
    }
}
