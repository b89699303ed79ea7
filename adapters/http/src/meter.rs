//! [`MeteredSocket`]: a socket that protects the client from a server that sends too much data outside of responses.
//!
//! The socket is below TLS. The [`Meter`] therefore counts all bytes from the server, including TLS records, HTTP/2 frames and
//! interim responses.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use futures_io::{AsyncRead, AsyncWrite};

use mcpwire_client::lock;
use mcpwire_driver::Clock;
use mcpwire_driver::http::{Socket, Stream};
use mcpwire_driver::protocol::Timestamp;

/// Number of bytes that are read or written before the socket yields to other tasks. 32 KiB: hyper processes 3,600 of the
/// smallest HTTP/2 frames in about a millisecond. A yield takes less than a microsecond.
const YIELD_AFTER: usize = 32 * 1024;

/// Minimum number of bytes for which a read or write counts towards [`YIELD_AFTER`]. 1 KiB: a system call takes about as long as
/// copying 1 KiB.
const MIN_COST: usize = 1024;

/// Maximum number of bytes that the server may send until the client reads the next part of a response. 4 MiB: twice the receive
/// window of an HTTP/2 connection, which is the maximum size of bodies that were not read yet.
const MAX_UNUSED: u64 = 4 * 1024 * 1024;

/// Number of bytes that are subtracted from the count of unused bytes each second. 16 KiB: more than the pings on an idle
/// connection.
const FORGIVEN_PER_SECOND: u64 = 16 * 1024;

/// Counts the unused bytes: the bytes that have arrived since a part of a response was last read. Clones share the count.
#[derive(Clone, Default)]
pub(crate) struct Meter(Arc<Mutex<Unused>>);

#[derive(Default)]
struct Unused {
    bytes: u64,
    /// When bytes were last subtracted from the count, see [`FORGIVEN_PER_SECOND`]. `None` before the first bytes arrive.
    forgiven_at: Option<Timestamp>,
}

impl Meter {
    /// Sets the count of unused bytes to zero. Called when the head of a response or a part of a body has been read.
    pub(crate) fn reset(&self) {
        lock(&self.0).bytes = 0;
    }

    /// Adds bytes that have arrived at the time `now` to the count of unused bytes.
    ///
    /// # Errors
    /// If the count then exceeds [`MAX_UNUSED`]. The connection must be closed.
    pub(crate) fn add(&self, bytes: usize, now: Timestamp) -> io::Result<()> {
        let mut unused = lock(&self.0);
        let since = now.duration_since(*unused.forgiven_at.get_or_insert(now));
        let milliseconds = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        if milliseconds > 0 {
            let forgiven = milliseconds.saturating_mul(FORGIVEN_PER_SECOND) / 1000;
            unused.bytes = unused.bytes.saturating_sub(forgiven);
            unused.forgiven_at = Some(now);
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
}

/// A socket that yields to other tasks after [`YIELD_AFTER`] bytes, and fails when the server sends more than [`MAX_UNUSED`]
/// unused bytes.
pub(crate) struct MeteredSocket {
    socket: Socket,
    meter: Meter,
    clock: Clock,
    /// Number of bytes until the next yield.
    left: usize,
}

impl MeteredSocket {
    pub(crate) fn new(socket: Socket, meter: Meter, clock: Clock) -> Self {
        MeteredSocket { socket, meter, clock, left: YIELD_AFTER }
    }

    /// Reads or writes with `poll`. After [`YIELD_AFTER`] bytes without a pause, yields to other tasks once instead.
    fn poll_or_yield(
        &mut self,
        cx: &mut Context<'_>,
        poll: impl FnOnce(Pin<&mut dyn Stream>, &mut Context<'_>) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if self.left == 0 {
            self.left = YIELD_AFTER;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let polled = poll(self.socket.as_mut(), cx);
        self.left = match &polled {
            Poll::Ready(Ok(n)) => self.left.saturating_sub((*n).max(MIN_COST)),
            _ => YIELD_AFTER,
        };
        polled
    }
}

impl AsyncRead for MeteredSocket {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let polled = this.poll_or_yield(cx, |socket, cx| socket.poll_read(cx, buf));
        if let Poll::Ready(Ok(n)) = polled {
            this.meter.add(n, this.clock.now())?;
        }
        polled
    }
}

impl AsyncWrite for MeteredSocket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.get_mut().poll_or_yield(cx, |socket, cx| socket.poll_write(cx, buf))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.socket.as_mut().poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.socket.as_mut().poll_close(cx)
    }
}
