//! Transports: the pipes of a child process (Unix), other streams with a thread for each direction, and HTTP.

#[cfg(feature = "http")]
mod background;
pub(crate) mod launched;
#[cfg(unix)]
mod pipes;
mod threads;
#[cfg(feature = "http")]
mod web;

#[cfg(unix)]
pub(crate) use pipes::Pipes;
pub(crate) use threads::Threads;
#[cfg(feature = "http")]
pub(crate) use web::Web;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use mcpwire_core::Timestamp;
use mcpwire_core::internal::AnyEngine;

use crate::cancel::ThreadWaker;
use mcpwire_client::{Clock, ConnectionHooks, Direction, PanicCallbacks, Stderr, Tracer};
use mcpwire_process::Process;

/// The parts of a [`Connection`](crate::connection::Connection) that a transport uses besides the engine.
pub(crate) struct IoContext<'a> {
    pub(crate) clock: &'a Clock,
    /// The current time, if the caller has just read the clock. Only [`Pipes`] uses it.
    #[cfg(unix)]
    pub(crate) recent_time: Option<Timestamp>,
    pub(crate) process: Option<&'a mut Process>,
    pub(crate) stderr: &'a mut Stderr,
    pub(crate) tracer: Option<&'a mut Tracer>,
    pub(crate) hooks: Option<&'a ConnectionHooks>,
    pub(crate) panics: &'a PanicCallbacks,
    /// Set if the connection ended because of a failure on this side, such as a panic.
    pub(crate) failure: &'a mut Option<Arc<str>>,
}

impl IoContext<'_> {
    /// Passes bytes of the stream to the tracer and the hooks.
    #[inline]
    fn observe(&mut self, direction: Direction, bytes: &[u8]) {
        if let Some(tracer) = &mut self.tracer {
            tracer.push(direction, bytes);
        }
        if let Some(hooks) = self.hooks {
            hooks.bytes(direction, bytes.len() as u64);
        }
    }

    /// Passes the end of the stream to the engine, or the error that ended it. How a process has ended says more than the error
    /// of a pipe.
    fn end(&mut self, engine: &mut AnyEngine, failure: Option<io::Error>, now: Timestamp) {
        match failure.filter(|_| self.process.is_none()) {
            Some(error) => {
                let why: Arc<str> = error.to_string().into();
                *self.failure = Some(Arc::clone(&why));
                engine.receive_error(why, now);
            }
            None => engine.receive_eof(now),
        }
    }

    /// Ends the connection because a stream panicked.
    fn fail(&mut self, engine: &mut AnyEngine, message: String) {
        let why = self.panics.report_transport(message);
        engine.close_failed(Arc::clone(&why));
        *self.failure = Some(why);
    }
}

/// Moves the bytes of an engine, or its HTTP exchanges.
pub(crate) trait Transport: Send {
    /// Waits for I/O, the waker or the time `until`, then reads and writes without blocking.
    ///
    /// Returns the time after the wait, so that the caller need not read the clock again.
    fn turn(
        &mut self,
        engine: &mut AnyEngine,
        context: &mut IoContext<'_>,
        until: Option<Timestamp>,
    ) -> io::Result<Timestamp>;

    /// Returns whether the next [`Transport::turn`] returns at once, because data is available.
    fn has_more(&self) -> bool {
        false
    }

    /// Writes as much as possible without waiting.
    fn flush(&mut self, engine: &mut AnyEngine, context: &mut IoContext<'_>);

    /// Closes the stream to the server.
    fn close_input(&mut self);

    /// Waits until the server exits, writes output, or the time `until`. Discards the output.
    fn wait_for_exit(&mut self, _: &mut IoContext<'_>, _: Timestamp) {}

    /// Returns whether the exit of the server ends [`Transport::wait_for_exit`].
    fn reports_exit(&self) -> bool {
        false
    }

    /// Returns whether the standard error of the server is open.
    fn has_stderr(&self) -> bool {
        false
    }

    /// Returns a waker with which another thread ends the wait of [`Transport::turn`].
    fn waker(&mut self) -> io::Result<ThreadWaker>;

    /// Ends the HTTP session in the background, for at most this duration. Called when the client is dropped while connected.
    fn close_in_background(&mut self, _: &mut AnyEngine, _: Timestamp, _: Duration) {}
}
