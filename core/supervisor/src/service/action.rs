//! The actions that the supervisor asks the embedder to perform.

use crate::{CommandId, Effect, HubError, ServerId, ToolChanges};

/// An operation that the supervisor asks the embedder to perform.
///
/// The embedder performs the actions in the order in which [`Supervisor::poll_action`](crate::Supervisor::poll_action)
/// returns them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// Perform an effect that the state machine of one server requests.
    ///
    /// The effect is never [`Effect::Reply`] or [`Effect::ToolsChanged`], because the supervisor handles these itself.
    Perform {
        /// The server whose state machine requests the effect.
        server: ServerId,
        /// The effect to perform.
        effect: Effect,
    },
    /// Return the result of the command with the id `command` to the caller that sent it.
    Reply {
        /// The id that the caller chose for the command.
        command: CommandId,
        /// `Ok` if the command was completed, or the error to show to the user.
        result: Result<(), HubError>,
    },
    /// Save the enabled flag of a server in its stored configuration.
    ///
    /// The embedder must report the outcome to [`Supervisor::persisted`](crate::Supervisor::persisted), even if saving
    /// failed.
    Persist {
        /// The server whose enabled flag changes.
        server: ServerId,
        /// The new value of the enabled flag.
        enabled: bool,
        /// The expected revision of the stored configuration. If the configuration has another revision, the embedder
        /// reports an error instead of saving the enabled flag.
        revision: u64,
    },
    /// The catalogue of tools has changed. [`Supervisor::catalogue`](crate::Supervisor::catalogue) returns the new
    /// catalogue.
    ///
    /// This action precedes all other pending actions. The embedder replaces its copy of the catalogue before it
    /// performs the others.
    CatalogueChanged,
    /// A server has changed the definitions of some of its tools. Users who approved the old definitions should review
    /// the new ones.
    ToolsRedefined {
        /// The server that changed its tools.
        server: ServerId,
        /// The tools whose definitions changed, with the changed fields.
        changes: ToolChanges,
    },
    /// None of the servers that [`Supervisor::boot`](crate::Supervisor::boot) started is still starting. Some may have
    /// failed.
    Booted {
        /// Number of servers that run or sleep ([`State::Sleeping`](crate::State::Sleeping)) after the boot.
        ready: usize,
        /// Number of servers that failed to start. Some of them may still be restarted automatically.
        failed: usize,
        /// Number of servers whose start was cancelled by another command, such as
        /// [`Command::Stop`](crate::Command::Stop).
        cancelled: usize,
    },
    /// The supervisor has removed a deleted server. Its process or connection no longer exists.
    Removed {
        /// The id of the deleted server.
        server: ServerId,
    },
}
