//! The end of a connection: its shutdown, and what errors tell of it.

use std::io;
use std::time::Duration;

use mcpwire_client::{
    ConnectionEnd, ConnectionState, EndDetails, Error, Exit, GracePeriods, ProcessReport, ShutdownReport, Stderr,
};
use mcpwire_core::internal::RequestError;
use mcpwire_core::{CloseReason, Event, Phase};
use mcpwire_process::{Process, ProcessShutdown, ShutdownAction};

use super::Connection;
use crate::transport::Io;

/// Maximum time for the `DELETE` of an HTTP session after the client was dropped.
const SESSION_END_TIMEOUT: Duration = Duration::from_secs(5);

impl Connection {
    /// Returns why the connection has ended, or `None` if it is open.
    pub(crate) fn end(&mut self) -> Option<ConnectionEnd> {
        if self.io.engine.session().phase() != Phase::Closed {
            return None;
        }
        // The engine reports no end of a connection that it wants to open again.
        let reason = self.io.state.lifecycle.close_reason().cloned().unwrap_or(CloseReason::ByServer);
        Some(ConnectionEnd::new(reason, self.process_report()))
    }

    /// Ends the server step by step.
    pub(crate) fn shut_down(&mut self, grace_periods: GracePeriods) -> ShutdownReport {
        let report = self.stop(grace_periods);
        if self.io.context.hooks.is_some() {
            self.end_hooks(report.exit);
        }
        report
    }

    fn stop(&mut self, grace_periods: GracePeriods) -> ShutdownReport {
        self.flush();
        self.io.engine.close();
        while let Some(event) = self.next_event() {
            // The server is being ended, so handlers are not called.
            if !matches!(event, Event::ServerRequest(_)) {
                self.handle_event(event);
            }
        }
        #[cfg(feature = "http")]
        if self.io.engine.http().is_some() {
            self.end_session(grace_periods);
            return ShutdownReport::without_process();
        }
        let mut shutdown = ProcessShutdown::new(grace_periods);
        loop {
            let (reports_exit, has_stderr) = (self.transport.reports_exit(), self.transport.has_stderr());
            match shutdown.next(self.io.process.as_mut(), reports_exit, has_stderr, self.io.clock.now()) {
                ShutdownAction::CloseInput => self.transport.close_input(),
                ShutdownAction::Wait(until) => {
                    self.transport.wait_for_exit(&mut self.io, until);
                }
                ShutdownAction::Done(report) => {
                    self.io.stderr.flush();
                    return report;
                }
            }
        }
    }

    /// Ends the HTTP session on the server, and waits for the response for at most [`GracePeriods::after_close`].
    #[cfg(feature = "http")]
    fn end_session(&mut self, grace_periods: GracePeriods) {
        let until = self.now() + grace_periods.after_close;
        while self.io.engine.http().is_some_and(|engine| engine.exchanges() > 0) && self.now() < until {
            while self.next_event().is_some() {}
            if self.turn(Some(until)).is_err() {
                return;
            }
        }
    }

    /// Notifies the hooks of the end of the connection, and drops them.
    #[cold]
    fn end_hooks(&mut self, exit: Option<Exit>) {
        while self.next_event().is_some() {}
        if let Some(hooks) = self.io.context.hooks.take() {
            hooks.process_exited(exit);
            hooks.deliver();
        }
    }
}

/// Errors of the client, with what is known of a connection that has ended.
impl Connection {
    #[cold]
    pub(crate) fn error(&mut self, error: impl Into<RequestError>) -> Error {
        let Io { context, process, stderr, state, .. } = &mut self.io;
        context.request_error(error.into(), || end_details(process, stderr, state))
    }

    #[cold]
    pub(crate) fn io_error(&self, error: io::Error) -> Error {
        Error::new(&self.io.context.name, error)
    }

    /// Returns the exit status and last output of the server's process, or `None` if there is no process.
    pub(crate) fn process_report(&mut self) -> Option<Box<ProcessReport>> {
        end_details(&mut self.io.process, &self.io.stderr, &self.io.state).process
    }
}

fn end_details(process: &mut Option<Process>, stderr: &Stderr, state: &ConnectionState) -> EndDetails {
    let report = |process: &mut Process| Box::new(ProcessReport::new(process.observe().copied(), stderr.tail()));
    EndDetails { process: process.as_mut().map(report), reason: state.lifecycle.close_reason().cloned() }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if self.io.engine.session().phase() != Phase::Closed {
            self.transport.close_in_background(&mut self.io, SESSION_END_TIMEOUT);
        }
        if self.io.context.hooks.is_some() {
            self.io.engine.close();
            self.end_hooks(None);
        }
        // Ended before the transport closes the server's input: a server that exits by itself would leave descendants that have left
        // its process group, and that can then no longer be found.
        self.io.process = None;
    }
}
