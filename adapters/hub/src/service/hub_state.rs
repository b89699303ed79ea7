//! [`HubState`]: the state that the clones and the background tasks of a hub share.
//!
//! Its methods are in several files, one for each thing that a hub does: `configuration`, `calls`, `background_tasks` and `perform`.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::task::Waker;

use futures_util::lock::Mutex as AsyncMutex;
use mcpwire_core::Timestamp;
use mcpwire_driver::Clock;
use mcpwire_supervisor::{Catalogue, Command, CommandId, Event, Generation, ServerId, Supervisor};

use super::attempt::Attempt;
use super::containers;
use super::events::{Events, Listeners};
use super::options::Settings;
use super::servers::{BootReport, Servers};
use super::tool_cache::ToolCache;
use crate::HubError;
use crate::config::McpConfig;
use crate::launch::Container;
use crate::process_registry::Reaped;
use crate::store::BrokenEntry;
use crate::tasks::{Alarm, hub_has_ended};

/// An open hub, which all clones of [`Hub`](super::Hub) share. Background tasks hold only `state`, and never this struct.
/// Dropping the last `Hub` therefore drops this struct, which kills the servers.
pub(super) struct OpenHub {
    pub(super) state: Arc<HubState>,
    pub(super) reaped: Reaped,
    /// The entries of the configuration file that could not be used when the hub was opened, for
    /// [`Hub::broken`](super::Hub::broken).
    pub(super) broken: Vec<BrokenEntry>,
}

impl Drop for OpenHub {
    fn drop(&mut self) {
        for container in self.state.end() {
            containers::remove_detached(&container);
        }
    }
}

/// The state of a hub: its settings, its servers, the catalogue of their tools, and the listeners for events.
///
/// Each update changes the state under the lock of `servers`. Under the same lock, it begins the actions that the supervisor
/// requests because of the change. After it has released the lock, it wakes the listeners and delivers the results of commands.
pub(super) struct HubState {
    servers: Mutex<Servers>,
    /// Locked during each change of the configuration. The hub therefore applies the changes in the order in which they were
    /// written to the file.
    pub(super) changing: AsyncMutex<()>,
    pub(super) settings: Settings,
    pub(super) tool_cache: ToolCache,
    /// The latest catalogue of the tools of all servers. Readers need not wait for the lock of `servers`.
    catalogue: RwLock<Arc<Catalogue>>,
    listeners: Listeners,
    clock: Clock,
    /// Wakes the task that waits for the supervisor's next timeout. Rings when this timeout becomes earlier, and when the hub
    /// ends.
    pub(super) alarm: Arc<Alarm>,
    /// Wakes the task that checks the stored logins. Rings when a server with a login is started or has failed, and when the hub
    /// ends.
    pub(super) login_alarm: Arc<Alarm>,
}

impl HubState {
    /// Creates the state of a hub without servers. `seed` must be a random number that servers do not know, because the hashes
    /// that detect changed tool definitions depend on it.
    pub(super) fn new(settings: Settings, seed: u64) -> Arc<Self> {
        Arc::new(HubState {
            servers: Mutex::new(Servers::new(settings.supervisor.clone(), seed)),
            changing: AsyncMutex::new(()),
            tool_cache: ToolCache::new(settings.layout.clone()),
            catalogue: RwLock::default(),
            listeners: Listeners::default(),
            clock: settings.tasks.runtime().clock(),
            alarm: Arc::default(),
            login_alarm: Arc::default(),
            settings,
        })
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Returns a stream of the events of the hub that occur from now on.
    pub(super) fn events(&self) -> Events {
        self.listeners.subscribe()
    }

    /// Returns the current catalogue of the tools of all servers, without waiting for the lock of `servers`.
    pub(super) fn catalogue(&self) -> Arc<Catalogue> {
        Arc::clone(&self.catalogue.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn set_catalogue(&self, catalogue: Arc<Catalogue>) {
        *self.catalogue.write().unwrap_or_else(PoisonError::into_inner) = catalogue;
    }

    /// Locks the servers, to read them. Call [`update`](Self::update) to change something that the supervisor must react to.
    pub(super) fn lock(&self) -> MutexGuard<'_, Servers> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the configuration of a server, or an error if no server has this id.
    pub(super) fn config(&self, id: ServerId) -> Result<Arc<McpConfig>, HubError> {
        let config = self.lock().get(id).map(|server| Arc::clone(&server.config));
        config.ok_or_else(|| HubError::unknown_server(id))
    }

    /// Changes the hub's state by calling `f` while the state is locked, and returns the result of `f`. Then begins the actions
    /// that the supervisor requests because of the change.
    pub(super) fn update<T>(self: &Arc<Self>, f: impl FnOnce(&mut Servers, Timestamp) -> T) -> T {
        self.update_locked(self.lock(), f)
    }

    fn update_locked<T>(
        self: &Arc<Self>,
        mut servers: MutexGuard<'_, Servers>,
        f: impl FnOnce(&mut Servers, Timestamp) -> T,
    ) -> T {
        let value = f(&mut servers, self.now());
        while let Some(action) = servers.supervisor.poll_action() {
            self.perform(&mut servers, action);
        }
        let mut deliveries = std::mem::take(&mut servers.deliveries);
        for event in std::mem::take(&mut deliveries.events) {
            self.listeners.push(&event, &mut deliveries.wakers);
        }
        let is_timeout_earlier = servers.is_timeout_earlier();
        drop(servers);
        deliveries.deliver();
        if is_timeout_earlier {
            self.alarm.ring();
        }
        value
    }

    /// Passes an event of a server to the supervisor. `generation` is the number of the attempt to run the server in which the
    /// event occurred. The supervisor ignores events of earlier attempts.
    pub(super) fn event(self: &Arc<Self>, id: ServerId, generation: Generation, event: Event) {
        let may_need_login = matches!(event, Event::Failed(_) | Event::Closed(_));
        self.update(|servers, now| servers.supervisor.event(id, generation, event, now));
        if may_need_login {
            self.login_alarm.ring();
        }
    }

    /// Sends a command to the server `id`, such as a start or a stop, and waits for its result.
    pub(super) fn command(
        self: &Arc<Self>,
        id: ServerId,
        command: Command,
    ) -> impl Future<Output = Result<(), HubError>> + Send + use<'_> {
        self.request(move |supervisor, command_id, now| supervisor.command(id, command_id, command, now))
    }

    /// Calls `f`, which sends a command to the supervisor, and waits for the result of this command.
    pub(super) async fn request(
        self: &Arc<Self>,
        f: impl FnOnce(&mut Supervisor, CommandId, Timestamp),
    ) -> Result<(), HubError> {
        let reply = self.update(|servers, now| servers.request(|supervisor, id| f(supervisor, id, now)));
        reply.await.unwrap_or_else(|_| Err(hub_has_ended()))
    }

    /// Starts all enabled servers, and waits until each server has started or failed. Returns how many have.
    pub(super) async fn boot(self: &Arc<Self>) -> Result<BootReport, HubError> {
        let report = self.update(Servers::boot);
        report.await.map_err(|_| hub_has_ended())
    }

    /// Requests expired tool lists again from their servers, and does not wait for the new lists. Readers see the expired list
    /// until the new list arrives.
    pub(super) fn refresh_expired(self: &Arc<Self>) {
        // If another thread holds the lock, this call does nothing: a later call requests the lists.
        let Ok(servers) = self.servers.try_lock() else { return };
        if servers.supervisor.stale_at().is_some_and(|at| at <= self.now()) {
            self.update_locked(servers, |servers, now| servers.supervisor.touch(now));
        }
    }

    /// Ends the hub: fails all pending commands, ends all event streams, and kills the server processes. Returns the containers
    /// that the caller must remove.
    pub(super) fn end(&self) -> Vec<Container> {
        let mut wakers = Vec::new();
        let (attempts, waiting) = {
            let mut servers = self.lock();
            self.listeners.end(&mut wakers);
            servers.end()
        };
        drop(waiting);
        wakers.into_iter().for_each(Waker::wake);
        self.alarm.ring();
        self.login_alarm.ring();
        attempts.into_iter().filter_map(Attempt::end).collect()
    }
}
