//! [`EventBody`]: sends a stream as the body of an HTTP response.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame};
use tokio::time::{self, Instant, Sleep};

use super::reply::Reading;
use super::shared::Shared;
use super::stream::Next;

/// The interval of comments on a stream without events. They keep proxies from closing the connection.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// A body of server-sent events, which reads a stream. Dropping the body ends the reading.
pub(super) struct EventBody {
    reading: Reading,
    shared: Arc<Shared>,
    keep_alive: Pin<Box<Sleep>>,
    has_ended: bool,
}

impl EventBody {
    pub(super) fn new(reading: Reading, shared: Arc<Shared>) -> Self {
        Self { reading, shared, keep_alive: Box::pin(time::sleep(KEEP_ALIVE)), has_ended: false }
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<String>>> {
        if let Some(first) = self.reading.first.take() {
            return Poll::Ready(Some(Ok(first)));
        }
        if self.has_ended {
            return Poll::Ready(None);
        }
        match self.shared.update(|endpoint, _| endpoint.poll(&self.reading, cx.waker())) {
            Next::Event(number, message) => {
                let stream = self.reading.route.stream;
                let id = if self.reading.is_resumable { format!("id: {stream}-{number}\n") } else { String::new() };
                Poll::Ready(Some(Ok(format!("{id}event: message\ndata: {message}\n\n"))))
            }
            Next::Ended => {
                self.has_ended = true;
                Poll::Ready(None)
            }
            // An error closes the connection. A regular end of the body would mean that the stream has ended.
            Next::Replaced => {
                self.has_ended = true;
                Poll::Ready(Some(Err(io::Error::other("another connection has taken over the stream"))))
            }
            Next::Pending if self.keep_alive.as_mut().poll(cx).is_ready() => Poll::Ready(Some(Ok(":\n\n".into()))),
            Next::Pending => Poll::Pending,
        }
    }
}

impl Body for EventBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let event = self.poll_event(cx);
        if event.is_ready() {
            self.keep_alive.as_mut().reset(Instant::now() + KEEP_ALIVE);
        }
        event.map(|event| event.map(|event| event.map(|text| Frame::data(text.into()))))
    }
}

impl Drop for EventBody {
    fn drop(&mut self) {
        self.shared.update(|endpoint, _| endpoint.leave(&self.reading));
    }
}
