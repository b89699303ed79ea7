//! The lifecycle of one server, as a sans-IO state machine.
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
//!     │              NeedsAuth,                                                       ▼
//!     └── stop ── Stopping  NeedsLogin, Failed                                    Resolving
//! ```
//!
//! A server that may have a process enters `Stopping`, and leaves it when the process is gone. A server therefore
//! never has two processes, and no process in a resting state. A launch cannot be interrupted: a stop waits until the
//! launch has finished, and then ends the process.

mod commands;
mod events;
mod io;
mod restarts;
mod state;
mod transitions;
mod upkeep;

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

pub use io::{Command, CommandId, Effect, Event};
pub use state::{Generation, McpStatus, ServerDetail, State};

use self::restarts::Restarts;
use self::state::{Attempt, NextState};
use crate::{HubError, Policy, ServerId};
use mcpwire_core::{Timestamp, ToolList};

/// The state machine of one server: start, restart, tool list refresh, health probes and shutdown.
///
/// Pass commands and events to the state machine, and perform the [effects](Effect) that it returns. Call
/// [`poll_effect`](Self::poll_effect) after every input until it returns `None`, and
/// [`handle_timeout`](Self::handle_timeout) at the time that [`poll_timeout`](Self::poll_timeout) returns.
///
/// ```
/// # mod mcpwire { pub mod hub { pub mod protocol { pub use mcpwire_core::Timestamp; } pub mod supervisor { pub use
/// # mcpwire_supervisor::{Command, CommandId, Effect, Event, PackageKind, Policy, Server, ServerId, State}; } } }
/// use mcpwire::hub::protocol::Timestamp;
/// use mcpwire::hub::supervisor::{Command, CommandId, Effect, Event, PackageKind, Policy, Server, ServerId, State};
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
    attempt: Attempt,
    /// When the current state times out, or `None` if it has no timeout.
    deadline: Option<Timestamp>,
    restarts: Restarts,
    /// Commands that wait until the server runs. Each command fails at the given time, or waits without limit if the
    /// time is `None`.
    start_waiters: Vec<(CommandId, Option<Timestamp>)>,
    /// Commands that wait until the server has stopped.
    stop_waiters: Vec<CommandId>,
    /// The current tool list. For a server that does not run, the last known list.
    tools: Option<Arc<ToolList>>,
    /// Whether the server is lazy, and is sleeping, falling asleep or waking up ([`State::Sleeping`]). Clients still
    /// see the tools of such a server.
    is_dormant: bool,
    /// The tool list that clients know from the last [`Effect::ToolsChanged`], to detect changes. `None` if the server
    /// offered no tools.
    announced: Option<Arc<ToolList>>,
    /// Whether a version negotiation has succeeded since the program or address last changed. If not, the start may
    /// have to download the package, and has a longer timeout.
    has_negotiated: bool,
    host_closing: bool,
    /// The error of the last failure. `None` if the server has run successfully since that failure, or has never failed.
    error: Option<HubError>,
    /// Number of tool calls since the server was added.
    calls: u64,
    /// When the server was last used. After [`Policy::idle_after`] without use, a lazy server is stopped.
    last_used: Timestamp,
    effects: VecDeque<Effect>,
}

impl Server {
    /// Creates the state machine of a server that is stopped, or disabled if `enabled` is `false`.
    ///
    /// `seed` randomizes the restart delays. Use a different seed for each server and host.
    pub fn new(id: ServerId, policy: Policy, enabled: bool, seed: u64, now: Timestamp) -> Self {
        Server {
            id,
            policy,
            state: if enabled { State::Stopped } else { State::Disabled },
            since: now,
            attempt: Attempt::default(),
            deadline: None,
            restarts: Restarts::new(seed),
            start_waiters: Vec::new(),
            stop_waiters: Vec::new(),
            tools: None,
            is_dormant: false,
            announced: None,
            has_negotiated: false,
            host_closing: false,
            error: None,
            calls: 0,
            last_used: now,
            effects: VecDeque::new(),
        }
    }

    /// Starts the count of generations after `generation`. Late events of a deleted server with the same id are then
    /// not mistaken for events of this server.
    pub(crate) fn continue_after(&mut self, generation: Generation) {
        self.attempt.generation = generation;
    }

    /// Handles a command from the embedder. The result follows in an [`Effect::Reply`] with the same `id`.
    pub fn command(&mut self, id: CommandId, command: Command, now: Timestamp) {
        self.handle_command(id, command, now);
        self.announce_tools();
    }

    /// Handles an event that occurred during one attempt to run the server. `generation` is the number of that attempt,
    /// from the [`Effect`] that the embedder performed.
    ///
    /// Events of earlier attempts are ignored. The only exception is a late [`Event::Launched`]: its process is killed
    /// with [`Effect::Kill`].
    pub fn event(&mut self, generation: Generation, event: Event, now: Timestamp) {
        if generation == self.attempt.generation {
            self.handle_event(event, now);
            self.announce_tools();
        } else if matches!(event, Event::Launched { .. }) {
            self.effects.push_back(Effect::Kill { generation });
        }
    }

    /// Removes and returns the next effect to perform, or returns `None` if there is none.
    pub fn poll_effect(&mut self) -> Option<Effect> {
        let effect = self.effects.pop_front();
        if self.effects.is_empty() {
            // Free memory after a burst of effects, because a host may have a thousand idle servers.
            self.effects.shrink_to(4);
        }
        effect
    }

    /// Returns the time at which to call [`handle_timeout`](Self::handle_timeout), or `None` if no timeout is pending.
    pub fn poll_timeout(&self) -> Option<Timestamp> {
        let waiters = self.start_waiters.iter().filter_map(|(_, by)| *by);
        waiters.chain(self.deadline).chain(self.maintenance_deadline()).min()
    }

    /// Handles all timeouts that have expired at `now`. Has no effect before the time that
    /// [`poll_timeout`](Self::poll_timeout) returns.
    pub fn handle_timeout(&mut self, now: Timestamp) {
        self.handle_expired_timeouts(now);
        self.announce_tools();
    }

    /// Returns the permanent id of the server.
    pub fn id(&self) -> ServerId {
        self.id
    }

    /// Returns the current state of the server.
    pub fn state(&self) -> State {
        self.state
    }

    /// Returns the number of the current attempt to run the server. The number increases when an attempt starts and
    /// when it ends, so that late events of an ended attempt are ignored.
    pub fn generation(&self) -> Generation {
        self.attempt.generation
    }

    /// Returns the current policy of the server: its timeouts, restarts, health probes and idle behaviour.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns the tools that the server offers, or `None` if it offers none.
    ///
    /// A server offers its tools while it runs. A lazy server also offers them while it is in [`State::Sleeping`], is
    /// being stopped to enter that state, or is being started from it.
    pub fn tools(&self) -> Option<&Arc<ToolList>> {
        if self.state == State::Running || self.is_dormant { self.tools.as_ref() } else { None }
    }

    /// Sets the tool list that the server had in an earlier run, for example from a cache on disk. Has no effect while
    /// the server starts, runs or stops.
    ///
    /// A lazy server with a known tool list need not start at boot: [`Command::Boot`] then puts it in
    /// [`State::Sleeping`].
    pub fn remember(&mut self, tools: Arc<ToolList>) {
        if self.state.is_resting() && self.state != State::Deleted {
            self.tools = Some(tools);
            self.announce_tools();
        }
    }

    /// Requests the tool list again if it has expired. Call this function when a client reads the tools.
    ///
    /// The expired list stays visible until the new list arrives.
    pub fn touch(&mut self, now: Timestamp) {
        if self.state == State::Running {
            self.attempt.refreshes.refresh_if_expired(&self.policy, now);
        }
    }

    /// Returns when the tool list expires, or `None` if the list does not expire, a refresh is in progress or the
    /// server does not run.
    pub(crate) fn stale_at(&self) -> Option<Timestamp> {
        self.attempt.refreshes.stale_at().filter(|_| self.state == State::Running)
    }

    /// Returns whether the server can receive a tool call now. If not, send [`Command::PrepareCall`] to wait for the
    /// server.
    pub fn is_ready(&self) -> bool {
        self.state == State::Running
    }

    /// Returns the simplified state of the server, to show to users.
    ///
    /// The status of a running server contains the names of all its tools. In contrast,
    /// [`Supervisor::status`](crate::Supervisor::status) omits the tools that the server's filter excludes.
    pub fn status(&self) -> McpStatus {
        match self.state {
            State::Disabled => McpStatus::Disabled,
            State::Running => {
                let tools = self.tools.iter().flat_map(|tools| &tools.listed().items);
                McpStatus::Running { tools: tools.map(|tool| tool.name.clone()).collect() }
            }
            state if state.is_starting() => McpStatus::Starting,
            State::Backoff | State::NeedsInput | State::NeedsAuth | State::NeedsLogin | State::Failed => {
                let message = self.error.as_ref().map(|error| error.message().into());
                McpStatus::Error { message: message.unwrap_or_default() }
            }
            _ => McpStatus::Stopped,
        }
    }

    /// Returns whether the server is in [`State::NeedsAuth`] or [`State::NeedsLogin`], or will enter that state when it has
    /// stopped.
    pub(crate) fn requires_login(&self) -> bool {
        let state = match self.attempt.stopping.map(|stopping| stopping.then) {
            Some(NextState::Rest(state)) => state,
            _ => self.state,
        };
        matches!(state, State::NeedsAuth | State::NeedsLogin)
    }

    /// Returns a detailed snapshot of the server's lifecycle, for diagnostics.
    pub fn detail(&self) -> ServerDetail {
        ServerDetail {
            state: self.state,
            since: self.since,
            generation: self.attempt.generation,
            attempt: self.restarts.failures,
            retry_at: if self.state == State::Backoff { self.deadline } else { None },
            pid: self.attempt.pid,
            version: self.attempt.version.clone(),
            tools: self.tools.as_ref().map_or(0, |tools| tools.listed().items.len()),
            restarts: self.restarts.total,
            calls_in_flight: self.attempt.calls_in_flight,
            calls: self.calls,
            last_error: self.error.clone(),
        }
    }

    fn enter(&mut self, state: State, deadline: Option<Timestamp>, now: Timestamp) {
        self.deadline = deadline;
        if self.state != state {
            self.state = state;
            self.since = now;
            self.effects.push_back(Effect::Changed { state });
        }
    }

    fn reply(&mut self, command: CommandId, result: Result<(), HubError>) {
        self.effects.push_back(Effect::Reply { command, result });
    }

    fn announce_tools(&mut self) {
        if self.tools().map(Arc::as_ptr) != self.announced.as_ref().map(Arc::as_ptr) {
            self.announced = self.tools().cloned();
            self.effects.push_back(Effect::ToolsChanged);
        }
    }
}
