//! What a runtime gives the driver: a task to run in, a timer, and its own kind of pipes.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use mcpwire_client::{ReadStream, Reader, WriteStream, Writer};
use mcpwire_core::Timestamp;
use mcpwire_process::{ExitHandle, Pipes};

use crate::driver::Driver;

/// An async runtime, as far as a client needs one. All that is runtime-specific is in here.
///
/// The functions are called where the client is used, so a runtime that is found through the current thread is found.
pub trait Runtime: Send + Sync + 'static {
    /// Its timer.
    type Timer: Timer;

    /// Runs the driver as a task that nobody waits for. If the task is dropped, its server is ended.
    fn spawn(driver: Driver);

    /// Whether its tasks go on by themselves, on threads of its own. If they go on only while the program waits for the
    /// runtime, whoever drops the last client waits for the moment that a killed server takes to be gone.
    fn runs_by_itself() -> bool {
        true
    }

    /// A timer that has not been set.
    fn timer() -> Self::Timer;

    /// The clock that the timer goes by. The system's by default.
    fn clock() -> Clock {
        Clock::system()
    }

    /// Makes the pipes of a process the runtime's, and watches its exit if there is a handle for it.
    fn pipes(pipes: Pipes, exit: Option<ExitHandle>) -> io::Result<Streams>;

    /// The runtime's own HTTP client, for a connection to this server that brings none
    /// ([`HttpOptions::client`](crate::http::HttpOptions::client)). By default there is none.
    #[cfg(feature = "http")]
    fn http(
        _: &mcpwire_client::McpServerDef,
    ) -> Result<Arc<dyn crate::http::HttpClient>, mcpwire_client::HttpSetupError> {
        Err(mcpwire_client::HttpSetupError::Missing)
    }
}

/// One timer of a runtime.
pub trait Timer: Send + 'static {
    /// From now on it goes off once `after` has passed, and not before.
    fn reset(&mut self, after: Duration);

    /// Whether it has gone off; wakes the task when it does. Only called after [`Timer::reset`], until it is ready.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()>;
}

/// The engine's time.
#[derive(Clone)]
pub struct Clock(Kind);

#[derive(Clone)]
enum Kind {
    System(Instant),
    Other(Arc<dyn Fn() -> Timestamp + Send + Sync>),
}

impl Clock {
    /// The system's monotonic clock; the origin is now.
    pub fn system() -> Self {
        Clock(Kind::System(Instant::now()))
    }

    /// Another clock: a runtime's own, or a test's. It must not go backwards, and must not call the client.
    pub fn from_fn(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Clock(Kind::Other(Arc::new(now)))
    }

    /// The time.
    pub fn now(&self) -> Timestamp {
        match &self.0 {
            Kind::System(origin) => Timestamp::from_origin(origin.elapsed()),
            Kind::Other(now) => now(),
        }
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Clock({:?})", self.now())
    }
}

/// Ends when a process has exited.
pub type ExitWatch = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What carries the bytes of a connection.
pub struct Streams {
    /// What the server says.
    pub reader: Reader,
    /// What the server reads.
    pub writer: Writer,
    /// What the server wants a person to read.
    pub stderr: Option<Reader>,
    /// Ends when its process has exited. Without one, the exit is noticed by the end of the streams, or when somebody asks.
    pub exit: Option<ExitWatch>,
}

impl Streams {
    /// Of any pair of streams.
    pub fn new(reader: impl ReadStream + Send + 'static, writer: impl WriteStream + Send + 'static) -> Self {
        Streams { reader: Box::pin(reader), writer: Box::pin(writer), stderr: None, exit: None }
    }
}

impl fmt::Debug for Streams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Streams").finish_non_exhaustive()
    }
}
