//! The output of the supervisor.

use crate::{CommandId, Effect, HubError, ServerId, ToolChanges};

/// An operation that the supervisor asks the embedder to perform, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// Perform an effect of a server. The supervisor itself handles [`Effect::Reply`] and [`Effect::ToolsChanged`], so
    /// they never occur here.
    Perform {
        /// The server.
        server: ServerId,
        /// The effect.
        effect: Effect,
    },
    /// Deliver the answer to a command.
    Reply {
        /// The command.
        command: CommandId,
        /// The outcome.
        result: Result<(), HubError>,
    },
    /// Save the enabled flag, if the configuration still has `revision`. Always report the outcome to
    /// [`Supervisor::persisted`](crate::Supervisor::persisted).
    Persist {
        /// The server whose flag changes.
        server: ServerId,
        /// The new value.
        enabled: bool,
        /// The revision that the change is based on.
        revision: u64,
    },
    /// The catalogue changed: fetch the new one from [`Supervisor::catalogue`](crate::Supervisor::catalogue).
    ///
    /// This action precedes all other pending actions. An embedder that replaces its snapshot here has done so before
    /// any command is answered.
    CatalogueChanged,
    /// A server changed the definitions of its tools. Ask users who approved the old definitions to review the new
    /// ones.
    ToolsRedefined {
        /// The server.
        server: ServerId,
        /// The changed tools and their changed parts.
        changes: ToolChanges,
    },
    /// All servers started by [`Supervisor::boot`](crate::Supervisor::boot) run, sleep or have failed.
    Booted {
        /// Number of servers that run or sleep.
        ready: usize,
        /// Number of servers that failed, including those that will restart.
        failed: usize,
        /// Number of servers that were stopped before they ran.
        cancelled: usize,
    },
    /// The supervisor removed a deleted server. No process is left.
    Removed {
        /// The deleted server.
        server: ServerId,
    },
}
