//! [`Runtime`]: the async runtime of a connection, behind one trait object.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

#[cfg(feature = "http")]
use mcpwire_client::{HttpSetupError, McpServerDef, http::HttpClient};
use mcpwire_client::{ReadStream, Reader, WriteStream, Writer};
use mcpwire_process::{ExitHandle, Pipes};

use crate::clock::Clock;

/// A future that a runtime runs to its end.
pub type TaskFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A function that may block its thread.
#[cfg(feature = "http")]
pub type BlockingTask = Box<dyn FnOnce() + Send>;

/// An async runtime: tasks, threads that may block, timers, and the pipes of processes.
///
/// Clients and hubs hold it as an `Arc<dyn Runtime>` and may call it on any thread, so it must not depend on the thread that
/// calls. [`CurrentRuntime`] finds the runtime of a thread.
///
/// `mcpwire-tokio`, `mcpwire-smol` and `mcpwire-async-std` implement this trait. For another runtime, implement it, and use
/// [`McpClient::connect_on`](crate::McpClient::connect_on).
pub trait Runtime: Send + Sync + 'static {
    /// Runs a task that nobody waits for. If the task drives a connection, dropping the task ends the server.
    fn spawn(&self, task: TaskFuture);

    /// Runs a function on a thread that may block. Nobody waits for it. By default, starts a thread for each function, and drops
    /// the function if there can be no more threads.
    ///
    /// The method needs the feature `http`: a program that only starts servers does not need it, and tokio's threads would add
    /// 41 KiB to that program.
    #[cfg(feature = "http")]
    fn spawn_blocking(&self, work: BlockingTask) {
        drop(std::thread::Builder::new().name("mcpwire-blocking".into()).spawn(task));
    }

    /// Creates a timer that is not set.
    fn timer(&self) -> Box<dyn Timer>;

    /// Returns the clock that the timers go by. By default, the system's monotonic clock.
    fn clock(&self) -> Clock {
        Clock::system()
    }

    /// Returns whether tasks run on threads of the runtime.
    ///
    /// If tasks run only while the program waits for the runtime, dropping the last client of a server waits until the
    /// killed server is gone, because no task may be polled again.
    fn runs_by_itself(&self) -> bool {
        true
    }

    /// Converts the pipes of a process to streams. If there is an exit handle, [`Streams::exit`] watches it.
    fn pipes(&self, pipes: Pipes, exit: Option<ExitHandle>) -> io::Result<Streams>;

    /// Creates the HTTP client for a connection to `def` that has no other
    /// ([`HttpOptions::client`](crate::http::HttpOptions::client)). By default, there is none.
    #[cfg(feature = "http")]
    fn http_client(&self, def: &McpServerDef) -> Result<Arc<dyn HttpClient>, HttpSetupError> {
        let _ = def;
        Err(HttpSetupError::Missing)
    }
}

/// Finds the runtime that a client is connected on: the type parameter of [`McpClient`](crate::McpClient).
pub trait CurrentRuntime: Send + Sync + 'static {
    /// Returns the runtime of the current thread. It may be used on any thread afterwards.
    ///
    /// # Panics
    ///
    /// May panic if the thread has no runtime, as tokio does.
    fn current() -> Arc<dyn Runtime>;
}

/// One timer of a runtime.
pub trait Timer: Send + 'static {
    /// Sets the timer to go off once `after` has passed, and not before. If `after` is longer than a day, the timer may go off
    /// after a day.
    fn reset(&mut self, after: Duration);

    /// Returns whether the timer has gone off, and wakes the task when it does. Only called after [`Timer::reset`], until it
    /// is ready.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()>;
}

/// A future that ends when a process has exited.
pub type ExitWatch = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The streams of a connection.
pub struct Streams {
    /// Standard output of the server.
    pub reader: Reader,
    /// Standard input of the server.
    pub writer: Writer,
    /// Standard error of the server.
    pub stderr: Option<Reader>,
    /// Ends when the process has exited. Without it, the client notices the exit at the end of the streams, or when it polls
    /// the process.
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
