//! [`Io`]: a connection with the read and write traits of hyper.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use hyper::rt::ReadBufCursor;
use mcpwire_driver::http::Socket;

use crate::meter::Meter;

/// A connection to a server or proxy, with TLS if the URL is `https`.
pub(crate) struct Io {
    pub(crate) socket: Socket,
    pub(crate) meter: Meter,
    pub(crate) is_http2: bool,
    /// Whether the peer is a proxy, which needs absolute URLs.
    pub(crate) is_proxied: bool,
}

impl hyper::rt::Read for Io {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, mut buf: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        // A copy, because hyper's buffer may be uninitialised and can be written in place by unsafe code only.
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
