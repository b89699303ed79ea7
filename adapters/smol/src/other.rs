//! The pipes of a server's process on systems other than Unix.

#[cfg(feature = "http")]
use std::future::{Ready, ready};
use std::io;

use blocking::Unblock;
use mcpwire_driver::Streams;
use mcpwire_driver::process::{ExitHandle, Pipes};

/// Reads and writes the pipes of a server's process on other threads. These systems have no [`ExitHandle`].
#[expect(clippy::unnecessary_wraps, reason = "the signature is the same as on Unix")]
pub(crate) fn streams(pipes: Pipes, _: Option<ExitHandle>) -> io::Result<Streams> {
    let mut streams = Streams::new(Unblock::new(pipes.stdout), Unblock::new(pipes.stdin));
    streams.stderr = Some(Box::pin(Unblock::new(pipes.stderr)));
    Ok(streams)
}

/// Returns an error, because async-io has Unix sockets on Unix alone.
#[cfg(feature = "http")]
pub(crate) fn connect(_: std::path::PathBuf) -> Ready<io::Result<mcpwire_driver::http::Socket>> {
    ready(Err(io::Error::new(io::ErrorKind::Unsupported, "this runtime does not support Unix sockets")))
}
