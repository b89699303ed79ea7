//! One server of the supervisor: its state machine, its configuration, and a pending change of its enabled flag.

use super::action::Action;
use crate::{CommandId, ErrorCode, Filter, HubError, RateLimiter, Server, ServerId};

/// A server with the part of its configuration that the supervisor needs.
#[derive(Debug)]
pub(super) struct ManagedServer {
    pub(super) server: Server,
    pub(super) enabled: bool,
    pub(super) revision: u64,
    pub(super) filter: Filter,
    pub(super) rate: RateLimiter,
    /// The operation of [`Supervisor::set_enabled`](crate::Supervisor::set_enabled) in progress.
    pub(super) enabled_change: Option<EnabledChange>,
    /// Whether a user or a call waits for the server. The server then starts without waiting for a slot.
    pub(super) is_urgent: bool,
}

/// An operation of [`Supervisor::set_enabled`](crate::Supervisor::set_enabled) in progress.
///
/// ```text
/// enable:   Saving ─▶ Starting ─▶ server runs: reply
///                          ├────▶ start failed: Reverting ─▶ disable the server ─▶ reply with the error
///                          └────▶ login required: reply with the error; the flag stays on
/// disable:  Saving ─▶ disable the server ─▶ reply
/// ```
#[derive(Clone, Debug)]
pub(super) enum EnabledChange {
    /// The embedder saves the new flag.
    Saving { command: CommandId, enabled: bool },
    /// The server starts. `revision` is the revision with the saved flag, or `None` if the server was already enabled.
    Starting { command: CommandId, revision: Option<u64> },
    /// The server failed to start with `error`, and the embedder saves the old flag.
    Reverting { command: CommandId, error: HubError },
}

impl EnabledChange {
    /// Returns the embedder's command, which the end of the operation answers.
    pub(super) fn command(&self) -> CommandId {
        match self {
            EnabledChange::Saving { command, .. }
            | EnabledChange::Starting { command, .. }
            | EnabledChange::Reverting { command, .. } => *command,
        }
    }
}

impl ManagedServer {
    /// Handles the end of the start in [`EnabledChange::Starting`], and returns the next action.
    ///
    /// The action answers the command. If the start failed, it restores the flag first, unless the configuration has
    /// changed meanwhile.
    pub(super) fn start_finished(
        &mut self,
        id: ServerId,
        result: Result<(), HubError>,
        host_closing: bool,
    ) -> Option<Action> {
        let Some(EnabledChange::Starting { command, revision }) = self.enabled_change.take() else { return None };
        let Err(error) = result else { return Some(Action::Reply { command, result: Ok(()) }) };
        // A conflict means that the server was stopped, disabled or deleted meanwhile, so its start did not fail.
        let failed = error.code != ErrorCode::Conflict && !host_closing;
        if failed && !self.server.requires_login() && revision == Some(self.revision) {
            self.enabled_change = Some(EnabledChange::Reverting { command, error });
            Some(Action::Persist { server: id, enabled: false, revision: self.revision })
        } else {
            Some(Action::Reply { command, result: Err(error) })
        }
    }
}
