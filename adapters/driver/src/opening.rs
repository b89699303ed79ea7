//! The opening of a connection. Some legacy servers exit when they receive `server/discover`: they are restarted.

use mcpwire_client::{ConnectionState, Lifecycle, Writer};
use mcpwire_core::internal::{AnyEngine, OpeningOutcome};
use mcpwire_core::{CloseReason, Phase, SendError, Timestamp};
use mcpwire_process::Process;

use crate::connection::Shared;
use crate::locked_state::State;
use crate::output::Output;

impl State {
    /// Replaces a server that has exited when it received `server/discover`, and resets the state of the connection for the new
    /// process.
    pub(crate) fn restart(&mut self, engine: AnyEngine, writer: Writer, process: Process) {
        self.engine = engine;
        self.output = Output::new(Some(writer));
        self.set_process(Some(process));
        self.connection = ConnectionState::default();
        self.report = None;
        self.driver = None;
        self.timer_deadline = None;
    }

    /// Passes the opening request to the engine, unless the opening has already begun.
    ///
    /// # Errors
    /// If the engine refuses the request, for example because an earlier call of `initialize` has returned `Ok`.
    pub(crate) fn begin_opening(&mut self, now: Timestamp) -> Result<(), SendError> {
        match self.connection.lifecycle {
            Lifecycle::Opening if self.engine.session().phase() == Phase::Connecting => {}
            // The connection is open, but the call of `initialize` that opened it was dropped before it returned.
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

    /// Returns the outcome of the opening, or `None` if it is not known yet.
    ///
    /// After the server has exited, only one task gets [`OpeningOutcome::Restart`], and restarts the server. All other tasks get
    /// `None` until the restarted server has answered.
    pub(crate) fn opening_outcome(&mut self) -> Option<OpeningOutcome> {
        let lifecycle = &mut self.connection.lifecycle;
        if !matches!(lifecycle, Lifecycle::Restart) {
            return lifecycle.opening_outcome();
        }
        self.report?;
        *lifecycle = Lifecycle::Restarting;
        Some(OpeningOutcome::Restart)
    }

    /// Fails the opening if the server has exited and is not restarted. Called when a restart fails, and when the connection is
    /// shut down, killed or dropped.
    pub(crate) fn abandon_restart(&mut self) {
        if self.report.is_some() && matches!(self.connection.lifecycle, Lifecycle::Restart | Lifecycle::Restarting) {
            self.connection.lifecycle.end(CloseReason::ByServer);
            self.end_consumers();
            self.wake_waiters();
        }
    }
}

/// A guard that exists during the restart of a server. If the restart fails or is cancelled, dropping the guard fails the opening
/// for all tasks that wait for it.
pub(crate) struct RestartAttempt<'s>(pub(crate) &'s Shared);

impl Drop for RestartAttempt<'_> {
    fn drop(&mut self) {
        self.0.lock().abandon_restart();
    }
}
