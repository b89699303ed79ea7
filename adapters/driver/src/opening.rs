//! The opening of a connection, and the restart of a server that exits when it receives `server/discover`.

use mcpwire_client::{ConnectionState, Writer};
use mcpwire_core::internal::{AnyEngine, OpeningOutcome};
use mcpwire_core::{CloseReason, Phase, SendError, Timestamp};
use mcpwire_process::Process;

use crate::connection::Shared;
use crate::locked_state::{CloseIntent, State};
use crate::output::Output;

impl State {
    /// Replaces a server that has exited when it received `server/discover`. Resets the state of the connection.
    pub(crate) fn restart(&mut self, engine: AnyEngine, writer: Writer, process: Process) {
        self.engine = engine;
        self.output = Output::new(Some(writer));
        self.set_process(Some(process));
        self.connection = ConnectionState::default();
        self.report = None;
        self.driver = None;
        self.timer_deadline = None;
        self.is_restarting = false;
    }

    /// Returns whether the server has exited when it received `server/discover`, and the client will restart it.
    pub(crate) fn will_restart(&self) -> bool {
        self.close_intent == CloseIntent::None && matches!(self.connection.opening, Some(OpeningOutcome::Restart))
    }

    /// Begins to open the connection, unless the opening has already begun.
    pub(crate) fn begin_opening(&mut self, now: Timestamp) -> Result<(), SendError> {
        match (&self.connection.opening, self.engine.session().phase()) {
            (Some(OpeningOutcome::Restart | OpeningOutcome::Closed(_)), _) | (None, Phase::Connecting) => Ok(()),
            // The call that began the opening was dropped before it returned.
            (Some(OpeningOutcome::Connected), Phase::Ready) if !self.is_opening_reported => Ok(()),
            _ => {
                self.engine.calls().initialize(now)?;
                if let Some(hooks) = &self.hooks {
                    hooks.connecting();
                }
                Ok(())
            }
        }
    }

    /// Returns the outcome of the opening. [`OpeningOutcome::Restart`] is returned to one task, after the server has exited.
    pub(crate) fn opening_outcome(&mut self) -> Option<OpeningOutcome> {
        if matches!(self.connection.opening, Some(OpeningOutcome::Restart)) {
            if self.report.is_none() || self.is_restarting {
                return None;
            }
            if self.close_intent == CloseIntent::None {
                self.is_restarting = true;
            } else {
                self.fail_opening();
            }
        }
        self.connection.opening.clone()
    }

    /// Fails the opening if the server has exited and no task has restarted it. Then there is no driver that would do so.
    pub(crate) fn abandon_restart(&mut self) {
        if self.will_restart() && self.report.is_some() {
            self.fail_opening();
        }
    }

    /// Fails the opening, because the server could not be restarted.
    fn fail_opening(&mut self) {
        self.is_restarting = false;
        self.connection.opening = Some(OpeningOutcome::Closed(CloseReason::ByServer));
        self.connection.close_reason.get_or_insert(CloseReason::ByServer);
        self.end_consumers();
        self.wake_waiters();
    }
}

/// Guards the restart of a server. If the restart fails or is cancelled, dropping the guard fails the opening for all tasks.
pub(crate) struct RestartAttempt<'s>(pub(crate) &'s Shared);

impl Drop for RestartAttempt<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        if state.is_restarting {
            state.fail_opening();
        }
    }
}
