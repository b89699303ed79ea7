//! [`Servers`]: the servers of a hub and their supervisor, which the hub's lock protects. [`ManagedServer`]: one of these servers,
//! without the state machine that the supervisor has for it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use futures_channel::oneshot;
use mcpwire_core::Timestamp;
use mcpwire_supervisor::{
    CommandId, Event, Filter, Generation, Rate, ServerId, ServerSpec, Supervisor, SupervisorSettings,
};

use super::attempt::Attempt;
use super::events::HubEvent;
use super::login_state::LoginState;
use super::logs::Logs;
use super::options::Settings;
use super::tools::{server_id, uuid};
use crate::HubError;
use crate::config::McpConfig;
use crate::logins::LoginKey;

/// The servers of a hub, their supervisor, and the commands that wait for the supervisor's results.
pub(super) struct Servers {
    /// The state machines of the servers in `managed`. Only the methods of this struct add, rename and remove servers, so that
    /// both always contain the same servers.
    pub(super) supervisor: Supervisor,
    /// All configured servers, in the order of the configuration file. A hub has few servers, so a linear search is fast enough.
    managed: Vec<ManagedServer>,
    /// The pending commands. Each has the sender for its result, which the supervisor has not returned yet.
    pending: HashMap<CommandId, ReplySender>,
    boot_waiters: Vec<oneshot::Sender<BootReport>>,
    last_command: u64,
    /// The events, results and wakers that the current update delivers after it has released the lock.
    pub(super) deliveries: Deliveries,
    /// The time of the supervisor's next timeout, as of the last update. `None` if no timeout is pending.
    next_timeout: Option<Timestamp>,
    /// Whether the hub has ended, because the last [`Hub`](crate::Hub) was dropped. No server is started after this.
    pub(super) is_ended: bool,
}

type ReplySender = oneshot::Sender<Result<(), HubError>>;

/// The outcome of [`Hub::boot`](crate::Hub::boot): how many servers are ready, have failed, or were cancelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BootReport {
    /// Number of servers that run, or sleep until one of their tools is called.
    pub ready: usize,
    /// Number of servers that failed to start. The hub restarts servers that may recover automatically.
    pub failed: usize,
    /// Number of servers whose start was cancelled by another command, for example to stop the server.
    pub cancelled: usize,
}

/// The events, results and wakers that an update of the hub's state delivers after it has released the lock, so that no code of
/// the program runs under the lock.
#[derive(Default)]
pub(super) struct Deliveries {
    /// The events that the update has caused, in order.
    pub(super) events: Vec<HubEvent>,
    pub(super) wakers: Vec<Waker>,
    replies: Vec<(ReplySender, Result<(), HubError>)>,
    reports: Vec<(oneshot::Sender<BootReport>, BootReport)>,
}

impl Deliveries {
    /// Delivers the results of commands and the reports, and wakes the listeners. The caller has already delivered the events.
    pub(super) fn deliver(self) {
        // Sending fails if the receiver was dropped. Nobody needs the result then.
        for (reply, result) in self.replies {
            let _ = reply.send(result);
        }
        for (sender, report) in self.reports {
            let _ = sender.send(report);
        }
        self.wakers.into_iter().for_each(Waker::wake);
    }
}

impl Servers {
    /// Creates an empty list of servers. `seed` must be a random number that servers do not know, because the hashes that detect
    /// changed tool definitions depend on it.
    pub(super) fn new(settings: SupervisorSettings, seed: u64) -> Self {
        Servers {
            supervisor: Supervisor::new(settings, seed),
            managed: Vec::new(),
            pending: HashMap::new(),
            boot_waiters: Vec::new(),
            last_command: 0,
            deliveries: Deliveries::default(),
            next_timeout: None,
            is_ended: false,
        }
    }

    /// Iterates over all servers, in the order of the configuration file.
    pub(super) fn iter(&self) -> impl Iterator<Item = &ManagedServer> {
        self.managed.iter()
    }

    pub(super) fn get(&self, id: ServerId) -> Option<&ManagedServer> {
        self.managed.iter().find(|server| server.id() == id)
    }

    pub(super) fn get_mut(&mut self, id: ServerId) -> Option<&mut ManagedServer> {
        self.managed.iter_mut().find(|server| server.id() == id)
    }

    pub(super) fn attempt(&mut self, id: ServerId, generation: Generation) -> Option<&mut Attempt> {
        self.get_mut(id)?.attempts.get_mut(&generation)
    }

    /// Calls `f`, which sends a command to the supervisor under a new command id. Returns the receiver for the result of the
    /// command.
    pub(super) fn request(
        &mut self,
        f: impl FnOnce(&mut Supervisor, CommandId),
    ) -> oneshot::Receiver<Result<(), HubError>> {
        self.last_command += 1;
        let (id, (sender, reply)) = (CommandId(self.last_command), oneshot::channel());
        self.pending.insert(id, sender);
        f(&mut self.supervisor, id);
        reply
    }

    /// Delivers the result of a command to its sender, after the current update has released the lock.
    pub(super) fn reply(&mut self, command: CommandId, result: Result<(), HubError>) {
        self.deliveries.replies.extend(self.pending.remove(&command).map(|reply| (reply, result)));
    }

    /// Starts all enabled servers. Returns the receiver for a report, which arrives when each server has started or failed.
    pub(super) fn boot(&mut self, now: Timestamp) -> oneshot::Receiver<BootReport> {
        let (sender, report) = oneshot::channel();
        self.boot_waiters.push(sender);
        self.supervisor.boot(now);
        report
    }

    /// Delivers the report about all starts that [`boot`](Self::boot) has requested, to all callers of `boot` and to the
    /// listeners.
    pub(super) fn booted(&mut self, report: BootReport) {
        let BootReport { ready, failed, cancelled } = report;
        self.emit(HubEvent::Booted { ready, failed, cancelled });
        self.deliveries.reports.extend(self.boot_waiters.drain(..).map(|waiter| (waiter, report)));
    }

    /// Adds an event. The listeners receive it at the end of the current update of the hub's state.
    pub(super) fn emit(&mut self, event: HubEvent) {
        self.deliveries.events.push(event);
    }

    /// Adds a server without starting it. Fails if another server has the same id or name, or if the hub is shutting down.
    pub(super) fn add(&mut self, server: ManagedServer, now: Timestamp) -> Result<(), HubError> {
        self.supervisor.add(server.id(), server.spec.clone(), now)?;
        self.emit(HubEvent::Configured { id: server.config.id });
        self.managed.push(server);
        Ok(())
    }

    /// Replaces the configurations of servers, all or none. The servers may exchange their names. A running server is restarted
    /// if its program or address has changed.
    ///
    /// # Errors
    /// If a server is unknown, or if two servers would have the same name. Then nothing is changed.
    pub(super) fn replace(&mut self, servers: Vec<CheckedConfig>, now: Timestamp) -> Result<(), HubError> {
        let names: Vec<_> = servers.iter().map(|checked| (checked.id(), checked.spec.name.as_str())).collect();
        self.supervisor.rename(&names)?;
        for checked in servers {
            let (id, CheckedConfig { config, mut spec }) = (checked.id(), checked);
            // `rename` fails for an unknown server, so this server exists.
            let Some(server) = self.managed.iter_mut().find(|server| server.id() == id) else { continue };
            spec.revision = server.spec.revision + 1;
            let is_replaced = server.config.hash() != config.hash();
            self.supervisor.update(id, spec.clone(), is_replaced, now)?;
            (server.config, server.spec) = (Arc::new(config), spec);
            self.emit(HubEvent::Configured { id: uuid(id) });
        }
        Ok(())
    }

    /// Reports the outcome of [`Action::Persist`](mcpwire_supervisor::Action::Persist) to the supervisor. `result` is the saved
    /// configuration, or the error that prevented saving it.
    pub(super) fn saved(&mut self, id: ServerId, result: Result<McpConfig, HubError>, now: Timestamp) {
        let result = result.map(|config| {
            let Some(server) = self.get_mut(id) else { return 0 };
            server.config = Arc::new(config);
            server.spec.revision += 1;
            let revision = server.spec.revision;
            self.emit(HubEvent::Configured { id: uuid(id) });
            revision
        });
        self.supervisor.persisted(id, result, now);
    }

    /// Removes a server that the supervisor has already removed. Returns it, so that the caller can drop it without holding the
    /// lock.
    pub(super) fn remove(&mut self, id: ServerId) -> Option<ManagedServer> {
        self.emit(HubEvent::Removed { id: uuid(id) });
        let at = self.managed.iter().position(|server| server.id() == id)?;
        Some(self.managed.remove(at))
    }

    /// Marks the hub as ended. Returns all attempts to run servers, whose processes the caller must kill. Also returns the
    /// senders for all pending results: when the caller drops them, the operations that wait for these results fail.
    pub(super) fn end(&mut self) -> (Vec<Attempt>, impl Sized + use<>) {
        self.is_ended = true;
        let attempts = self.managed.iter_mut().flat_map(|server| std::mem::take(&mut server.attempts).into_values());
        (attempts.collect(), (std::mem::take(&mut self.pending), std::mem::take(&mut self.boot_waiters)))
    }

    /// Returns the logins that the hub must check for changes: of each server that waits for a login, runs with a login, or is
    /// being started or stopped.
    pub(super) fn watched_logins(&self) -> Vec<(ServerId, LoginKey)> {
        let watched = self.managed.iter().filter_map(|server| {
            let login = server.login.as_ref()?;
            let id = server.id();
            login.is_watched(self.supervisor.detail(id)?.state).then(|| (id, login.key.clone()))
        });
        watched.collect()
    }

    /// Returns the name of each server that is starting, and the maximum time that a tool call waits for this server.
    pub(super) fn starting(&self) -> Vec<(String, Duration)> {
        let is_starting = |server: &&ManagedServer| {
            self.supervisor.detail(server.id()).is_some_and(|detail| detail.state.is_starting())
        };
        let starting = self.managed.iter().filter(is_starting);
        starting.map(|server| (server.name().to_owned(), server.spec.policy.call_wait_start)).collect()
    }

    /// Stores the time of the supervisor's next timeout. Returns whether it is earlier than the previously stored time, so that
    /// the task that waits for the timeout must be woken.
    pub(super) fn is_timeout_earlier(&mut self) -> bool {
        let next = self.supervisor.poll_timeout();
        let before = std::mem::replace(&mut self.next_timeout, next);
        next.is_some_and(|next| before.is_none_or(|before| next < before))
    }

    /// Reports to the supervisor that the connections of all servers may be lost, because the machine was asleep. The supervisor
    /// then probes the running servers.
    pub(super) fn suspect_connections(&mut self, now: Timestamp) {
        for server in &self.managed {
            let id = server.id();
            if let Some(detail) = self.supervisor.detail(id) {
                self.supervisor.event(id, detail.generation, Event::ConnectionSuspect, now);
            }
        }
    }
}

/// One server of a hub: its configuration, its logs, its login, and the attempts to run it.
pub(super) struct ManagedServer {
    pub(super) config: Arc<McpConfig>,
    /// The parts of the configuration that the supervisor needs. Their revision number increases with each change of the
    /// configuration.
    pub(super) spec: ServerSpec,
    pub(super) logs: Logs,
    /// The login of the server. `None` if the server needs no stored login, or has not been started yet.
    pub(super) login: Option<LoginState>,
    /// Whether the hub has already read the tool definitions of an earlier run. It reads them once, to detect changed
    /// definitions.
    is_compared: bool,
    /// The current attempt to run the server, and earlier attempts whose processes have not ended yet, by the number of the
    /// attempt.
    pub(super) attempts: BTreeMap<Generation, Attempt>,
}

impl ManagedServer {
    pub(super) fn new(checked: CheckedConfig, settings: &Settings) -> Self {
        let CheckedConfig { config, spec } = checked;
        let logs = Logs::new(settings.layout.as_ref().map(|layout| layout.log(config.id)));
        let attempts = BTreeMap::new();
        ManagedServer { config: Arc::new(config), spec, logs, login: None, is_compared: false, attempts }
    }

    pub(super) fn id(&self) -> ServerId {
        server_id(self.config.id)
    }

    pub(super) fn name(&self) -> &str {
        &self.spec.name
    }

    /// Returns whether requests to this server contain a token: of a user's login, or of the program's own credentials.
    pub(super) fn has_login(&self) -> bool {
        self.config.oauth.client_credentials || self.login.as_ref().is_some_and(LoginState::is_stored)
    }

    /// Adds an attempt to run the server, and removes earlier attempts that have not begun to start a process. Returns `true` for
    /// the first attempt: the hub must then read the tool definitions of an earlier run.
    pub(super) fn begin_attempt(&mut self, generation: Generation) -> bool {
        self.attempts.retain(|_, attempt| !attempt.is_resolving());
        self.attempts.insert(generation, Attempt::new());
        !std::mem::replace(&mut self.is_compared, true)
    }
}

/// Time by which the supervisor waits longer for a server to open its connection than the client does. The client's error comes
/// first, because it says more: what the server has written instead, and whether it still runs.
const START_MARGIN: Duration = Duration::from_secs(1);

/// A configuration that was validated, with the parts of it that the supervisor needs.
pub(super) struct CheckedConfig {
    pub(super) config: McpConfig,
    pub(super) spec: ServerSpec,
}

impl CheckedConfig {
    /// Validates a configuration, and derives the policy (timeouts and restarts), the tool filter and the rate limit for the
    /// supervisor. The revision number is 1. Calls the program's callback of `HubOptions::policy`, so the caller must not hold a
    /// lock.
    ///
    /// # Errors
    /// If the configuration is invalid, or if the callback panics.
    pub(super) fn new(config: McpConfig, settings: &Settings) -> Result<Self, HubError> {
        config.validate()?;
        let mut policy = settings.policy(&config)?;
        policy.negotiate_timeout += START_MARGIN;
        policy.first_start_timeout += START_MARGIN;
        let mut spec = ServerSpec::new(config.name.trim(), policy);
        spec.enabled = config.enabled;
        spec.filter = Filter { allow: config.tools.allow.clone(), deny: config.tools.deny.clone() };
        let calls = config.limits.calls_per_minute.filter(|calls| *calls > 0);
        spec.rate = calls.map(|calls| Rate { calls, per: Duration::from_secs(60) });
        spec.revision = 1;
        Ok(CheckedConfig { config, spec })
    }

    pub(super) fn id(&self) -> ServerId {
        server_id(self.config.id)
    }
}

impl ManagedServer {
    /// Returns the maximum time for the client to open the connection to the server.
    pub(super) fn start_timeout(&self) -> Duration {
        let policy = &self.spec.policy;
        policy.negotiate_timeout.max(policy.first_start_timeout).saturating_sub(START_MARGIN)
    }
}
