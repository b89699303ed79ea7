//! The pipes of a process.

use std::fs::File;
use std::future::Future;
use std::io;
use std::mem;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use mcpwire_driver::process::ExitHandle;
use mcpwire_driver::{ReadStream, WriteStream};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::runtime::Handle;

/// A pipe to read from. Tokio's own have a type for each direction, each with its own copy of what watches a descriptor.
pub(crate) struct Reader(AsyncFd<File>);

impl Reader {
    pub(crate) fn new(file: File) -> io::Result<Self> {
        watched(file, Interest::READABLE).map(Reader)
    }
}

impl ReadStream for Reader {
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

/// A pipe to write to. Most are never full: the runtime is asked to watch it, which takes memory, when it is full first.
pub(crate) enum Writer {
    Unwatched(File, Handle),
    Watched(AsyncFd<File>),
    /// The runtime would not watch it.
    Lost,
}

impl Writer {
    pub(crate) fn new(file: File) -> Self {
        Writer::Unwatched(file, Handle::current())
    }

    /// Waits for room.
    fn watch(&mut self) -> io::Result<()> {
        match mem::replace(self, Writer::Lost) {
            Writer::Unwatched(file, runtime) => {
                let _entered = runtime.enter();
                *self = Writer::Watched(watched(file, Interest::WRITABLE)?);
            }
            other => *self = other,
        }
        Ok(())
    }
}

impl WriteStream for Writer {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            let (written, guard) = match &*self {
                Writer::Unwatched(file, _) => (io::Write::write(&mut &*file, buf), None),
                Writer::Watched(pipe) => {
                    let guard = ready!(pipe.poll_write_ready(cx))?;
                    (io::Write::write(&mut pipe.get_ref(), buf), Some(guard))
                }
                Writer::Lost => return Poll::Ready(Err(io::ErrorKind::NotConnected.into())),
            };
            let is_full = matches!(&written, Err(error) if error.kind() == io::ErrorKind::WouldBlock);
            match (&written, guard) {
                (Ok(n), Some(mut guard)) if *n > 0 && *n < buf.len() => guard.clear_ready(),
                (_, Some(mut guard)) if is_full => guard.clear_ready(),
                (_, None) if is_full => self.watch()?,
                _ => {}
            }
            if !is_full {
                return Poll::Ready(written);
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Ends when the process does.
pub(crate) struct Exit(AsyncFd<File>);

impl Exit {
    pub(crate) fn new(exit: ExitHandle) -> io::Result<Self> {
        watched(OwnedFd::from(exit).into(), Interest::READABLE).map(Exit)
    }
}

impl Future for Exit {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.poll_read_ready(cx).map(drop)
    }
}

fn watched(file: File, interest: Interest) -> io::Result<AsyncFd<File>> {
    #[allow(deprecated, reason = "what takes its place is too new to ask for; the descriptor is owned")]
    AsyncFd::with_interest(file, interest)
}
