//! The pipes of a process, and its exit, as tokio watches them.
//!
//! All of them are one type, `AsyncFd<File>`: tokio's own pipes have a type for each direction, and would add 4.5 KB to each program.

use std::fs::File;
use std::future::Future;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use mcpwire_driver::process::ExitHandle;
use mcpwire_driver::{ReadStream, WriteStream};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::runtime::Handle;

/// The end of a pipe to read from.
pub(crate) struct Reader(AsyncFd<File>);

impl Reader {
    pub(crate) fn new(file: File) -> io::Result<Self> {
        watch(file, Interest::READABLE).map(Reader)
    }
}

impl ReadStream for Reader {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        loop {
            let mut guard = ready!(self.0.poll_read_ready(cx))?;
            let read = self.0.get_ref().read(buf);
            let is_blocked = matches!(&read, Err(error) if error.kind() == ErrorKind::WouldBlock);
            // After a short read the pipe is empty: without this, each message would cost a second call of the system.
            if is_blocked || matches!(read, Ok(n) if n > 0 && n < buf.len()) {
                guard.clear_ready();
            }
            if !is_blocked {
                return Poll::Ready(read);
            }
        }
    }
}

/// The end of a pipe to write to. Tokio watches it only once it has been full, which most pipes never are: an idle connection
/// takes 11.4 KiB instead of 11.8 KiB.
pub(crate) struct Writer {
    file: File,
    runtime: Handle,
    /// Another descriptor of the same pipe.
    watched: Option<AsyncFd<File>>,
}

impl Writer {
    pub(crate) fn new(file: File, runtime: Handle) -> Self {
        Writer { file, runtime, watched: None }
    }

    /// Waits until the pipe, which was full, may have room.
    fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.watched.is_none() {
            let _entered = self.runtime.enter();
            self.watched = Some(watch(self.file.try_clone()?, Interest::WRITABLE)?);
        }
        if let Some(watched) = &self.watched {
            // The next write finds out whether it has: if not, only what happens after this call counts.
            ready!(watched.poll_write_ready(cx))?.clear_ready();
        }
        Poll::Ready(Ok(()))
    }
}

impl WriteStream for Writer {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            match self.file.write(buf) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => ready!(self.poll_room(cx))?,
                written => return Poll::Ready(written),
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

/// A future that ends when the process has exited.
pub(crate) struct Exit(AsyncFd<File>);

impl Exit {
    pub(crate) fn new(exit: ExitHandle) -> io::Result<Self> {
        watch(OwnedFd::from(exit).into(), Interest::READABLE).map(Exit)
    }
}

impl Future for Exit {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.poll_read_ready(cx).map(drop)
    }
}

fn watch(file: File, interest: Interest) -> io::Result<AsyncFd<File>> {
    #[allow(deprecated, reason = "its replacement needs a newer tokio; the file owns its descriptor")]
    AsyncFd::with_interest(file, interest)
}
