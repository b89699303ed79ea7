//! [`Runtime`]: the async runtime of a connection, behind one trait object.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use mcpwire_client::{Clock, ReadStream, Reader, WriteStream, Writer};
#[cfg(feature = "http")]
use mcpwire_client::{HttpSetupError, McpServerDef, http::HttpClient};
use mcpwire_process::{ExitHandle, Pipes};

/// The future of a task, without an output.
pub type TaskFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A function for [`Runtime::spawn_blocking`]. It may block its thread.
#[cfg(feature = "http")]
pub type BlockingTask = Box<dyn FnOnce() + Send>;

/// An async runtime: tasks, threads that may block, timers, and the pipes of processes.
///
/// Clients and hubs use an `Arc<dyn Runtime>` on any thread, so the methods must not depend on the calling thread.
/// [`CurrentRuntime`] returns the runtime of the current thread.
///
/// `mcpwire::tokio::Tokio`, `mcpwire::smol::Smol` and `mcpwire::async_std::AsyncStd` implement this trait. For another runtime,
/// implement it, and use
/// [`McpClient::connect_on`](crate::McpClient::connect_on).
pub trait Runtime: Send + Sync + 'static {
    /// Spawns a detached task. If the task drives a connection, dropping it kills the server.
    fn spawn(&self, task: TaskFuture);

    /// Runs a function on a thread that may block, without waiting for its end.
    ///
    /// The default implementation starts a thread for each function, and drops the function if the thread cannot be started. The
    /// method requires the feature `http`, because a program without HTTP does not need it, and tokio's thread pool would add
    /// 41 KiB to the program.
    #[cfg(feature = "http")]
    fn spawn_blocking(&self, task: BlockingTask) {
        drop(std::thread::Builder::new().name("mcpwire-blocking".into()).spawn(task));
    }

    /// Returns a runtime that lives as long as the process, for tasks that must not be lost when this runtime ends, such as a token
    /// refresh. Default: `None`, which means that this runtime does.
    #[cfg(feature = "http")]
    fn process_runtime(&self) -> Option<Arc<dyn Runtime>> {
        None
    }

    /// Creates a timer. [`Timer::reset`] sets it.
    fn timer(&self) -> Box<dyn Timer>;

    /// Returns the clock of the timers. Default: the system's monotonic clock.
    fn clock(&self) -> Clock {
        Clock::system()
    }

    /// Returns the time since the beginning of 1970 (UTC), by which authorization computes when tokens expire. Default: the
    /// system's clock.
    #[cfg(feature = "http")]
    fn unix_time(&self) -> Duration {
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default()
    }

    /// Returns whether the runtime runs tasks on its own threads. Default: `true`.
    ///
    /// `false` means that tasks run only while the program blocks on the runtime. Then dropping the last client blocks until the
    /// killed server has exited, because the task that reaps the server may never be polled again.
    fn has_own_threads(&self) -> bool {
        true
    }

    /// Converts the pipes of a process to streams. [`Streams::exit`] should resolve when the `exit` handle becomes readable.
    fn pipes(&self, pipes: Pipes, exit: Option<ExitHandle>) -> io::Result<Streams>;

    /// Creates the HTTP client for a connection whose options set none
    /// ([`HttpOptions::client`](crate::http::HttpOptions::client)). The default implementation returns an error.
    #[cfg(feature = "http")]
    fn http_client(&self, def: &McpServerDef) -> Result<Arc<dyn HttpClient>, HttpSetupError> {
        let _ = def;
        Err(HttpSetupError::Missing)
    }
}

/// Provides the runtime of the current thread. The type parameter of [`McpClient`](crate::McpClient) implements this trait.
pub trait CurrentRuntime: Send + Sync + 'static {
    /// Returns the runtime of the current thread. The runtime can then be used on any thread.
    ///
    /// # Panics
    /// May panic if the thread has no runtime, as tokio does.
    fn current() -> Arc<dyn Runtime>;
}

/// A timer of a runtime.
pub trait Timer: Send + 'static {
    /// Sets the timer to elapse after this duration, not earlier. If `after` is longer than a day, the timer may elapse after a
    /// day.
    fn reset(&mut self, after: Duration);

    /// Polls whether the timer has elapsed. Only called after [`Timer::reset`], until the result is ready.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()>;
}

/// A future that resolves when a process has exited.
pub type ExitWatch = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The streams of a connection.
pub struct Streams {
    /// Standard output of the server.
    pub reader: Reader,
    /// Standard input of the server.
    pub writer: Writer,
    /// Standard error of the server.
    pub stderr: Option<Reader>,
    /// Resolves when the process has exited. If this is `None`, the client polls the process at intervals.
    pub exit: Option<ExitWatch>,
}

impl Streams {
    /// Creates the streams of a connection that has no process.
    pub fn new(reader: impl ReadStream + Send + 'static, writer: impl WriteStream + Send + 'static) -> Self {
        Streams { reader: Box::pin(reader), writer: Box::pin(writer), stderr: None, exit: None }
    }
}

impl fmt::Debug for Streams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Streams").finish_non_exhaustive()
    }
}
