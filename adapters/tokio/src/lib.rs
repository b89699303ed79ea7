//! The Model Context Protocol client for [tokio](https://tokio.rs).
//!
//! It is [`mcpwire_driver`] on tokio's tasks, time and pipes, on a current-thread or a multi-thread runtime. The runtime
//! needs its I/O and its time: `enable_all`, which `#[tokio::main]` does.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use mcpwire_tokio::{McpClient, McpServerDef};
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
//! With the feature `http`, a server may be an address: `McpServerDef::http("https://example.com/mcp")`, and everything else
//! stays as it is.

mod compat;
#[cfg(feature = "http")]
mod net;
#[cfg(unix)]
mod pipe;

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

pub use compat::Compat;
use mcpwire_driver::core::Timestamp;
use mcpwire_driver::process::{ExitHandle, Pipes};
pub use mcpwire_driver::*;
use tokio::runtime::{EnterGuard, Handle, RuntimeFlavor};
use tokio::time::{Instant, Sleep};

/// A tokio runtime, with I/O and time enabled.
#[derive(Clone, Debug)]
pub struct Tokio(Handle);

/// A client on tokio.
pub type McpClient = mcpwire_driver::McpClient<Tokio>;

/// Runs `f` with a client of a server that is started before and ended after it, however it ends.
pub async fn with_client<T>(def: &McpServerDef, f: impl AsyncFnOnce(&McpClient) -> T) -> Result<T, Error> {
    McpClient::with(def, f).await
}

impl Tokio {
    /// Returns the runtime of a handle.
    pub fn new(handle: Handle) -> Self {
        Tokio(handle)
    }

    /// Makes it the runtime of the current thread, for what tokio finds through that.
    #[inline(never)]
    fn enter(&self) -> EnterGuard<'_> {
        self.0.enter()
    }
}

impl CurrentRuntime for Tokio {
    fn current() -> Arc<dyn Runtime> {
        Arc::new(Tokio(Handle::current()))
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

    fn timer(&self) -> Box<dyn Timer> {
        let _entered = self.enter();
        Box::new(TokioTimer(Box::pin(tokio::time::sleep(LONGEST))))
    }

    fn clock(&self) -> Clock {
        // The clock of tokio, because a test that pauses it expects the client's time to stop, too.
        let _entered = self.enter();
        let origin = Instant::now();
        Clock::from_fn(move || Timestamp::from_origin(origin.elapsed()))
    }

    fn has_own_threads(&self) -> bool {
        self.0.runtime_flavor() == RuntimeFlavor::MultiThread
    }

    #[cfg(unix)]
    fn pipes(&self, pipes: Pipes, exit: Option<ExitHandle>) -> io::Result<Streams> {
        use pipe::{Exit, Reader, Writer};

        let _entered = self.enter();
        let [stdin, stdout, stderr] = pipes.into_files()?;
        let mut streams = Streams::new(Reader::new(stdout)?, Writer::new(stdin, self.0.clone()));
        streams.stderr = Some(Box::pin(Reader::new(stderr)?));
        if let Some(exit) = exit {
            streams.exit = Some(Box::pin(Exit::new(exit)?));
        }
        Ok(streams)
    }

    #[cfg(not(unix))]
    fn pipes(&self, pipes: Pipes, _: Option<ExitHandle>) -> io::Result<Streams> {
        use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

        let _entered = self.enter();
        let mut streams =
            Streams::new(Compat(ChildStdout::from_std(pipes.stdout)?), Compat(ChildStdin::from_std(pipes.stdin)?));
        streams.stderr = Some(Box::pin(Compat(ChildStderr::from_std(pipes.stderr)?)));
        Ok(streams)
    }

    #[cfg(feature = "http")]
    fn http_client(&self, def: &McpServerDef) -> Result<Arc<dyn http::HttpClient>, HttpSetupError> {
        Ok(Arc::new(mcpwire_http::Client::new(Arc::new(self.clone()), mcpwire_http::ClientOptions::of(def))?))
    }
}

/// The longest time that the timer is set for: a day, which no clock of tokio overflows. The driver sets it again then.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

struct TokioTimer(Pin<Box<Sleep>>);

impl Timer for TokioTimer {
    fn reset(&mut self, after: Duration) {
        self.0.as_mut().reset(Instant::now() + after.min(LONGEST));
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(cx)
    }
}

/// Compiles the example of the crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
