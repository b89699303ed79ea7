//! [`Metered`]: the socket of a connection, with a limit on what the server may take of the runtime.
//!
//! It lies below TLS, so everything that a server can send is counted: records of TLS, frames of HTTP/2, interim responses.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Instant;

use futures_io::{AsyncRead, AsyncWrite};

use mcpwire_driver::http::Socket;

/// How many bytes are read or written before other tasks have their turn. 32 KiB: 3,600 of the smallest frames of HTTP/2, about a
/// millisecond; a turn costs less than a thousandth of what the bytes do.
const BUDGET: usize = 32 * 1024;

/// The least that a read or a write counts: a system call costs as much as moving 1 KiB.
const SMALLEST: usize = 1024;

/// How many bytes a server may send while nobody takes the head of a response, or a part of its body. 4 MiB: twice the window of a
/// connection by HTTP/2, which is the most of a body that may wait to be read.
const MAX_UNUSED: u64 = 4 * 1024 * 1024;

/// How many of them are forgotten each second. 16 KiB: pings of a connection that is idle for months are no flood.
const FORGOTTEN_PER_SECOND: u64 = 16 * 1024;

/// Counts what a server sends while nobody takes a part of a response. A clone counts the same.
#[derive(Clone, Default)]
pub(crate) struct Meter(Arc<Mutex<Unused>>);

#[derive(Default)]
struct Unused {
    bytes: u64,
    /// Until when bytes were forgotten. `None` before the first come.
    forgotten_at: Option<Instant>,
}

impl Meter {
    /// Starts to count anew: the head of a response or a part of a body was taken.
    pub(crate) fn taken(&self) {
        self.lock().bytes = 0;
    }

    /// Counts bytes that came now.
    ///
    /// # Errors
    /// If the server has sent too much that is of no use.
    pub(crate) fn received(&self, bytes: usize, now: Instant) -> io::Result<()> {
        let mut unused = self.lock();
        let since = now.saturating_duration_since(*unused.forgotten_at.get_or_insert(now));
        let milliseconds = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        if milliseconds > 0 {
            let forgotten = milliseconds.saturating_mul(FORGOTTEN_PER_SECOND) / 1000;
            unused.bytes = unused.bytes.saturating_sub(forgotten);
            unused.forgotten_at = Some(now);
        }
        unused.bytes = unused.bytes.saturating_add(bytes as u64);
        if unused.bytes <= MAX_UNUSED {
            return Ok(());
        }
        let detail = format!(
            "the server sent {} KiB that were no part of a response, so the connection was closed. Report it to the server's operator",
            unused.bytes / 1024
        );
        Err(io::Error::new(io::ErrorKind::ConnectionAborted, detail))
    }

    fn lock(&self) -> MutexGuard<'_, Unused> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A socket that yields to other tasks, and that fails when its server floods it.
pub(crate) struct Metered {
    socket: Socket,
    meter: Meter,
    /// What is left of [`BUDGET`] in this turn.
    left: usize,
}

impl Metered {
    pub(crate) fn new(socket: Socket, meter: Meter) -> Self {
        Metered { socket, meter, left: BUDGET }
    }

    /// Reads or writes, if this turn of the task has not moved enough. A turn ends when there is nothing to read or to write.
    fn within_budget(
        &mut self,
        cx: &mut Context<'_>,
        f: impl FnOnce(Pin<&mut dyn mcpwire_driver::http::Stream>, &mut Context<'_>) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if self.left == 0 {
            self.left = BUDGET;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let polled = f(self.socket.as_mut(), cx);
        self.left = match &polled {
            Poll::Ready(Ok(n)) => self.left.saturating_sub((*n).max(SMALLEST)),
            _ => BUDGET,
        };
        polled
    }
}

impl AsyncRead for Metered {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let polled = this.within_budget(cx, |socket, cx| socket.poll_read(cx, buf));
        if let Poll::Ready(Ok(n)) = polled {
            this.meter.received(n, Instant::now())?;
        }
        polled
    }
}

impl AsyncWrite for Metered {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.get_mut().within_budget(cx, |socket, cx| socket.poll_write(cx, buf))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.socket.as_mut().poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.socket.as_mut().poll_close(cx)
    }
}
