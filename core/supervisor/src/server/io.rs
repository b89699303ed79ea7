//! The inputs and outputs of the [`Server`](super::Server) state machine.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use core::time::Duration;

use super::Policy;
use super::state::{Generation, State};
use crate::{ErrorContract, Failure};
use mcpwire_core::Timestamp;
use mcpwire_core::ToolList;

/// Identifies a command in its [`Effect::Reply`]. The embedder chooses the number; the server does not interpret it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommandId(pub u64);

/// A request to a server. Each command is answered by exactly one [`Effect::Reply`], at once or upon completion.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Command {
    /// Starts the server. Answered when the server runs or has failed to start. Resets the restart budget, so a server
    /// in [`State::Failed`] is tried again.
    Start,
    /// Starts the server as part of starting all servers. A lazy server whose tools are
    /// [known](super::Server::remember) goes to sleep instead.
    Boot,
    /// Stops the server until it is started again. Answered when no process is left. A second `Stop` kills the server.
    Stop,
    /// Stops and starts the server. Answered when the server runs or has failed to start.
    Restart,
    /// Reverts a `Disable`. Does not start the server.
    Enable,
    /// Stops the server and rejects every start until `Enable`.
    Disable,
    /// Stops the server permanently. Answered when no process is left.
    Delete,
    /// Replaces the policy. Answered at once.
    Configure {
        /// The new policy.
        policy: Box<Policy>,
        /// Whether the launched program or address has changed. If so, a running or starting server is restarted and
        /// its known tools are discarded.
        replaced: bool,
    },
    /// Requests that the server be ready for a call, and wakes a sleeping server. Answered when the server runs.
    ///
    /// Fails at once if the server neither runs nor sleeps. A starting server is awaited for at most
    /// [`Policy::call_wait_start`].
    PrepareCall {
        /// Latest time at which the caller needs the answer.
        by: Timestamp,
    },
    /// Stops the server because the host shuts down. Rejects every later start.
    Shutdown {
        /// Latest time at which the server must be gone. It is killed one second earlier.
        by: Timestamp,
    },
}

/// An event that the embedder reports to a server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// [`Effect::Resolve`] succeeded.
    Resolved,
    /// [`Effect::Launch`] succeeded: the process runs, or the HTTP connection is ready.
    Launched {
        /// Process id; `None` for a server without a local process.
        pid: Option<u32>,
    },
    /// [`Effect::Negotiate`] succeeded.
    Negotiated {
        /// The negotiated protocol version.
        version: String,
    },
    /// [`Effect::List`] or [`Effect::Refresh`] succeeded.
    Listed {
        /// The complete tool list of the server.
        tools: Arc<ToolList>,
        /// How long the list is fresh, if the server declares it (`ttlMs` of version 2026-07-28). See
        /// [`CacheHints::stale_after`](mcpwire_core::CacheHints::stale_after).
        ttl: Option<Duration>,
    },
    /// The requested effect failed.
    ///
    /// A failed launch leaves no process. After any other failed effect the connection is still open, unless
    /// [`Event::Closed`] follows.
    Failed(Failure),
    /// [`Effect::Refresh`] failed. The server keeps its previous tool list and retries later.
    RefreshFailed,
    /// The connection ended unexpectedly: the process exited, its stdout closed or its stdin broke. Child processes may
    /// still exist.
    Closed(Failure),
    /// This generation is gone: no process, no container and no connection is left.
    Gone,
    /// The server sent `notifications/tools/list_changed`.
    ListChanged,
    /// The server answered [`Effect::Probe`], with a result or an error.
    Probed,
    /// The server did not answer [`Effect::Probe`].
    ProbeFailed,
    /// A message arrived from the server. Postpones the next health probe; need not be reported for every message.
    MessageReceived,
    /// The connection may be dead, for example after the machine slept. The server probes it at once.
    ConnectionSuspect,
    /// A tool call was sent.
    CallStarted,
    /// A tool call ended, with any outcome. Report it exactly once for each [`Event::CallStarted`].
    CallEnded,
}

/// An operation that the server asks the embedder to perform.
///
/// Start effects in order, but do not wait for one to finish before starting the next.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effect {
    /// Resolve the launch configuration: secrets, variables and environment. Answer with [`Event::Resolved`] or
    /// [`Event::Failed`].
    ///
    /// There is no timeout: a person may have to unlock a secret store.
    Resolve {
        /// The attempt this effect belongs to.
        generation: Generation,
    },
    /// Start the process or open the connection.
    ///
    /// Always answer with [`Event::Launched`] or [`Event::Failed`]; otherwise the server could not stop the process.
    Launch {
        /// The attempt this effect belongs to.
        generation: Generation,
    },
    /// Negotiate the protocol version. Answer with [`Event::Negotiated`] or [`Event::Failed`].
    Negotiate {
        /// The attempt this effect belongs to.
        generation: Generation,
        /// Timeout of the negotiation. The server enforces it; pass it on to a connection with a timeout of its own.
        timeout: Duration,
    },
    /// Request the tool list. Answer with [`Event::Listed`] or [`Event::Failed`].
    List {
        /// The attempt this effect belongs to.
        generation: Generation,
    },
    /// Request the tool list again. Answer with [`Event::Listed`] or [`Event::RefreshFailed`].
    Refresh {
        /// The attempt this effect belongs to.
        generation: Generation,
    },
    /// Check that the server responds: send `ping`, or `server/discover` in versions without `ping`. Answer with
    /// [`Event::Probed`] or [`Event::ProbeFailed`].
    Probe {
        /// The attempt this effect belongs to.
        generation: Generation,
    },
    /// Fail every call in flight with this error.
    FailCalls {
        /// The attempt this effect belongs to.
        generation: Generation,
        /// The error to return to the callers.
        error: ErrorContract,
    },
    /// Stop the server gracefully by the [shutdown sequence](mcpwire_core::shutdown): close stdin, wait, terminate,
    /// wait, kill. Answer with [`Event::Gone`] when nothing is left.
    Stop {
        /// The attempt this effect belongs to.
        generation: Generation,
    },
    /// Kill the process group or container at once. Answer with [`Event::Gone`].
    ///
    /// The generation may be an old one that was given up earlier.
    Kill {
        /// The attempt this effect belongs to.
        generation: Generation,
    },
    /// Log that the server could not be stopped. The server gives up on this process.
    Abandoned {
        /// The attempt that was given up.
        generation: Generation,
    },
    /// Deliver the answer to a command.
    Reply {
        /// The command.
        command: CommandId,
        /// The outcome.
        result: Result<(), ErrorContract>,
    },
    /// The server's state changed.
    Changed {
        /// The new state.
        state: State,
    },
    /// The [tools](super::Server::tools) of the server changed.
    ToolsChanged,
}
