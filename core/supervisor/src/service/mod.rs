//! The supervisor: all servers of a host, their catalogue and the limits they share.

mod boot;
mod calls;
mod routing;
mod start_queue;
mod toggle;

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

pub use calls::CallRejection;

use self::boot::{BootProgress, ShutdownProgress};
use self::routing::Origin;
use self::start_queue::StartQueue;
use self::toggle::Toggle;
use super::{
    Catalogue, CatalogueBuilder, Command, CommandId, Detail, Effect, ErrorContract, Event, Filter, Generation, Policy,
    Rate, RateLimiter, Server, ServerId, Status, ToolChange, ToolChanges,
};
use mcpwire_core::Timestamp;
use mcpwire_core::ToolList;

/// Settings shared by all servers of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SupervisorSettings {
    /// Maximum number of servers that start at the same time, during boot or automatic restarts. Servers started by a
    /// user do not wait. 8 by default.
    pub max_starts: usize,
    /// Maximum number of simultaneous starts per package manager, because package managers lock their caches. 2 by
    /// default.
    pub max_starts_per_kind: usize,
    /// Time after which a slow start no longer counts against these limits. 10 s by default.
    pub slot_timeout: Duration,
    /// Maximum length of exposed tool names. 64 characters by default.
    pub longest_name: usize,
}

impl Default for SupervisorSettings {
    fn default() -> Self {
        SupervisorSettings {
            max_starts: 8,
            max_starts_per_kind: 2,
            slot_timeout: Duration::from_secs(10),
            longest_name: 64,
        }
    }
}

/// The configuration of a server, as far as the supervisor needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spec {
    /// Display name; not blank and unique among the servers, ignoring case.
    pub name: String,
    /// Whether the server may be started.
    pub enabled: bool,
    /// Timeouts, restarts and health checks.
    pub policy: Policy,
    /// Selects the tools to offer. All by default.
    pub filter: Filter,
    /// Rate limit of calls; `None` is unlimited. 60 calls a minute by default.
    pub rate: Option<Rate>,
    /// Revision of the configuration. Changes based on another revision are rejected.
    pub revision: u64,
}

impl Spec {
    /// Creates the configuration of an enabled server with default settings.
    pub fn new(name: impl Into<String>, policy: Policy) -> Self {
        Spec {
            name: name.into(),
            enabled: true,
            policy,
            filter: Filter::default(),
            rate: Some(Rate::default()),
            revision: 0,
        }
    }
}

/// An operation that the supervisor asks the embedder to perform, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// Perform an effect of a server. Never [`Effect::Reply`] or [`Effect::ToolsChanged`], which the supervisor
    /// handles.
    Perform {
        /// The server.
        server: ServerId,
        /// The effect.
        effect: Effect,
    },
    /// Deliver the answer to a command.
    Reply {
        /// The command.
        command: CommandId,
        /// The outcome.
        result: Result<(), ErrorContract>,
    },
    /// Save the enabled flag if the configuration still has this revision. Always report the outcome to
    /// [`Supervisor::persisted`].
    Persist {
        /// The server whose flag changes.
        server: ServerId,
        /// The new value.
        enabled: bool,
        /// The revision that the change is based on.
        revision: u64,
    },
    /// [`Supervisor::catalogue`] returns another catalogue. Comes before all other pending actions, so an embedder that
    /// replaces its snapshot here has done so before any command is answered.
    CatalogueChanged,
    /// A server changed the definitions of its tools. Users who approved the old definitions should review them.
    ToolsRedefined {
        /// The server.
        server: ServerId,
        /// The changed tools and parts.
        changes: ToolChanges,
    },
    /// All servers started by [`Supervisor::boot`] run, sleep or have failed.
    Booted {
        /// Number of servers that run or sleep.
        ready: usize,
        /// Number of servers that failed, including those that will restart.
        failed: usize,
        /// Number of servers that were stopped before they ran.
        cancelled: usize,
    },
    /// A deleted server is gone; no process is left.
    Removed {
        /// The deleted server.
        server: ServerId,
    },
}

/// Manages all servers of a host: lifecycles, limits and the tool catalogue.
///
/// Drive it like a [`Server`]: commands and events go in, [actions](Action) come out. It performs no I/O.
///
/// ```
/// use mcpwire_core::Timestamp;
/// use mcpwire_supervisor::{
///     Action, Command, CommandId, Effect, Event, PackageKind, Policy, ServerId, Spec, Status, Supervisor,
/// };
///
/// let now = Timestamp::ORIGIN;
/// let mut supervisor = Supervisor::new(Default::default(), 7);
/// let id = ServerId::from_random(1);
/// supervisor.add(id, Spec::new("files", Policy::new(PackageKind::Binary)), now)?;
/// supervisor.command(id, CommandId(1), Command::Start, now);
/// while let Some(action) = supervisor.poll_action() {
///     let Action::Perform { server, effect } = action else { continue };
///     match effect {
///         Effect::Resolve { generation } => supervisor.event(server, generation, Event::Resolved, now),
///         Effect::Launch { generation } => {
///             let failure = mcpwire_supervisor::Failure::missing_credentials(["TOKEN"]);
///             supervisor.event(server, generation, Event::Failed(failure), now);
///         }
///         _ => {}
///     }
/// }
/// assert_eq!(
///     supervisor.status(id),
///     Some(Status::Error { message: "Missing required credentials: TOKEN".into() })
/// );
/// # Ok::<(), mcpwire_supervisor::ErrorContract>(())
/// ```
#[derive(Debug)]
pub struct Supervisor {
    settings: SupervisorSettings,
    seed: u64,
    servers: BTreeMap<ServerId, Managed>,
    /// Server names in lower case, for the uniqueness check.
    names: BTreeMap<String, ServerId>,
    catalogue: CatalogueBuilder,
    catalogue_announced: bool,
    timers: BTreeSet<(Timestamp, ServerId)>,
    start_queue: StartQueue,
    /// Senders of the pending commands, by the internal id of each command.
    origins: BTreeMap<CommandId, Origin>,
    next_command: u64,
    /// The highest generation of the deleted servers. New servers continue from there, so that late events of a deleted
    /// server are ignored.
    last_generation: Generation,
    boot: Option<BootProgress>,
    closing: Option<ShutdownProgress>,
    /// Whether the host is shutting down or has shut down.
    closed: bool,
    actions: VecDeque<Action>,
}

#[derive(Debug)]
struct Managed {
    server: Server,
    /// The name in lower case, as in `names`.
    key: String,
    enabled: bool,
    revision: u64,
    filter: Filter,
    rate: RateLimiter,
    toggle: Option<Toggle>,
    /// The timeout of the server, as in `timers`.
    timer: Option<Timestamp>,
    /// Whether a user or a call waits for the server, so that it starts without waiting for a slot.
    urgent: bool,
}

impl Supervisor {
    /// Creates a supervisor without servers.
    ///
    /// `seed` randomizes delays and keys hashes: use a random one per host, and keep it secret from servers.
    pub fn new(settings: SupervisorSettings, seed: u64) -> Self {
        Supervisor {
            catalogue: CatalogueBuilder::with_longest_name(settings.longest_name).seeded(seed),
            settings,
            seed,
            servers: BTreeMap::new(),
            names: BTreeMap::new(),
            catalogue_announced: false,
            timers: BTreeSet::new(),
            start_queue: StartQueue::default(),
            origins: BTreeMap::new(),
            next_command: 0,
            last_generation: Generation(0),
            boot: None,
            closing: None,
            closed: false,
            actions: VecDeque::new(),
        }
    }

    /// Adds a configured server without starting it.
    ///
    /// Fails with a conflict if another server has the id or the name, and with a validation error if the name is
    /// blank.
    pub fn add(&mut self, id: ServerId, spec: Spec, now: Timestamp) -> Result<(), ErrorContract> {
        if self.closed {
            return Err(ErrorContract::unavailable("the host is shutting down"));
        }
        if self.servers.contains_key(&id) {
            return Err(ErrorContract::conflict("id", alloc::format!("an MCP with this id exists: {id}")));
        }
        let key = self.check_name(&spec.name, id)?;
        let seed = self.seed ^ seed_of(id);
        let mut server = Server::new(id, spec.policy, spec.enabled, seed, now);
        server.continue_after(self.last_generation);
        self.catalogue.add(id, &spec.name, spec.filter.clone());
        self.names.insert(key.clone(), id);
        let managed = Managed {
            server,
            key,
            enabled: spec.enabled,
            revision: spec.revision,
            filter: spec.filter,
            rate: RateLimiter::new(spec.rate),
            toggle: None,
            timer: None,
            urgent: false,
        };
        self.servers.insert(id, managed);
        Ok(())
    }

    /// Applies a new configuration to a server.
    ///
    /// Set `replaced` if the launched program or address changed: a running server is then restarted, and its known
    /// tools are discarded. Otherwise everything is applied in place. If the enabled flag changed, the server is
    /// stopped, or started as by [`boot`](Self::boot).
    pub fn update(&mut self, id: ServerId, spec: Spec, replaced: bool, now: Timestamp) -> Result<(), ErrorContract> {
        if !self.servers.contains_key(&id) {
            return Err(ErrorContract::unknown_server(id));
        }
        let key = self.check_name(&spec.name, id)?;
        let Some(managed) = self.servers.get_mut(&id) else { return Ok(()) };
        self.names.remove(&managed.key);
        self.names.insert(key.clone(), id);
        managed.key = key;
        managed.revision = spec.revision;
        managed.rate.set(spec.rate);
        managed.filter.clone_from(&spec.filter);
        let was = core::mem::replace(&mut managed.enabled, spec.enabled);
        self.catalogue.add(id, &spec.name, spec.filter);
        if replaced {
            self.catalogue.forget_definitions(id);
        }
        self.announce_catalogue();
        if !spec.enabled && was {
            self.send_command(id, Command::Disable, Origin::Internal, now);
        }
        self.send_command(id, Command::Configure { policy: spec.policy.into(), replaced }, Origin::Internal, now);
        if spec.enabled && !was {
            self.send_command(id, Command::Enable, Origin::Internal, now);
            self.send_command(id, Command::Boot, Origin::Internal, now);
        }
        Ok(())
    }

    /// Sends a command to a server. The answer is an [`Action::Reply`] with the same command id.
    ///
    /// `Enable` and `Disable` do not change the configuration; see [`set_enabled`](Self::set_enabled). A deleted server
    /// becomes unknown as soon as its process is gone.
    pub fn command(&mut self, id: ServerId, command_id: CommandId, command: Command, now: Timestamp) {
        if self.servers.contains_key(&id) {
            self.send_command(id, command, Origin::Embedder(command_id), now);
        } else {
            self.reply(command_id, Err(ErrorContract::unknown_server(id)));
        }
    }

    /// Handles an event of a server.
    pub fn event(&mut self, id: ServerId, generation: Generation, event: Event, now: Timestamp) {
        if let Some(managed) = self.servers.get_mut(&id) {
            managed.server.event(generation, event, now);
            self.drain_effects(id, now);
        } else if matches!(event, Event::Launched { .. }) {
            self.actions.push_back(Action::Perform { server: id, effect: Effect::Kill { generation } });
        }
    }

    /// Returns the next action to perform, or `None` if there is none.
    pub fn poll_action(&mut self) -> Option<Action> {
        let action = self.actions.pop_front();
        if action == Some(Action::CatalogueChanged) {
            self.catalogue_announced = false;
        }
        if self.actions.is_empty() {
            self.actions.shrink_to(64);
        }
        action
    }

    /// Returns when to call [`handle_timeout`](Self::handle_timeout), if there is a pending timeout.
    pub fn poll_timeout(&self) -> Option<Timestamp> {
        let first = self.timers.first().map(|(at, _)| *at);
        [first, self.start_queue.deadline()].into_iter().flatten().min()
    }

    /// Handles the timeouts that have expired. A call before the deadline has no effect.
    pub fn handle_timeout(&mut self, now: Timestamp) {
        let due: Vec<ServerId> = self.timers.iter().take_while(|(at, _)| *at <= now).map(|(_, id)| *id).collect();
        for id in due {
            if let Some(managed) = self.servers.get_mut(&id) {
                managed.server.handle_timeout(now);
                self.drain_effects(id, now);
            }
        }
        self.start_queued(now);
    }

    /// Sets the tools of a server's last run, for example from a cache; see [`Server::remember`].
    pub fn remember(&mut self, id: ServerId, tools: Arc<ToolList>, now: Timestamp) {
        if let Some(managed) = self.servers.get_mut(&id) {
            managed.server.remember(tools);
            self.drain_effects(id, now);
        }
    }

    /// Sets the baseline for detecting changed tool definitions ([`Action::ToolsRedefined`]).
    ///
    /// Has no effect once the server has listed its tools. [`remember`](Self::remember) implies it.
    pub fn set_known_tools(&mut self, id: ServerId, tools: &ToolList) {
        self.catalogue.set_known_tools(id, tools);
    }

    /// Returns up to 100 changed tools of a server that have not been marked by [`acknowledge_changes`](Self::acknowledge_changes).
    pub fn changes(&self, id: ServerId) -> Vec<ToolChange> {
        self.catalogue.changes(id)
    }

    /// Marks the changed tools of a server as reviewed.
    pub fn acknowledge_changes(&mut self, id: ServerId) {
        self.catalogue.acknowledge_changes(id);
    }

    /// Reports that the tools are being read, which refreshes expired lists; see [`Server::touch`].
    pub fn touch(&mut self, now: Timestamp) {
        let ids: Vec<ServerId> = self.servers.keys().copied().collect();
        for id in ids {
            if let Some(managed) = self.servers.get_mut(&id) {
                managed.server.touch(now);
                self.drain_effects(id, now);
            }
        }
    }

    /// Returns when the first tool list expires, so that [`touch`](Self::touch) would refresh it.
    ///
    /// The function scans all servers. Call it after a list was received or a refresh failed, not on every read of the
    /// tools.
    pub fn stale_at(&self) -> Option<Timestamp> {
        self.servers.values().filter_map(|managed| managed.server.stale_at()).min()
    }

    /// Returns the current catalogue of offered tools.
    pub fn catalogue(&mut self) -> Arc<Catalogue> {
        self.catalogue.catalogue()
    }

    /// Returns the server that an exposed tool name belongs to, running or not; see [`CatalogueBuilder::server_of`].
    pub fn server_of_tool(&mut self, exposed: &str) -> Option<ServerId> {
        self.catalogue.server_of(exposed)
    }

    /// Returns the simplified state of a server with its offered tools, or `None` if the server is unknown.
    pub fn status(&self, id: ServerId) -> Option<Status> {
        let managed = self.servers.get(&id)?;
        let mut status = managed.server.status();
        if let Status::Running { tools } = &mut status {
            tools.retain(|tool| managed.filter.permits(tool));
        }
        Some(status)
    }

    /// Returns a detailed snapshot of a server for diagnostics, or `None` if the server is unknown.
    pub fn detail(&self, id: ServerId) -> Option<Detail> {
        self.servers.get(&id).map(|managed| managed.server.detail())
    }

    /// Iterates over the ids of the servers, in ascending order.
    pub fn ids(&self) -> impl Iterator<Item = ServerId> {
        self.servers.keys().copied()
    }

    /// Returns the number of servers.
    pub fn len(&self) -> usize {
        self.servers.len()
    }

    /// Returns whether there are no servers.
    pub fn is_empty(&self) -> bool {
        self.servers.is_empty()
    }

    /// Returns the configuration revision of a server, or `None` if the server is unknown.
    pub fn revision(&self, id: ServerId) -> Option<u64> {
        self.servers.get(&id).map(|managed| managed.revision)
    }

    /// Returns the normalized name, or an error if the name is blank or taken.
    fn check_name(&self, name: &str, id: ServerId) -> Result<String, ErrorContract> {
        let key = name.trim().to_lowercase();
        if key.is_empty() {
            return Err(ErrorContract::validation("name", "Name is required"));
        }
        match self.names.get(&key) {
            Some(other) if *other != id => {
                Err(ErrorContract::conflict("name", alloc::format!("an MCP with this name exists: {}", name.trim())))
            }
            _ => Ok(key),
        }
    }
}

fn seed_of(id: ServerId) -> u64 {
    let half = |bits: u128| u64::try_from(bits & u128::from(u64::MAX)).unwrap_or_default();
    half(id.as_u128() >> 64) ^ half(id.as_u128()).rotate_left(29)
}
