//! What goes into a server's machine and what comes out of it.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use core::time::Duration;

use super::{Policy, State};
use crate::{ErrorContract, Failure};
use mcpwire_core::Timestamp;
use mcpwire_core::ToolList;

/// One attempt to run a server. Effects carry the generation that they are for, and events that of the effect that they
/// come of; so what an earlier attempt still has to say is known to be old.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Generation(pub u64);

/// Names a command, so that its answer finds the one who waits for it. The embedder picks it; it is not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommandId(pub u64);

/// What somebody wants of a server. Each is answered by exactly one [`Effect::Reply`], at once or when it is done.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Command {
    /// Start it. Answered when it runs, or when it cannot be started. Where restarts had been given up, they are not any more.
    Start,
    /// Start it as a part of starting everything: a lazy server whose tools are [known](super::Server::remember) goes to
    /// sleep instead.
    Boot,
    /// End it, until it is asked for again. Answered when nothing of it is left. Given twice, the second one ends it by force.
    Stop,
    /// End it and start it. Answered when it runs, or when it cannot be started.
    Restart,
    /// Take back a `Disable`. It is not started by that.
    Enable,
    /// End it, and refuse to start it.
    Disable,
    /// End it for good. Answered when nothing of it is left.
    Delete,
    /// Live by other rules from now on. Answered at once.
    Configure {
        /// The rules.
        policy: Box<Policy>,
        /// Whether what is run has changed with them: a server that runs, or that tries to, is started anew, and what was
        /// known of its tools is forgotten.
        replaced: bool,
    },
    /// Have it ready for a call. Answered when it runs; a server that sleeps is woken. Everything else that is not running is
    /// refused at once, but for [`Policy::call_wait_start`].
    Reach {
        /// How long the caller can wait.
        by: Timestamp,
    },
    /// End it, whatever it takes, because the host ends. Nothing is started after that.
    Shutdown {
        /// When to be done. One second before, it is ended by force.
        by: Timestamp,
    },
}

/// What has happened to a server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// [`Effect::Resolve`] is done.
    Resolved,
    /// [`Effect::Launch`] is done: there is a process, or a connection that it takes for one.
    Launched {
        /// Its process, where it has one.
        pid: Option<u32>,
    },
    /// [`Effect::Negotiate`] is done.
    Negotiated {
        /// The protocol's version that both speak.
        version: String,
    },
    /// [`Effect::List`] or [`Effect::Refresh`] is done.
    Listed {
        /// All the server's tools.
        tools: Arc<ToolList>,
        /// For how long they hold, where the server says so (2026-07-28, `ttlMs`): see
        /// [`CacheHints::stale_after`](mcpwire_core::CacheHints::stale_after).
        ttl: Option<Duration>,
    },
    /// The effect that was to be performed has failed. Of a launch that has failed nothing is left; after anything else, the
    /// connection is there still, unless [`Event::Closed`] says more.
    Failed(Failure),
    /// [`Effect::Refresh`] has failed. The list of before is believed for a while longer.
    RefreshFailed,
    /// The connection has ended without being asked to: the process has exited, its output is closed, its input is broken.
    /// Processes may be left.
    Closed(Failure),
    /// Nothing is left of this generation: no process, no container, no connection.
    Gone,
    /// The server says that its tools have changed.
    ListChanged,
    /// [`Effect::Probe`] is done, and the server has answered, with an error if need be.
    Probed,
    /// The server has not answered [`Effect::Probe`].
    ProbeFailed,
    /// Something came from the server. Need not be told each time: only the probes rest on it.
    Heard,
    /// Time has jumped, or there is another reason to doubt that the connection still is one: a probe is sent.
    Doubted,
    /// A call has been sent.
    CallStarted,
    /// A call has ended, however it did. Told once for each one that was told to have started.
    CallEnded,
}

/// What is to be done. Effects are to be performed in order; none of them is waited for before the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effect {
    /// Find out what to run: secrets, variables, the environment. Answer with [`Event::Resolved`] or [`Event::Failed`]. There
    /// is no limit of time: a person may have to unlock something.
    Resolve {
        /// For which attempt.
        generation: Generation,
    },
    /// Start the process, or open the connection. Answer with [`Event::Launched`] or [`Event::Failed`], always: a process
    /// that nobody knows of would be left behind.
    Launch {
        /// For which attempt.
        generation: Generation,
    },
    /// Agree on a version. Answer with [`Event::Negotiated`] or [`Event::Failed`].
    Negotiate {
        /// For which attempt.
        generation: Generation,
        /// The time that it is given; it is kept here, and useful where the connection has a limit of its own.
        timeout: Duration,
    },
    /// Ask for all tools. Answer with [`Event::Listed`] or [`Event::Failed`].
    List {
        /// For which attempt.
        generation: Generation,
    },
    /// Ask for all tools again. Answer with [`Event::Listed`] or [`Event::RefreshFailed`].
    Refresh {
        /// For which attempt.
        generation: Generation,
    },
    /// See whether the server answers at all: `ping`, or `server/discover` where there is no ping. Answer with
    /// [`Event::Probed`] or [`Event::ProbeFailed`].
    Probe {
        /// For which attempt.
        generation: Generation,
    },
    /// No call in flight will be answered: let each of them fail with this.
    FailCalls {
        /// For which attempt.
        generation: Generation,
        /// What its callers are to be told.
        error: ErrorContract,
    },
    /// End it politely, on the [ladder](mcpwire_core::shutdown): close its input, wait, terminate its group, wait, kill. Answer with
    /// [`Event::Gone`] when nothing is left.
    Stop {
        /// For which attempt.
        generation: Generation,
    },
    /// End it by force, and at once, its whole group and its container. Answer with [`Event::Gone`]. It may be for an attempt
    /// that was given up long ago.
    Kill {
        /// For which attempt.
        generation: Generation,
    },
    /// It could not be ended. Nothing more is tried; say so in the log.
    Abandoned {
        /// Which attempt.
        generation: Generation,
    },
    /// A command is answered.
    Reply {
        /// Which one.
        command: CommandId,
        /// How it ended.
        result: Result<(), ErrorContract>,
    },
    /// The state is another.
    Changed {
        /// Which one.
        state: State,
    },
    /// The [tools](super::Server::tools) are others.
    ToolsChanged,
}
