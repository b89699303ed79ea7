//! How the driver ends a connection: it reads the last output of the server, watches for its exit, and runs the shutdown.

use std::mem;
use std::sync::Arc;
use std::task::{Context, Poll};

use mcpwire_client::ShutdownReport;
use mcpwire_core::{Phase, Timestamp};
use mcpwire_process::ExitPolling;

use super::Driver;
use crate::locked_state::{CloseIntent, State};
use crate::shutdown::Shutdown;

/// Size of the buffer for one read of standard error, in bytes.
///
/// The driver zeroes the buffer in each turn. Zeroing a much larger buffer would take a fifth of the time of a call.
const STDERR_CHUNK: usize = 1024;
/// Maximum number of consecutive reads of standard error, so that a server that writes without end does not delay its replies.
const MAX_STDERR_READS: usize = 128;

impl Driver {
    /// Reads the server's standard error, and stores its last lines for errors. Returns whether anything was read.
    pub(super) fn read_stderr(&mut self, state: &mut State, cx: &mut Context<'_>) -> bool {
        let mut buffer = [0; STDERR_CHUNK];
        for reads in 0..MAX_STDERR_READS {
            let Some(stderr) = &mut self.stderr else { return reads > 0 };
            match stderr.as_mut().poll_read(cx, &mut buffer) {
                Poll::Pending => return reads > 0,
                Poll::Ready(Ok(n)) if n > 0 => {
                    state.server.stderr.push(&buffer[..n]);
                    if self.listeners.lines.has_listener() {
                        self.stderr_bytes.extend_from_slice(&buffer[..n]);
                    }
                }
                Poll::Ready(Err(error)) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Poll::Ready(_) => self.stderr = None,
            }
        }
        true
    }

    /// Polls for the exit of the server's process, and records its exit status. Returns `true` once, when the process has exited.
    pub(super) fn poll_exit(&mut self, state: &mut State, cx: &mut Context<'_>) -> bool {
        let Some(exit) = &mut self.exit else { return false };
        if exit.as_mut().poll(cx).is_pending() {
            return false;
        }
        self.exit = None;
        if let Some(process) = state.server.process() {
            process.observe();
        }
        true
    }

    /// Passes the end of the stream to the engine, once the exit status and the last output have arrived or are overdue. The
    /// errors of pending requests then contain both.
    ///
    /// Returns whether the end was passed.
    pub(super) fn deliver_eof(&mut self, state: &mut State, now: Timestamp) -> bool {
        if state.engine.session().phase() == Phase::New {
            return false;
        }
        if self.stderr.is_none() {
            self.end_of_stream.stderr_ended();
        }
        let polling = match (&self.exit, state.engine.session().in_flight()) {
            (Some(_), _) => ExitPolling::Never,
            (None, 0) => ExitPolling::AtTheEnd,
            (None, _) => ExitPolling::Always,
        };
        if !self.end_of_stream.poll(state.server.process(), polling, now) {
            return false;
        }
        if let Some(engine) = state.engine.stream() {
            self.end_of_stream.deliver(state.server.process().map(|process| &*process), engine, now);
        }
        true
    }

    /// Starts and continues the shutdown, if a client has requested it or the connection has ended. Returns whether the shutdown
    /// is complete.
    pub(super) fn poll_shutdown(&mut self, state: &mut State, now: Timestamp, cx: &mut Context<'_>) -> bool {
        if self.shutdown.is_none()
            && state.close_intent == CloseIntent::None
            && state.engine.session().phase() != Phase::Closed
        {
            return false;
        }
        let shutdown = self.shutdown.get_or_insert_with(|| {
            state.close(&self.shared.server);
            Shutdown::begin(state, self.shared.context.grace_periods, now)
        });
        let Poll::Ready(report) = shutdown.poll(state, self.exit.is_some(), self.stderr.is_some(), now, cx) else {
            return false;
        };
        // The server may have written more to standard error before it exited.
        self.read_stderr(state, cx);
        self.reader = None;
        self.ended = Some((report, state.server.take()));
        true
    }

    /// Ends the connection because the program's stream or runtime has panicked. Pending requests fail with the message of the
    /// panic.
    #[cold]
    pub(super) fn fail(&mut self, message: String) {
        let why = self.shared.context.panics.report_transport(message);
        self.kill(Some(why));
    }

    /// Kills the server, and ends the connection. If `failure` is a message, pending requests fail with it.
    fn kill(&mut self, failure: Option<Arc<str>>) {
        self.is_over = true;
        let mut state = self.shared.lock();
        if let Some(why) = failure {
            state.engine.close_failed(why);
        }
        state.close(&self.shared.server);
        let writer = state.output.writer.take();
        self.ended = Some((ShutdownReport::without_process(), state.server.take()));
        mem::swap(&mut state.wakers, &mut self.wakers);
        drop(state);
        drop(writer);
        self.run_callbacks();
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        if !self.is_over {
            self.kill(None);
        }
    }
}
