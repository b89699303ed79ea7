//! [`Configuration`] changes the configurations of servers, first in the configuration file, then in the running hub.

use std::sync::Arc;

use futures_util::lock::{Mutex as AsyncMutex, MutexGuard as AsyncMutexGuard};
use mcpwire_supervisor::{Command, ServerId, ServerSpec};
use uuid::Uuid;

use super::available_tools::server_id;
use super::config_changes::ConfigChanges;
use super::logs::Logs;
use super::options::Settings;
use super::server_spec::server_spec;
use super::state::State;
use super::tool_cache::ToolCache;
use crate::HubError;
use crate::config::McpConfig;
use crate::launch::preview;
use crate::store::Store;

/// Changes the configurations of the servers in the configuration file and in the running hub, one change at a time.
pub(super) struct Configuration {
    state: Arc<State>,
    settings: Arc<Settings>,
    tool_cache: Arc<ToolCache>,
    /// Locked during each change, so that the hub applies the changes in the order in which they were written to the
    /// file.
    changing: AsyncMutex<()>,
}

impl Configuration {
    pub(super) fn new(state: Arc<State>, settings: Arc<Settings>, tool_cache: Arc<ToolCache>) -> Self {
        Configuration { state, settings, tool_cache, changing: AsyncMutex::new(()) }
    }

    /// Adds a server of the configuration file to the hub. If the server starts only when it is called, its cached
    /// tools from an earlier run are added too.
    pub(super) async fn restore(&self, config: McpConfig) -> Result<(), HubError> {
        config.validate()?;
        let id = server_id(config.id);
        let spec = server_spec(&config, &self.settings)?;
        let saved = config.clone();
        self.add(config, spec)?;
        if saved.lazy || saved.idle.is_some() {
            let cache = Arc::clone(&self.tool_cache);
            let cached = self.settings.tasks.block(move || {
                let cached = cache.read(&saved)?;
                Some((cached.known(), cached.into_offered(&saved)))
            });
            if let Ok(Some((known, offered))) = cached.await {
                self.state.update(|servers, now| {
                    // The known tools are set first, because they include the removed tools, which the offered tools
                    // lack.
                    servers.set_known_tools(id, &known);
                    if let Some(offered) = offered {
                        servers.remember(id, offered, now);
                    }
                });
            }
        }
        Ok(())
    }

    /// Saves the configuration of a new server, and adds the server to the hub without starting it.
    pub(super) async fn create(&self, config: McpConfig) -> Result<(), HubError> {
        let _changing = self.changing.lock().await;
        self.create_locked(config).await
    }

    /// Adds new servers with a single write of the configuration file. Returns one result for each server, in the order
    /// of `configs`.
    pub(super) async fn create_all(&self, configs: Vec<McpConfig>) -> Result<Vec<Result<(), HubError>>, HubError> {
        let _changing = self.changing.lock().await;
        let checked = configs.into_iter().map(|config| {
            check(&config)?;
            server_spec(&config, &self.settings).map(|spec| (config, spec))
        });
        let mut results: Vec<Result<(McpConfig, ServerSpec), HubError>> = checked.collect();
        if let Some(store) = self.settings.store.clone() {
            let valid: Vec<McpConfig> = results.iter().flatten().map(|(config, _)| config.clone()).collect();
            let mut saved = self.settings.tasks.block(move || store.create_all(&valid)).await??.into_iter();
            for result in results.iter_mut().filter(|result| result.is_ok()) {
                if let Some(Err(error)) = saved.next() {
                    *result = Err(error);
                }
            }
        }
        let add = |result: Result<_, _>| result.and_then(|(config, spec)| self.add(config, spec));
        Ok(results.into_iter().map(add).collect())
    }

    async fn create_locked(&self, config: McpConfig) -> Result<(), HubError> {
        check(&config)?;
        let spec = server_spec(&config, &self.settings)?;
        let saved = config.clone();
        self.with_store(move |store| store.create(&saved).map(drop)).await?;
        self.add(config, spec)
    }

    fn add(&self, config: McpConfig, spec: ServerSpec) -> Result<(), HubError> {
        let logs = Logs::new(self.settings.layout.as_ref().map(|layout| layout.log(config.id)));
        self.state.update(|servers, now| servers.add(config, spec, logs, now))
    }

    /// Replaces the configuration of the server that has the same name as `config`, or adds a new server. Returns the
    /// id of the server.
    pub(super) async fn upsert(&self, mut config: McpConfig) -> Result<Uuid, HubError> {
        let name = config.folded_name();
        let changing = self.changing.lock().await;
        let (same_name, is_id_taken) = self.state.read(|servers| {
            let named = servers.configs().find(|known| known.folded_name() == name).cloned();
            let stable = McpConfig::id_of_name(&config.name);
            (named, servers.configs().any(|known| known.id == stable))
        });
        let Some(known) = same_name else {
            if !is_id_taken {
                config.id = McpConfig::id_of_name(&config.name);
            }
            let id = config.id;
            return self.create_locked(config).await.map(|()| id);
        };
        config.id = known.id;
        if config.consent.is_none() {
            config.consent.clone_from(&known.consent);
        }
        self.update_locked(config, changing).await.map(|()| known.id)
    }

    /// Changes the configuration of a server. If its enabled flag has changed, the server is started or stopped.
    pub(super) async fn update(&self, config: McpConfig) -> Result<(), HubError> {
        let changing = self.changing.lock().await;
        self.update_locked(config, changing).await
    }

    /// Changes the configuration of a server, as [`update`](Self::update) does. Releases `changing` once the change is saved.
    async fn update_locked(&self, config: McpConfig, changing: AsyncMutexGuard<'_, ()>) -> Result<(), HubError> {
        let id = server_id(config.id);
        check(&config)?;
        let before = self.state.read(|servers| servers.config(id))?;
        let is_enabling = config.enabled && !before.enabled;
        let is_disabling = !config.enabled && before.enabled;
        let mut saved = config;
        // The flag stays `false` here. The supervisor saves `true` before the start, and `false` again if the start
        // fails.
        saved.enabled &= !is_enabling;
        let spec = server_spec(&saved, &self.settings)?;
        let (new, known) = (saved.clone(), Arc::clone(&before));
        // This runs even if the configuration is unchanged, to detect a conflict with a change that another program
        // made to the file.
        self.with_store(move |store| store.update_from(&known, &new).map(drop)).await?;
        if saved != *before {
            self.state.update(|servers, now| servers.replace(id, saved, spec, now))?;
        }
        drop(changing);
        if is_disabling {
            return self.state.command(id, Command::Disable).await;
        }
        if is_enabling {
            return self.state.set_enabled(id, true).await;
        }
        Ok(())
    }

    /// Saves the enabled flag of a server because the supervisor requested this, and reports the outcome to the
    /// supervisor. `config` is the configuration to change, or `None` if it has changed since the request.
    pub(super) async fn save_enabled(&self, id: ServerId, config: Option<Arc<McpConfig>>, enabled: bool) {
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
        self.state.update(|servers, now| servers.saved(id, result, now));
    }

    /// Stops a server, and deletes its configuration, secrets, logs and cached tools.
    pub(super) async fn delete(&self, id: Uuid) -> Result<(), HubError> {
        let changing = self.changing.lock().await;
        let logs = self.state.read(|servers| servers.logs(server_id(id)).cloned());
        let Some(logs) = logs else { return Err(HubError::unknown_server(server_id(id))) };
        self.with_store(move |store| store.delete(id).map(drop)).await?;
        self.state.command(server_id(id), Command::Delete).await?;
        drop(changing);
        let (secrets, cache) = (Arc::clone(&self.settings.secrets), Arc::clone(&self.tool_cache));
        let removed = self.settings.tasks.block(move || {
            let (logs, cached) = (logs.remove(), cache.remove(id));
            secrets.remove_all(id)?;
            logs.and(cached).map_err(|error| {
                HubError::unavailable(format!("the server is deleted, but some of its files are left: {error}"))
            })
        });
        removed.await?
    }

    /// Records that the user agrees to what the server starts. `hash` is the hash of the preview that the user has
    /// reviewed. Fails if the hash of the configuration is now different.
    pub(super) async fn consent(&self, id: ServerId, hash: &str) -> Result<(), HubError> {
        let changing = self.changing.lock().await;
        let mut config = (*self.state.read(|servers| servers.config(id))?).clone();
        let secrets = Arc::clone(&self.settings.secrets);
        let (preview, config) = self
            .settings
            .tasks
            .block(move || {
                let preview = preview(&config, &*secrets);
                config.give_consent(&preview);
                (preview, config)
            })
            .await?;
        if preview.hash != hash {
            let message = "what the server starts has changed since the preview; review it again";
            return Err(HubError::conflict("consent", message));
        }
        self.update_locked(config, changing).await
    }

    /// Reads the configuration file again, and applies its changes to the running servers. A server whose entry in the
    /// file is unreadable is not changed.
    pub(super) async fn reload(&self) -> Result<(), HubError> {
        let Some(store) = self.settings.store.clone() else { return Ok(()) };
        let _changing = self.changing.lock().await;
        let loaded = self.settings.tasks.block(move || store.load()).await??;
        let before: Vec<Arc<McpConfig>> = self.state.read(|servers| servers.configs().cloned().collect());
        // All configurations are checked before any server changes.
        let ConfigChanges { removed, changed, added } = ConfigChanges::new(&before, loaded)?;
        let (changed, added) = (self.with_specs(changed)?, self.with_specs(added)?);
        // A server that is removed or renamed frees its name for the servers that follow.
        for id in removed {
            self.state.command(server_id(id), Command::Delete).await?;
        }
        self.state.update(|servers, now| servers.replace_all(changed, now))?;
        for (config, spec) in added {
            let (id, is_enabled) = (server_id(config.id), config.enabled);
            self.add(config, spec)?;
            if is_enabled {
                self.start_in_background(id);
            }
        }
        Ok(())
    }

    fn with_specs(&self, configs: Vec<McpConfig>) -> Result<Vec<(McpConfig, ServerSpec)>, HubError> {
        let with_spec = |config| server_spec(&config, &self.settings).map(|spec| (config, spec));
        configs.into_iter().map(with_spec).collect()
    }

    fn start_in_background(&self, id: ServerId) {
        let state = Arc::clone(&self.state);
        self.settings.tasks.spawn(async move { drop(state.command(id, Command::Boot).await) });
    }

    /// Calls `change` with the store of the configuration file, on a thread that may block. Does nothing if the hub
    /// keeps no files.
    async fn with_store(
        &self,
        change: impl FnOnce(&Store) -> Result<(), HubError> + Send + 'static,
    ) -> Result<(), HubError> {
        let Some(store) = self.settings.store.clone() else { return Ok(()) };
        self.settings.tasks.block(move || change(&store)).await?
    }
}

/// Checks that a configuration is valid and contains all required values, before it is saved.
fn check(config: &McpConfig) -> Result<(), HubError> {
    config.validate()?;
    config.check_required_values()
}
