//! [`Transport`]: moves the bytes between an engine and a server. Implemented for the pipes of a child process (Unix), for other
//! streams with a thread for each direction, and for HTTP.

#[cfg(feature = "http")]
mod background;
pub(crate) mod launched;
#[cfg(not(unix))]
mod other;
mod threads;
#[cfg(unix)]
mod unix;
#[cfg(feature = "http")]
mod web;

#[cfg(not(unix))]
pub(crate) use other::start;
pub(crate) use threads::Threads;
#[cfg(unix)]
pub(crate) use unix::start;
#[cfg(feature = "http")]
pub(crate) use web::Web;

use std::io;
use std::time::Duration;

use mcpwire_core::Timestamp;
use mcpwire_core::internal::AnyEngine;

use crate::cancel::ThreadWaker;
use mcpwire_client::{Clock, ConnectionContext, ConnectionState, Direction, Stderr, Tracer};
use mcpwire_process::{EndOfStream, Process};

/// The parts of a connection that a [`Transport`] uses: the engine, the server's process, and the program's callbacks.
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
    /// Asks the system whether the server's process has exited, and records its exit status if so.
    fn observe_exit(&mut self) {
        if let Some(process) = &mut self.process {
            process.observe();
        }
    }

    /// Passes the end of the stream to the engine, with the exit status or the error of the stream.
    fn end(&mut self, end_of_stream: &mut EndOfStream, now: Timestamp) {
        if let Some(engine) = self.engine.stream() {
            end_of_stream.deliver(self.process.as_ref(), engine, now);
        }
    }

    /// Ends the connection because the program's stream has panicked. Pending requests fail with the message of the panic.
    fn fail(&mut self, message: String) {
        let why = self.context.panics.report_transport(message);
        self.engine.close_failed(why);
    }
}

/// Reports bytes that were sent or received to the program's trace callback and hooks.
///
/// This is not a method of [`Io`], because `bytes` is borrowed from its engine.
#[inline]
fn observe(tracer: &mut Option<Tracer>, context: &ConnectionContext, direction: Direction, bytes: &[u8]) {
    if let Some(tracer) = tracer {
        tracer.push(direction, bytes);
    }
    if let Some(hooks) = &context.hooks {
        hooks.bytes(direction, bytes.len() as u64);
    }
}

/// Moves the bytes between an engine and a server, or sends the engine's HTTP requests.
pub(crate) trait Transport: Send {
    /// Waits until data can be read or written, the waker is called, or the time `until` has come. Then reads and writes without
    /// blocking, and returns the time after the wait.
    fn turn(&mut self, io: &mut Io, until: Option<Timestamp>) -> io::Result<Timestamp>;

    /// Returns whether received data is left that the next [`Transport::turn`] passes to the engine without waiting.
    fn has_more(&self) -> bool {
        false
    }

    /// Writes the engine's output as far as possible without waiting.
    fn flush(&mut self, io: &mut Io);

    /// Closes the stream to the server, so that the server can exit by itself.
    fn close_input(&mut self) {}

    /// Waits until the server exits or writes output, or the time `until` has come. Discards the output.
    fn wait_for_exit(&mut self, _: &mut Io, _: Timestamp) {}

    /// Returns whether [`Transport::wait_for_exit`] returns when the server exits. If not, the caller must check for the exit at
    /// intervals.
    fn reports_exit(&self) -> bool {
        false
    }

    /// Returns whether the standard error of the server is open.
    fn has_stderr(&self) -> bool {
        false
    }

    /// Creates a waker with which another thread ends the wait of [`Transport::turn`]. Called at most once for each transport.
    fn waker(&mut self) -> io::Result<ThreadWaker>;

    /// Ends the HTTP session on the server in the background, for at most this duration. Called when a connected client is
    /// dropped.
    fn close_in_background(&mut self, _: &mut Io, _: Duration) {}
}
