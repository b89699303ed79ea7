//! Changes of what is configured: in the file first, then in what runs.

use std::sync::Arc;

use mcpwire_supervisor::{Command, ServerId, ServerSpec};
use uuid::Uuid;

use super::events::HubEvent;
use super::plan;
use super::shared::{Core, Shared};
use super::snapshot::{server_id, uuid};
use crate::HubError;
use crate::config::McpConfig;
use crate::store::{Loaded, Store};

impl Shared {
    /// Does something with the file, elsewhere: it may take a while.
    pub(super) async fn with_store<T: Send + 'static>(
        &self,
        f: impl FnOnce(&Store) -> Result<T, HubError> + Send + 'static,
    ) -> Result<T, HubError> {
        let store = Arc::clone(&self.settings.store);
        self.tasks.block(move || f(&store)).await?
    }

    pub(super) async fn create(self: &Arc<Self>, config: McpConfig) -> Result<(), HubError> {
        let _changing = self.changing.lock().await;
        config.validate()?;
        plan::check_provided(&config)?;
        let spec = self.spec(&config)?;
        let saved = config.clone();
        self.with_store(move |store| store.create(&saved)).await?;
        self.add(config, spec)
    }

    pub(super) async fn update(self: &Arc<Self>, config: McpConfig) -> Result<(), HubError> {
        let id = server_id(config.id);
        let changing = self.changing.lock().await;
        config.validate()?;
        plan::check_provided(&config)?;
        let was = self.lock().config(id)?;
        let (on, off) = (config.enabled && !was.enabled, !config.enabled && was.enabled);
        let mut saved = config;
        // That it is on is saved by the supervisor, which takes it back if need be.
        saved.enabled &= !on;
        if saved != *was {
            let spec = self.spec(&saved)?;
            let (old, new) = ((*was).clone(), saved.clone());
            self.with_store(move |store| store.update_from(&old, &new)).await?;
            self.apply(id, saved, spec)?;
        }
        drop(changing);
        if off {
            return self.command(id, Command::Disable).await;
        }
        if on {
            let revision = self.lock().managed.get(&id).map_or(0, |managed| managed.revision);
            return self.ask(|core, name, now| core.supervisor.set_enabled(id, name, true, revision, now)).await;
        }
        Ok(())
    }

    /// Lets what is in the file now hold for what runs.
    fn apply(self: &Arc<Self>, id: ServerId, config: McpConfig, mut spec: ServerSpec) -> Result<(), HubError> {
        self.act(|core, now| {
            let managed = core.managed.get_mut(&id).ok_or_else(|| HubError::unknown_server(id))?;
            let replaced = managed.config.hash() != config.hash();
            managed.revision += 1;
            spec.revision = managed.revision;
            managed.config = Arc::new(config);
            self.listeners.tell(&HubEvent::Configured { id: uuid(id) });
            core.supervisor.update(id, spec, replaced, now)
        })
    }

    /// Writes the flag, as the supervisor wants it.
    pub(super) fn persist(self: &Arc<Self>, core: &Core, id: ServerId, enabled: bool, revision: u64) {
        let was = core.managed.get(&id).filter(|managed| managed.revision == revision);
        let was = was.map(|managed| Arc::clone(&managed.config));
        let shared = Arc::clone(self);
        self.tasks.spawn(async move {
            let _changing = shared.changing.lock().await;
            let result = match was {
                None => Err(HubError::conflict("revision", "the configuration has changed meanwhile")),
                Some(was) => {
                    let mut new = (*was).clone();
                    new.enabled = enabled;
                    let saved = new.clone();
                    shared.with_store(move |store| store.update_from(&was, &saved)).await.map(|_| new)
                }
            };
            shared.act(|core, now| {
                let result = result.map(|config| {
                    let Some(managed) = core.managed.get_mut(&id) else { return revision };
                    managed.config = Arc::new(config);
                    managed.revision += 1;
                    configured(&shared, id);
                    managed.revision
                });
                core.supervisor.persisted(id, result, now);
            });
        });
    }

    pub(super) async fn delete(self: &Arc<Self>, id: Uuid) -> Result<(), HubError> {
        let changing = self.changing.lock().await;
        let logs = self.lock().managed.get(&server_id(id)).map(|managed| managed.logs.clone());
        let Some(logs) = logs else { return Err(HubError::unknown_server(server_id(id))) };
        self.with_store(move |store| store.delete(id)).await?;
        self.command(server_id(id), Command::Delete).await?;
        drop(changing);
        let (secrets, catalog) = (Arc::clone(&self.settings.secrets), self.settings.layout.catalog(id));
        let removed = self.tasks.block(move || {
            let logs = logs.remove();
            let catalog = match std::fs::remove_file(&catalog) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            };
            // Last: what is left over then is no secret.
            secrets.remove_all(id)?;
            logs.and(catalog).map_err(|error| {
                HubError::unavailable(format!("The server is deleted, but some of its files are left: {error}"))
            })
        });
        removed.await?
    }

    /// Reads the file again. Entries that cannot be read leave their servers as they are.
    pub(super) async fn reload(self: &Arc<Self>) -> Result<(), HubError> {
        let _changing = self.changing.lock().await;
        let loaded = self.with_store(Store::load).await?;
        // All of it is looked at before any of it is touched.
        if let Some(error) = loaded.configs.iter().find_map(|config| config.validate().err()) {
            return Err(error);
        }
        let specs = loaded.configs.iter().map(|config| self.spec(config)).collect::<Result<Vec<_>, _>>()?;
        let known = self.lock().order.clone();
        for id in known.into_iter().filter(|id| !loaded.mentions(uuid(*id))) {
            self.command(id, Command::Delete).await?;
        }
        for (config, spec) in loaded.configs.into_iter().zip(specs) {
            let id = server_id(config.id);
            let was = self.lock().config(id).ok();
            match was {
                None => {
                    let enabled = config.enabled;
                    self.add(config, spec)?;
                    if enabled {
                        self.start_unasked(id);
                    }
                }
                Some(was) if *was != config => self.apply(id, config, spec)?,
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// Starts a server as a part of starting everything: nobody waits for it.
    fn start_unasked(self: &Arc<Self>, id: ServerId) {
        let shared = Arc::clone(self);
        self.tasks.spawn(async move { drop(shared.command(id, Command::Boot).await) });
    }
}

fn configured(shared: &Shared, id: ServerId) {
    shared.listeners.tell(&HubEvent::Configured { id: uuid(id) });
}

impl Loaded {
    /// Whether there is an entry of this server, readable or not.
    fn mentions(&self, id: Uuid) -> bool {
        self.get(id).is_some() || self.broken.iter().any(|entry| entry.id == Some(id))
    }
}
