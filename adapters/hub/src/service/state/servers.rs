//! [`Servers`] holds the supervisor, the configured servers, and the commands that wait for a result.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures_channel::oneshot;
use mcpwire_core::{Timestamp, ToolList};
use mcpwire_supervisor::{
    Action, CallRejection, Catalogue, CommandId, Event, Generation, McpStatus, ServerDetail, ServerId, ServerSpec,
    Supervisor, SupervisorSettings, ToolChange,
};

use super::super::available_tools::{server_id, uuid};
use super::super::events::HubEvent;
use super::super::login_state::LoginState;
use super::super::logs::Logs;
use super::deliveries::{BootReport, Deliveries, ReplySender};
use crate::HubError;
use crate::config::McpConfig;
use crate::logins::LoginKey;

/// The part of the hub's state that is behind the lock: the supervisor, the configured servers and the pending
/// commands.
pub(in super::super) struct Servers {
    supervisor: Supervisor,
    configured: HashMap<ServerId, ConfiguredServer>,
    /// The ids of all configured servers, in the order of the configuration file.
    order: Vec<ServerId>,
    /// For each command that the supervisor has not answered yet, the sender for the result of the command.
    pending: HashMap<CommandId, ReplySender>,
    boot_waiters: Vec<oneshot::Sender<BootReport>>,
    last_command: u64,
    /// Servers for which the hub has already read the tool definitions of an earlier run, to detect changed
    /// definitions.
    compared: HashSet<ServerId>,
    /// The events that the current update of the hub's state has emitted, in order.
    events: Vec<HubEvent>,
    /// The time of the supervisor's next timeout after the last update of the hub's state. `None` if no timeout is
    /// pending.
    next_timeout: Option<Timestamp>,
    /// Whether the last [`Hub`](crate::Hub) was dropped. A server process that starts after this is killed at once.
    is_ended: bool,
}

struct ConfiguredServer {
    config: Arc<McpConfig>,
    /// Revision number of the configuration, which increases with each change of the configuration.
    revision: u64,
    logs: Logs,
    /// Maximum time that a tool call waits for this server while the server is starting.
    call_wait_start: Duration,
    /// The login of the server, if it may have one and has been started.
    login: Option<LoginState>,
}

impl Servers {
    /// Creates an empty list of servers. `seed` must be a random number that servers do not know: the hashes that
    /// detect changed tool definitions depend on it.
    pub(super) fn new(settings: SupervisorSettings, seed: u64) -> Self {
        Servers {
            supervisor: Supervisor::new(settings, seed),
            configured: HashMap::new(),
            order: Vec::new(),
            pending: HashMap::new(),
            boot_waiters: Vec::new(),
            last_command: 0,
            compared: HashSet::new(),
            events: Vec::new(),
            next_timeout: None,
            is_ended: false,
        }
    }

    /// Calls `f` to send a command to the supervisor under a new command id. Returns the receiver for the result of the
    /// command.
    pub(in super::super) fn request(
        &mut self,
        f: impl FnOnce(&mut Supervisor, CommandId),
    ) -> oneshot::Receiver<Result<(), HubError>> {
        self.last_command += 1;
        let (id, (sender, reply)) = (CommandId(self.last_command), oneshot::channel());
        self.pending.insert(id, sender);
        f(&mut self.supervisor, id);
        reply
    }

    /// Starts all enabled servers. Returns the receiver for the report that follows when each server has started or
    /// failed.
    pub(super) fn boot(&mut self, now: Timestamp) -> oneshot::Receiver<BootReport> {
        let (sender, report) = oneshot::channel();
        self.boot_waiters.push(sender);
        self.supervisor.boot(now);
        report
    }

    /// Handles the supervisor's next actions, up to the first action that must be performed outside of this struct, and
    /// returns that action. Adds the results of commands to `deliveries`.
    pub(super) fn next_action(&mut self, deliveries: &mut Deliveries) -> Option<Action> {
        loop {
            match self.supervisor.poll_action()? {
                Action::Reply { command, result } => {
                    deliveries.replies.extend(self.pending.remove(&command).map(|reply| (reply, result)));
                }
                Action::ToolsRedefined { server, changes } => {
                    let Some(configured) = self.configured.get(&server) else { continue };
                    let name = configured.config.name.trim().to_owned();
                    let (id, changes, more) = (uuid(server), changes.tools, changes.more);
                    self.events.push(HubEvent::ToolChanged { id, name, changes, more });
                }
                Action::Booted { ready, failed, cancelled } => {
                    self.events.push(HubEvent::Booted { ready, failed, cancelled });
                    let report = BootReport { ready, failed, cancelled };
                    deliveries.reports.extend(self.boot_waiters.drain(..).map(|waiter| (waiter, report)));
                }
                action => {
                    if let Action::Removed { server } = action {
                        self.configured.remove(&server);
                        self.compared.remove(&server);
                        self.order.retain(|id| *id != server);
                        self.events.push(HubEvent::Removed { id: uuid(server) });
                    }
                    return Some(action);
                }
            }
        }
    }

    /// Removes and returns the events that the current update of the hub's state has emitted, in order.
    pub(super) fn take_events(&mut self) -> Vec<HubEvent> {
        std::mem::take(&mut self.events)
    }

    /// Returns the current catalogue of the tools of all servers.
    pub(super) fn catalogue(&mut self) -> Arc<Catalogue> {
        self.supervisor.catalogue()
    }

    /// Returns the server to which an exposed tool name (`<server>__<tool>`) belongs, even if that server does not run.
    pub(super) fn server_of_tool(&mut self, exposed: &str) -> Option<ServerId> {
        self.supervisor.server_of_tool(exposed)
    }

    /// Requests expired tool lists again from their servers, without waiting for the new lists.
    pub(super) fn refresh_expired(&mut self, now: Timestamp) {
        self.supervisor.touch(now);
    }

    /// Returns the earliest time at which the tool list of a server expires, or `None` if no tool list expires.
    pub(super) fn stale_at(&self) -> Option<Timestamp> {
        self.supervisor.stale_at()
    }

    /// Returns the revision number of a server's configuration, or 0 if the server is unknown.
    pub(super) fn revision(&self, id: ServerId) -> u64 {
        self.configured.get(&id).map_or(0, |server| server.revision)
    }

    /// Marks the hub as ended, and returns the senders for all pending results. When the caller drops the senders, the
    /// operations that wait for these results fail.
    pub(super) fn end(&mut self) -> impl Sized + use<> {
        self.is_ended = true;
        (std::mem::take(&mut self.pending), std::mem::take(&mut self.boot_waiters))
    }

    pub(in super::super) fn is_ended(&self) -> bool {
        self.is_ended
    }

    /// Returns the ids of all servers, in the order of the configuration file.
    pub(in super::super) fn ids(&self) -> Vec<ServerId> {
        self.order.clone()
    }

    pub(in super::super) fn configs(&self) -> impl Iterator<Item = &Arc<McpConfig>> {
        self.order.iter().filter_map(|id| Some(&self.configured.get(id)?.config))
    }

    pub(in super::super) fn config(&self, id: ServerId) -> Result<Arc<McpConfig>, HubError> {
        let configured = self.configured.get(&id).ok_or_else(|| HubError::unknown_server(id))?;
        Ok(Arc::clone(&configured.config))
    }

    /// Returns the configuration of a server, or `None` if its revision number is no longer `revision`.
    pub(in super::super) fn config_at(&self, id: ServerId, revision: u64) -> Option<Arc<McpConfig>> {
        let configured = self.configured.get(&id).filter(|server| server.revision == revision)?;
        Some(Arc::clone(&configured.config))
    }

    pub(in super::super) fn logs(&self, id: ServerId) -> Option<&Logs> {
        Some(&self.configured.get(&id)?.logs)
    }

    /// Returns the login of each server that waits for a login, runs with one, or is being started or stopped.
    pub(in super::super) fn watched_logins(&self) -> Vec<(ServerId, LoginKey)> {
        let watched = self.configured.iter().filter_map(|(id, server)| {
            let login = server.login.as_ref()?;
            login.is_watched(self.supervisor.detail(*id)?.state).then(|| (*id, login.key.clone()))
        });
        watched.collect()
    }

    /// Returns whether requests to this server are sent with the login of a user, or of the program itself.
    pub(in super::super) fn has_login(&self, id: ServerId) -> bool {
        let Some(configured) = self.configured.get(&id) else { return false };
        configured.config.oauth.client_credentials || configured.login.as_ref().is_some_and(LoginState::is_stored)
    }

    pub(in super::super) fn login_state(&self, id: ServerId) -> Option<&LoginState> {
        self.configured.get(&id)?.login.as_ref()
    }

    pub(in super::super) fn login_state_mut(&mut self, id: ServerId) -> Option<&mut LoginState> {
        self.configured.get_mut(&id)?.login.as_mut()
    }

    /// Sets the login of a server that is being started: its key, and the revision of the stored login. `None` if the server has
    /// no login.
    pub(in super::super) fn watch_login(
        &mut self,
        id: ServerId,
        login: Option<(LoginKey, Option<u64>)>,
        now: Timestamp,
    ) {
        let Some(configured) = self.configured.get_mut(&id) else { return };
        let before = configured.login.take();
        configured.login = login.map(|(key, seen)| LoginState::new(key, seen, before, now));
    }

    pub(in super::super) fn status(&self, id: ServerId) -> Option<McpStatus> {
        self.supervisor.status(id)
    }

    pub(in super::super) fn detail(&self, id: ServerId) -> Option<ServerDetail> {
        self.supervisor.detail(id)
    }

    /// Returns the tools of a server whose definitions have changed, and that the user has not reviewed yet.
    pub(in super::super) fn tool_changes(&self, id: ServerId) -> Vec<ToolChange> {
        self.supervisor.changes(id)
    }

    pub(in super::super) fn acknowledge_changes(&mut self, id: ServerId) {
        self.supervisor.acknowledge_changes(id);
    }

    /// Returns the name of each server that is starting, with the maximum time that a tool call waits for that server.
    pub(in super::super) fn starting(&self) -> Vec<(String, Duration)> {
        let is_starting =
            |id: &&ServerId| self.supervisor.detail(**id).is_some_and(|detail| detail.state.is_starting());
        let starting = self.order.iter().filter(is_starting).filter_map(|id| self.configured.get(id));
        starting.map(|server| (server.config.name.trim().to_owned(), server.call_wait_start)).collect()
    }

    /// Adds an event, which the listeners receive at the end of the current update of the hub's state.
    pub(in super::super) fn emit(&mut self, event: HubEvent) {
        self.events.push(event);
    }

    /// Adds a server to the supervisor without starting it.
    pub(in super::super) fn add(
        &mut self,
        config: McpConfig,
        spec: ServerSpec,
        logs: Logs,
        now: Timestamp,
    ) -> Result<(), HubError> {
        let id = server_id(config.id);
        let call_wait_start = spec.policy.call_wait_start;
        self.supervisor.add(id, spec, now)?;
        self.emit(HubEvent::Configured { id: config.id });
        let configured = ConfiguredServer { config: Arc::new(config), revision: 1, logs, call_wait_start, login: None };
        self.configured.insert(id, configured);
        self.order.push(id);
        Ok(())
    }

    /// Replaces the configuration of a server. If the program or address of the server has changed, a running server is
    /// restarted.
    pub(in super::super) fn replace(
        &mut self,
        id: ServerId,
        config: McpConfig,
        mut spec: ServerSpec,
        now: Timestamp,
    ) -> Result<(), HubError> {
        let configured = self.configured.get_mut(&id).ok_or_else(|| HubError::unknown_server(id))?;
        let is_replaced = configured.config.hash() != config.hash();
        let (revision, call_wait_start) = (configured.revision + 1, spec.policy.call_wait_start);
        spec.revision = revision;
        // The supervisor changes nothing if it refuses the new name, so `configured` must not change either.
        self.supervisor.update(id, spec, is_replaced, now)?;
        configured.revision = revision;
        configured.call_wait_start = call_wait_start;
        configured.config = Arc::new(config);
        self.emit(HubEvent::Configured { id: uuid(id) });
        Ok(())
    }

    /// Replaces the configurations of several servers, as [`replace`](Self::replace) does. The servers may exchange
    /// their names.
    pub(in super::super) fn replace_all(
        &mut self,
        servers: Vec<(McpConfig, ServerSpec)>,
        now: Timestamp,
    ) -> Result<(), HubError> {
        let names: Vec<_> = servers.iter().map(|(config, spec)| (server_id(config.id), spec.name.as_str())).collect();
        self.supervisor.rename(&names)?;
        servers.into_iter().try_for_each(|(config, spec)| self.replace(server_id(config.id), config, spec, now))
    }

    /// Reports the outcome of [`Action::Persist`] to the supervisor. `result` is the saved configuration, or the error
    /// that prevented the save.
    pub(in super::super) fn saved(&mut self, id: ServerId, result: Result<McpConfig, HubError>, now: Timestamp) {
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

    /// Returns whether the tool definitions of an earlier run must still be read, to detect changed definitions.
    /// Returns `true` only once for each server.
    pub(in super::super) fn take_comparison(&mut self, id: ServerId) -> bool {
        self.configured.contains_key(&id) && self.compared.insert(id)
    }

    /// Sets the tool definitions that a server had in an earlier run, so that the supervisor detects which definitions
    /// have changed since that run.
    pub(in super::super) fn set_known_tools(&mut self, id: ServerId, tools: &ToolList) {
        self.supervisor.set_known_tools(id, tools);
    }

    /// Sets the tools that a server had in an earlier run. The hub offers these tools until the server runs.
    pub(in super::super) fn remember(&mut self, id: ServerId, tools: ToolList, now: Timestamp) {
        self.supervisor.remember(id, Arc::new(tools), now);
    }

    pub(in super::super) fn event(&mut self, id: ServerId, generation: Generation, event: Event, now: Timestamp) {
        self.supervisor.event(id, generation, event, now);
    }

    pub(in super::super) fn begin_call(
        &mut self,
        id: ServerId,
        tool: &str,
        now: Timestamp,
    ) -> Result<Generation, CallRejection> {
        self.supervisor.begin_call(id, tool, now)
    }

    pub(in super::super) fn end_call(&mut self, id: ServerId, generation: Generation, now: Timestamp) {
        self.supervisor.end_call(id, generation, now);
    }

    /// Stores the time of the supervisor's next timeout. Returns whether this time is earlier than the time that the
    /// previous call stored.
    pub(super) fn is_timeout_earlier(&mut self) -> bool {
        let next = self.supervisor.poll_timeout();
        let before = std::mem::replace(&mut self.next_timeout, next);
        next.is_some_and(|next| before.is_none_or(|before| next < before))
    }

    pub(in super::super) fn poll_timeout(&self) -> Option<Timestamp> {
        self.supervisor.poll_timeout()
    }

    pub(in super::super) fn handle_timeout(&mut self, now: Timestamp) {
        self.supervisor.handle_timeout(now);
    }

    /// Reports to the supervisor that the connections of all servers may be lost because the machine was asleep. The
    /// supervisor then probes the running servers.
    pub(in super::super) fn suspect_connections(&mut self, now: Timestamp) {
        for id in self.order.clone() {
            if let Some(detail) = self.supervisor.detail(id) {
                self.supervisor.event(id, detail.generation, Event::ConnectionSuspect, now);
            }
        }
    }
}
