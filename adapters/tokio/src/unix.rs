//! The pipes of a server's process and Unix sockets, on Unix.

use std::io;
use std::os::fd::OwnedFd;

use mcpwire_driver::Streams;
use mcpwire_driver::process::{ExitHandle, Pipes};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::net::unix::pipe::{Receiver, Sender};

use crate::Compat;

/// Registers the pipes and the exit of a server's process with the runtime that is entered.
pub(crate) fn streams(pipes: Pipes, exit: Option<ExitHandle>) -> io::Result<Streams> {
    let reader = Receiver::from_owned_fd(pipes.stdout.into())?;
    let mut streams = Streams::new(Compat(reader), Compat(Sender::from_owned_fd(pipes.stdin.into())?));
    streams.stderr = Some(Box::pin(Compat(Receiver::from_owned_fd(pipes.stderr.into())?)));
    if let Some(exit) = exit {
        #[allow(deprecated, reason = "its replacement needs a newer tokio; the handle owns its descriptor")]
        let exit = AsyncFd::with_interest(OwnedFd::from(exit), Interest::READABLE)?;
        streams.exit = Some(Box::pin(async move { drop(exit.readable().await) }));
    }
    Ok(streams)
}

/// Connects to the Unix socket at `path`.
#[cfg(feature = "http")]
pub(crate) async fn connect(path: std::path::PathBuf) -> io::Result<mcpwire_driver::http::Socket> {
    Ok(Box::pin(Compat(tokio::net::UnixStream::connect(path).await?)))
}
