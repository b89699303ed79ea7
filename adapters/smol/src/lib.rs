//! Internal part of [mcpwire](https://docs.rs/mcpwire), used through its feature `smol`; its API may change in any release.
//!
//! The Model Context Protocol client for [smol](https://docs.rs/smol) and other executors on [async-io](async_io).
//!
//! This crate connects [`mcpwire_driver`] to async-io's timers and pipes. One background thread drives all connections, so a
//! client works on any executor, even while the executor is busy.
//!
//! ```no_run
//! # mod mcpwire { pub use mcpwire_smol::McpServerDef; pub mod smol { pub use mcpwire_smol::McpClient; } }
//! use std::time::Duration;
//!
//! use mcpwire::McpServerDef;
//! use mcpwire::smol::McpClient;
//!
//! # async fn run() -> Result<(), mcpwire_smol::Error> {
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

mod executor;
#[cfg(feature = "http")]
mod net;
#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

pub use executor::{spawn, start, start_reactor};
use mcpwire_driver::process::{ExitHandle, Pipes};
pub use mcpwire_driver::*;
#[cfg(not(unix))]
use other as system;
#[cfg(unix)]
use unix as system;

/// The runtime of this crate, on which clients run. It uses the timers and pipes of async-io. One background thread runs the
/// tasks of all connections.
#[derive(Clone, Copy, Debug, Default)]
pub struct Smol;

/// A connection to one server, on smol or another executor.
pub type McpClient = mcpwire_driver::McpClient<Smol>;

/// A builder that connects to a server. Created by [`open`].
pub type Open = mcpwire_driver::Open<Smol>;

/// Returns a builder that connects to a server. Awaiting the builder starts the server, opens the connection and lists the tools.
///
/// Each option of [`ConnectOptions`] is a method of the builder.
///
/// ```no_run
/// # mod mcpwire { pub use mcpwire_smol::McpServerDef; pub mod smol { pub use mcpwire_smol::open; } }
/// use std::time::Duration;
/// use mcpwire::McpServerDef;
/// use mcpwire::smol::open;
///
/// # async fn run() -> Result<(), mcpwire_smol::Error> {
/// let def = McpServerDef::new("my-server");
/// let client = open(&def).client_info("my-app", "1.0").timeout(Duration::from_secs(30)).await?;
/// # Ok(())
/// # }
/// ```
pub fn open(def: impl Into<McpServerDef>) -> Open {
    mcpwire_driver::open(def)
}

/// Starts a server, opens the connection, runs `f` with the client, and returns the value of `f`. Then ends the server, even if
/// `f` panics or the future is dropped.
///
/// # Errors
/// If the server cannot be started or reached, if the connection cannot be opened, or if the server does not end.
pub async fn with_client<T>(def: &McpServerDef, f: impl AsyncFnOnce(&McpClient) -> T) -> Result<T, Error> {
    mcpwire_driver::with_client(def, f).await
}

impl Smol {
    /// Returns this runtime, for [`McpClient::connect_on`](mcpwire_driver::McpClient::connect_on) and other functions that take a
    /// runtime.
    pub fn current() -> Arc<dyn Runtime> {
        Arc::new(Smol)
    }
}

impl CurrentRuntime for Smol {
    fn current() -> Arc<dyn Runtime> {
        Smol::current()
    }
}

impl Runtime for Smol {
    fn spawn(&self, task: TaskFuture) {
        // If the thread cannot be started, the task is dropped here. Dropping it ends its connection.
        if start().is_ok() {
            spawn(task).detach();
        }
    }

    #[cfg(feature = "http")]
    fn spawn_blocking(&self, work: BlockingTask) {
        blocking::unblock(work).detach();
    }

    fn timer(&self) -> Box<dyn Timer> {
        Box::new(SmolTimer(async_io::Timer::never()))
    }

    fn pipes(&self, pipes: Pipes, exit: Option<ExitHandle>) -> io::Result<Streams> {
        system::streams(pipes, exit)
    }

    #[cfg(feature = "http")]
    fn http_client(&self, def: &McpServerDef) -> Result<Arc<dyn http::HttpClient>, HttpSetupError> {
        start_reactor().map_err(|error| HttpSetupError::Client(error.to_string()))?;
        Ok(Arc::new(mcpwire_http::Client::new(Arc::new(Smol), mcpwire_http::ClientOptions::of(def))?))
    }
}

struct SmolTimer(async_io::Timer);

impl Timer for SmolTimer {
    fn reset(&mut self, after: Duration) {
        self.0.set_after(after);
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.0).poll(cx).map(drop)
    }
}
