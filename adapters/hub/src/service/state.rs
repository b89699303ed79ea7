//! [`State`]: the supervisor, the configured servers and the waiting commands, behind one lock.

use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, Weak};
use std::task::Waker;
use std::time::Duration;

use futures_channel::oneshot;
use mcpwire_core::{Timestamp, ToolList};
use mcpwire_driver::Clock;
use mcpwire_supervisor::{
    Action, CallRejection, Catalogue, Command, CommandId, Event, Generation, ServerDetail, ServerId, ServerSpec,
    Status, Supervisor, SupervisorSettings, ToolChange,
};

use super::available_tools::uuid;
use super::events::{Events, HubEvent, Listeners};
use super::logs::Logs;
use crate::config::McpConfig;
use crate::tasks::Alarm;
use crate::{HubError, HubErrorKind};

/// Performs the actions that need more than the state.
pub(super) trait Perform: Send + Sync {
    /// Begins to perform an action. Called under the lock of the state, so nothing here waits.
    fn perform(&self, servers: &mut Servers, action: Action);
}

/// The state of a hub.
///
/// Each update runs under the lock, with all actions that the supervisor requests because of the update. Wakers, replies
/// and events are delivered after the lock is released.
pub(super) struct State {
    servers: Mutex<Servers>,
    performer: OnceLock<Weak<dyn Perform>>,
    /// The catalogue of the supervisor, for readers that do not take the lock.
    catalogue: RwLock<Arc<Catalogue>>,
    listeners: Listeners,
    clock: Clock,
    /// Rings after each update, because the next timeout may have changed.
    alarm: Arc<Alarm>,
    /// When the first tool list expires, in nanoseconds, or `u64::MAX`. Readers of the tools check it without the lock.
    stale_at: AtomicU64,
}

/// The part of the state behind the lock.
pub(super) struct Servers {
    supervisor: Supervisor,
    configured: HashMap<ServerId, ConfiguredServer>,
    /// The ids of `configured`, in the order of the configuration file.
    order: Vec<ServerId>,
    /// The senders for the results of the commands that the supervisor has not answered yet.
    pending: HashMap<CommandId, ReplySender>,
    boot_waiters: Vec<oneshot::Sender<BootReport>>,
    last_command: u64,
    /// The servers whose tools from earlier runs were already loaded for comparison.
    compared: HashSet<ServerId>,
    /// The events of the current update, in order.
    events: Vec<HubEvent>,
    /// Whether the hub was dropped. A process that starts later is killed at once.
    is_ended: bool,
}

type ReplySender = oneshot::Sender<Result<(), HubError>>;

struct ConfiguredServer {
    config: Arc<McpConfig>,
    /// Counts the changes of the configuration.
    revision: u64,
    logs: Logs,
    /// Maximum time that a call waits for the server while it starts.
    call_wait_start: Duration,
}

/// The outcome of [`Hub::boot`](super::Hub::boot).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BootReport {
    /// Number of servers that run, or sleep until they are called.
    pub ready: usize,
    /// Number of servers that failed. Those that may recover are started again.
    pub failed: usize,
    /// Number of servers that were stopped before they ran.
    pub cancelled: usize,
}

/// What an update has to deliver after the lock is released.
#[derive(Default)]
struct Deliveries {
    wakers: Vec<Waker>,
    replies: Vec<(ReplySender, Result<(), HubError>)>,
    reports: Vec<(oneshot::Sender<BootReport>, BootReport)>,
}

impl Deliveries {
    fn deliver(self) {
        // A receiver may be gone, and needs no answer then.
        for (reply, result) in self.replies {
            let _ = reply.send(result);
        }
        for (sender, report) in self.reports {
            let _ = sender.send(report);
        }
        self.wakers.into_iter().for_each(Waker::wake);
    }
}

impl State {
    /// Creates the state of a hub without servers. `seed` must be a random number that servers do not know.
    pub(super) fn new(settings: SupervisorSettings, seed: u64, clock: Clock) -> Arc<Self> {
        let servers = Servers {
            supervisor: Supervisor::new(settings, seed),
            configured: HashMap::new(),
            order: Vec::new(),
            pending: HashMap::new(),
            boot_waiters: Vec::new(),
            last_command: 0,
            compared: HashSet::new(),
            events: Vec::new(),
            is_ended: false,
        };
        Arc::new(State {
            servers: Mutex::new(servers),
            performer: OnceLock::new(),
            catalogue: RwLock::default(),
            listeners: Listeners::default(),
            clock,
            alarm: Arc::default(),
            stale_at: AtomicU64::new(u64::MAX),
        })
    }

    /// Sets the performer of actions. Called once, before the first update.
    pub(super) fn set_performer(&self, performer: Weak<dyn Perform>) {
        let _ = self.performer.set(performer);
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(super) fn alarm(&self) -> Arc<Alarm> {
        Arc::clone(&self.alarm)
    }

    /// Returns the events of the hub from now on.
    pub(super) fn events(&self) -> Events {
        self.listeners.subscribe()
    }

    /// Returns the current tools of all servers, without the lock.
    pub(super) fn catalogue(&self) -> Arc<Catalogue> {
        Arc::clone(&self.catalogue.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads the state under the lock.
    pub(super) fn read<T>(&self, f: impl FnOnce(&Servers) -> T) -> T {
        f(&self.lock())
    }

    /// Changes the state under the lock, and begins to perform the actions that follow.
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
        while let Some(action) = servers.supervisor.poll_action() {
            self.handle(&mut servers, action, &mut deliveries);
        }
        for event in servers.events.drain(..) {
            self.listeners.push(&event, &mut deliveries.wakers);
        }
        drop(servers);
        deliveries.deliver();
        self.alarm.ring();
        value
    }

    fn handle(&self, servers: &mut Servers, action: Action, deliveries: &mut Deliveries) {
        match action {
            Action::Reply { command, result } => {
                deliveries.replies.extend(servers.pending.remove(&command).map(|reply| (reply, result)));
            }
            Action::CatalogueChanged => {
                let catalogue = servers.supervisor.catalogue();
                servers.events.push(HubEvent::Tools { count: catalogue.len() });
                *self.catalogue.write().unwrap_or_else(PoisonError::into_inner) = catalogue;
            }
            Action::ToolsRedefined { server, changes } => {
                let Some(configured) = servers.configured.get(&server) else { return };
                let name = configured.config.name.trim().to_owned();
                let (id, changes, more) = (uuid(server), changes.tools, changes.more);
                servers.events.push(HubEvent::ToolChanged { id, name, changes, more });
            }
            Action::Booted { ready, failed, cancelled } => {
                servers.events.push(HubEvent::Booted { ready, failed, cancelled });
                let report = BootReport { ready, failed, cancelled };
                deliveries.reports.extend(servers.boot_waiters.drain(..).map(|waiter| (waiter, report)));
            }
            action => {
                if let Action::Removed { server } = action {
                    servers.configured.remove(&server);
                    servers.compared.remove(&server);
                    servers.order.retain(|id| *id != server);
                    servers.events.push(HubEvent::Removed { id: uuid(server) });
                }
                // Without a performer, the hub is gone.
                if let Some(performer) = self.performer.get().and_then(Weak::upgrade) {
                    performer.perform(servers, action);
                }
            }
        }
    }

    /// Returns the server to which an exposed tool name belongs, even if that server does not run.
    pub(super) fn server_of_tool(&self, exposed: &str) -> Option<ServerId> {
        self.lock().supervisor.server_of_tool(exposed)
    }

    /// Reports an event of one attempt to run a server.
    pub(super) fn event(&self, id: ServerId, generation: Generation, event: Event) {
        let is_about_list = matches!(event, Event::Listed { .. } | Event::RefreshFailed);
        self.update(|servers, now| {
            servers.supervisor.event(id, generation, event, now);
            if is_about_list {
                self.set_stale_at(servers);
            }
        });
    }

    /// Sends a command to a server, and waits for the result.
    pub(super) fn command(
        &self,
        id: ServerId,
        command: Command,
    ) -> impl Future<Output = Result<(), HubError>> + Send + use<'_> {
        self.request(move |supervisor, command_id, now| supervisor.command(id, command_id, command, now))
    }

    /// Stops all servers, and waits until no process is left, `within` this time at the latest.
    pub(super) fn shutdown(&self, within: Duration) -> impl Future<Output = Result<(), HubError>> + Send + use<'_> {
        self.request(move |supervisor, command_id, now| supervisor.shutdown(command_id, now + within, now))
    }

    /// Sets the enabled flag of a server in its stored configuration, and starts or stops the server.
    pub(super) fn set_enabled(
        &self,
        id: ServerId,
        enabled: bool,
    ) -> impl Future<Output = Result<(), HubError>> + Send + use<'_> {
        let revision = self.read(|servers| servers.configured.get(&id).map_or(0, |server| server.revision));
        self.request(move |supervisor, command_id, now| {
            supervisor.set_enabled(id, command_id, enabled, revision, now);
        })
    }

    async fn request(&self, f: impl FnOnce(&mut Supervisor, CommandId, Timestamp)) -> Result<(), HubError> {
        let reply = self.update(|servers, now| {
            servers.last_command += 1;
            let (id, (sender, reply)) = (CommandId(servers.last_command), oneshot::channel());
            servers.pending.insert(id, sender);
            f(&mut servers.supervisor, id, now);
            reply
        });
        reply.await.unwrap_or_else(|_| Err(hub_has_ended()))
    }

    /// Starts all enabled servers, and waits until each has started or failed.
    pub(super) async fn boot(&self) -> Result<BootReport, HubError> {
        let (sender, report) = oneshot::channel();
        self.update(|servers, now| {
            servers.boot_waiters.push(sender);
            servers.supervisor.boot(now);
        });
        report.await.map_err(|_| hub_has_ended())
    }

    /// Requests the tool lists that have expired. Waits for nothing: readers see the expired lists until then.
    pub(super) fn refresh_expired(&self) {
        let at = self.stale_at.load(Ordering::Relaxed);
        if at == u64::MAX || self.now().since_origin() < Duration::from_nanos(at) {
            return;
        }
        // If another thread holds the lock, a later reader requests the lists.
        if let Ok(servers) = self.servers.try_lock() {
            self.update_locked(servers, |servers, now| {
                servers.supervisor.touch(now);
                self.set_stale_at(servers);
            });
        }
    }

    fn set_stale_at(&self, servers: &Servers) {
        let nanos = |at: Timestamp| u64::try_from(at.since_origin().as_nanos()).unwrap_or(u64::MAX);
        self.stale_at.store(servers.supervisor.stale_at().map_or(u64::MAX, nanos), Ordering::Relaxed);
    }

    /// Fails all that waits, and rejects what comes later. The performer ends the processes.
    pub(super) fn end(&self) {
        let mut deliveries = Deliveries::default();
        let (pending, boot_waiters) = {
            let mut servers = self.lock();
            servers.is_ended = true;
            self.listeners.end(&mut deliveries.wakers);
            (std::mem::take(&mut servers.pending), std::mem::take(&mut servers.boot_waiters))
        };
        drop((pending, boot_waiters));
        deliveries.deliver();
        self.alarm.ring();
    }
}

impl Servers {
    pub(super) fn is_ended(&self) -> bool {
        self.is_ended
    }

    /// Returns the ids of all servers, in the order of the configuration file.
    pub(super) fn ids(&self) -> Vec<ServerId> {
        self.order.clone()
    }

    pub(super) fn configs(&self) -> impl Iterator<Item = &Arc<McpConfig>> {
        self.order.iter().filter_map(|id| Some(&self.configured.get(id)?.config))
    }

    pub(super) fn config(&self, id: ServerId) -> Result<Arc<McpConfig>, HubError> {
        let configured = self.configured.get(&id).ok_or_else(|| HubError::unknown_server(id))?;
        Ok(Arc::clone(&configured.config))
    }

    /// Returns the configuration of a server if it still has this revision.
    pub(super) fn config_at(&self, id: ServerId, revision: u64) -> Option<Arc<McpConfig>> {
        let configured = self.configured.get(&id).filter(|server| server.revision == revision)?;
        Some(Arc::clone(&configured.config))
    }

    pub(super) fn logs(&self, id: ServerId) -> Option<&Logs> {
        Some(&self.configured.get(&id)?.logs)
    }

    pub(super) fn status(&self, id: ServerId) -> Option<Status> {
        self.supervisor.status(id)
    }

    pub(super) fn detail(&self, id: ServerId) -> Option<ServerDetail> {
        self.supervisor.detail(id)
    }

    /// Returns the changed tools of a server that the user has not reviewed yet.
    pub(super) fn tool_changes(&self, id: ServerId) -> Vec<ToolChange> {
        self.supervisor.changes(id)
    }

    pub(super) fn acknowledge_changes(&mut self, id: ServerId) {
        self.supervisor.acknowledge_changes(id);
    }

    /// Returns the names of the servers that are starting, and how long a call waits for each.
    pub(super) fn starting(&self) -> Vec<(String, Duration)> {
        let is_starting =
            |id: &&ServerId| self.supervisor.detail(**id).is_some_and(|detail| detail.state.is_starting());
        let starting = self.order.iter().filter(is_starting).filter_map(|id| self.configured.get(id));
        starting.map(|server| (server.config.name.trim().to_owned(), server.call_wait_start)).collect()
    }

    /// Adds an event that listeners receive after this update.
    pub(super) fn emit(&mut self, event: HubEvent) {
        self.events.push(event);
    }

    /// Adds a server. It is not started.
    pub(super) fn add(
        &mut self,
        config: McpConfig,
        spec: ServerSpec,
        logs: Logs,
        now: Timestamp,
    ) -> Result<(), HubError> {
        let id = super::available_tools::server_id(config.id);
        let call_wait_start = spec.policy.call_wait_start;
        self.supervisor.add(id, spec, now)?;
        self.emit(HubEvent::Configured { id: config.id });
        let configured = ConfiguredServer { config: Arc::new(config), revision: 1, logs, call_wait_start };
        self.configured.insert(id, configured);
        self.order.push(id);
        Ok(())
    }

    /// Replaces the configuration of a server, and restarts the server if it must.
    pub(super) fn replace(
        &mut self,
        id: ServerId,
        config: McpConfig,
        mut spec: ServerSpec,
        now: Timestamp,
    ) -> Result<(), HubError> {
        let configured = self.configured.get_mut(&id).ok_or_else(|| HubError::unknown_server(id))?;
        let is_replaced = configured.config.hash() != config.hash();
        configured.revision += 1;
        spec.revision = configured.revision;
        configured.call_wait_start = spec.policy.call_wait_start;
        configured.config = Arc::new(config);
        self.emit(HubEvent::Configured { id: uuid(id) });
        self.supervisor.update(id, spec, is_replaced, now)
    }

    /// Reports the outcome of [`Action::Persist`]: the saved configuration, or why it could not be saved.
    pub(super) fn saved(&mut self, id: ServerId, result: Result<McpConfig, HubError>, now: Timestamp) {
        let result = result.map(|config| {
            let Some(configured) = self.configured.get_mut(&id) else { return 0 };
            configured.config = Arc::new(config);
            configured.revision += 1;
            let revision = configured.revision;
            self.emit(HubEvent::Configured { id: uuid(id) });
            revision
        });
        self.supervisor.persisted(id, result, now);
    }

    /// Returns whether the tools of an earlier run must still be loaded for comparison. Returns `true` once per server.
    pub(super) fn take_comparison(&mut self, id: ServerId) -> bool {
        self.configured.contains_key(&id) && self.compared.insert(id)
    }

    /// Sets the tool definitions of an earlier run, to detect definitions that have changed since.
    pub(super) fn set_known_tools(&mut self, id: ServerId, tools: &ToolList) {
        self.supervisor.set_known_tools(id, tools);
    }

    /// Sets the tools that a server had in an earlier run, which it offers until it runs.
    pub(super) fn remember(&mut self, id: ServerId, tools: ToolList, now: Timestamp) {
        self.supervisor.remember(id, Arc::new(tools), now);
    }

    pub(super) fn event(&mut self, id: ServerId, generation: Generation, event: Event, now: Timestamp) {
        self.supervisor.event(id, generation, event, now);
    }

    pub(super) fn begin_call(&mut self, id: ServerId, tool: &str, now: Timestamp) -> Result<Generation, CallRejection> {
        self.supervisor.begin_call(id, tool, now)
    }

    pub(super) fn end_call(&mut self, id: ServerId, generation: Generation, now: Timestamp) {
        self.supervisor.end_call(id, generation, now);
    }

    pub(super) fn poll_timeout(&self) -> Option<Timestamp> {
        self.supervisor.poll_timeout()
    }

    pub(super) fn handle_timeout(&mut self, now: Timestamp) {
        self.supervisor.handle_timeout(now);
    }

    /// Probes all running servers, because the machine was asleep and their connections may be lost.
    pub(super) fn suspect_connections(&mut self, now: Timestamp) {
        for id in self.order.clone() {
            if let Some(detail) = self.supervisor.detail(id) {
                self.supervisor.event(id, detail.generation, Event::ConnectionSuspect, now);
            }
        }
    }
}

pub(super) fn hub_has_ended() -> HubError {
    HubError::new(HubErrorKind::ShuttingDown, "the hub has ended")
}
