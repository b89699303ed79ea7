//! The Model Context Protocol client for [smol](https://docs.rs/smol), and for whatever else runs on
//! [async-io](async_io).
//!
//! It is [`mcpwire_driver`] on async-io's timers and pipes. Connections are driven by a thread of their own, all of them by
//! one, so that a client works under any executor, and also while that executor is busy.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use mcpwire_smol::{McpClient, McpServerDef};
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
//! With the feature `http`, a server may be an address: `McpServerDef::http("https://example.com/mcp")`, and everything else
//! stays as it is.

mod executor;
#[cfg(feature = "http")]
mod net;

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

pub use executor::spawn;
use mcpwire_driver::process::{ExitHandle, Pipes};
pub use mcpwire_driver::*;

/// The timers and pipes of async-io, and one thread for the tasks of all connections. It works under any executor.
#[derive(Clone, Copy, Debug, Default)]
pub struct Smol;

/// A client for smol.
pub type McpClient = mcpwire_driver::McpClient<Smol>;

/// Runs `f` with a client of a server that is started before and ended after it, however it ends.
pub async fn with_client<T>(def: &McpServerDef, f: impl AsyncFnOnce(&McpClient) -> T) -> Result<T, Error> {
    McpClient::with(def, f).await
}

impl CurrentRuntime for Smol {
    fn current() -> Arc<dyn Runtime> {
        Arc::new(Smol)
    }
}

impl Runtime for Smol {
    fn spawn(&self, task: TaskFuture) {
        spawn(task).detach();
    }

    #[cfg(feature = "http")]
    fn spawn_blocking(&self, work: BlockingTask) {
        blocking::unblock(work).detach();
    }

    fn timer(&self) -> Box<dyn Timer> {
        Box::new(SmolTimer(async_io::Timer::never()))
    }

    #[cfg(unix)]
    fn pipes(&self, pipes: Pipes, exit: Option<ExitHandle>) -> io::Result<Streams> {
        use async_io::Async;

        let mut streams = Streams::new(Async::new(pipes.stdout)?, Async::new(pipes.stdin)?);
        streams.stderr = Some(Box::pin(Async::new(pipes.stderr)?));
        if let Some(exit) = exit {
            let exit = Async::new_nonblocking(exit)?;
            streams.exit = Some(Box::pin(async move { drop(exit.readable().await) }));
        }
        Ok(streams)
    }

    #[cfg(not(unix))]
    fn pipes(&self, pipes: Pipes, _: Option<ExitHandle>) -> io::Result<Streams> {
        use blocking::Unblock;

        let mut streams = Streams::new(Unblock::new(pipes.stdout), Unblock::new(pipes.stdin));
        streams.stderr = Some(Box::pin(Unblock::new(pipes.stderr)));
        Ok(streams)
    }

    #[cfg(feature = "http")]
    fn http_client(&self, def: &McpServerDef) -> Result<Arc<dyn http::HttpClient>, HttpSetupError> {
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

/// Compiles the example of the crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
