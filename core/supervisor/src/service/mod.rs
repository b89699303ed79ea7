//! The supervisor: all servers of a host, their catalogue, and the limits that they share.

mod action;
mod boot;
mod calls;
mod deadlines;
mod managed;
mod origins;
mod progress;
mod queries;
mod server_names;
mod set_enabled;
mod settings;
mod start_queue;

use alloc::collections::{BTreeMap, VecDeque};
use alloc::sync::Arc;
use alloc::vec::Vec;

pub use action::Action;
pub use calls::CallRejection;
pub use settings::{ServerSpec, SupervisorSettings};

use self::deadlines::Deadlines;
use self::managed::ManagedServer;
use self::origins::{CommandOrigin, Origins};
use self::progress::{BootProgress, ShutdownProgress};
use self::server_names::ServerNames;
use self::start_queue::{QueuedStart, StartQueue};
use super::{
    CatalogueBuilder, Command, CommandId, Effect, ErrorKind, Event, Generation, HubError, RateLimiter, Server,
    ServerId, State,
};
use mcpwire_core::Timestamp;
use mcpwire_core::ToolList;

/// Manages all servers of a host: their lifecycles, their rate limits and the catalogue of their tools.
///
/// Use the supervisor like a [`Server`]: pass commands and events to it, and perform the [actions](Action) that it
/// returns. The supervisor performs no I/O.
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
    /// Whether `actions` contains [`Action::CatalogueChanged`].
    is_catalogue_announced: bool,
    deadlines: Deadlines,
    start_queue: StartQueue,
    origins: Origins,
    /// The highest generation of all deleted servers. New servers start above this generation, so that late events of a
    /// deleted server with the same id are ignored.
    last_generation: Generation,
    boot_progress: BootProgress,
    shutdown_progress: ShutdownProgress,
    is_closing: bool,
    actions: VecDeque<Action>,
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
            is_catalogue_announced: false,
            deadlines: Deadlines::default(),
            start_queue: StartQueue::new(settings),
            origins: Origins::default(),
            last_generation: Generation(0),
            boot_progress: BootProgress::default(),
            shutdown_progress: ShutdownProgress::default(),
            is_closing: false,
            actions: VecDeque::new(),
        }
    }

    /// Adds a server to the supervisor. The server is not started.
    ///
    /// Fails if another server has the same id or name ([`ErrorCode::Conflict`](crate::ErrorCode::Conflict)), if the
    /// name is blank ([`ErrorCode::ValidationError`](crate::ErrorCode::ValidationError)), or after
    /// [`shutdown`](Self::shutdown) was called
    /// ([`ErrorCode::ServiceUnavailable`](crate::ErrorCode::ServiceUnavailable)).
    pub fn add(&mut self, id: ServerId, spec: ServerSpec, now: Timestamp) -> Result<(), HubError> {
        if self.is_closing {
            return Err(HubError::new(ErrorKind::ShuttingDown, "the host is shutting down"));
        }
        if self.servers.contains_key(&id) {
            return Err(HubError::conflict(
                "id",
                alloc::format!("an MCP with this id already exists: {id}; choose another id"),
            ));
        }
        self.names.set(id, &spec.name)?;
        let seed = self.seed ^ seed_of(id);
        let mut server = Server::new(id, spec.policy, spec.enabled, seed, now);
        server.continue_after(self.last_generation);
        self.catalogue.add(id, &spec.name, spec.filter.clone());
        let managed = ManagedServer {
            server,
            enabled: spec.enabled,
            revision: spec.revision,
            filter: spec.filter,
            rate: RateLimiter::new(spec.rate),
            enabled_change: None,
            is_urgent: false,
        };
        self.servers.insert(id, managed);
        Ok(())
    }

    /// Applies a new configuration to a server. Fails if the server is unknown, or if the name is blank or belongs to
    /// another server.
    ///
    /// Set `replaced` if the program or address of the server has changed. The server then discards its known tools and
    /// starts again, except if it is stopped or disabled. Other changes require no restart.
    ///
    /// If `spec.enabled` has changed to `false`, the server is stopped. If it has changed to `true`, the server is
    /// started as by [`Command::Boot`].
    pub fn update(&mut self, id: ServerId, spec: ServerSpec, replaced: bool, now: Timestamp) -> Result<(), HubError> {
        let Some(managed) = self.servers.get_mut(&id) else { return Err(HubError::unknown_server(id)) };
        self.names.set(id, &spec.name)?;
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
            self.send_command(id, Command::Disable, CommandOrigin::Internal, now);
        }
        self.send_command(
            id,
            Command::Configure { policy: spec.policy.into(), replaced },
            CommandOrigin::Internal,
            now,
        );
        if spec.enabled && !was {
            self.send_command(id, Command::Enable, CommandOrigin::Internal, now);
            self.send_command(id, Command::Boot, CommandOrigin::Internal, now);
        }
        Ok(())
    }

    /// Renames several servers at once, so that servers can exchange their names. No server is restarted.
    ///
    /// Fails if a server is unknown, if a name is blank, or if a name belongs to another server after the change. Then
    /// no server is renamed.
    pub fn rename(&mut self, names: &[(ServerId, &str)]) -> Result<(), HubError> {
        if let Some((id, _)) = names.iter().find(|(id, _)| !self.servers.contains_key(id)) {
            return Err(HubError::unknown_server(*id));
        }
        self.names.set_all(names)?;
        for (id, name) in names {
            if let Some(managed) = self.servers.get(id) {
                self.catalogue.add(*id, name, managed.filter.clone());
                self.announce_catalogue();
            }
        }
        Ok(())
    }

    /// Sends a command to a server. The result follows in an [`Action::Reply`] with the same `command_id`.
    ///
    /// The command fails if the server is unknown. [`Command::Enable`] and [`Command::Disable`] do not change the
    /// stored configuration; [`set_enabled`](Self::set_enabled) changes it too.
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
        if let Some(managed) = self.servers.get_mut(&id) {
            managed.server.event(generation, event, now);
            self.drain_effects(id, now);
        } else if matches!(event, Event::Launched { .. }) {
            self.actions.push_back(Action::Perform { server: id, effect: Effect::Kill { generation } });
        }
    }

    /// Removes and returns the next action to perform, or returns `None` if there is none.
    pub fn poll_action(&mut self) -> Option<Action> {
        let action = self.actions.pop_front();
        if action == Some(Action::CatalogueChanged) {
            self.is_catalogue_announced = false;
        }
        if self.actions.is_empty() {
            self.actions.shrink_to(64);
        }
        action
    }

    /// Returns the time at which to call [`handle_timeout`](Self::handle_timeout), or `None` if no timeout is pending.
    pub fn poll_timeout(&self) -> Option<Timestamp> {
        [self.deadlines.first(), self.start_queue.deadline()].into_iter().flatten().min()
    }

    /// Handles all timeouts that have expired at `now`. Has no effect before the time that
    /// [`poll_timeout`](Self::poll_timeout) returns.
    pub fn handle_timeout(&mut self, now: Timestamp) {
        for id in self.deadlines.expired(now) {
            if let Some(managed) = self.servers.get_mut(&id) {
                managed.server.handle_timeout(now);
                self.drain_effects(id, now);
            }
        }
        self.start_queued(now);
    }

    /// Sets the tool list that a server had in an earlier run, for example from a cache on disk. See
    /// [`Server::remember`].
    pub fn remember(&mut self, id: ServerId, tools: Arc<ToolList>, now: Timestamp) {
        if let Some(managed) = self.servers.get_mut(&id) {
            managed.server.remember(tools);
            self.drain_effects(id, now);
        }
    }

    /// Sets the tool definitions that the host saved in an earlier run. [`Action::ToolsRedefined`] then reports the
    /// definitions that the server has changed since that run.
    ///
    /// Clients do not see these tools. Has no effect if definitions of the server are already known.
    pub fn set_known_tools(&mut self, id: ServerId, tools: &ToolList) {
        self.catalogue.set_known_tools(id, tools);
    }

    /// Marks all changed tools of a server as reviewed by the user.
    pub fn acknowledge_changes(&mut self, id: ServerId) {
        self.catalogue.acknowledge_changes(id);
    }

    /// Reloads the tool list of each server whose list has passed its time to live. Call this when a client reads the
    /// tools.
    pub fn touch(&mut self, now: Timestamp) {
        let ids: Vec<ServerId> = self.servers.keys().copied().collect();
        for id in ids {
            if let Some(managed) = self.servers.get_mut(&id) {
                managed.server.touch(now);
                self.drain_effects(id, now);
            }
        }
    }

    fn send_command(&mut self, id: ServerId, command: Command, origin: CommandOrigin, now: Timestamp) {
        let Some(managed) = self.servers.get_mut(&id) else { return };
        managed.is_urgent = match command {
            Command::Start | Command::Restart | Command::PrepareCall { .. } => true,
            Command::Boot => false,
            _ => managed.is_urgent,
        };
        managed.server.command(self.origins.add(origin), command, now);
        self.drain_effects(id, now);
    }

    fn drain_effects(&mut self, id: ServerId, now: Timestamp) {
        while let Some(effect) = self.servers.get_mut(&id).and_then(|managed| managed.server.poll_effect()) {
            match effect {
                Effect::Reply { command, result } => {
                    if let Some(origin) = self.origins.take(command) {
                        self.route_reply(id, origin, result);
                    }
                }
                Effect::ToolsChanged => {
                    let tools = self.servers.get(&id).and_then(|managed| managed.server.tools().cloned());
                    let changes = self.catalogue.set_tools(id, tools);
                    self.announce_catalogue();
                    if !changes.is_empty() {
                        self.actions.push_back(Action::ToolsRedefined { server: id, changes });
                    }
                }
                Effect::Resolve { generation } => self.start_or_queue(id, generation, now),
                effect => {
                    self.actions.push_back(Action::Perform { server: id, effect });
                }
            }
        }
        self.update_start_queue(id);
        let deadline = self.servers.get(&id).and_then(|managed| managed.server.poll_timeout());
        self.deadlines.set(id, deadline);
        self.remove_if_deleted(id);
        self.start_queued(now);
    }

    fn route_reply(&mut self, id: ServerId, origin: CommandOrigin, result: Result<(), HubError>) {
        match origin {
            CommandOrigin::Embedder(command) => self.reply(command, result),
            CommandOrigin::Internal => {}
            CommandOrigin::Boot => {
                let report = self.boot_progress.server_answered(&result);
                self.actions.extend(report);
            }
            CommandOrigin::Shutdown => {
                let answered = self.shutdown_progress.server_stopped();
                self.reply_to_all(answered);
            }
            CommandOrigin::Enable => {
                let closing = self.is_closing;
                let managed = self.servers.get_mut(&id);
                let action = managed.and_then(|managed| managed.start_finished(id, result, closing));
                self.actions.extend(action);
            }
            CommandOrigin::EnableFailed { command, error } => self.reply(command, Err(error)),
        }
    }

    fn reply(&mut self, command: CommandId, result: Result<(), HubError>) {
        self.actions.push_back(Action::Reply { command, result });
    }

    fn reply_to_all(&mut self, commands: Vec<CommandId>) {
        for command in commands {
            self.reply(command, Ok(()));
        }
    }

    fn announce_catalogue(&mut self) {
        if !self.is_catalogue_announced {
            self.is_catalogue_announced = true;
            // Another thread may read the tools while the embedder performs the other actions.
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
        let Some(managed) = self.servers.get_mut(&id) else { return self.start_queue.remove(id) };
        let state = managed.server.state();
        if state == State::Running || state.is_resting() {
            managed.is_urgent = false;
        }
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

    fn remove_if_deleted(&mut self, id: ServerId) {
        if self.servers.get(&id).is_none_or(|managed| managed.server.state() != State::Deleted) {
            return;
        }
        if let Some(managed) = self.servers.remove(&id) {
            self.last_generation = self.last_generation.max(managed.server.generation());
            self.names.remove(id);
            self.deadlines.set(id, None);
            if let Some(change) = managed.enabled_change {
                self.reply(change.command(), Err(HubError::new(ErrorKind::Cancelled, "the MCP server is deleted")));
            }
        }
        self.catalogue.remove(id);
        self.announce_catalogue();
        self.actions.push_back(Action::Removed { server: id });
    }
}

fn seed_of(id: ServerId) -> u64 {
    let half = |bits: u128| u64::try_from(bits & u128::from(u64::MAX)).unwrap_or_default();
    half(id.as_u128() >> 64) ^ half(id.as_u128()).rotate_left(29)
}
