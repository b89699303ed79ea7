//! One server of the supervisor: its state machine, its configuration, and a pending change of its enabled flag.

use super::action::Action;
use super::progress::ended_by_command;
use crate::{CommandId, Filter, HubError, RateLimiter, Server, ServerId};

#[derive(Debug)]
pub(super) struct ManagedServer {
    pub(super) server: Server,
    pub(super) enabled: bool,
    pub(super) revision: u64,
    pub(super) filter: Filter,
    pub(super) rate: RateLimiter,
    pub(super) enabled_change: Option<EnabledChange>,
    /// Whether a user or a tool call waits for the server, so that it starts even if the maximum number of servers is
    /// already starting.
    pub(super) is_urgent: bool,
}

/// The progress of [`Supervisor::set_enabled`](crate::Supervisor::set_enabled) for one server.
///
/// ```text
/// enable:   Saving ─▶ Starting ─▶ server runs: reply
///                          ├────▶ start failed: Reverting ─▶ disable the server ─▶ reply with the error
///                          └────▶ login required: reply with the error; the flag stays on
/// disable:  Saving ─▶ disable the server ─▶ reply
/// ```
#[derive(Clone, Debug)]
pub(super) enum EnabledChange {
    /// The embedder is saving the new value of the server's enabled flag, `enabled`, in the stored configuration.
    Saving { command: CommandId, enabled: bool },
    /// The server is starting because it was enabled. `revision` is the revision of the saved configuration, or `None`
    /// if the flag did not have to be saved.
    Starting { command: CommandId, revision: Option<u64> },
    /// The server failed to start with `error`, so the embedder is saving the enabled flag as `false` again.
    Reverting { command: CommandId, error: HubError },
}

impl EnabledChange {
    pub(super) fn command(&self) -> CommandId {
        match self {
            EnabledChange::Saving { command, .. }
            | EnabledChange::Starting { command, .. }
            | EnabledChange::Reverting { command, .. } => *command,
        }
    }
}

impl ManagedServer {
    /// Completes [`EnabledChange::Starting`]: returns the reply to the embedder or, if the start failed, the action
    /// that saves the enabled flag as `false`. Returns `None` in any other state.
    pub(super) fn start_finished(
        &mut self,
        id: ServerId,
        result: Result<(), HubError>,
        host_closing: bool,
    ) -> Option<Action> {
        let Some(EnabledChange::Starting { command, revision }) = self.enabled_change.take() else { return None };
        let Err(error) = result else { return Some(Action::Reply { command, result: Ok(()) }) };
        // The start did not fail if a command ended it.
        let failed = !ended_by_command(&error) && !host_closing;
        // The flag is not reverted if the user only has to log in, if this operation did not save the flag, or if the
        // configuration has changed meanwhile.
        if failed && !self.server.requires_login() && revision == Some(self.revision) {
            self.enabled_change = Some(EnabledChange::Reverting { command, error });
            Some(Action::Persist { server: id, enabled: false, revision: self.revision })
        } else {
            Some(Action::Reply { command, result: Err(error) })
        }
    }
}
