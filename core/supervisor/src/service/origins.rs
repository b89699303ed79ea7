//! The senders of the commands that servers have not answered yet.

use alloc::collections::BTreeMap;

use crate::{CommandId, HubError};

/// The sender of a command to a server, which determines how the reply is handled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CommandOrigin {
    /// The embedder, which identifies the command by this id.
    Embedder(CommandId),
    /// The supervisor itself; the reply is dropped.
    Internal,
    /// [`Supervisor::boot`](crate::Supervisor::boot).
    Boot,
    /// [`Supervisor::shutdown`](crate::Supervisor::shutdown).
    Shutdown,
    /// The start by [`Supervisor::set_enabled`](crate::Supervisor::set_enabled).
    Enable,
    /// The stop of a server that [`Supervisor::set_enabled`](crate::Supervisor::set_enabled) enabled but could not
    /// start. `error` answers the embedder's command.
    EnableFailed { command: CommandId, error: HubError },
}

/// Assigns an internal id to each command, and stores its sender until the reply.
#[derive(Debug, Default)]
pub(super) struct Origins {
    pending: BTreeMap<CommandId, CommandOrigin>,
    last_id: u64,
}

impl Origins {
    /// Stores the sender of a new command, and returns the internal id of the command.
    pub(super) fn add(&mut self, origin: CommandOrigin) -> CommandId {
        self.last_id += 1;
        let id = CommandId(self.last_id);
        self.pending.insert(id, origin);
        id
    }

    /// Removes and returns the sender of an answered command.
    pub(super) fn take(&mut self, id: CommandId) -> Option<CommandOrigin> {
        self.pending.remove(&id)
    }
}
