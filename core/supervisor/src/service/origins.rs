//! The senders of the commands that servers have not answered yet.

use alloc::collections::BTreeMap;

use crate::{CommandId, HubError};

/// The sender of a command to a server, which determines how the supervisor handles the reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CommandOrigin {
    /// The embedder sent the command with this id, and receives the reply.
    Embedder(CommandId),
    /// The supervisor sent the command, and ignores the reply.
    Internal,
    /// [`Supervisor::boot`](crate::Supervisor::boot) sent the command, and counts the replies of all servers.
    Boot,
    /// [`Supervisor::shutdown`](crate::Supervisor::shutdown) sent the command, and counts the replies of all servers.
    Shutdown,
    /// [`Supervisor::set_enabled`](crate::Supervisor::set_enabled) sent the command to start the server.
    Enable,
    /// The command disables a server that [`Supervisor::set_enabled`](crate::Supervisor::set_enabled) could not start.
    /// After the reply, the embedder's `command` fails with `error`, the error of that start.
    EnableFailed { command: CommandId, error: HubError },
}

/// Stores the sender of each unanswered command under an internal id, because the ids that the embedder chooses may be
/// equal to those of the supervisor's own commands.
#[derive(Debug, Default)]
pub(super) struct Origins {
    pending: BTreeMap<CommandId, CommandOrigin>,
    last_id: u64,
}

impl Origins {
    pub(super) fn add(&mut self, origin: CommandOrigin) -> CommandId {
        self.last_id += 1;
        let id = CommandId(self.last_id);
        self.pending.insert(id, origin);
        id
    }

    pub(super) fn take(&mut self, id: CommandId) -> Option<CommandOrigin> {
        self.pending.remove(&id)
    }
}
