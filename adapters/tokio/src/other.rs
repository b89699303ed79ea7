//! The pipes of a server's process on systems other than Unix.

#[cfg(feature = "http")]
use std::future::{Ready, ready};
use std::io;

use mcpwire_driver::Streams;
use mcpwire_driver::process::{ExitHandle, Pipes};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

use crate::Compat;

/// Registers the pipes of a server's process with the runtime that is entered. These systems have no [`ExitHandle`].
pub(crate) fn streams(pipes: Pipes, _: Option<ExitHandle>) -> io::Result<Streams> {
    let mut streams =
        Streams::new(Compat(ChildStdout::from_std(pipes.stdout)?), Compat(ChildStdin::from_std(pipes.stdin)?));
    streams.stderr = Some(Box::pin(Compat(ChildStderr::from_std(pipes.stderr)?)));
    Ok(streams)
}

/// Returns an error, because tokio has Unix sockets on Unix alone.
#[cfg(feature = "http")]
pub(crate) fn connect(_: std::path::PathBuf) -> Ready<io::Result<mcpwire_driver::http::Socket>> {
    ready(Err(io::Error::new(io::ErrorKind::Unsupported, "this runtime does not support Unix sockets")))
}
