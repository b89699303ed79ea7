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

#[cfg(feature = "http")]
mod background;

use std::future::{Future, pending};
use std::io;
use std::pin::Pin;
use std::sync::Once;
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use async_executor::Executor;
#[cfg(feature = "http")]
pub use background::Background;
use mcpwire_driver::process::{ExitHandle, Pipes};
pub use mcpwire_driver::*;

/// Any executor, with the timers and pipes of async-io.
#[derive(Clone, Copy, Debug)]
pub enum Smol {}

/// A client for smol.
pub type McpClient = mcpwire_driver::McpClient<Smol>;

/// Runs `f` with a client of a server that is started before and ended after it, however it ends.
pub async fn with_client<T>(def: &McpServerDef, f: impl AsyncFnOnce(&McpClient) -> T) -> Result<T, Error> {
    McpClient::with(def, f).await
}

impl Runtime for Smol {
    type Timer = SmolTimer;

    fn spawn(driver: Driver) {
        spawn(driver);
    }

    fn timer() -> SmolTimer {
        SmolTimer(async_io::Timer::never())
    }

    #[cfg(unix)]
    fn pipes(pipes: Pipes, exit: Option<ExitHandle>) -> io::Result<Streams> {
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
    fn pipes(pipes: Pipes, _: Option<ExitHandle>) -> io::Result<Streams> {
        use blocking::Unblock;

        let mut streams = Streams::new(Unblock::new(pipes.stdout), Unblock::new(pipes.stdin));
        streams.stderr = Some(Box::pin(Unblock::new(pipes.stderr)));
        Ok(streams)
    }

    #[cfg(feature = "http")]
    fn http(def: &McpServerDef) -> Result<std::sync::Arc<dyn http::HttpClient>, HttpSetupError> {
        Ok(std::sync::Arc::new(mcpwire_http::Client::<Smol>::new(mcpwire_http::ClientOptions::of(def))?))
    }
}

static EXECUTOR: Executor<'_> = Executor::new();

/// Runs a task on the thread that drives all connections. It must not block: nothing else moves meanwhile.
pub fn spawn(task: impl Future<Output = ()> + Send + 'static) {
    start();
    EXECUTOR.spawn(task).detach();
}

/// Starts that thread, if it does not run yet.
fn start() {
    static THREAD: Once = Once::new();
    THREAD.call_once(|| {
        let drive = || async_io::block_on(EXECUTOR.run(pending::<()>()));
        // Without a thread no connection moves, and the driver that is dropped with the executor says so to its clients.
        let _ = thread::Builder::new().name("mcpwire-smol".into()).spawn(drive);
    });
}

#[cfg(feature = "http")]
impl mcpwire_http::Net for Smol {
    fn connect(host: String, port: u16) -> mcpwire_http::Connecting {
        use std::net::{TcpStream, ToSocketAddrs};

        use async_io::Async;

        Box::pin(async move {
            // The system's way of looking up a host waits, so another thread does it.
            let addresses = blocking::unblock(move || (host, port).to_socket_addrs()).await?;
            let mut why = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
            for address in addresses {
                match Async::<TcpStream>::connect(address).await {
                    Ok(stream) => {
                        stream.get_ref().set_nodelay(true)?;
                        return Ok(Box::pin(stream) as mcpwire_http::Socket);
                    }
                    Err(error) => why = error,
                }
            }
            Err(why)
        })
    }

    #[cfg(unix)]
    fn connect_unix(socket: std::path::PathBuf) -> mcpwire_http::Connecting {
        use std::os::unix::net::UnixStream;

        use async_io::Async;

        Box::pin(async move { Ok(Box::pin(Async::<UnixStream>::connect(socket).await?) as mcpwire_http::Socket) })
    }

    fn spawn(task: mcpwire_http::Task) {
        spawn(task);
    }

    fn sleep(after: Duration) -> mcpwire_http::Task {
        Box::pin(async move {
            async_io::Timer::after(after).await;
        })
    }
}

/// A timer of async-io's.
#[derive(Debug)]
pub struct SmolTimer(async_io::Timer);

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
