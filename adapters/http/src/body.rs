//! Bodies: that of a request, which is there whole, and that of a response, which is read as it comes.

use std::convert::Infallible;
use std::error::Error;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use futures_io::AsyncRead;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

use crate::meter::Meter;
use crate::pool::Lent;

/// The body of a request.
pub(crate) struct Whole(pub(crate) Bytes);

impl Body for Whole {
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

/// The body of a response. What was read and not taken is at most what hyper reads at once.
pub(crate) struct Rest {
    body: Incoming,
    piece: Bytes,
    meter: Meter,
    /// The connection that it comes by, until its end.
    lent: Option<Lent>,
}

impl Rest {
    /// The head of the response has come, so what counts the connection's bytes starts anew.
    pub(crate) fn new(body: Incoming, meter: Meter, lent: Option<Lent>) -> Self {
        meter.taken();
        let mut rest = Rest { body, piece: Bytes::new(), meter, lent };
        if rest.body.is_end_stream() {
            rest.ended();
        }
        rest
    }

    fn ended(&mut self) {
        if let Some(lent) = self.lent.take() {
            lent.give_back();
        }
    }
}

impl AsyncRead for Rest {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.piece.is_empty() {
            match ready!(Pin::new(&mut this.body).poll_frame(cx)) {
                None => {
                    this.ended();
                    return Poll::Ready(Ok(0));
                }
                // Trailers say nothing to this protocol.
                Some(Ok(frame)) => this.piece = frame.into_data().unwrap_or_default(),
                Some(Err(error)) => return Poll::Ready(Err(read_error(&error))),
            }
            if this.piece.is_empty() {
                // Others have their turn first: there may be many frames without bytes.
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
        this.meter.taken();
        let n = this.piece.len().min(buf.len());
        buf[..n].copy_from_slice(&this.piece[..n]);
        this.piece.advance(n);
        Poll::Ready(Ok(n))
    }
}

fn read_error(error: &hyper::Error) -> io::Error {
    let kind = if error.is_parse() { io::ErrorKind::InvalidData } else { io::ErrorKind::UnexpectedEof };
    io::Error::new(kind, all_of(error))
}

/// An error with all that is behind it, as one sentence.
pub(crate) fn all_of(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        next = error.source();
    }
    text
}
