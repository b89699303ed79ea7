//! Internal part of [mcpwire](https://docs.rs/mcpwire), used through its feature `async-std`; its API may change in any release.
//!
//! The Model Context Protocol client for [async-std](async_std).
//!
//! This crate connects [`mcpwire_driver`] to async-std's tasks, and to the timers and pipes of async-io, on which async-std is
//! built. async-std is no longer maintained (RUSTSEC-2025-0052): this client is for programs that use it already. New programs
//! should use smol or tokio.
//!
//! ```no_run
//! # mod mcpwire { pub use mcpwire_async_std::McpServerDef; pub mod async_std { pub use mcpwire_async_std::McpClient; } }
//! use mcpwire::McpServerDef;
//! use mcpwire::async_std::McpClient;
//!
//! # async fn run() -> Result<(), mcpwire_async_std::Error> {
//! let client = McpClient::connect_and_initialize(&McpServerDef::new("my-server")).await?;
//! println!("{}", client.call_tool("echo", [("message", "hi")]).await?.text());
//! client.shutdown().await?;
//! # Ok(())
//! # }
//! ```
//!
//! With the feature `http`, a server may be a URL: `McpServerDef::http("https://example.com/mcp")`. All else stays the same.

#![cfg_attr(docsrs, feature(doc_cfg))]

use std::io;
use std::sync::Arc;

use mcpwire_driver::process::{ExitHandle, Pipes};
pub use mcpwire_driver::*;
use mcpwire_smol::Smol;

/// The runtime of this crate, on which clients run. It uses the tasks and threads of async-std, and the timers and pipes of
/// [`Smol`]. Both crates are built on async-io.
#[derive(Clone, Copy, Debug, Default)]
pub struct AsyncStd;

/// A connection to one server, on async-std.
pub type McpClient = mcpwire_driver::McpClient<AsyncStd>;

/// A builder that connects to a server. Created by [`open`].
pub type Open = mcpwire_driver::Open<AsyncStd>;

/// Returns a builder that connects to a server. Awaiting the builder starts the server, opens the connection and lists the tools.
///
/// Each option of [`ConnectOptions`] is a method of the builder.
///
/// ```no_run
/// # mod mcpwire { pub use mcpwire_async_std::McpServerDef; pub mod async_std { pub use mcpwire_async_std::open; } }
/// use std::time::Duration;
/// use mcpwire::McpServerDef;
/// use mcpwire::async_std::open;
///
/// # async fn run() -> Result<(), mcpwire_async_std::Error> {
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

impl AsyncStd {
    /// Returns this runtime, for [`McpClient::connect_on`](mcpwire_driver::McpClient::connect_on) and other functions that take a
    /// runtime.
    pub fn current() -> Arc<dyn Runtime> {
        Arc::new(AsyncStd)
    }
}

impl CurrentRuntime for AsyncStd {
    fn current() -> Arc<dyn Runtime> {
        AsyncStd::current()
    }
}

impl Runtime for AsyncStd {
    fn spawn(&self, task: TaskFuture) {
        // Dropping the handle detaches the task.
        drop(async_std::task::spawn(task));
    }

    #[cfg(feature = "http")]
    fn spawn_blocking(&self, work: BlockingTask) {
        drop(async_std::task::spawn_blocking(work));
    }

    fn timer(&self) -> Box<dyn Timer> {
        Smol.timer()
    }

    fn pipes(&self, pipes: Pipes, exit: Option<ExitHandle>) -> io::Result<Streams> {
        Smol.pipes(pipes, exit)
    }

    #[cfg(feature = "http")]
    fn http_client(&self, def: &McpServerDef) -> Result<Arc<dyn http::HttpClient>, HttpSetupError> {
        mcpwire_smol::start_reactor().map_err(|error| HttpSetupError::Client(error.to_string()))?;
        Ok(Arc::new(mcpwire_http::Client::new(Arc::new(AsyncStd), mcpwire_http::ClientOptions::of(def))?))
    }
}

#[cfg(feature = "http")]
impl http::Net for AsyncStd {
    fn resolve(&self, host: String, port: u16) -> http::ResolveFuture {
        Smol.resolve(host, port)
    }

    fn connect_tcp(&self, address: std::net::SocketAddr) -> http::ConnectFuture {
        Smol.connect_tcp(address)
    }

    fn connect_unix(&self, path: std::path::PathBuf) -> http::ConnectFuture {
        Smol.connect_unix(path)
    }
}
