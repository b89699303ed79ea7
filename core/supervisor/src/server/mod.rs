//! The life of one server, as a machine that does nothing by itself.
//!
//! ```text
//!  Disabled ◀── disable ── (any)          delete ──▶ Deleted
//!     │ enable
//!     ▼      start                                              exit, no answer
//!  Stopped ────────▶ Resolving ─▶ Launching ─▶ Negotiating ─▶ Listing ─▶ Running
//!     ▲                 ▲  │           │            │            │         │  │ idle
//!     │                 │  │           └────────────┴── failed ──┴─────────┘  ▼
//!     │            wait │  ▼                        ▼                     Stopping ─▶ Sleeping
//!     │              Backoff, NeedsInput, ◀──── Stopping                              │ call
//!     │              NeedsAuth, Failed                                                ▼
//!     └── stop ── Stopping                                                        Resolving
//! ```
//!
//! Whatever may have a process goes through `Stopping` and leaves it when nothing is left; so there is never a second
//! process beside a first one, and none in a state of rest. A process that is being started cannot be ended yet: stopping
//! waits until the launch has ended, one way or the other, and ends what came of it.

mod attempt;
mod commands;
mod events;
mod io;
mod restarts;
mod state;
mod timeouts;
mod upkeep;
mod waiting;

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::sync::Arc;

pub use io::{Command, CommandId, Effect, Event, Generation};
pub use state::{Detail, State, Status};

use self::attempt::{Stopping, Then};
use self::restarts::Restarts;
use self::upkeep::{Probes, Refreshes};
use self::waiting::Waiting;
use super::{ErrorContract, Policy, ServerId};
use mcpwire_core::Timestamp;
use mcpwire_core::ToolList;

/// The life of one server.
///
/// Commands and events go in, effects come out; in between the embedder waits, but not beyond [`poll_timeout`](Self::poll_timeout).
///
/// ```
/// use mcpwire_core::Timestamp;
/// use mcpwire_supervisor::{Command, CommandId, Effect, Event, PackageKind, Policy, Server, ServerId, State};
///
/// let now = Timestamp::ORIGIN;
/// let mut server = Server::new(ServerId::from_random(1), Policy::new(PackageKind::Binary), true, 7, now);
/// server.command(CommandId(1), Command::Start, now);
/// while let Some(effect) = server.poll_effect() {
///     match effect {
///         Effect::Resolve { generation } => server.event(generation, Event::Resolved, now),
///         Effect::Launch { generation } => server.event(generation, Event::Launched { pid: Some(42) }, now),
///         Effect::Negotiate { generation, .. } => {
///             server.event(generation, Event::Negotiated { version: "2026-07-28".into() }, now);
///         }
///         Effect::List { generation } => {
///             server.event(generation, Event::Listed { tools: Default::default(), ttl: None }, now);
///         }
///         Effect::Reply { command, result } => assert_eq!((command, result), (CommandId(1), Ok(()))),
///         Effect::Changed { .. } | Effect::ToolsChanged => {}
///         other => unreachable!("{other:?}"),
///     }
/// }
/// assert_eq!(server.state(), State::Running);
/// ```
#[derive(Debug)]
pub struct Server {
    id: ServerId,
    policy: Policy,
    state: State,
    since: Timestamp,
    generation: Generation,
    life: Life,
    /// Only in [`State::Stopping`].
    stopping: Option<Stopping>,
    /// When the state ends by itself.
    deadline: Option<Timestamp>,
    restarts: Restarts,
    waiting: Waiting,
    refreshes: Refreshes,
    probes: Probes,
    /// What it offers, or offered when it was put to sleep.
    tools: Option<Arc<ToolList>>,
    /// Whether those tools are still to be shown while it does not run: it sleeps, falls asleep or wakes up.
    dozes: bool,
    /// What the last [`Effect::ToolsChanged`] was about.
    shown: Option<Arc<ToolList>>,
    /// Whether this configuration has ever come so far as to agree on a version.
    proven: bool,
    /// Whether the host ends.
    closing: bool,
    pid: Option<u32>,
    version: Option<String>,
    error: Option<ErrorContract>,
    calls_in_flight: u32,
    calls: u64,
    /// When the last call ended.
    called: Timestamp,
    effects: VecDeque<Effect>,
}

/// Whether there is a process, or whatever stands for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    None,
    /// It has been ordered, and what came of that has not been told yet.
    Ordered,
    Alive,
}

impl Server {
    /// A server that has not been started. `seed` is where chance comes from: it should differ from server to server, and
    /// from host to host.
    pub fn new(id: ServerId, policy: Policy, enabled: bool, seed: u64, now: Timestamp) -> Self {
        Server {
            id,
            policy,
            state: if enabled { State::Stopped } else { State::Disabled },
            since: now,
            generation: Generation(0),
            life: Life::None,
            stopping: None,
            deadline: None,
            restarts: Restarts::new(seed),
            waiting: Waiting::default(),
            refreshes: Refreshes::default(),
            probes: Probes::default(),
            tools: None,
            dozes: false,
            shown: None,
            proven: false,
            closing: false,
            pid: None,
            version: None,
            error: None,
            calls_in_flight: 0,
            calls: 0,
            called: now,
            effects: VecDeque::new(),
        }
    }

    /// Counts its attempts from there on.
    pub(crate) fn begin_after(&mut self, generation: Generation) {
        self.generation = generation;
    }

    /// Takes in what somebody wants of it.
    pub fn command(&mut self, id: CommandId, command: Command, now: Timestamp) {
        self.obey(id, command, now);
        self.show_tools();
    }

    /// Takes in what has happened. Events of another generation than the present one are of no effect, with one exception: a
    /// process that comes up after its launch was given up is killed.
    pub fn event(&mut self, generation: Generation, event: Event, now: Timestamp) {
        if generation == self.generation {
            self.take_in(event, now);
            self.show_tools();
        } else if matches!(event, Event::Launched { .. }) {
            self.effects.push_back(Effect::Kill { generation });
        }
    }

    /// What is to be done next; `None` if nothing is.
    pub fn poll_effect(&mut self) -> Option<Effect> {
        let effect = self.effects.pop_front();
        if self.effects.is_empty() {
            // A thousand servers at rest keep no memory for the busiest moment of each.
            self.effects.shrink_to(4);
        }
        effect
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called, if nothing happens before.
    pub fn poll_timeout(&self) -> Option<Timestamp> {
        [self.deadline, self.waiting.deadline(), self.upkeep_deadline()].into_iter().flatten().min()
    }

    /// Takes in that time has passed. Too early is of no effect, and too late makes up for itself.
    pub fn handle_timeout(&mut self, now: Timestamp) {
        self.pass_time(now);
        self.show_tools();
    }

    /// Which server it is.
    pub fn id(&self) -> ServerId {
        self.id
    }

    /// Where it is in its life.
    pub fn state(&self) -> State {
        self.state
    }

    /// The attempt that is under way, or was the last one.
    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// The rules that it lives by.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The tools that it offers: while it runs, and while it sleeps, falls asleep or wakes up, for then a call finds it
    /// running. `None` in every other state.
    pub fn tools(&self) -> Option<&Arc<ToolList>> {
        if self.state == State::Running || self.dozes { self.tools.as_ref() } else { None }
    }

    /// What its tools were when it ran last, from a cache on disk. A lazy server that has them need not be started to learn
    /// them. Of no effect while it runs or is starting.
    pub fn remember(&mut self, tools: Arc<ToolList>) {
        if self.state.is_resting() && self.state != State::Deleted {
            self.tools = Some(tools);
            self.show_tools();
        }
    }

    /// Says that its tools are being looked at: those that have passed their time are asked for again. What is there is shown
    /// until then, however old it is.
    pub fn touch(&mut self, now: Timestamp) {
        if self.state == State::Running {
            self.refreshes.touched(&self.policy, now);
        }
    }

    /// From when on [`touch`](Self::touch) is of any effect, if nothing happens before.
    pub(crate) fn stale_at(&self) -> Option<Timestamp> {
        self.refreshes.stale_at().filter(|_| self.state == State::Running)
    }

    /// Whether a call may be sent right now. A call is only sent to a server that runs; see [`Command::Reach`] for the others.
    pub fn is_ready(&self) -> bool {
        self.state == State::Running
    }

    /// Its state as hosts show it. The tools have the names that the server calls them by.
    pub fn status(&self) -> Status {
        match self.state {
            State::Disabled => Status::Disabled,
            State::Running => {
                let tools = self.tools.iter().flat_map(|tools| &tools.listed().items);
                Status::Running { tools: tools.map(|tool| tool.name.clone()).collect() }
            }
            state if state.is_starting() => Status::Starting,
            State::Backoff | State::NeedsInput | State::NeedsAuth | State::Failed => {
                Status::Error { message: self.error.as_ref().map(|error| error.message.clone()).unwrap_or_default() }
            }
            _ => Status::Stopped,
        }
    }

    /// Whether the last attempt failed because a login is wanted, also while what is left of it is being ended.
    pub(crate) fn wants_login(&self) -> bool {
        let then = self.stopping.map(|stopping| stopping.then);
        self.state == State::NeedsAuth || then == Some(Then::Rest(State::NeedsAuth))
    }

    /// All that is known.
    pub fn detail(&self) -> Detail {
        Detail {
            state: self.state,
            since: self.since,
            generation: self.generation,
            attempt: self.restarts.attempt(),
            retry_at: if self.state == State::Backoff { self.deadline } else { None },
            pid: self.pid,
            version: self.version.clone(),
            tools: self.tools.as_ref().map_or(0, |tools| tools.listed().items.len()),
            restarts: self.restarts.total(),
            calls_in_flight: self.calls_in_flight,
            calls: self.calls,
            last_error: self.error.clone(),
        }
    }

    /// The one place where the state changes.
    fn enter(&mut self, state: State, deadline: Option<Timestamp>, now: Timestamp) {
        self.deadline = deadline;
        if self.state != state {
            self.state = state;
            self.since = now;
            self.effects.push_back(Effect::Changed { state });
        }
    }

    fn reply(&mut self, command: CommandId, result: Result<(), ErrorContract>) {
        self.effects.push_back(Effect::Reply { command, result });
    }

    fn show_tools(&mut self) {
        let same = match (self.tools(), &self.shown) {
            (Some(tools), Some(shown)) => Arc::ptr_eq(tools, shown),
            (None, None) => true,
            _ => false,
        };
        if !same {
            self.shown = self.tools().cloned();
            self.effects.push_back(Effect::ToolsChanged);
        }
    }
}
