//! The pipes of a server's process and Unix sockets, on Unix.

use std::io;

use async_io::Async;
use mcpwire_driver::Streams;
use mcpwire_driver::process::{ExitHandle, Pipes};

use crate::executor::start_reactor;

/// Registers the pipes and the exit of a server's process with async-io.
pub(crate) fn streams(pipes: Pipes, exit: Option<ExitHandle>) -> io::Result<Streams> {
    start_reactor()?;
    let mut streams = Streams::new(Async::new(pipes.stdout)?, Async::new(pipes.stdin)?);
    streams.stderr = Some(Box::pin(Async::new(pipes.stderr)?));
    if let Some(exit) = exit {
        let exit = Async::new_nonblocking(exit)?;
        streams.exit = Some(Box::pin(async move { drop(exit.readable().await) }));
    }
    Ok(streams)
}

/// Connects to the Unix socket at `path`.
#[cfg(feature = "http")]
pub(crate) async fn connect(path: std::path::PathBuf) -> io::Result<mcpwire_driver::http::Socket> {
    start_reactor()?;
    Ok(Box::pin(Async::<std::os::unix::net::UnixStream>::connect(path).await?))
}
