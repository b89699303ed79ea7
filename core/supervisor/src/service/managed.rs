//! One server of the supervisor: its state machine, its configuration, and a pending change of its enabled flag.

use super::action::Action;
use crate::{CommandId, ErrorCode, Filter, HubError, RateLimiter, Server, ServerId};

/// A server with its state machine and the part of its configuration that the supervisor requires.
#[derive(Debug)]
pub(super) struct ManagedServer {
    pub(super) server: Server,
    pub(super) enabled: bool,
    pub(super) revision: u64,
    pub(super) filter: Filter,
    pub(super) rate: RateLimiter,
    /// The progress of [`Supervisor::set_enabled`](crate::Supervisor::set_enabled). `None` if that operation is not in
    /// progress.
    pub(super) enabled_change: Option<EnabledChange>,
    /// Whether a user or a call waits for the server to run. If `true`, the server starts immediately, even if the
    /// maximum number of servers is already starting.
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
    /// The embedder is saving `enabled`, the new value of the server's enabled flag.
    Saving { command: CommandId, enabled: bool },
    /// The server is starting because it was enabled. `revision` is the configuration revision after the flag was
    /// saved, or `None` if the server was already enabled.
    Starting { command: CommandId, revision: Option<u64> },
    /// The server failed to start with `error`. The embedder is saving the enabled flag as `false` again.
    Reverting { command: CommandId, error: HubError },
}

impl EnabledChange {
    /// Returns the id of the embedder's command that started this operation.
    pub(super) fn command(&self) -> CommandId {
        match self {
            EnabledChange::Saving { command, .. }
            | EnabledChange::Starting { command, .. }
            | EnabledChange::Reverting { command, .. } => *command,
        }
    }
}

impl ManagedServer {
    /// Handles the result of the start in [`EnabledChange::Starting`], and returns the next action. Returns `None` in
    /// any other state.
    ///
    /// The action replies to the embedder's command or, if the start failed, sets the saved enabled flag back to
    /// `false`.
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
