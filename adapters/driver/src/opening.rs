//! The opening of a connection, and the restart of a server that exits when it receives `server/discover`.

use mcpwire_client::{ConnectionState, Lifecycle, Writer};
use mcpwire_core::internal::{AnyEngine, OpeningOutcome};
use mcpwire_core::{CloseReason, Phase, SendError, Timestamp};
use mcpwire_process::Process;

use crate::connection::Shared;
use crate::locked_state::State;
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
    }

    /// Begins to open the connection, unless the opening has already begun.
    pub(crate) fn begin_opening(&mut self, now: Timestamp) -> Result<(), SendError> {
        match self.connection.lifecycle {
            Lifecycle::Opening if self.engine.session().phase() == Phase::Connecting => {}
            // The call that began the opening was dropped before it returned.
            Lifecycle::Open if !self.is_opening_reported => {}
            Lifecycle::Restart | Lifecycle::Restarting | Lifecycle::Ended { was_open: false, .. } => {}
            _ => {
                self.engine.calls().initialize(now)?;
                if let Some(hooks) = &self.hooks {
                    hooks.connecting();
                }
            }
        }
        Ok(())
    }

    /// Returns the outcome of the opening. [`OpeningOutcome::Restart`] is returned to one task, after the server has exited. Other tasks
    /// wait for the outcome of the restart.
    pub(crate) fn opening_outcome(&mut self) -> Option<OpeningOutcome> {
        let lifecycle = &mut self.connection.lifecycle;
        if !matches!(lifecycle, Lifecycle::Restart) {
            return lifecycle.opening_outcome();
        }
        self.report?;
        *lifecycle = Lifecycle::Restarting;
        Some(OpeningOutcome::Restart)
    }

    /// Fails the opening if the server has exited and was not restarted. Call it when nobody will restart the server.
    pub(crate) fn abandon_restart(&mut self) {
        if self.report.is_some() && matches!(self.connection.lifecycle, Lifecycle::Restart | Lifecycle::Restarting) {
            self.connection.lifecycle.end(CloseReason::ByServer);
            self.end_consumers();
            self.wake_waiters();
        }
    }
}

/// Guards the restart of a server. If the restart fails or is cancelled, dropping the guard fails the opening for all tasks.
pub(crate) struct RestartAttempt<'s>(pub(crate) &'s Shared);

impl Drop for RestartAttempt<'_> {
    fn drop(&mut self) {
        self.0.lock().abandon_restart();
    }
}
