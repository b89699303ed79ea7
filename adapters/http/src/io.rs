//! Hyper's words for bytes.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use hyper::rt::ReadBufCursor;

use crate::meter::Meter;
use mcpwire_driver::http::Socket;

/// A connection to a server, TLS and all.
pub(crate) struct Wire {
    pub(crate) socket: Socket,
    pub(crate) meter: Meter,
    pub(crate) is_http2: bool,
    /// What stands at its other end is a proxy, which wants to be told whole addresses.
    pub(crate) is_proxied: bool,
}

impl hyper::rt::Read for Wire {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, mut buf: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        // On the stack and copied once: hyper gives no space that could be filled in place without unsafe code.
        let mut space = [0; 16 * 1024];
        let room = buf.remaining().min(space.len());
        let n = ready!(self.socket.as_mut().poll_read(cx, &mut space[..room]))?;
        buf.put_slice(&space[..n]);
        Poll::Ready(Ok(()))
    }
}

impl hyper::rt::Write for Wire {
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
