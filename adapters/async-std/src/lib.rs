//! The Model Context Protocol client for [async-std](async_std).
//!
//! It is [`mcpwire_driver`] on async-std's tasks; timers and pipes are those of async-io, which async-std itself is built
//! on. async-std is no longer maintained (RUSTSEC-2025-0052): this crate is for programs that are on it already. New ones
//! are better off with `mcpwire-smol`, its successor, or `mcpwire-tokio`.
//!
//! ```no_run
//! use mcpwire_async_std::{McpClient, McpServerDef};
//!
//! # async fn run() -> Result<(), mcpwire_async_std::Error> {
//! let client = McpClient::connect_and_initialize(&McpServerDef::new("my-server")).await?;
//! println!("{}", client.call_tool("echo", [("message", "hi")]).await?.text());
//! client.shutdown().await?;
//! # Ok(())
//! # }
//! ```
//!
//! With the feature `http`, a server may be an address: `McpServerDef::http("https://example.com/mcp")`, and everything else
//! stays as it is.

use std::io;

use mcpwire_driver::process::{ExitHandle, Pipes};
pub use mcpwire_driver::*;
use mcpwire_smol::{Smol, SmolTimer};

/// async-std's runtime.
#[derive(Clone, Copy, Debug)]
pub enum AsyncStd {}

/// A client on async-std.
pub type McpClient = mcpwire_driver::McpClient<AsyncStd>;

/// Runs `f` with a client of a server that is started before and ended after it, however it ends.
pub async fn with_client<T>(def: &McpServerDef, f: impl AsyncFnOnce(&McpClient) -> T) -> Result<T, Error> {
    McpClient::with(def, f).await
}

impl Runtime for AsyncStd {
    type Timer = SmolTimer;

    fn spawn(driver: Driver) {
        // Detached: a task of async-std goes on without its handle.
        drop(async_std::task::spawn(driver));
    }

    fn timer() -> SmolTimer {
        Smol::timer()
    }

    fn pipes(pipes: Pipes, exit: Option<ExitHandle>) -> io::Result<Streams> {
        Smol::pipes(pipes, exit)
    }

    #[cfg(feature = "http")]
    fn http(def: &McpServerDef) -> Result<std::sync::Arc<dyn http::HttpClient>, HttpSetupError> {
        Ok(std::sync::Arc::new(mcpwire_http::Client::<AsyncStd>::new(mcpwire_http::ClientOptions::of(def))?))
    }
}

#[cfg(feature = "http")]
impl mcpwire_http::Net for AsyncStd {
    fn connect(host: String, port: u16) -> mcpwire_http::Connecting {
        Smol::connect(host, port)
    }

    fn connect_unix(socket: std::path::PathBuf) -> mcpwire_http::Connecting {
        Smol::connect_unix(socket)
    }

    fn spawn(task: mcpwire_http::Task) {
        drop(async_std::task::spawn(task));
    }

    fn sleep(after: std::time::Duration) -> mcpwire_http::Task {
        Smol::sleep(after)
    }
}

/// Compiles the example of the crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
