//! The end of a connection: the shutdown, and errors that contain the server's exit status and last output.

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

/// Maximum time for the `DELETE` request that ends an HTTP session after the client was dropped. Then the request is aborted.
const SESSION_END_TIMEOUT: Duration = Duration::from_secs(5);

impl Connection {
    /// Returns the reason why the connection has ended, with the server's exit status and last output. `None` if it has not
    /// ended.
    pub(crate) fn end(&mut self) -> Option<ConnectionEnd> {
        if self.io.engine.session().phase() != Phase::Closed {
            return None;
        }
        // An engine that has asked for a restart does not report the end of the connection. The server has ended it.
        let reason = self.io.state.lifecycle.close_reason().cloned().unwrap_or(CloseReason::ByServer);
        Some(ConnectionEnd::new(reason, self.process_report()))
    }

    /// Ends the server step by step, and waits for its exit for as long as the grace periods allow. Then notifies the hooks of
    /// the end.
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
            // The program's handlers are not called, because their answers could not be sent any more.
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

    /// Notifies the program's hooks of the end of the connection and the exit of the server, and drops the hooks.
    #[cold]
    fn end_hooks(&mut self, exit: Option<Exit>) {
        while self.next_event().is_some() {}
        if let Some(hooks) = self.io.context.hooks.take() {
            hooks.process_exited(exit);
            hooks.deliver();
        }
    }
}

/// Conversions to errors of the client. If the connection has ended, an error contains the server's exit status and last output.
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
        // The process is killed before the transport closes the server's input. If the server exited by itself, its descendants
        // in other process groups could no longer be found.
        self.io.process = None;
    }
}
