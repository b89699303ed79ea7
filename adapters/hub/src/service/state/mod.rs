//! [`State`] holds the supervisor, the configured servers and the waiting commands behind one lock.

mod deliveries;
mod servers;

use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, Weak};
use std::time::Duration;

use mcpwire_core::Timestamp;
use mcpwire_driver::Clock;
use mcpwire_supervisor::{
    Action, Catalogue, Command, CommandId, Event, Generation, ServerId, Supervisor, SupervisorSettings,
};

use self::deliveries::Deliveries;
use super::events::{Events, HubEvent, Listeners};
use crate::tasks::Alarm;
use crate::{ErrorKind, HubError};

pub use self::deliveries::BootReport;
pub(super) use self::servers::Servers;

/// Performs the supervisor's actions that [`State`] cannot perform itself, such as the start of a process.
pub(super) trait ActionPerformer: Send + Sync {
    /// Begins to perform an action that the supervisor requests. The caller holds the lock of the hub's state, so this
    /// function must not block.
    fn perform(&self, servers: &mut Servers, action: Action);
}

/// The state of a hub: its servers, the catalogue of their tools, and the listeners for events.
///
/// Each update changes the state under the lock of `servers`, and begins the actions that the supervisor requests
/// because of the update. After the update has released the lock, it wakes the listeners and delivers the results of
/// commands.
pub(super) struct State {
    servers: Mutex<Servers>,
    performer: OnceLock<Weak<dyn ActionPerformer>>,
    /// The latest catalogue of the tools of all servers. Readers get it without waiting for the lock of `servers`.
    catalogue: RwLock<Arc<Catalogue>>,
    listeners: Listeners,
    clock: Clock,
    /// Wakes the task that waits for the supervisor's next timeout. Rings when this timeout becomes earlier, and when
    /// the hub ends.
    alarm: Arc<Alarm>,
    /// Wakes the task that looks at the stored logins. Rings when a server with a login is started or has
    /// failed, and when the hub ends.
    login_alarm: Arc<Alarm>,
    /// The earliest time at which a tool list of a server expires, in nanoseconds since the hub was opened, or `u64::MAX` if no tool list
    /// expires. Readers of the tools check this time without the lock of `servers`.
    stale_at: AtomicU64,
}

impl State {
    /// Creates the state of a hub without servers. `seed` must be a random number that servers do not know: the hashes
    /// that detect changed tool definitions depend on it.
    pub(super) fn new(settings: SupervisorSettings, seed: u64, clock: Clock) -> Arc<Self> {
        Arc::new(State {
            servers: Mutex::new(Servers::new(settings, seed)),
            performer: OnceLock::new(),
            catalogue: RwLock::default(),
            listeners: Listeners::default(),
            clock,
            alarm: Arc::default(),
            login_alarm: Arc::default(),
            stale_at: AtomicU64::new(u64::MAX),
        })
    }

    /// Sets the performer of the supervisor's actions. The hub calls this function once, before the first update of its
    /// state.
    pub(super) fn set_performer(&self, performer: Weak<dyn ActionPerformer>) {
        let _ = self.performer.set(performer);
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(super) fn alarm(&self) -> Arc<Alarm> {
        Arc::clone(&self.alarm)
    }

    pub(super) fn login_alarm(&self) -> Arc<Alarm> {
        Arc::clone(&self.login_alarm)
    }

    /// Returns a stream of the events that the hub emits from now on.
    pub(super) fn events(&self) -> Events {
        self.listeners.subscribe()
    }

    /// Returns the current catalogue of the tools of all servers. Does not wait for the lock of the hub's state.
    pub(super) fn catalogue(&self) -> Arc<Catalogue> {
        Arc::clone(&self.catalogue.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Calls `f` to read the hub's state while the lock of the state is held, and returns the result of `f`.
    pub(super) fn read<T>(&self, f: impl FnOnce(&Servers) -> T) -> T {
        f(&self.lock())
    }

    /// Calls `f` to change the hub's state while the lock of the state is held, and returns the result of `f`. Then
    /// begins to perform the actions that the supervisor requests because of the change.
    pub(super) fn update<T>(&self, f: impl FnOnce(&mut Servers, Timestamp) -> T) -> T {
        self.update_locked(self.lock(), f)
    }

    fn lock(&self) -> MutexGuard<'_, Servers> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn update_locked<T>(
        &self,
        mut servers: MutexGuard<'_, Servers>,
        f: impl FnOnce(&mut Servers, Timestamp) -> T,
    ) -> T {
        let value = f(&mut servers, self.now());
        let mut deliveries = Deliveries::default();
        while let Some(action) = servers.next_action(&mut deliveries) {
            self.handle(&mut servers, action);
        }
        for event in servers.take_events() {
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

    fn handle(&self, servers: &mut Servers, action: Action) {
        if action == Action::CatalogueChanged {
            let catalogue = servers.catalogue();
            servers.emit(HubEvent::Tools { count: catalogue.len() });
            *self.catalogue.write().unwrap_or_else(PoisonError::into_inner) = catalogue;
        } else if let Some(performer) = self.performer.get().and_then(Weak::upgrade) {
            performer.perform(servers, action);
        }
    }

    /// Returns the server to which an exposed tool name (`<server>__<tool>`) belongs, even if that server does not run.
    pub(super) fn server_of_tool(&self, exposed: &str) -> Option<ServerId> {
        self.lock().server_of_tool(exposed)
    }

    /// Passes an event to the supervisor. `generation` is the number of the attempt to run the server during which the
    /// event occurred.
    pub(super) fn event(&self, id: ServerId, generation: Generation, event: Event) {
        let is_about_list = matches!(event, Event::Listed { .. } | Event::RefreshFailed);
        let may_need_login = matches!(event, Event::Failed(_) | Event::Closed(_));
        self.update(|servers, now| {
            servers.event(id, generation, event, now);
            if is_about_list {
                self.set_stale_at(servers);
            }
        });
        if may_need_login {
            self.login_alarm.ring();
        }
    }

    /// Sends a command to the server with this id, and waits for the result of the command.
    pub(super) fn command(
        &self,
        id: ServerId,
        command: Command,
    ) -> impl Future<Output = Result<(), HubError>> + Send + use<'_> {
        self.request(move |supervisor, command_id, now| supervisor.command(id, command_id, command, now))
    }

    /// Stops all servers, and waits until none of their processes is left, but at most for the time `within`.
    pub(super) fn shutdown(&self, within: Duration) -> impl Future<Output = Result<(), HubError>> + Send + use<'_> {
        self.request(move |supervisor, command_id, now| supervisor.shutdown(command_id, now + within, now))
    }

    /// Sets the enabled flag of a server in its stored configuration, and starts or stops the server.
    pub(super) fn set_enabled(
        &self,
        id: ServerId,
        enabled: bool,
    ) -> impl Future<Output = Result<(), HubError>> + Send + use<'_> {
        let revision = self.read(|servers| servers.revision(id));
        self.request(move |supervisor, command_id, now| {
            supervisor.set_enabled(id, command_id, enabled, revision, now);
        })
    }

    async fn request(&self, f: impl FnOnce(&mut Supervisor, CommandId, Timestamp)) -> Result<(), HubError> {
        let reply = self.update(|servers, now| servers.request(|supervisor, id| f(supervisor, id, now)));
        reply.await.unwrap_or_else(|_| Err(hub_has_ended()))
    }

    /// Starts all enabled servers, and waits until each server has started or failed.
    pub(super) async fn boot(&self) -> Result<BootReport, HubError> {
        let report = self.update(Servers::boot);
        report.await.map_err(|_| hub_has_ended())
    }

    /// Requests expired tool lists again from their servers, without waiting for the new lists. Until a new list
    /// arrives, readers see the expired list.
    pub(super) fn refresh_expired(&self) {
        let at = self.stale_at.load(Ordering::Relaxed);
        if at == u64::MAX || self.now().since_origin() < Duration::from_nanos(at) {
            return;
        }
        // If another thread holds the lock, a later reader requests the lists.
        if let Ok(servers) = self.servers.try_lock() {
            self.update_locked(servers, |servers, now| {
                servers.refresh_expired(now);
                self.set_stale_at(servers);
            });
        }
    }

    fn set_stale_at(&self, servers: &Servers) {
        let nanos = |at: Timestamp| u64::try_from(at.since_origin().as_nanos()).unwrap_or(u64::MAX);
        self.stale_at.store(servers.stale_at().map_or(u64::MAX, nanos), Ordering::Relaxed);
    }

    /// Ends the hub: fails all pending commands, and ends all event streams. The caller then kills the server
    /// processes.
    pub(super) fn end(&self) {
        let mut deliveries = Deliveries::default();
        let waiting = {
            let mut servers = self.lock();
            self.listeners.end(&mut deliveries.wakers);
            servers.end()
        };
        drop(waiting);
        deliveries.deliver();
        self.alarm.ring();
        self.login_alarm.ring();
    }
}

pub(super) fn hub_has_ended() -> HubError {
    HubError::new(ErrorKind::ShuttingDown, "the hub has ended")
}
