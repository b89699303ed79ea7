//! The inputs and outputs of the [`Server`](super::Server) state machine.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use core::time::Duration;

use super::Policy;
use super::state::{Generation, State};
use crate::{Failure, HubError};
use mcpwire_core::Timestamp;
use mcpwire_core::ToolList;

/// The id of a command, which its [`Effect::Reply`] repeats. The embedder chooses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommandId(pub u64);

/// A request to a server. Exactly one [`Effect::Reply`] answers each command, at once or upon completion.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Command {
    /// Start the server. Answered when the server runs or has failed to start.
    ///
    /// Resets the restart budget, so a server in [`State::Failed`] starts again.
    Start,
    /// Start the server as part of starting all servers. A lazy server whose tools are [known](super::Server::remember)
    /// goes to sleep instead.
    Boot,
    /// Stop the server until it is started again. Answered when no process is left. A second `Stop` kills the server.
    Stop,
    /// Stop and start the server. Answered when the server runs or has failed to start.
    Restart,
    /// Allow starts again after `Disable`. Does not start the server.
    Enable,
    /// Stop the server and reject every start until `Enable`.
    Disable,
    /// Stop the server permanently. Answered when no process is left.
    Delete,
    /// Replace the policy. Answered at once.
    Configure {
        /// The new policy.
        policy: Box<Policy>,
        /// Whether the program or address of the server has changed. If so, a running or starting server is restarted,
        /// and its known tools are discarded.
        replaced: bool,
    },
    /// Prepare the server for a call; a sleeping server wakes up. Answered when the server runs.
    ///
    /// Fails at once if the server neither runs, starts nor sleeps. A call waits for a starting server for at most
    /// [`Policy::call_wait_start`].
    PrepareCall {
        /// Time at which the caller stops waiting.
        by: Timestamp,
    },
    /// Stop the server because the host shuts down. Rejects every later start.
    Shutdown {
        /// Time at which the server must be gone. The server is killed one second earlier.
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
        /// Time for which the list is fresh, if the server declares it (`ttlMs` of revision 2026-07-28). See
        /// [`CacheHints::stale_after`](mcpwire_core::CacheHints::stale_after).
        ttl: Option<Duration>,
    },
    /// The effect that this generation last requested failed.
    ///
    /// After a failed launch, no process is left. After any other failed effect the connection is still open, unless
    /// [`Event::Closed`] follows.
    Failed(Failure),
    /// [`Effect::Refresh`] failed. The server keeps its previous tool list and retries later.
    RefreshFailed,
    /// The connection ended unexpectedly: the process exited, its stdout closed or its stdin broke. Child processes may
    /// still exist.
    Closed(Failure),
    /// The attempt has ended completely: no process, no container and no connection is left.
    Removed,
    /// The server sent `notifications/tools/list_changed`.
    ListChanged,
    /// The server answered [`Effect::Probe`], with a result or an error.
    Probed,
    /// The server did not answer [`Effect::Probe`].
    ProbeFailed,
    /// A message arrived from the server. It postpones the next health probe. The embedder need not report every
    /// message.
    MessageReceived,
    /// The connection may be dead, for example after the machine slept. The server probes the connection at once.
    ConnectionSuspect,
    /// A tool call was sent.
    CallStarted,
    /// A tool call ended, with any outcome. Report it exactly once for each [`Event::CallStarted`].
    CallEnded,
}

/// An operation that the server asks the embedder to perform.
///
/// Start effects in order, but do not wait for one to finish before the next one starts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effect {
    /// Resolve the launch configuration: secrets, variables and environment. Answer with [`Event::Resolved`] or
    /// [`Event::Failed`].
    ///
    /// There is no timeout, because a person may have to unlock a secret store.
    Resolve {
        /// The attempt that this effect belongs to.
        generation: Generation,
    },
    /// Start the process or open the connection.
    ///
    /// Always answer with [`Event::Launched`] or [`Event::Failed`]. Without an answer, the server could not stop the
    /// process.
    Launch {
        /// The attempt that this effect belongs to.
        generation: Generation,
    },
    /// Negotiate the protocol version. Answer with [`Event::Negotiated`] or [`Event::Failed`].
    Negotiate {
        /// The attempt that this effect belongs to.
        generation: Generation,
        /// Timeout of the negotiation. The server enforces it. Pass it to connections that have their own timeout.
        timeout: Duration,
    },
    /// Request the tool list. Answer with [`Event::Listed`] or [`Event::Failed`].
    List {
        /// The attempt that this effect belongs to.
        generation: Generation,
    },
    /// Request the tool list again. Answer with [`Event::Listed`] or [`Event::RefreshFailed`].
    Refresh {
        /// The attempt that this effect belongs to.
        generation: Generation,
    },
    /// Check that the server responds: send `ping`, or `server/discover` in protocol versions without `ping`. Answer
    /// with [`Event::Probed`] or [`Event::ProbeFailed`].
    Probe {
        /// The attempt that this effect belongs to.
        generation: Generation,
    },
    /// Fail every call in flight with this error.
    FailCalls {
        /// The attempt that this effect belongs to.
        generation: Generation,
        /// The error to return to the callers.
        error: HubError,
    },
    /// Stop the server gracefully by the [shutdown sequence](mcpwire_core::shutdown): close stdin, wait, terminate,
    /// wait, kill. Answer with [`Event::Removed`] when nothing is left.
    Stop {
        /// The attempt that this effect belongs to.
        generation: Generation,
    },
    /// Kill the process group or container at once. Answer with [`Event::Removed`].
    ///
    /// The generation may be an earlier one, which the server has abandoned.
    Kill {
        /// The attempt that this effect belongs to.
        generation: Generation,
    },
    /// Log that the server could not be stopped. It abandons the process.
    StopFailed {
        /// The attempt that was given up.
        generation: Generation,
    },
    /// Deliver the answer to a command.
    Reply {
        /// The command.
        command: CommandId,
        /// The outcome.
        result: Result<(), HubError>,
    },
    /// The state of the server changed.
    Changed {
        /// The new state.
        state: State,
    },
    /// The [tools](super::Server::tools) of the server changed.
    ToolsChanged,
}
