//! What carries the messages: pipes that the calling thread polls (Unix), threads (other streams), or HTTP.

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
use std::time::{Duration, Instant};

use mcpwire_core::Timestamp;
use mcpwire_core::internal::AnyEngine;

use crate::cancel::Waker;
use mcpwire_client::{ConnectionHooks, Direction, PanicCallbacks, Stderr, Tracer};
use mcpwire_process::Process;

/// The engine's time: what has passed since the client was made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock(Instant);

impl Clock {
    pub(crate) fn start() -> Self {
        Clock(Instant::now())
    }

    pub(crate) fn now(self) -> Timestamp {
        Timestamp::from_origin(self.0.elapsed())
    }
}

/// What is not of the stream and needs care while it is waited for.
pub(crate) struct IoContext<'a> {
    pub(crate) clock: Clock,
    /// The time, if the caller has read the clock a moment ago. Only [`Pipes`] needs it.
    #[cfg(unix)]
    pub(crate) recent_time: Option<Timestamp>,
    pub(crate) process: Option<&'a mut Process>,
    pub(crate) stderr: &'a mut Stderr,
    pub(crate) tracer: Option<&'a mut Tracer>,
    pub(crate) hooks: Option<&'a dyn ConnectionHooks>,
    pub(crate) panics: &'a PanicCallbacks,
    /// Why this side could not go on, if that is how the connection ended.
    pub(crate) failure: &'a mut Option<Arc<str>>,
}

impl IoContext<'_> {
    /// Reports bytes of the stream to the program's callbacks.
    #[inline]
    fn observe(&mut self, direction: Direction, bytes: &[u8]) {
        if let Some(tracer) = &mut self.tracer {
            tracer.push(direction, bytes);
        }
        if let Some(hooks) = self.hooks {
            hooks.bytes(direction, bytes.len() as u64);
        }
    }

    /// Ends the connection because a stream panicked.
    fn fail(&mut self, engine: &mut AnyEngine, message: String) {
        let why = self.panics.report_transport(message);
        engine.close_failed(Arc::clone(&why));
        *self.failure = Some(why);
    }
}

/// A way to carry the bytes of an engine, or its exchanges.
pub(crate) trait Transport: Send {
    /// Writes what waits, then waits until something can be read or written, or the waker is used, but not beyond `until`,
    /// and does it. Gives the time after the wait: asking for it costs, and the caller needs it too.
    fn turn(
        &mut self,
        engine: &mut AnyEngine,
        context: &mut IoContext<'_>,
        until: Option<Timestamp>,
    ) -> io::Result<Timestamp>;

    /// Whether the next turn need not wait, as far as is known.
    fn has_more(&self) -> bool {
        false
    }

    /// Writes what can be written without waiting.
    fn flush(&mut self, engine: &mut AnyEngine, context: &mut IoContext<'_>);

    /// Closes the stream to the server.
    fn close_input(&mut self);

    /// Waits until the server exits, says something or `until` has come. What it says is thrown away.
    fn idle(&mut self, context: &mut IoContext<'_>, until: Timestamp);

    /// Takes in what a server that has ended still wrote on standard error.
    fn last_words(&mut self, context: &mut IoContext<'_>);

    /// What wakes a turn from another thread.
    fn waker(&mut self) -> io::Result<Waker>;

    /// The client is dropped while the connection is open: what the server should still be told is on its way for so long at
    /// most, and nobody waits for it.
    fn abandon(&mut self, _: &mut AnyEngine, _: Timestamp, _: Duration) {}
}
