//! Operations in progress: commands without a reply, changes of enabled flags, and the boot.

use crate::{CommandId, ErrorKind, HubError};

/// The sender of a command to a server, which determines how the supervisor handles the reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CommandOrigin {
    /// The embedder sent the command with this id, and receives the reply.
    Embedder(CommandId),
    /// The supervisor sent the command, and ignores the reply.
    Internal,
    /// [`Supervisor::boot`](crate::Supervisor::boot) sent the command, and counts the replies of all servers.
    Boot,
    /// [`Supervisor::shutdown`](crate::Supervisor::shutdown) sent the command, and waits for the replies of all servers.
    Shutdown,
    /// [`Supervisor::set_enabled`](crate::Supervisor::set_enabled) sent the command to start the server.
    Enable,
    /// The command disables a server that [`Supervisor::set_enabled`](crate::Supervisor::set_enabled) could not start.
    /// After its reply, the embedder's `command` fails with `error`, the error of the start.
    EnableFailed { command: CommandId, error: HubError },
}

/// The progress of [`Supervisor::set_enabled`](crate::Supervisor::set_enabled) for one server.
///
/// ```text
/// enable:   Saving ─▶ Starting ─▶ server runs: reply
///                          ├────▶ start failed: Reverting ─▶ disable the server ─▶ reply with the error
///                          └────▶ login required: reply with the error; the flag stays on
/// disable:  Saving ─▶ disable the server ─▶ reply
/// ```
#[derive(Debug)]
pub(super) struct EnabledChange {
    /// The command of the embedder. It gets its reply when the operation ends.
    pub(super) command: CommandId,
    pub(super) step: EnabledStep,
}

#[derive(Debug)]
pub(super) enum EnabledStep {
    /// The embedder is saving the new value of the server's enabled flag, `enabled`, in the stored configuration.
    Saving { enabled: bool },
    /// The server is starting because it was enabled. `revision` is the revision of the saved configuration, or `None`
    /// if the flag did not have to be saved.
    Starting { revision: Option<u64> },
    /// The server failed to start with `error`, so the embedder is saving the enabled flag as `false` again.
    Reverting { error: HubError },
}

/// The outcomes of the starts of a [`Supervisor::boot`](crate::Supervisor::boot). All counts are 0 when no boot is in
/// progress.
#[derive(Debug, Default)]
pub(super) struct BootCounts {
    pub(super) ready: usize,
    pub(super) failed: usize,
    pub(super) cancelled: usize,
}

impl BootCounts {
    pub(super) fn add(&mut self, result: &Result<(), HubError>) {
        match result {
            Ok(()) => self.ready += 1,
            Err(error) if was_ended_by_command(error) => self.cancelled += 1,
            Err(_) => self.failed += 1,
        }
    }
}

/// Returns whether a start ended because another command stopped, disabled or deleted the server, and not by a failure.
pub(super) fn was_ended_by_command(error: &HubError) -> bool {
    matches!(error.kind(), ErrorKind::Cancelled | ErrorKind::Disabled)
}
