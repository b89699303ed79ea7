//! The senders of the commands that servers have not answered yet.

use alloc::collections::BTreeMap;

use crate::{CommandId, HubError};

/// The sender of a command to a server, which determines how the supervisor handles the reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CommandOrigin {
    /// The embedder sent the command under this id, and receives the reply.
    Embedder(CommandId),
    /// The supervisor sent the command, and ignores the reply.
    Internal,
    /// [`Supervisor::boot`](crate::Supervisor::boot) sent the command, and counts the replies.
    Boot,
    /// [`Supervisor::shutdown`](crate::Supervisor::shutdown) sent the command, and counts the replies.
    Shutdown,
    /// [`Supervisor::set_enabled`](crate::Supervisor::set_enabled) sent the command, to start the server.
    Enable,
    /// [`Supervisor::set_enabled`](crate::Supervisor::set_enabled) sent the command, to disable a server that failed to
    /// start. After the reply, the embedder's `command` fails with `error`, the error of the start.
    EnableFailed { command: CommandId, error: HubError },
}

/// Assigns an internal id to each command to a server, and stores the sender of the command until the reply.
#[derive(Debug, Default)]
pub(super) struct Origins {
    pending: BTreeMap<CommandId, CommandOrigin>,
    last_id: u64,
}

impl Origins {
    /// Stores the sender of a new command, and returns the internal id of that command.
    pub(super) fn add(&mut self, origin: CommandOrigin) -> CommandId {
        self.last_id += 1;
        let id = CommandId(self.last_id);
        self.pending.insert(id, origin);
        id
    }

    /// Removes and returns the sender of a command, or returns `None` if the internal id is unknown.
    pub(super) fn take(&mut self, id: CommandId) -> Option<CommandOrigin> {
        self.pending.remove(&id)
    }
}
