//! The pipes and the exit of a process, registered with tokio.
//!
//! All of them use one type, `AsyncFd<File>`. tokio's own pipes have a type for each direction, which would add 4.5 KB to each program.

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

/// The read end of a pipe.
pub(crate) struct Reader(AsyncFd<File>);

impl Reader {
    pub(crate) fn new(file: File) -> io::Result<Self> {
        register(file, Interest::READABLE).map(Reader)
    }
}

impl ReadStream for Reader {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        loop {
            let mut guard = ready!(self.0.poll_read_ready(cx))?;
            let read = self.0.get_ref().read(buf);
            let is_blocked = matches!(&read, Err(error) if error.kind() == ErrorKind::WouldBlock);
            // After a short read the pipe is empty. Clearing the readiness saves a second system call for each message.
            if is_blocked || matches!(read, Ok(n) if n > 0 && n < buf.len()) {
                guard.clear_ready();
            }
            if !is_blocked {
                return Poll::Ready(read);
            }
        }
    }
}

/// The write end of a pipe. It is registered with tokio only when the pipe is full for the first time, which most pipes never are: an
/// idle connection takes 11.4 KiB instead of 11.8 KiB.
pub(crate) struct Writer {
    file: File,
    runtime: Handle,
    /// A duplicate descriptor of the pipe, registered with tokio. `None` before the pipe was full.
    registered: Option<AsyncFd<File>>,
}

impl Writer {
    pub(crate) fn new(file: File, runtime: Handle) -> Self {
        Writer { file, runtime, registered: None }
    }

    /// Waits until the full pipe may have room.
    fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.registered.is_none() {
            let _entered = self.runtime.enter();
            self.registered = Some(register(self.file.try_clone()?, Interest::WRITABLE)?);
        }
        if let Some(registered) = &self.registered {
            // Clears the readiness, so that a failed write waits for the next event.
            ready!(registered.poll_write_ready(cx))?.clear_ready();
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
pub(crate) struct ProcessExit(AsyncFd<File>);

impl ProcessExit {
    pub(crate) fn new(exit: ExitHandle) -> io::Result<Self> {
        register(OwnedFd::from(exit).into(), Interest::READABLE).map(ProcessExit)
    }
}

impl Future for ProcessExit {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.poll_read_ready(cx).map(drop)
    }
}

fn register(file: File, interest: Interest) -> io::Result<AsyncFd<File>> {
    #[allow(deprecated, reason = "its replacement needs a newer tokio; the file owns its descriptor")]
    AsyncFd::with_interest(file, interest)
}
