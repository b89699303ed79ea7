//! [`Io`]: implements hyper's read and write traits for a connection.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use hyper::rt::ReadBufCursor;
use mcpwire_driver::http::Socket;

use crate::meter::Meter;

/// An open connection to a server or proxy, after the TLS handshake. Implements hyper's read and write traits.
pub(crate) struct Io {
    pub(crate) socket: Socket,
    pub(crate) meter: Meter,
    pub(crate) is_http2: bool,
    /// Whether requests must contain absolute URLs, because a proxy receives them without a tunnel.
    pub(crate) is_proxied: bool,
}

impl hyper::rt::Read for Io {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, mut buf: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        // Reads into a buffer of its own and copies the bytes, because only unsafe code can read into hyper's uninitialised
        // buffer.
        let mut space = [0; 16 * 1024];
        let room = buf.remaining().min(space.len());
        let n = ready!(self.socket.as_mut().poll_read(cx, &mut space[..room]))?;
        buf.put_slice(&space[..n]);
        Poll::Ready(Ok(()))
    }
}

impl hyper::rt::Write for Io {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.socket.as_mut().poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.socket.as_mut().poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.socket.as_mut().poll_close(cx)
    }
}
