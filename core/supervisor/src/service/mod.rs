//! The supervisor: all servers of a host, their catalogue, and the limits that they share.

mod action;
mod boot;
mod calls;
mod configure;
mod settings;
mod start_queue;

use alloc::collections::btree_map::Entry;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::sync::Arc;
use alloc::vec::Vec;

pub use action::Action;
pub use calls::CallRejection;
pub use settings::{ServerSpec, SupervisorSettings};

use self::settings::ServerNames;
use self::start_queue::{BootCounts, CommandOrigin, EnabledChange, QueuedStart, StartQueue};
use crate::{
    Catalogue, CatalogueBuilder, Command, CommandId, Effect, ErrorKind, Event, Generation, HubError, McpStatus,
    RateLimiter, Server, ServerDetail, ServerId, State, ToolChange,
};
use mcpwire_core::{Timestamp, ToolList};

/// Manages all servers of a host: their lifecycles, their rate limits and the catalogue of their tools.
///
/// The supervisor performs no I/O. Pass commands and events to it, as to a single [`Server`], and perform the
/// [actions](Action) that it returns.
///
/// ```
/// # mod mcpwire { pub mod hub { pub use mcpwire_supervisor::McpStatus; pub mod protocol { pub use mcpwire_core::Timestamp;
/// # } pub mod supervisor { pub use mcpwire_supervisor::{Action, Command, CommandId, Effect, Event, Failure, PackageKind,
/// # Policy, ServerId, ServerSpec, Supervisor}; } } }
/// use mcpwire::hub::McpStatus;
/// use mcpwire::hub::protocol::Timestamp;
/// use mcpwire::hub::supervisor::{
///     Action, Command, CommandId, Effect, Event, PackageKind, Policy, ServerId, ServerSpec, Supervisor,
/// };
///
/// let now = Timestamp::ORIGIN;
/// let mut supervisor = Supervisor::new(Default::default(), 7);
/// let id = ServerId::from_random(1);
/// supervisor.add(id, ServerSpec::new("files", Policy::new(PackageKind::Binary)), now)?;
/// supervisor.command(id, CommandId(1), Command::Start, now);
/// while let Some(action) = supervisor.poll_action() {
///     let Action::Perform { server, effect } = action else { continue };
///     match effect {
///         Effect::Resolve { generation } => supervisor.event(server, generation, Event::Resolved, now),
///         Effect::Launch { generation } => {
///             let failure = mcpwire::hub::supervisor::Failure::missing_credentials(["TOKEN"]);
///             supervisor.event(server, generation, Event::Failed(failure), now);
///         }
///         _ => {}
///     }
/// }
/// assert_eq!(
///     supervisor.status(id),
///     Some(McpStatus::Error { message: "Missing required credentials: TOKEN".into() })
/// );
/// # Ok::<(), mcpwire_supervisor::HubError>(())
/// ```
#[derive(Debug)]
pub struct Supervisor {
    seed: u64,
    servers: BTreeMap<ServerId, ManagedServer>,
    names: ServerNames,
    catalogue: CatalogueBuilder,
    /// The next timeout of each server, equal to [`ManagedServer::deadline`]. The earliest timeout is first.
    deadlines: BTreeSet<(Timestamp, ServerId)>,
    start_queue: StartQueue,
    /// The sender of each command that its server has not answered yet, by an internal id. The ids of the embedder are
    /// not used, because they may be equal to the ids of the supervisor's own commands.
    origins: BTreeMap<CommandId, CommandOrigin>,
    last_command: u64,
    /// The highest generation of all deleted servers. New servers start above it, so that late events of a deleted
    /// server with the same id are ignored.
    last_generation: Generation,
    boot_counts: BootCounts,
    /// The shutdown commands of the embedder. They get their replies when no [`CommandOrigin::Shutdown`] is pending any
    /// more.
    shutdown_commands: Vec<CommandId>,
    is_closing: bool,
    /// The actions for the embedder. [`Action::CatalogueChanged`] is always first.
    actions: VecDeque<Action>,
}

#[derive(Debug)]
struct ManagedServer {
    server: Server,
    enabled: bool,
    revision: u64,
    rate: RateLimiter,
    /// The operation of [`Supervisor::set_enabled`] in progress for this server, or `None`.
    enabled_change: Option<EnabledChange>,
    /// Whether a user or a tool call waits for the server. If so, it starts even if the maximum number of servers is
    /// already starting.
    is_urgent: bool,
    /// The entry of this server in [`Supervisor::deadlines`], or `None` if no timeout is pending.
    deadline: Option<Timestamp>,
}

impl Supervisor {
    /// Creates a supervisor without servers.
    ///
    /// `seed` must be a random number that servers do not know. It randomizes the restart delays, and is the key of the
    /// hashes that detect changed tool definitions.
    pub fn new(settings: SupervisorSettings, seed: u64) -> Self {
        Supervisor {
            seed,
            servers: BTreeMap::new(),
            names: ServerNames::default(),
            catalogue: CatalogueBuilder::with_longest_name(settings.longest_name).seeded(seed),
            deadlines: BTreeSet::new(),
            start_queue: StartQueue::new(settings),
            origins: BTreeMap::new(),
            last_command: 0,
            last_generation: Generation(0),
            boot_counts: BootCounts::default(),
            shutdown_commands: Vec::new(),
            is_closing: false,
            actions: VecDeque::new(),
        }
    }

    /// Sends a command to a server. The result follows in an [`Action::Reply`] with the same `command_id`.
    ///
    /// The command fails if the server is unknown. [`Command::Enable`] and [`Command::Disable`] do not change the
    /// stored configuration. Use [`set_enabled`](Self::set_enabled) to change both.
    pub fn command(&mut self, id: ServerId, command_id: CommandId, command: Command, now: Timestamp) {
        if self.servers.contains_key(&id) {
            self.send_command(id, command, CommandOrigin::Embedder(command_id), now);
        } else {
            self.reply(command_id, Err(HubError::unknown_server(id)));
        }
    }

    /// Passes an event to the state machine of a server.
    ///
    /// `generation` is the number of the attempt to run the server during which the event occurred. The embedder knows
    /// it from the [`Effect`] that it performed.
    pub fn event(&mut self, id: ServerId, generation: Generation, event: Event, now: Timestamp) {
        let is_launched = matches!(event, Event::Launched { .. });
        let is_known = self.with_server(id, now, |server| server.event(generation, event, now));
        if !is_known && is_launched {
            self.actions.push_back(Action::Perform { server: id, effect: Effect::Kill { generation } });
        }
    }

    /// Removes and returns the next action to perform, or returns `None` if there is none.
    pub fn poll_action(&mut self) -> Option<Action> {
        let action = self.actions.pop_front();
        if self.actions.is_empty() {
            self.actions.shrink_to(64);
        }
        action
    }

    /// Returns the time at which to call [`handle_timeout`](Self::handle_timeout), or `None` if no timeout is pending.
    pub fn poll_timeout(&self) -> Option<Timestamp> {
        let server = self.deadlines.first().map(|(at, _)| *at);
        server.into_iter().chain(self.start_queue.deadline()).min()
    }

    /// Handles all timeouts that have expired at `now`. Has no effect before the time that
    /// [`poll_timeout`](Self::poll_timeout) returns.
    pub fn handle_timeout(&mut self, now: Timestamp) {
        let expired: Vec<ServerId> =
            self.deadlines.iter().take_while(|(at, _)| *at <= now).map(|(_, server)| *server).collect();
        for id in expired {
            self.with_server(id, now, |server| server.handle_timeout(now));
        }
        self.start_queued(now);
    }

    /// Sets the tool list that a server had in an earlier run, for example from a cache on disk. See
    /// [`Server::remember`].
    pub fn remember(&mut self, id: ServerId, tools: Arc<ToolList>, now: Timestamp) {
        self.with_server(id, now, |server| server.remember(tools));
    }

    /// Sets the tool definitions that the host saved in an earlier run. [`Action::ToolsRedefined`] then reports the
    /// definitions that the server has changed since that run.
    ///
    /// Clients do not see these definitions. Has no effect if definitions of the server are already known.
    pub fn set_known_tools(&mut self, id: ServerId, tools: &ToolList) {
        self.catalogue.set_known_tools(id, tools);
    }

    /// Marks all changed tools of a server as reviewed by the user.
    pub fn acknowledge_changes(&mut self, id: ServerId) {
        self.catalogue.acknowledge_changes(id);
    }

    /// Requests the tool list of each server whose list has expired again. Call this function when a client reads the
    /// tools.
    pub fn touch(&mut self, now: Timestamp) {
        let ids: Vec<ServerId> = self.ids().collect();
        for id in ids {
            self.with_server(id, now, |server| server.touch(now));
        }
    }

    /// Returns whether a server is stopped, starting, running, failed or disabled, or `None` if the server is unknown. This
    /// has fewer states than the server's [`State`].
    ///
    /// The status of a running server contains the names of the tools that the server's filter allows.
    pub fn status(&self, id: ServerId) -> Option<McpStatus> {
        let managed = self.servers.get(&id)?;
        let mut status = managed.server.status();
        if let McpStatus::Running { tools } = &mut status {
            tools.retain(|tool| self.catalogue.permits(id, tool));
        }
        Some(status)
    }

    /// Returns a detailed snapshot of a server's lifecycle, for diagnostics. Returns `None` if the server is unknown.
    pub fn detail(&self, id: ServerId) -> Option<ServerDetail> {
        self.servers.get(&id).map(|managed| managed.server.detail())
    }

    /// Iterates over the ids of all servers, sorted by id.
    pub fn ids(&self) -> impl Iterator<Item = ServerId> {
        self.servers.keys().copied()
    }

    /// Returns the number of servers of this supervisor.
    pub fn len(&self) -> usize {
        self.servers.len()
    }

    /// Returns whether the supervisor has no servers.
    pub fn is_empty(&self) -> bool {
        self.servers.is_empty()
    }

    /// Returns the revision of a server's stored configuration, which detects concurrent changes. `None` if the server
    /// is unknown.
    pub fn revision(&self, id: ServerId) -> Option<u64> {
        self.servers.get(&id).map(|managed| managed.revision)
    }

    /// Returns the current catalogue of the tools that all servers offer.
    pub fn catalogue(&mut self) -> Arc<Catalogue> {
        self.catalogue.catalogue()
    }

    /// Returns the server to which the exposed tool name `<slug>__<tool>` belongs, even if that server is not running.
    ///
    /// Returns `None` if no server has this slug. See
    /// [`CatalogueBuilder::server_of`](crate::CatalogueBuilder::server_of).
    pub fn server_of_tool(&mut self, exposed: &str) -> Option<ServerId> {
        self.catalogue.server_of(exposed)
    }

    /// Returns the changed tools of a server that the user has not reviewed yet, at most 100.
    ///
    /// [`acknowledge_changes`](Self::acknowledge_changes) marks these changes as reviewed.
    pub fn changes(&self, id: ServerId) -> Vec<ToolChange> {
        self.catalogue.changes(id)
    }

    /// Returns the earliest time at which the tool list of any server expires, or `None` if no list expires. From that
    /// time on, [`touch`](Self::touch) requests the list again.
    ///
    /// This function examines all servers. Call it after each [`Event::Listed`](crate::Event::Listed) and
    /// [`Event::RefreshFailed`](crate::Event::RefreshFailed), but not for each read of the tools.
    pub fn stale_at(&self) -> Option<Timestamp> {
        self.servers.values().filter_map(|managed| managed.server.stale_at()).min()
    }

    /// Passes an input to the state machine of a server, and then handles its effects. Returns `false` if the server is
    /// unknown.
    fn with_server(&mut self, id: ServerId, now: Timestamp, input: impl FnOnce(&mut Server)) -> bool {
        let Some(managed) = self.servers.get_mut(&id) else { return false };
        input(&mut managed.server);
        self.drain_effects(id, now);
        true
    }

    fn send_command(&mut self, id: ServerId, command: Command, origin: CommandOrigin, now: Timestamp) {
        let Some(managed) = self.servers.get_mut(&id) else { return };
        managed.is_urgent = match command {
            Command::Start | Command::Restart | Command::PrepareCall { .. } => true,
            Command::Boot => false,
            _ => managed.is_urgent,
        };
        let command_id = self.add_origin(origin);
        self.with_server(id, now, |server| server.command(command_id, command, now));
    }

    fn add_origin(&mut self, origin: CommandOrigin) -> CommandId {
        self.last_command += 1;
        let id = CommandId(self.last_command);
        self.origins.insert(id, origin);
        id
    }

    fn drain_effects(&mut self, id: ServerId, now: Timestamp) {
        while let Some(effect) = self.servers.get_mut(&id).and_then(|managed| managed.server.poll_effect()) {
            match effect {
                Effect::Reply { command, result } => self.route_reply(id, command, result),
                Effect::ToolsChanged => {
                    let tools = self.servers.get(&id).and_then(|managed| managed.server.tools().cloned());
                    let changes = self.catalogue.set_tools(id, tools);
                    self.announce_catalogue();
                    if !changes.is_empty() {
                        self.actions.push_back(Action::ToolsRedefined { server: id, changes });
                    }
                }
                Effect::Resolve { generation } => self.start_or_queue(id, generation, now),
                effect => self.actions.push_back(Action::Perform { server: id, effect }),
            }
        }
        self.update_start_queue(id);
        self.update_deadline(id);
        self.remove_if_deleted(id);
        self.start_queued(now);
    }

    fn route_reply(&mut self, id: ServerId, command: CommandId, result: Result<(), HubError>) {
        let Some(origin) = self.origins.remove(&command) else { return };
        match origin {
            CommandOrigin::Embedder(command) => self.reply(command, result),
            CommandOrigin::Internal => {}
            CommandOrigin::Boot => {
                self.boot_counts.add(&result);
                self.finish_boot();
            }
            CommandOrigin::Shutdown => self.finish_shutdown(),
            CommandOrigin::Enable => self.enable_finished(id, result),
            CommandOrigin::EnableFailed { command, error } => self.reply(command, Err(error)),
        }
    }

    fn reply(&mut self, command: CommandId, result: Result<(), HubError>) {
        self.actions.push_back(Action::Reply { command, result });
    }

    fn announce_catalogue(&mut self) {
        if self.actions.front() != Some(&Action::CatalogueChanged) {
            // The catalogue is announced first, because another thread may read the tools while the embedder performs
            // the other actions.
            self.actions.push_front(Action::CatalogueChanged);
        }
    }

    fn start_or_queue(&mut self, id: ServerId, generation: Generation, now: Timestamp) {
        let Some(managed) = self.servers.get(&id) else { return };
        self.start_queue.remove(id);
        let start = QueuedStart { server: id, generation, kind: managed.server.policy().kind };
        if managed.is_urgent {
            self.resolve(&start);
        } else {
            self.start_queue.push(start);
            self.start_queued(now);
        }
    }

    fn start_queued(&mut self, now: Timestamp) {
        while let Some(start) = self.start_queue.take_next(now) {
            self.resolve(&start);
        }
    }

    fn update_start_queue(&mut self, id: ServerId) {
        let Some(managed) = self.servers.get_mut(&id) else { return };
        let state = managed.server.state();
        managed.is_urgent &= state.is_starting() || state == State::Stopping;
        if !state.is_starting() {
            self.start_queue.remove(id);
        } else if managed.is_urgent
            && let Some(start) = self.start_queue.take(id)
        {
            self.resolve(&start);
        }
    }

    fn resolve(&mut self, start: &QueuedStart) {
        let effect = Effect::Resolve { generation: start.generation };
        self.actions.push_back(Action::Perform { server: start.server, effect });
    }

    fn update_deadline(&mut self, id: ServerId) {
        let Some(managed) = self.servers.get_mut(&id) else { return };
        let next = managed.server.poll_timeout();
        let last = core::mem::replace(&mut managed.deadline, next);
        if last != next {
            last.map(|at| self.deadlines.remove(&(at, id)));
            self.deadlines.extend(next.map(|at| (at, id)));
        }
    }

    fn remove_if_deleted(&mut self, id: ServerId) {
        let Entry::Occupied(entry) = self.servers.entry(id) else { return };
        if entry.get().server.state() != State::Deleted {
            return;
        }
        let managed = entry.remove();
        self.last_generation = self.last_generation.max(managed.server.generation());
        self.names.remove(id);
        managed.deadline.map(|at| self.deadlines.remove(&(at, id)));
        if let Some(change) = managed.enabled_change {
            self.reply(change.command, Err(HubError::new(ErrorKind::Cancelled, "the MCP server is deleted")));
        }
        self.catalogue.remove(id);
        self.announce_catalogue();
        self.actions.push_back(Action::Removed { server: id });
    }
}
