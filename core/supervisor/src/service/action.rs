//! The actions that the supervisor asks the embedder to perform.

use crate::{CommandId, Effect, HubError, ServerId, ToolChanges};

/// An operation that the supervisor asks the embedder to perform. Perform the actions in order.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// Perform an effect of the state machine of one server.
    ///
    /// [`Effect::Reply`] and [`Effect::ToolsChanged`] never occur here, because the supervisor handles them itself.
    Perform {
        /// The server.
        server: ServerId,
        /// The effect.
        effect: Effect,
    },
    /// Return the result of a command to its sender.
    Reply {
        /// The command.
        command: CommandId,
        /// The outcome.
        result: Result<(), HubError>,
    },
    /// Save the enabled flag of a server in its stored configuration.
    ///
    /// Always report the outcome to [`Supervisor::persisted`](crate::Supervisor::persisted).
    Persist {
        /// The server whose enabled flag changes.
        server: ServerId,
        /// The new value.
        enabled: bool,
        /// The revision that the stored configuration must have. If it has another revision, report an error instead of
        /// saving the flag.
        revision: u64,
    },
    /// The catalogue of tools has changed. [`Supervisor::catalogue`](crate::Supervisor::catalogue) returns the new one.
    ///
    /// This action precedes all other pending actions. Replace your copy of the catalogue before you perform the next
    /// action.
    CatalogueChanged,
    /// A server has changed the definitions of tools. Ask users who approved the old definitions to review the new
    /// ones.
    ToolsRedefined {
        /// The server.
        server: ServerId,
        /// The tools whose definitions changed, with the changed fields.
        changes: ToolChanges,
    },
    /// [`Supervisor::boot`](crate::Supervisor::boot) is complete: no server that it started is still starting.
    Booted {
        /// Number of servers that now run, or are in [`State::Sleeping`](crate::State::Sleeping).
        ready: usize,
        /// Number of servers that failed to start, including those that will be restarted.
        failed: usize,
        /// Number of servers that a command stopped before they ran.
        cancelled: usize,
    },
    /// The supervisor has removed a deleted server. Its process or connection no longer exists.
    Removed {
        /// The id of the deleted server.
        server: ServerId,
    },
}
