//! Changes the configurations of servers: first in the configuration file, then in the running hub. [`HubState::reload`] applies the
//! changes that another program has made in the file. Only one change runs at a time.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::lock::MutexGuard as AsyncMutexGuard;
use mcpwire_supervisor::{Command, ServerId};
use uuid::Uuid;

use super::hub_state::HubState;
use super::logs::Logs;
use super::servers::{CheckedConfig, ManagedServer};
use super::tools::server_id;
use crate::HubError;
use crate::config::McpConfig;
use crate::launch::preview;
use crate::store::{Loaded, Store};

impl HubState {
    /// Adds a server of the configuration file to the hub, while the hub is opened. If the server starts only when one of its
    /// tools is called, also offers its cached tools from an earlier run.
    pub(super) async fn restore(self: &Arc<Self>, config: McpConfig) -> Result<(), HubError> {
        let id = server_id(config.id);
        let reads_cache = config.lazy || config.idle.is_some();
        self.add(CheckedConfig::new(config, &self.settings)?)?;
        if !reads_cache {
            return Ok(());
        }
        let (hub, config) = (Arc::clone(self), self.config(id)?);
        let cached = self.settings.tasks.block(move || {
            let cached = hub.tool_cache.read(&config)?;
            Some((cached.known(), cached.into_offered(&config)))
        });
        if let Ok(Some((known, offered))) = cached.await {
            self.update(|servers, now| {
                // The known tools are set first: they include removed tools, which the offered tools do not contain.
                servers.supervisor.set_known_tools(id, &known);
                if let Some(offered) = offered {
                    servers.supervisor.remember(id, Arc::new(offered), now);
                }
            });
        }
        Ok(())
    }

    /// Saves the configuration of a new server, and adds the server to the hub without starting it.
    pub(super) async fn create(self: &Arc<Self>, config: McpConfig) -> Result<(), HubError> {
        self.create_all(vec![config]).await?.into_iter().collect()
    }

    /// Saves and adds several new servers with a single write of the configuration file. Returns one result for each server, in
    /// the order of `configs`.
    pub(super) async fn create_all(
        self: &Arc<Self>,
        configs: Vec<McpConfig>,
    ) -> Result<Vec<Result<(), HubError>>, HubError> {
        let _changing = self.changing.lock().await;
        self.create_locked(configs).await
    }

    async fn create_locked(self: &Arc<Self>, configs: Vec<McpConfig>) -> Result<Vec<Result<(), HubError>>, HubError> {
        let checked = configs.into_iter().map(|config| CheckedConfig::new(config, &self.settings));
        let mut results: Vec<_> = checked.collect();
        if let Some(store) = self.settings.store.clone() {
            let valid: Vec<McpConfig> = results.iter().flatten().map(|checked| checked.config.clone()).collect();
            let mut saved = self.settings.tasks.block(move || store.create_all(&valid)).await??.into_iter();
            for result in results.iter_mut().filter(|result| result.is_ok()) {
                if let Some(Err(error)) = saved.next() {
                    *result = Err(error);
                }
            }
        }
        Ok(results.into_iter().map(|checked| self.add(checked?)).collect())
    }

    fn add(self: &Arc<Self>, checked: CheckedConfig) -> Result<(), HubError> {
        let server = ManagedServer::new(checked, &self.settings);
        self.update(|servers, now| servers.add(server, now))
    }

    /// Replaces the configuration of the server that has the same name as `config`. If no server has this name, adds a new
    /// server. Returns the id of the server.
    pub(super) async fn upsert(self: &Arc<Self>, mut config: McpConfig) -> Result<Uuid, HubError> {
        let changing = self.changing.lock().await;
        let (name, stable) = (config.folded_name(), McpConfig::id_of_name(&config.name));
        let (same_name, is_id_taken) = {
            let servers = self.lock();
            let named = servers.iter().find(|server| server.config.folded_name() == name);
            (named.map(|server| Arc::clone(&server.config)), servers.get(server_id(stable)).is_some())
        };
        let Some(known) = same_name else {
            if !is_id_taken {
                config.id = stable;
            }
            let id = config.id;
            return self.create_locked(vec![config]).await?.into_iter().collect::<Result<(), _>>().map(|()| id);
        };
        config.id = known.id;
        if config.consent.is_none() {
            config.consent.clone_from(&known.consent);
        }
        self.replace_locked(config, changing).await.map(|()| known.id)
    }

    /// Changes the configuration of a server. If `enabled` has changed, also starts or stops the server.
    pub(super) async fn replace(self: &Arc<Self>, config: McpConfig) -> Result<(), HubError> {
        let changing = self.changing.lock().await;
        self.replace_locked(config, changing).await
    }

    /// Does the same as [`replace`](Self::replace) for a caller that already holds the lock `changing`. Releases the lock once
    /// the change is saved, before it waits for the server.
    async fn replace_locked(
        self: &Arc<Self>,
        mut config: McpConfig,
        changing: AsyncMutexGuard<'_, ()>,
    ) -> Result<(), HubError> {
        let id = server_id(config.id);
        config.validate()?;
        let before = self.config(id)?;
        let (is_enabling, is_disabling) = (config.enabled && !before.enabled, !config.enabled && before.enabled);
        // The saved flag stays `false` for now. The supervisor saves `true` before it starts the server, and `false` again if the
        // start fails.
        config.enabled &= !is_enabling;
        let checked = CheckedConfig::new(config, &self.settings)?;
        let (known, new) = (Arc::clone(&before), checked.config.clone());
        // The file is checked even if the configuration is unchanged, to detect a conflict with a change by another program.
        self.with_store(move |store| store.update_from(&known, &new).map(drop)).await?;
        if checked.config != *before {
            self.update(|servers, now| servers.replace(vec![checked], now))?;
        }
        drop(changing);
        if is_disabling {
            return self.command(id, Command::Disable).await;
        }
        if is_enabling {
            let revision = self.lock().get(id).map_or(0, |server| server.spec.revision);
            let enable = self.request(move |supervisor, command, now| {
                supervisor.set_enabled(id, command, true, revision, now);
            });
            return enable.await;
        }
        Ok(())
    }

    /// Saves the enabled flag of a server at the request of the supervisor, and reports the outcome to it. `config` is the
    /// configuration to change, or `None` if the configuration has changed since the request.
    pub(super) async fn save_enabled(self: &Arc<Self>, id: ServerId, config: Option<Arc<McpConfig>>, enabled: bool) {
        let _changing = self.changing.lock().await;
        let result = match config {
            None => Err(HubError::conflict("revision", "the configuration has changed meanwhile")),
            Some(before) => {
                let mut new = (*before).clone();
                new.enabled = enabled;
                let saved = new.clone();
                self.with_store(move |store| store.update_from(&before, &saved).map(drop)).await.map(|()| new)
            }
        };
        self.update(|servers, now| servers.saved(id, result, now));
    }

    /// Stops a server, and deletes its configuration, secrets, logs and cached tools.
    pub(super) async fn delete(self: &Arc<Self>, id: Uuid) -> Result<(), HubError> {
        let changing = self.changing.lock().await;
        let logs = self.logs(server_id(id)).ok_or_else(|| HubError::unknown_server(server_id(id)))?;
        self.with_store(move |store| store.delete(id).map(drop)).await?;
        self.command(server_id(id), Command::Delete).await?;
        drop(changing);
        let hub = Arc::clone(self);
        let removed = self.settings.tasks.block(move || {
            let (logs, cached) = (logs.remove(), hub.tool_cache.remove(id));
            hub.settings.secrets.remove_all(id)?;
            logs.and(cached).map_err(|error| {
                HubError::unavailable(format!("the server is deleted, but some of its files are left: {error}"))
            })
        });
        removed.await?
    }

    pub(super) fn logs(&self, id: ServerId) -> Option<Logs> {
        self.lock().get(id).map(|server| server.logs.clone())
    }

    /// Records in the configuration that the user agrees to the command or address of the server. `hash` is the hash of the
    /// preview that the user has reviewed. Fails if the configuration has changed since then.
    pub(super) async fn consent(self: &Arc<Self>, id: ServerId, hash: &str) -> Result<(), HubError> {
        let changing = self.changing.lock().await;
        let mut config = (*self.config(id)?).clone();
        let hub = Arc::clone(self);
        let previewed = self.settings.tasks.block(move || {
            let preview = preview(&config, &*hub.settings.secrets);
            config.give_consent(&preview);
            (preview, config)
        });
        let (preview, config) = previewed.await?;
        if preview.hash != hash {
            let message = "what the server starts has changed since the preview; review it again";
            return Err(HubError::conflict("consent", message));
        }
        self.replace_locked(config, changing).await
    }

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

    /// Calls `change` with the configuration file's store, on a thread that may block. Does nothing if the hub keeps no files.
    async fn with_store(
        &self,
        change: impl FnOnce(&Store) -> Result<(), HubError> + Send + 'static,
    ) -> Result<(), HubError> {
        let Some(store) = self.settings.store.clone() else { return Ok(()) };
        self.settings.tasks.block(move || change(&store)).await?
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
