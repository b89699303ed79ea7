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
use std::time::Duration;

use mcpwire_core::Timestamp;
use mcpwire_core::internal::AnyEngine;

use crate::cancel::ThreadWaker;
use mcpwire_client::{Clock, ConnectionContext, ConnectionState, Direction, Stderr, Tracer};
use mcpwire_process::{EndOfStream, Process};

/// The engine of a connection, the process of the server, and what both tell the program. A [`Transport`] connects the two.
pub(crate) struct Io {
    pub(crate) engine: AnyEngine,
    pub(crate) process: Option<Process>,
    pub(crate) stderr: Stderr,
    pub(crate) tracer: Option<Tracer>,
    pub(crate) context: ConnectionContext,
    pub(crate) clock: Clock,
    pub(crate) state: ConnectionState,
    /// Whether the last [`Transport::turn`] has passed data to the engine.
    pub(crate) has_read: bool,
}

impl Io {
    /// Returns whether the exit of the server's process was seen.
    #[cfg(unix)]
    fn has_exited(&self) -> bool {
        self.process.as_ref().is_some_and(|process| process.exit().is_some())
    }

    /// Records the exit of the server's process, if it has exited.
    fn observe_exit(&mut self) {
        if let Some(process) = &mut self.process {
            process.observe();
        }
    }

    /// Passes the end of the stream to the engine.
    fn end(&mut self, end_of_stream: &mut EndOfStream, now: Timestamp) {
        if let Some(engine) = self.engine.stream() {
            end_of_stream.deliver(self.process.as_ref(), engine, now);
        }
    }

    /// Ends the connection because a stream panicked.
    fn fail(&mut self, message: String) {
        let why = self.context.panics.report_transport(message);
        self.engine.close_failed(why);
    }
}

/// Passes bytes of the stream to the tracer and the hooks. Not a method of [`Io`], because the bytes are borrowed from its engine.
#[inline]
fn observe(tracer: &mut Option<Tracer>, context: &ConnectionContext, direction: Direction, bytes: &[u8]) {
    if let Some(tracer) = tracer {
        tracer.push(direction, bytes);
    }
    if let Some(hooks) = &context.hooks {
        hooks.bytes(direction, bytes.len() as u64);
    }
}

/// Moves the bytes of an engine, or its HTTP exchanges.
pub(crate) trait Transport: Send {
    /// Waits for I/O, the waker or the time `until`, then reads and writes without blocking. Returns the time after the wait.
    fn turn(&mut self, io: &mut Io, until: Option<Timestamp>) -> io::Result<Timestamp>;

    /// Returns whether the next [`Transport::turn`] returns at once, because data is available.
    fn has_more(&self) -> bool {
        false
    }

    /// Writes as much as possible without waiting.
    fn flush(&mut self, io: &mut Io);

    /// Closes the stream to the server.
    fn close_input(&mut self) {}

    /// Waits until the server exits, writes output, or the time `until`. Discards the output.
    fn wait_for_exit(&mut self, _: &mut Io, _: Timestamp) {}

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
    fn close_in_background(&mut self, _: &mut Io, _: Duration) {}
}
