//! [`Command`], [`Event`] and [`Effect`]: the inputs and outputs of the [`Server`](super::Server) state machine.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use core::time::Duration;

use super::Policy;
use super::state::{Generation, State};
use crate::{Failure, HubError};
use mcpwire_core::Timestamp;
use mcpwire_core::ToolList;

/// The id of a command. The embedder chooses it, and finds it again in the [`Effect::Reply`] to the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommandId(pub u64);

/// A request from the embedder (the program that uses this crate) to the state machine of one server.
///
/// The state machine answers each command with exactly one [`Effect::Reply`], at once or when the command is complete.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Command {
    /// Start the server. The reply follows when the server runs or has failed to start.
    ///
    /// This command also starts a server in [`State::Failed`], and resets its failure count.
    Start,
    /// Start the server because the host program starts. The reply follows when the server runs, sleeps or has failed
    /// to start.
    ///
    /// A lazy server ([`Policy::lazy`]) whose tools are already known, for example from
    /// [`Server::remember`](super::Server::remember), is not started. It enters [`State::Sleeping`] instead.
    Boot,
    /// Stop the server until a command starts it again. The reply follows when the process is gone.
    ///
    /// If this command is sent again before the process is gone, the process is killed.
    Stop,
    /// Stop the server and start it again. The reply follows when the server runs or has failed to start.
    Restart,
    /// Allow a disabled server to be started again. This does not start the server.
    Enable,
    /// Stop the server and reject every start until [`Command::Enable`]. The reply follows when the process is gone.
    Disable,
    /// Stop the server permanently. The reply follows when the process is gone.
    Delete,
    /// Replace the policy of the server. The reply follows immediately, and does not wait for a restart of the server.
    Configure {
        /// The new policy of the server.
        policy: Box<Policy>,
        /// Whether the program or address of the server has changed. If `true`, the known tools are discarded and the
        /// server starts again, unless it is stopped or disabled.
        replaced: bool,
    },
    /// Make the server ready for a tool call. The reply follows when the server runs.
    ///
    /// A server in [`State::Sleeping`] is started. If the server is already starting, the command waits for at most
    /// [`Policy::call_wait_start`]. If the server is stopped, disabled or failed, the command fails immediately.
    PrepareCall {
        /// The time at which the command fails if the server still does not run.
        by: Timestamp,
    },
    /// Stop the server because the host program shuts down, and reject every later start. The reply follows when the
    /// process is gone.
    Shutdown {
        /// The time at which the process must be gone. A process that still runs one second before this time is killed.
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
        /// Time for which the tool list is fresh (`ttlMs`, since protocol revision 2026-07-28), or `None` if the server
        /// does not state a time.
        ///
        /// See [`CacheHints::stale_after`](mcpwire_core::CacheHints::stale_after).
        ttl: Option<Duration>,
    },
    /// The operation of [`Effect::Resolve`], [`Effect::Launch`], [`Effect::Negotiate`] or [`Effect::List`] failed.
    ///
    /// The embedder reports a failed launch only when no process of that launch is left. After any other failure, the
    /// state machine stops the process, if there is one.
    Failed(Failure),
    /// [`Effect::Refresh`] failed. The state machine keeps the previous tool list, and retries the request up to three
    /// times.
    RefreshFailed,
    /// The connection to the server ended unexpectedly: the server process exited, or closed its stdout or stdin.
    Closed(Failure),
    /// No process, container or connection of this attempt to run the server is left, including child processes.
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
    /// The connection may be dead, for example because the machine was asleep. The state machine sends a health probe
    /// immediately, unless a tool call is in flight.
    ConnectionSuspect,
    /// A tool call was sent to the server.
    CallStarted,
    /// A tool call ended, with any outcome. The embedder reports this event exactly once for each
    /// [`Event::CallStarted`].
    CallEnded,
}

/// An operation that the state machine of one server asks the embedder to perform.
///
/// The embedder starts the effects in order, but does not wait for the end of one effect before it starts the next.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effect {
    /// Resolve the launch configuration of the server: secrets, variables and environment. The embedder reports
    /// [`Event::Resolved`] or [`Event::Failed`].
    ///
    /// The state machine sets no timeout for this effect, because a person may have to unlock a secret store.
    Resolve {
        /// The number of the attempt to run the server. Pass it to [`Server::event`](super::Server::event) together
        /// with [`Event::Resolved`] or [`Event::Failed`].
        generation: Generation,
    },
    /// Start the server process, or open the HTTP connection. The embedder reports [`Event::Launched`] or
    /// [`Event::Failed`].
    ///
    /// The embedder must report the outcome even if the server is stopped meanwhile, because the state machine can stop
    /// only a process that was reported.
    Launch {
        /// The number of the attempt to run the server. Pass it to [`Server::event`](super::Server::event) together
        /// with [`Event::Launched`] or [`Event::Failed`].
        generation: Generation,
    },
    /// Negotiate the protocol version with the server. The embedder reports [`Event::Negotiated`] or [`Event::Failed`].
    Negotiate {
        /// The number of the attempt to run the server. Pass it to [`Server::event`](super::Server::event) together
        /// with [`Event::Negotiated`] or [`Event::Failed`].
        generation: Generation,
        /// The maximum duration of the negotiation. The state machine enforces this timeout. If the connection has its
        /// own timeout for the negotiation, set that timeout to the same value.
        timeout: Duration,
    },
    /// Request the tool list of the server for the first time. The embedder reports [`Event::Listed`] or
    /// [`Event::Failed`].
    List {
        /// The number of the attempt to run the server. Pass it to [`Server::event`](super::Server::event) together
        /// with [`Event::Listed`] or [`Event::Failed`].
        generation: Generation,
    },
    /// Request the tool list of the running server again. The embedder reports [`Event::Listed`] or
    /// [`Event::RefreshFailed`].
    Refresh {
        /// The number of the attempt to run the server. Pass it to [`Server::event`](super::Server::event) together
        /// with [`Event::Listed`] or [`Event::RefreshFailed`].
        generation: Generation,
    },
    /// Check that the server responds: send `ping`, or `server/discover` in protocol versions without `ping`.
    ///
    /// The embedder reports [`Event::Probed`] or [`Event::ProbeFailed`].
    Probe {
        /// The number of the attempt to run the server. Pass it to [`Server::event`](super::Server::event) together
        /// with [`Event::Probed`] or [`Event::ProbeFailed`].
        generation: Generation,
    },
    /// Return `error` to the callers of all tool calls that the server has not answered yet.
    FailCalls {
        /// The number of the attempt to run the server to which these tool calls belong.
        generation: Generation,
        /// The error to return to the callers of the tools.
        error: HubError,
    },
    /// Stop the server gracefully: close its stdin, then terminate the process, and kill it as a last resort.
    ///
    /// The embedder reports [`Event::Removed`] when no process of the server is left.
    Stop {
        /// The number of the attempt to run the server. Pass it to [`Server::event`](super::Server::event) together
        /// with [`Event::Removed`].
        generation: Generation,
    },
    /// Kill the process group or container of the server immediately. The embedder reports [`Event::Removed`] when no
    /// process is left.
    ///
    /// The process may belong to an earlier attempt to run the server, if its [`Event::Launched`] was reported late.
    Kill {
        /// The number of the attempt to run the server. Pass it to [`Server::event`](super::Server::event) together
        /// with [`Event::Removed`].
        generation: Generation,
    },
    /// Log that the server process could not be stopped. The state machine no longer waits for its end.
    StopFailed {
        /// The number of the attempt to run the server that started the process.
        generation: Generation,
    },
    /// Return the result of the command with the id `command` to the caller that sent it.
    Reply {
        /// The id that the caller chose for the command.
        command: CommandId,
        /// `Ok` if the command was completed, or the error to show to the user.
        result: Result<(), HubError>,
    },
    /// The server has entered another state. The embedder may show the new state to users.
    Changed {
        /// The state that the server has entered.
        state: State,
    },
    /// The tools that the server offers have changed. [`Server::tools`](super::Server::tools) returns the new ones.
    ToolsChanged,
}
