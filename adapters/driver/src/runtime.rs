//! [`Runtime`]: the trait through which a connection spawns tasks, sets timers and reads pipes on any async runtime.

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

/// The future of a task for [`Runtime::spawn`]. It has no output.
pub type TaskFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A function for [`Runtime::spawn_blocking`]. It may block its thread.
#[cfg(feature = "http")]
pub type BlockingTask = Box<dyn FnOnce() + Send>;

/// An async runtime on which a connection runs. It spawns tasks, runs blocking functions, sets timers and reads the pipes of
/// processes.
///
/// Clients and hubs use an `Arc<dyn Runtime>` on any thread, so the methods must not depend on the calling thread.
/// [`CurrentRuntime`] returns the runtime of the current thread.
///
/// `mcpwire::tokio::Tokio`, `mcpwire::smol::Smol` and `mcpwire::async_std::AsyncStd` implement this trait. For another runtime,
/// implement this trait, and connect with [`McpClient::connect_on`](crate::McpClient::connect_on).
pub trait Runtime: Send + Sync + 'static {
    /// Spawns a task, and detaches it. If the runtime drops the task of a connection before its end, the server is killed.
    fn spawn(&self, task: TaskFuture);

    /// Runs a function on a thread that may block, without waiting for its end.
    ///
    /// The default implementation starts a thread for each function, and drops the function if the thread cannot be started. Only
    /// HTTP needs this method. It requires the feature `http`, because tokio's thread pool adds 41 KiB to a program.
    #[cfg(feature = "http")]
    fn spawn_blocking(&self, task: BlockingTask) {
        drop(std::thread::Builder::new().name("mcpwire-blocking".into()).spawn(task));
    }

    /// Returns a runtime that lives as long as the process. It runs tasks that must not be lost when this runtime ends, such as a
    /// token refresh.
    ///
    /// Default: `None`. These tasks then run on this runtime.
    #[cfg(feature = "http")]
    fn process_runtime(&self) -> Option<Arc<dyn Runtime>> {
        None
    }

    /// Creates a timer that is not set yet. The caller sets it with [`Timer::reset`].
    fn timer(&self) -> Box<dyn Timer>;

    /// Returns the clock by which [`Runtime::timer`] measures time. Default: the system's monotonic clock.
    ///
    /// A runtime with virtual time, such as a paused tokio runtime in a test, returns its own clock.
    fn clock(&self) -> Clock {
        Clock::system()
    }

    /// Returns the time since the beginning of 1970 (UTC). Authorization computes from this when tokens expire.
    ///
    /// Default: the system's clock.
    #[cfg(feature = "http")]
    fn unix_time(&self) -> Duration {
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default()
    }

    /// Returns whether the runtime runs tasks on its own threads. Default: `true`.
    ///
    /// `false` means that tasks run only while the program blocks on the runtime. Dropping the last client then blocks until the
    /// killed server has exited, because the task of the connection may never be polled again.
    fn has_own_threads(&self) -> bool {
        true
    }

    /// Converts the pipes of a server process to async streams.
    ///
    /// `exit` is a handle that becomes readable when the process exits. [`Streams::exit`] should resolve then. `None` if the
    /// system has no such handle.
    fn pipes(&self, pipes: Pipes, exit: Option<ExitHandle>) -> io::Result<Streams>;

    /// Creates the HTTP client for a connection. Not called if the program has set a client with
    /// [`HttpOptions::client`](crate::http::HttpOptions::client).
    ///
    /// The default implementation returns an error.
    #[cfg(feature = "http")]
    fn http_client(&self, def: &McpServerDef) -> Result<Arc<dyn HttpClient>, HttpSetupError> {
        let _ = def;
        Err(HttpSetupError::Missing)
    }
}

/// Finds the runtime of the current thread, so that a program need not pass a runtime to each client.
///
/// The type parameter of [`McpClient`](crate::McpClient) implements this trait.
pub trait CurrentRuntime: Send + Sync + 'static {
    /// Returns the runtime of the current thread. The runtime can then be used on any thread.
    ///
    /// # Panics
    /// May panic if the thread has no runtime, as tokio does.
    fn current() -> Arc<dyn Runtime>;
}

/// A timer of a runtime. Each connection has one, for its timeouts. Created by [`Runtime::timer`].
pub trait Timer: Send + 'static {
    /// Sets the timer to elapse after this duration, and not earlier. If `after` is longer than a day, the timer may elapse after
    /// a day: the client then sets it again.
    fn reset(&mut self, after: Duration);

    /// Polls whether the timer has elapsed. The client calls this only after [`Timer::reset`], until the result is ready.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()>;
}

/// A future that resolves when a server's process has exited.
pub type ExitWatch = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The streams of a connection: the pipes of a server process, or the program's own pair of streams.
pub struct Streams {
    /// The standard output of the server, from which the client reads messages.
    pub reader: Reader,
    /// The standard input of the server, to which the client writes messages.
    pub writer: Writer,
    /// The standard error of the server. `None` for a connection without a process.
    pub stderr: Option<Reader>,
    /// Resolves when the server's process has exited. If this is `None`, the client polls the process at intervals.
    pub exit: Option<ExitWatch>,
}

impl Streams {
    /// Creates the streams of a connection, with `None` for `stderr` and `exit`.
    pub fn new(reader: impl ReadStream + Send + 'static, writer: impl WriteStream + Send + 'static) -> Self {
        Streams { reader: Box::pin(reader), writer: Box::pin(writer), stderr: None, exit: None }
    }
}

impl fmt::Debug for Streams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Streams").finish_non_exhaustive()
    }
}
