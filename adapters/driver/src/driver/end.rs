//! The end of what a driver drives: what the server says last, its exit, and what is done to end it.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use mcpwire_client::ShutdownReport;
use mcpwire_core::Phase;

use super::Loop;
use crate::state::{CloseIntent, State};
use crate::stop::{Stop, UNWATCHED_END};

/// How often to check whether the process has exited, on systems that do not report it, while requests are pending.
const UNWATCHED: Duration = Duration::from_millis(100);

/// Size in bytes of one read of standard error, and maximum number of reads in a row.
const STDERR_CHUNK: usize = 8 * 1024;
const STDERR_ROUNDS: usize = 16;

impl Loop {
    pub(super) fn read_stderr(&mut self, state: &mut State, cx: &mut Context<'_>) -> bool {
        // Mostly there is nothing to read, and a small buffer costs little.
        let read = self.read_stderr_into(&mut [0; 64], state, cx);
        if read {
            let mut buffer = [0; STDERR_CHUNK];
            for _ in 0..STDERR_ROUNDS {
                if !self.read_stderr_into(&mut buffer, state, cx) {
                    break;
                }
            }
        }
        read
    }

    fn read_stderr_into(&mut self, buffer: &mut [u8], state: &mut State, cx: &mut Context<'_>) -> bool {
        let Some(stderr) = &mut self.stderr else { return false };
        match stderr.as_mut().poll_read(cx, buffer) {
            Poll::Pending => return false,
            Poll::Ready(Ok(n)) if n > 0 => {
                state.stderr.push(&buffer[..n]);
                if self.watchers.lines.is_followed() {
                    self.heard.extend_from_slice(&buffer[..n]);
                }
            }
            Poll::Ready(Err(error)) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Poll::Ready(_) => self.stderr = None,
        }
        true
    }

    pub(super) fn watch_exit(&mut self, state: &mut State, cx: &mut Context<'_>) -> bool {
        let Some(exit) = &mut self.exit else { return false };
        if exit.as_mut().poll(cx).is_pending() {
            return false;
        }
        self.exit = None;
        if let Some(process) = &mut state.process {
            process.observe();
        }
        true
    }

    /// Passes the end of the stream to the engine, once the exit status and the last output are known.
    pub(super) fn end(&mut self, state: &mut State) -> bool {
        if self.ended || state.engine.session().phase() == Phase::New {
            return false;
        }
        let unwatched = self.exit.is_none() && state.process.is_some();
        if !self.ending.is_near() && !unwatched {
            return false;
        }
        let now = self.shared.clock.now();
        if let Some(process) = &mut state.process
            && process.observe().is_some()
        {
            state.exit = process.exit().copied();
            self.ending.exited(now);
        }
        if self.stderr.is_none() {
            self.ending.errors_ended();
        }
        if !self.ending.is_over(now) {
            let wait = if self.ending.is_near() { UNWATCHED_END } else { UNWATCHED };
            let is_awaited = self.ending.is_near() || state.engine.session().in_flight() > 0;
            self.look_again = (unwatched && is_awaited).then(|| now + wait);
            return false;
        }
        self.ended = true;
        state.engine.receive_eof(now);
        true
    }

    /// Ends the server, if that is wanted or the connection has ended. Returns whether nothing is left of the server.
    pub(super) fn stop(&mut self, state: &mut State, cx: &mut Context<'_>) -> bool {
        if self.stopping.is_none()
            && state.close_intent == CloseIntent::None
            && state.engine.session().phase() != Phase::Closed
        {
            return false;
        }
        let now = self.shared.clock.now();
        let stopping = self.stopping.get_or_insert_with(|| {
            state.close(&self.shared.server, &mut self.wakers);
            Stop::begin(state, self.shared.context.grace_periods, now)
        });
        let Poll::Ready(report) = stopping.poll(state, self.exit.is_some(), self.stderr.is_some(), now, cx) else {
            return false;
        };
        // Read what the server wrote last.
        self.read_stderr(state, cx);
        self.reader = None;
        state.gone(&report);
        self.report = Some(report);
        true
    }
}

impl Loop {
    /// Ends the connection because a stream or the runtime has panicked. Pending requests fail with the message.
    #[cold]
    pub(super) fn fail(&mut self, message: String) {
        self.over = true;
        let why = self.shared.context.panics.report_transport(message);
        self.end_at_once(Some(why));
    }

    fn end_at_once(&mut self, failure: Option<Arc<str>>) {
        let mut state = self.shared.lock();
        if let Some(why) = failure {
            state.fail(why);
        }
        state.close(&self.shared.server, &mut self.wakers);
        state.writer = None;
        let process = state.process.take();
        drop(state);
        // Kills the process, with all processes that it started.
        drop(process);
        if let Some(hooks) = &self.shared.context.hooks {
            hooks.process_exited(None);
            hooks.deliver();
        }
        self.shared.lock().end(ShutdownReport::of_streams(), &mut self.wakers);
        for waker in self.wakers.drain(..) {
            waker.wake();
        }
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        if !self.over {
            self.end_at_once(None);
        }
    }
}
