//! [`BodyReader`]: reads the body of a reqwest response while it arrives.

use std::error::Error;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use futures_io::AsyncRead;
use http_body::Body;
use mcpwire_driver::http::error_chain;

/// Reads the body of a response while it arrives. Buffers at most one frame of hyper.
pub(crate) struct BodyReader {
    body: reqwest::Body,
    /// The bytes of the last frame that were not read yet.
    frame: Bytes,
}

impl BodyReader {
    pub(crate) fn new(body: reqwest::Body) -> Self {
        BodyReader { body, frame: Bytes::new() }
    }
}

impl AsyncRead for BodyReader {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.frame.is_empty() {
            match ready!(Pin::new(&mut this.body).poll_frame(cx)) {
                None => return Poll::Ready(Ok(0)),
                // Ignores trailers, because MCP does not use them.
                Some(Ok(frame)) => this.frame = frame.into_data().unwrap_or_default(),
                Some(Err(error)) => return Poll::Ready(Err(read_error(error))),
            }
            if this.frame.is_empty() {
                // Yields to other tasks, because a server may send any number of empty frames.
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
        let n = this.frame.len().min(buf.len());
        buf[..n].copy_from_slice(&this.frame[..n]);
        this.frame.advance(n);
        Poll::Ready(Ok(n))
    }
}

fn read_error(error: reqwest::Error) -> io::Error {
    let error = error.without_url();
    let is_invalid = is_invalid_http(&error) || error.is_decode();
    let kind = if is_invalid { io::ErrorKind::InvalidData } else { io::ErrorKind::UnexpectedEof };
    io::Error::new(kind, error_chain(&error))
}

/// Returns whether the error was caused by a response that is not valid HTTP. Otherwise, the connection was lost.
pub(crate) fn is_invalid_http(error: &(dyn Error + 'static)) -> bool {
    let sources = std::iter::successors(Some(error), |error| (*error).source());
    sources.filter_map(|error| error.downcast_ref::<hyper::Error>()).any(hyper::Error::is_parse)
}
