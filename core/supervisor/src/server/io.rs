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

/// The id of a command, chosen by the embedder. The [`Effect::Reply`] to the command contains the same id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommandId(pub u64);

/// A request from the embedder to the state machine of a server.
///
/// Each command causes exactly one [`Effect::Reply`], immediately or when the command is complete.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Command {
    /// Start the server. The reply follows when the server runs or has failed to start.
    ///
    /// The command resets the count of automatic restarts, so a server in [`State::Failed`] starts again.
    Start,
    /// Start the server when its host starts. The reply follows when the server runs, sleeps or has failed to start.
    ///
    /// A lazy server ([`Policy::lazy`]) whose tools are known (see [`Server::remember`](super::Server::remember)) is
    /// not started. It enters [`State::Sleeping`] instead.
    Boot,
    /// Stop the server until a command starts it again. The reply follows when the process is gone.
    ///
    /// A second `Stop` before that reply kills the process.
    Stop,
    /// Stop the server and start it again. The reply follows when the server runs or has failed to start.
    Restart,
    /// Allow a disabled server to be started again. The command does not start the server.
    Enable,
    /// Stop the server and reject every start until [`Command::Enable`]. The reply follows when the process is gone.
    Disable,
    /// Stop the server permanently. The reply follows when the process is gone.
    Delete,
    /// Replace the policy of the server. The reply follows immediately, even if the server restarts.
    Configure {
        /// The new policy.
        policy: Box<Policy>,
        /// Whether the program or address of the server has changed. If `true`, the server discards its known tools and
        /// starts again. A stopped or disabled server is not started.
        replaced: bool,
    },
    /// Prepare the server for a tool call. The reply follows when the server runs.
    ///
    /// A server in [`State::Sleeping`] is started. If the server is already starting, [`Policy::call_wait_start`]
    /// limits the wait. A server that is stopped, disabled or failed is not started: the command fails immediately.
    PrepareCall {
        /// Time at which the command fails if the server does not run yet.
        by: Timestamp,
    },
    /// Stop the server when its host shuts down, and reject every later start. The reply follows when the process is
    /// gone.
    Shutdown {
        /// Time at which the process must be gone. A process that still runs one second earlier is killed.
        by: Timestamp,
    },
}

/// An event that the embedder reports to the state machine of a server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// [`Effect::Resolve`] succeeded: the launch configuration is complete.
    Resolved,
    /// [`Effect::Launch`] succeeded: the process runs, or the HTTP connection is ready.
    Launched {
        /// The process id, or `None` for a server without a local process.
        pid: Option<u32>,
    },
    /// [`Effect::Negotiate`] succeeded: client and server have agreed on a protocol version.
    Negotiated {
        /// The negotiated protocol version.
        version: String,
    },
    /// [`Effect::List`] or [`Effect::Refresh`] succeeded: the tool list is complete.
    Listed {
        /// The complete tool list of the server.
        tools: Arc<ToolList>,
        /// Time for which the tool list is fresh (`ttlMs` from protocol revision 2026-07-28), or `None` if the server
        /// declares none.
        ///
        /// See [`CacheHints::stale_after`](mcpwire_core::CacheHints::stale_after).
        ttl: Option<Duration>,
    },
    /// [`Effect::Resolve`], [`Effect::Launch`], [`Effect::Negotiate`] or [`Effect::List`] failed.
    ///
    /// Report a failed launch only when no process is left. After another failure, the state machine stops the process.
    Failed(Failure),
    /// [`Effect::Refresh`] failed. The previous tool list remains in use, and up to three retries follow.
    RefreshFailed,
    /// The connection ended unexpectedly: the process exited, or closed its stdout or stdin. Child processes may still
    /// exist.
    Closed(Failure),
    /// Nothing of this attempt to run the server is left: no process, child process, container or connection.
    Removed,
    /// The server sent `notifications/tools/list_changed`.
    ListChanged,
    /// The server responded to [`Effect::Probe`], with a result or an error.
    Probed,
    /// The server did not respond to [`Effect::Probe`].
    ProbeFailed,
    /// A message arrived from the server. This event postpones the next health probe, and need not be reported for
    /// every message.
    MessageReceived,
    /// The connection may be dead, for example because the machine was asleep. If no call is in flight, the connection
    /// is probed immediately.
    ConnectionSuspect,
    /// A tool call was sent to the server.
    CallStarted,
    /// A tool call ended, with any outcome. Report this event exactly once for each [`Event::CallStarted`].
    CallEnded,
}

/// An operation that the state machine of a server asks the embedder to perform.
///
/// Start the effects in order, but do not wait for the end of one effect before you start the next.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effect {
    /// Resolve the launch configuration: secrets, variables and environment. Report [`Event::Resolved`] or
    /// [`Event::Failed`].
    ///
    /// This effect has no timeout, because a person may have to unlock a secret store.
    Resolve {
        /// Number of the attempt to run the server. Report the resulting event with the same number.
        generation: Generation,
    },
    /// Start the process or open the connection. Always report [`Event::Launched`] or [`Event::Failed`].
    ///
    /// Report the outcome even if the server is being stopped meanwhile. The state machine can stop only a process that
    /// was reported.
    Launch {
        /// Number of the attempt to run the server. Report the resulting event with the same number.
        generation: Generation,
    },
    /// Negotiate the protocol version. Report [`Event::Negotiated`] or [`Event::Failed`].
    Negotiate {
        /// Number of the attempt to run the server. Report the resulting event with the same number.
        generation: Generation,
        /// Timeout of the negotiation, which the state machine enforces. A connection with its own timeout should use
        /// the same value.
        timeout: Duration,
    },
    /// Request the tool list for the first time. Report [`Event::Listed`] or [`Event::Failed`].
    List {
        /// Number of the attempt to run the server. Report the resulting event with the same number.
        generation: Generation,
    },
    /// Request the tool list again. Report [`Event::Listed`] or [`Event::RefreshFailed`].
    Refresh {
        /// Number of the attempt to run the server. Report the resulting event with the same number.
        generation: Generation,
    },
    /// Check that the server responds. Send `ping`, or `server/discover` in protocol versions without `ping`.
    ///
    /// Report [`Event::Probed`] or [`Event::ProbeFailed`].
    Probe {
        /// Number of the attempt to run the server. Report the resulting event with the same number.
        generation: Generation,
    },
    /// Fail every tool call in flight on this server with `error`.
    FailCalls {
        /// Number of the attempt to run the server during which the calls were sent.
        generation: Generation,
        /// The error to return to the callers of the tools.
        error: HubError,
    },
    /// Stop the server gracefully with the [shutdown sequence](mcpwire_core::shutdown): close stdin, then terminate and
    /// at last kill the process.
    ///
    /// Report [`Event::Removed`] when no process is left.
    Stop {
        /// Number of the attempt to run the server. Report the resulting event with the same number.
        generation: Generation,
    },
    /// Kill the process group or container immediately. Report [`Event::Removed`] when no process is left.
    ///
    /// The process may belong to an earlier attempt to run the server, whose [`Event::Launched`] arrived late.
    Kill {
        /// Number of the attempt to run the server. Report the resulting event with the same number.
        generation: Generation,
    },
    /// Log that the process could not be stopped. The state machine no longer waits for the end of the process.
    StopFailed {
        /// Number of the attempt to run the server whose process may still exist.
        generation: Generation,
    },
    /// Return the result of a command to its sender.
    Reply {
        /// The command.
        command: CommandId,
        /// The outcome.
        result: Result<(), HubError>,
    },
    /// The server has entered another state. The embedder may show the new state to users.
    Changed {
        /// The new state.
        state: State,
    },
    /// The tools that the server offers have changed. [`Server::tools`](super::Server::tools) returns the new ones.
    ToolsChanged,
}
