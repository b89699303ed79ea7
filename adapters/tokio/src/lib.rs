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

pub mod cookbook;
#[cfg(unix)]
mod pipe;

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use mcpwire_driver::core::Timestamp;
use mcpwire_driver::process::{ExitHandle, Pipes};
pub use mcpwire_driver::*;
use tokio::io::ReadBuf;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::time::{Instant, Sleep};

/// The runtime of the current thread.
#[derive(Clone, Copy, Debug)]
pub enum Tokio {}

/// A client on tokio.
pub type McpClient = mcpwire_driver::McpClient<Tokio>;

/// Runs `f` with a client of a server that is started before and ended after it, however it ends.
pub async fn with_client<T>(def: &McpServerDef, f: impl AsyncFnOnce(&McpClient) -> T) -> Result<T, Error> {
    McpClient::with(def, f).await
}

impl Runtime for Tokio {
    type Timer = TokioTimer;

    fn spawn(driver: Driver) {
        tokio::spawn(driver);
    }

    fn runs_by_itself() -> bool {
        Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread)
    }

    fn timer() -> TokioTimer {
        TokioTimer(None)
    }

    fn clock() -> Clock {
        // Tokio's, so that a test that stops it stops the client's time too.
        let origin = Instant::now();
        Clock::from_fn(move || Timestamp::from_origin(origin.elapsed()))
    }

    #[cfg(unix)]
    fn pipes(pipes: Pipes, exit: Option<ExitHandle>) -> io::Result<Streams> {
        use pipe::{Exit, Reader, Writer};

        let [stdin, stdout, stderr] = pipes.into_files()?;
        let mut streams = Streams::new(Reader::new(stdout)?, Writer::new(stdin));
        streams.stderr = Some(Box::pin(Reader::new(stderr)?));
        if let Some(exit) = exit {
            streams.exit = Some(Box::pin(Exit::new(exit)?));
        }
        Ok(streams)
    }

    #[cfg(not(unix))]
    fn pipes(pipes: Pipes, _: Option<ExitHandle>) -> io::Result<Streams> {
        use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

        let mut streams =
            Streams::new(Compat(ChildStdout::from_std(pipes.stdout)?), Compat(ChildStdin::from_std(pipes.stdin)?));
        streams.stderr = Some(Box::pin(Compat(ChildStderr::from_std(pipes.stderr)?)));
        Ok(streams)
    }

    #[cfg(feature = "http")]
    fn http(def: &McpServerDef) -> Result<std::sync::Arc<dyn http::HttpClient>, HttpSetupError> {
        Ok(std::sync::Arc::new(mcpwire_http::Client::<Tokio>::new(mcpwire_http::ClientOptions::of(def))?))
    }
}

#[cfg(feature = "http")]
impl mcpwire_http::Net for Tokio {
    fn connect(host: String, port: u16) -> mcpwire_http::Connecting {
        Box::pin(async move {
            let stream = tokio::net::TcpStream::connect((host, port)).await?;
            stream.set_nodelay(true)?;
            Ok(Box::pin(Compat(stream)) as mcpwire_http::Socket)
        })
    }

    #[cfg(unix)]
    fn connect_unix(socket: std::path::PathBuf) -> mcpwire_http::Connecting {
        Box::pin(async move {
            let stream = tokio::net::UnixStream::connect(socket).await?;
            Ok(Box::pin(Compat(stream)) as mcpwire_http::Socket)
        })
    }

    fn spawn(task: mcpwire_http::Task) {
        tokio::spawn(task);
    }

    fn sleep(after: Duration) -> mcpwire_http::Task {
        Box::pin(tokio::time::sleep(after.min(FOR_EVER)))
    }
}

/// What is further away is looked at again: a day is never too far for the clock.
const FOR_EVER: Duration = Duration::from_secs(24 * 3600);

/// A timer of tokio's.
#[derive(Debug)]
pub struct TokioTimer(Option<Pin<Box<Sleep>>>);

impl Timer for TokioTimer {
    fn reset(&mut self, after: Duration) {
        match &mut self.0 {
            Some(sleep) => sleep.as_mut().reset(Instant::now() + after.min(FOR_EVER)),
            none => *none = Some(Box::pin(tokio::time::sleep(after.min(FOR_EVER)))),
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().map_or(Poll::Pending, |sleep| sleep.as_mut().poll(cx))
    }
}

/// A stream of tokio's as one that carries a connection, for [`McpClient::over`](mcpwire_driver::McpClient::over).
///
/// With the feature `http`, it implements the traits of `futures-io` too.
#[derive(Debug)]
pub struct Compat<T>(pub T);

macro_rules! stream {
    ($Read:path, $Write:path) => {
        impl<T: tokio::io::AsyncRead + Unpin> $Read for Compat<T> {
            fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
                let mut buf = ReadBuf::new(buf);
                ready!(Pin::new(&mut self.0).poll_read(cx, &mut buf))?;
                Poll::Ready(Ok(buf.filled().len()))
            }
        }

        impl<T: tokio::io::AsyncWrite + Unpin> $Write for Compat<T> {
            fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
                Pin::new(&mut self.0).poll_write(cx, buf)
            }

            fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                Pin::new(&mut self.0).poll_flush(cx)
            }

            fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                Pin::new(&mut self.0).poll_shutdown(cx)
            }
        }
    };
}

#[cfg(not(feature = "http"))]
stream!(ReadStream, WriteStream);
// HTTP needs these, and the driver implements its own traits for whatever implements these.
#[cfg(feature = "http")]
stream!(futures_io::AsyncRead, futures_io::AsyncWrite);

/// Compiles the example of the crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
