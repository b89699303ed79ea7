//! [`FullBody`]: the body of a request, and [`BodyReader`]: reads the body of a response.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use futures_io::AsyncRead;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use mcpwire_driver::http::error_chain;

use crate::meter::Meter;
use crate::pool::PooledConnection;

/// The complete body of a request.
pub(crate) struct FullBody(pub(crate) Bytes);

impl Body for FullBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let bytes = std::mem::take(&mut self.get_mut().0);
        Poll::Ready((!bytes.is_empty()).then(|| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.len() as u64)
    }
}

/// Reads the body of a response. It buffers at most one frame, which is what hyper reads at once.
pub(crate) struct BodyReader {
    body: Incoming,
    /// The rest of the last frame.
    frame: Bytes,
    meter: Meter,
    /// The HTTP/1.1 connection of the response, until its end. `None` for HTTP/2.
    connection: Option<PooledConnection>,
}

impl BodyReader {
    /// Creates the reader of a response body.
    ///
    /// Resets the meter, which counts the bytes outside of responses, because the head has arrived.
    pub(crate) fn new(body: Incoming, meter: Meter, connection: Option<PooledConnection>) -> Self {
        meter.reset();
        let mut reader = BodyReader { body, frame: Bytes::new(), meter, connection };
        if reader.body.is_end_stream() {
            reader.return_connection();
        }
        reader
    }

    fn return_connection(&mut self) {
        if let Some(connection) = self.connection.take() {
            connection.return_to_pool();
        }
    }
}

impl AsyncRead for BodyReader {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.frame.is_empty() {
            match ready!(Pin::new(&mut this.body).poll_frame(cx)) {
                None => {
                    this.return_connection();
                    return Poll::Ready(Ok(0));
                }
                // The protocol does not use trailers.
                Some(Ok(frame)) => this.frame = frame.into_data().unwrap_or_default(),
                Some(Err(error)) => return Poll::Ready(Err(read_error(&error))),
            }
            if this.frame.is_empty() {
                // Yields, because a server may send any number of empty frames.
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
        this.meter.reset();
        let n = this.frame.len().min(buf.len());
        buf[..n].copy_from_slice(&this.frame[..n]);
        this.frame.advance(n);
        Poll::Ready(Ok(n))
    }
}

fn read_error(error: &hyper::Error) -> io::Error {
    let kind = if error.is_parse() { io::ErrorKind::InvalidData } else { io::ErrorKind::UnexpectedEof };
    io::Error::new(kind, error_chain(error))
}
