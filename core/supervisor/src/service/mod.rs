//! All servers of a host: their machines, their tools, and what concerns more than one of them.

mod boot;
mod calls;
mod gate;
mod routing;
mod toggle;

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

pub use calls::Refusal;

use self::boot::{Boot, Closing};
use self::gate::Gate;
use self::routing::Origin;
use self::toggle::Toggle;
use super::{
    Catalogue, CatalogueBuilder, Command, CommandId, Detail, Effect, ErrorContract, Event, Filter, Generation, Policy,
    Rate, RateLimiter, Server, ServerId, Status, ToolChange, ToolChanges,
};
use mcpwire_core::Timestamp;
use mcpwire_core::ToolList;

/// What is the same for all servers of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SupervisorSettings {
    /// So many servers are started at once when all are, or when they restart by themselves. What somebody asks for is
    /// started at once. 8.
    pub starts: usize,
    /// So many of them by the same package manager, for these lock their caches. 2.
    pub starts_of_a_kind: usize,
    /// A start that takes longer than this does not keep others waiting. 10 s.
    pub slot_for: Duration,
    /// The longest name of a tool. 64 characters.
    pub longest_name: usize,
}

impl Default for SupervisorSettings {
    fn default() -> Self {
        SupervisorSettings { starts: 8, starts_of_a_kind: 2, slot_for: Duration::from_secs(10), longest_name: 64 }
    }
}

/// What is configured of a server, as far as its life is concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spec {
    /// Its name for people: not blank, and unlike that of any other server, in whatever case.
    pub name: String,
    /// Whether it may be started.
    pub enabled: bool,
    /// The rules that it lives by.
    pub policy: Policy,
    /// Which of its tools are offered. All by default.
    pub filter: Filter,
    /// How many calls it is sent; `None` is no limit. 60 a minute by default.
    pub rate: Option<Rate>,
    /// Names the version of the configuration that this is from: a change that was made to another version is refused.
    pub revision: u64,
}

impl Spec {
    /// An enabled server with the defaults.
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

/// What is to be done for the host, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// An effect of a server's machine. Replies and changes of tools are none of them: they are the two below.
    Perform {
        /// Which server.
        server: ServerId,
        /// What to do.
        effect: Effect,
    },
    /// A command is answered.
    Reply {
        /// Which one.
        command: CommandId,
        /// How it ended.
        result: Result<(), ErrorContract>,
    },
    /// Write the flag to the configuration, if it still has that revision; tell the outcome to
    /// [`Supervisor::persisted`], always.
    Persist {
        /// Whose flag.
        server: ServerId,
        /// What it is to be.
        enabled: bool,
        /// The revision that the change is made to.
        revision: u64,
    },
    /// [`Supervisor::catalogue`] returns another catalogue. Comes before all other pending actions, so an embedder that
    /// replaces its snapshot here has done so before any command is answered.
    CatalogueChanged,
    /// A server describes tools in another way than when they were last listed: whoever has agreed to them should look again.
    ToolsRedefined {
        /// Which server.
        server: ServerId,
        /// Which tools, and what of them.
        changes: ToolChanges,
    },
    /// Everything that was started by [`Supervisor::boot`] runs, sleeps or has failed.
    Booted {
        /// So many run or sleep.
        ready: usize,
        /// So many have failed; those among them that may recover are started again.
        failed: usize,
        /// So many were stopped before they ran.
        cancelled: usize,
    },
    /// A server has been deleted, and nothing is left of it.
    Removed {
        /// Which one.
        server: ServerId,
    },
}

/// All servers of a host, as one machine.
///
/// It is driven like one [`Server`]: commands and events go in, [actions](Action) come out.
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
    /// Names as they are compared.
    names: BTreeMap<String, ServerId>,
    catalogue: CatalogueBuilder,
    catalogue_told: bool,
    timers: BTreeSet<(Timestamp, ServerId)>,
    gate: Gate,
    /// Commands that were given to a machine, by the names that they have there.
    origins: BTreeMap<CommandId, Origin>,
    next_command: u64,
    /// Servers begin where deleted ones have ended: what is left of those is known to be old.
    last_generation: Generation,
    boot: Option<Boot>,
    closing: Option<Closing>,
    /// The host ends, or has ended.
    closed: bool,
    actions: VecDeque<Action>,
}

#[derive(Debug)]
struct Managed {
    server: Server,
    /// The name as it is compared.
    key: String,
    enabled: bool,
    revision: u64,
    filter: Filter,
    rate: RateLimiter,
    toggle: Option<Toggle>,
    /// When its machine wants to be called.
    timer: Option<Timestamp>,
    /// Somebody waits for it: it is started without waiting for its turn.
    urgent: bool,
}

impl Supervisor {
    /// No servers. `seed` is where chance comes from: it should differ from host to host, and no server should know it.
    pub fn new(settings: SupervisorSettings, seed: u64) -> Self {
        Supervisor {
            catalogue: CatalogueBuilder::with_longest_name(settings.longest_name).seeded(seed),
            settings,
            seed,
            servers: BTreeMap::new(),
            names: BTreeMap::new(),
            catalogue_told: false,
            timers: BTreeSet::new(),
            gate: Gate::default(),
            origins: BTreeMap::new(),
            next_command: 0,
            last_generation: Generation(0),
            boot: None,
            closing: None,
            closed: false,
            actions: VecDeque::new(),
        }
    }

    /// Takes in a server that has been configured. It is not started by that.
    ///
    /// An id or a name that another server has is a conflict, and a blank name is invalid.
    pub fn add(&mut self, id: ServerId, spec: Spec, now: Timestamp) -> Result<(), ErrorContract> {
        if self.closed {
            return Err(ErrorContract::unavailable("the host is shutting down"));
        }
        if self.servers.contains_key(&id) {
            return Err(ErrorContract::conflict("id", alloc::format!("an MCP with this id exists: {id}")));
        }
        let key = self.check_name(&spec.name, id)?;
        let seed = self.seed ^ fold(id);
        let mut server = Server::new(id, spec.policy, spec.enabled, seed, now);
        server.begin_after(self.last_generation);
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

    /// Takes in another configuration of a server. `replaced` says whether what is run is another: a server that runs is then
    /// started anew, and what was known of its tools is forgotten. Without it, everything is applied in place: name, filter,
    /// rate, times. Where the flag has changed, the server is ended, or started as [`boot`](Self::boot) does.
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
            self.catalogue.expect_others(id);
        }
        self.tell_catalogue();
        if !spec.enabled && was {
            self.give(id, Command::Disable, Origin::Nobody, now);
        }
        self.give(id, Command::Configure { policy: spec.policy.into(), replaced }, Origin::Nobody, now);
        if spec.enabled && !was {
            self.give(id, Command::Enable, Origin::Nobody, now);
            self.give(id, Command::Boot, Origin::Nobody, now);
        }
        Ok(())
    }

    /// Takes in what somebody wants of a server. `Enable` and `Disable` are not written to the configuration; see
    /// [`set_enabled`](Self::set_enabled) for that. A server that has been deleted is known no more as soon as nothing is
    /// left of it.
    pub fn command(&mut self, id: ServerId, command_id: CommandId, command: Command, now: Timestamp) {
        if self.servers.contains_key(&id) {
            self.give(id, command, Origin::Embedder(command_id), now);
        } else {
            self.reply(command_id, Err(ErrorContract::unknown_server(id)));
        }
    }

    /// Takes in what has happened to a server.
    pub fn event(&mut self, id: ServerId, generation: Generation, event: Event, now: Timestamp) {
        if let Some(managed) = self.servers.get_mut(&id) {
            managed.server.event(generation, event, now);
            self.pump(id, now);
        } else if matches!(event, Event::Launched { .. }) {
            self.actions.push_back(Action::Perform { server: id, effect: Effect::Kill { generation } });
        }
    }

    /// What is to be done next; `None` if nothing is.
    pub fn poll_action(&mut self) -> Option<Action> {
        let action = self.actions.pop_front();
        if action == Some(Action::CatalogueChanged) {
            self.catalogue_told = false;
        }
        if self.actions.is_empty() {
            self.actions.shrink_to(64);
        }
        action
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called, if nothing happens before.
    pub fn poll_timeout(&self) -> Option<Timestamp> {
        let first = self.timers.first().map(|(at, _)| *at);
        [first, self.gate.deadline()].into_iter().flatten().min()
    }

    /// Takes in that time has passed.
    pub fn handle_timeout(&mut self, now: Timestamp) {
        let due: Vec<ServerId> = self.timers.iter().take_while(|(at, _)| *at <= now).map(|(_, id)| *id).collect();
        for id in due {
            if let Some(managed) = self.servers.get_mut(&id) {
                managed.server.handle_timeout(now);
                self.pump(id, now);
            }
        }
        self.open_gate(now);
    }

    /// What a server's tools were when it ran last; see [`Server::remember`].
    pub fn remember(&mut self, id: ServerId, tools: Arc<ToolList>, now: Timestamp) {
        if let Some(managed) = self.servers.get_mut(&id) {
            managed.server.remember(tools);
            self.pump(id, now);
        }
    }

    /// What a server's tools were when they were last listed, for what is different then to be told
    /// ([`Action::ToolsRedefined`]); of no effect once it has listed them. [`remember`](Self::remember) says as much.
    pub fn expect_tools(&mut self, id: ServerId, tools: &ToolList) {
        self.catalogue.expect_tools(id, tools);
    }

    /// The tools of a server that were described in another way, until [`changes_seen`](Self::changes_seen): 100 at most.
    pub fn changes(&self, id: ServerId) -> Vec<ToolChange> {
        self.catalogue.changes(id)
    }

    /// Somebody has looked at the changes of a server's tools.
    pub fn changes_seen(&mut self, id: ServerId) {
        self.catalogue.changes_seen(id);
    }

    /// Says that the tools are being looked at; see [`Server::touch`].
    pub fn touch(&mut self, now: Timestamp) {
        let ids: Vec<ServerId> = self.servers.keys().copied().collect();
        for id in ids {
            if let Some(managed) = self.servers.get_mut(&id) {
                managed.server.touch(now);
                self.pump(id, now);
            }
        }
    }

    /// From when on [`touch`](Self::touch) is of any effect; `None` if it is of none until a list has come, or could not be had
    /// again. Looks at all servers: to be asked for when that has happened, and not at each look at the tools.
    pub fn stale_at(&self) -> Option<Timestamp> {
        self.servers.values().filter_map(|managed| managed.server.stale_at()).min()
    }

    /// The tools that are offered now.
    pub fn catalogue(&mut self) -> Arc<Catalogue> {
        self.catalogue.catalogue()
    }

    /// Returns the server that the exposed name of a tool belongs to, whether it runs or not: see
    /// [`CatalogueBuilder::server_of`].
    pub fn server_of_tool(&mut self, exposed: &str) -> Option<ServerId> {
        self.catalogue.server_of(exposed)
    }

    /// A server's state as hosts show it, with those of its tools that are offered; `None` if there is no such server.
    pub fn status(&self, id: ServerId) -> Option<Status> {
        let managed = self.servers.get(&id)?;
        let mut status = managed.server.status();
        if let Status::Running { tools } = &mut status {
            tools.retain(|tool| managed.filter.permits(tool));
        }
        Some(status)
    }

    /// All that is known of a server's life.
    pub fn detail(&self, id: ServerId) -> Option<Detail> {
        self.servers.get(&id).map(|managed| managed.server.detail())
    }

    /// The servers, in the order of their ids.
    pub fn ids(&self) -> impl Iterator<Item = ServerId> {
        self.servers.keys().copied()
    }

    /// How many servers there are.
    pub fn len(&self) -> usize {
        self.servers.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.servers.is_empty()
    }

    /// The revision of a server's configuration that is in force.
    pub fn revision(&self, id: ServerId) -> Option<u64> {
        self.servers.get(&id).map(|managed| managed.revision)
    }

    /// The name as it is compared, if this server may have it.
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

fn fold(id: ServerId) -> u64 {
    let half = |bits: u128| u64::try_from(bits & u128::from(u64::MAX)).unwrap_or_default();
    half(id.as_u128() >> 64) ^ half(id.as_u128()).rotate_left(29)
}
