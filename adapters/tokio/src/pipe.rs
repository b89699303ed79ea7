//! The pipes of a process.

use std::fs::File;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_io::{AsyncRead, AsyncWrite};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// A pipe of a process. Tokio's own have a type for each direction, each with its own copy of what watches a descriptor.
pub(crate) struct Pipe(pub(crate) AsyncFd<File>);

impl Pipe {
    pub(crate) fn new(file: File, interest: Interest) -> io::Result<Self> {
        #[allow(deprecated, reason = "what takes its place is too new to ask for; the descriptor is owned")]
        AsyncFd::with_interest(file, interest).map(Pipe)
    }
}

impl AsyncRead for Pipe {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        loop {
            let mut guard = ready!(self.0.poll_read_ready(cx))?;
            let read = io::Read::read(&mut self.0.get_ref(), buf);
            match &read {
                // That there is no more is known without asking again.
                Ok(n) if *n > 0 && *n < buf.len() => guard.clear_ready(),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    guard.clear_ready();
                    continue;
                }
                _ => {}
            }
            return Poll::Ready(read);
        }
    }
}

impl AsyncWrite for Pipe {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            let mut guard = ready!(self.0.poll_write_ready(cx))?;
            let written = io::Write::write(&mut self.0.get_ref(), buf);
            match &written {
                Ok(n) if *n > 0 && *n < buf.len() => guard.clear_ready(),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    guard.clear_ready();
                    continue;
                }
                _ => {}
            }
            return Poll::Ready(written);
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
