//! Internal part of [mcpwire](https://docs.rs/mcpwire), used through its feature `tokio`; its API may change in any release.
//!
//! The Model Context Protocol client for [tokio](https://tokio.rs).
//!
//! This crate connects [`mcpwire_driver`] to tokio's tasks, timers and pipes, on current-thread and multi-thread runtimes. The
//! runtime needs its I/O and time drivers: `enable_all`, as with `#[tokio::main]`.
//!
//! ```no_run
//! # mod mcpwire { pub use mcpwire_tokio::McpServerDef; pub mod tokio { pub use mcpwire_tokio::McpClient; } }
//! use std::time::Duration;
//!
//! use mcpwire::McpServerDef;
//! use mcpwire::tokio::McpClient;
//!
//! # async fn run() -> Result<(), mcpwire_tokio::Error> {
//! let def = McpServerDef::new("npx").args(["-y", "@modelcontextprotocol/server-everything"]);
//! let client = McpClient::connect_and_initialize(&def).await?;
//! let result = client.call_tool("echo", [("message", "hi")]).timeout(Duration::from_secs(10)).await?;
//! println!("{}", result.text());
//! client.shutdown().await?;
//! # Ok(())
//! # }
//! ```
//!
//! With the feature `http`, a server may be a URL: `McpServerDef::http("https://example.com/mcp")`. All else stays the same.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod compat;
#[cfg(feature = "http")]
mod net;
#[cfg(not(unix))]
mod other;
#[cfg(feature = "http")]
mod process_runtime;
#[cfg(unix)]
mod unix;

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

pub use compat::Compat;
use mcpwire_driver::process::{ExitHandle, Pipes};
use mcpwire_driver::protocol::Timestamp;
pub use mcpwire_driver::*;
#[cfg(not(unix))]
use other as system;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::time::{Instant, Sleep};
#[cfg(unix)]
use unix as system;

/// A tokio runtime on which clients run. Its I/O and time drivers must be enabled. Implements [`Runtime`].
#[derive(Clone, Debug)]
pub struct Tokio(Handle);

/// A connection to one server, on tokio.
pub type McpClient = mcpwire_driver::McpClient<Tokio>;

/// A builder that connects to a server. Created by [`open`].
pub type Open = mcpwire_driver::Open<Tokio>;

/// Returns a builder that connects to a server. Awaiting the builder starts the server, opens the connection and lists the tools.
///
/// Each option of [`ConnectOptions`] is a method of the builder.
///
/// ```no_run
/// # mod mcpwire { pub use mcpwire_tokio::McpServerDef; pub mod tokio { pub use mcpwire_tokio::open; } }
/// use std::time::Duration;
/// use mcpwire::McpServerDef;
/// use mcpwire::tokio::open;
///
/// # async fn run() -> Result<(), mcpwire_tokio::Error> {
/// let def = McpServerDef::new("my-server");
/// let client = open(&def).client_info("my-app", "1.0").timeout(Duration::from_secs(30)).await?;
/// # Ok(())
/// # }
/// ```
///
/// # Panics
/// The first poll panics outside of a tokio runtime.
pub fn open(def: impl Into<McpServerDef>) -> Open {
    mcpwire_driver::open(def)
}

/// Starts a server, opens the connection, runs `f` with the client, and returns the value of `f`. Then ends the server, even if
/// `f` panics or the future is dropped.
///
/// # Errors
/// If the server cannot be started or reached, if the connection cannot be opened, or if the server does not end.
///
/// # Panics
/// If the future is polled outside of a tokio runtime.
pub async fn with_client<T>(def: &McpServerDef, f: impl AsyncFnOnce(&McpClient) -> T) -> Result<T, Error> {
    mcpwire_driver::with_client(def, f).await
}

impl Tokio {
    /// Creates a `Tokio` from the handle of a tokio runtime, to start clients from outside of that runtime.
    pub fn new(handle: Handle) -> Self {
        Tokio(handle)
    }

    /// Returns the runtime in which this function is called, for [`McpClient::connect_on`](mcpwire_driver::McpClient::connect_on)
    /// and other functions that take a runtime.
    ///
    /// # Panics
    /// If this is called outside of a tokio runtime.
    pub fn current() -> Arc<dyn Runtime> {
        Arc::new(Tokio(Handle::current()))
    }
}

impl CurrentRuntime for Tokio {
    fn current() -> Arc<dyn Runtime> {
        Tokio::current()
    }
}

impl Runtime for Tokio {
    fn spawn(&self, task: TaskFuture) {
        self.0.spawn(task);
    }

    #[cfg(feature = "http")]
    fn spawn_blocking(&self, work: BlockingTask) {
        self.0.spawn_blocking(work);
    }

    #[cfg(feature = "http")]
    fn process_runtime(&self) -> Option<Arc<dyn Runtime>> {
        process_runtime::get().map(|handle| Arc::new(Tokio(handle)) as Arc<dyn Runtime>)
    }

    fn timer(&self) -> Box<dyn Timer> {
        // tokio's timers, pipes and sockets can only be created while a runtime is entered.
        let _entered = self.0.enter();
        Box::new(TokioTimer(Box::pin(tokio::time::sleep(MAX_SLEEP))))
    }

    fn clock(&self) -> Clock {
        // This is tokio's clock, so that `tokio::time::pause` in a test also pauses the timeouts of the client.
        let _entered = self.0.enter();
        let origin = Instant::now();
        Clock::from_fn(move || Timestamp::from_origin(origin.elapsed()))
    }

    fn has_own_threads(&self) -> bool {
        self.0.runtime_flavor() == RuntimeFlavor::MultiThread
    }

    fn pipes(&self, pipes: Pipes, exit: Option<ExitHandle>) -> io::Result<Streams> {
        let _entered = self.0.enter();
        system::streams(pipes, exit)
    }

    #[cfg(feature = "http")]
    fn http_client(&self, def: &McpServerDef) -> Result<Arc<dyn http::HttpClient>, HttpSetupError> {
        Ok(Arc::new(mcpwire_http::Client::new(Arc::new(self.clone()), mcpwire_http::ClientOptions::of(def))?))
    }
}

/// Maximum duration of a timer: a day, so that `Instant` does not overflow. The driver sets a longer timer again after that.
const MAX_SLEEP: Duration = Duration::from_secs(24 * 3600);

struct TokioTimer(Pin<Box<Sleep>>);

impl Timer for TokioTimer {
    fn reset(&mut self, after: Duration) {
        self.0.as_mut().reset(Instant::now() + after.min(MAX_SLEEP));
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(cx)
    }
}
