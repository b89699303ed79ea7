//! [`EventBody`]: an HTTP response body with the events of a stream. [`Shared`]: the endpoint that all HTTP connections share.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use hyper::body::{Body, Frame};
use tokio::sync::Notify;
use tokio::time::{self, Sleep};

use super::endpoint::Endpoint;
use super::reply::Reading;
use super::sessions::Next;
use crate::Log;

/// The interval of SSE comments on a stream without events. The comments keep proxies from closing the connection.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// An HTTP response body that reads a stream and sends its messages as server-sent events. Dropping the body ends the reading.
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
            // An error closes the connection. With a regular end of the body, the client would conclude that the stream has
            // ended.
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
            self.keep_alive.as_mut().reset(time::Instant::now() + KEEP_ALIVE);
        }
        event.map(|event| event.map(|event| event.map(|text| Frame::data(text.into()))))
    }
}

impl Drop for EventBody {
    fn drop(&mut self) {
        self.shared.update(|endpoint, _| endpoint.leave(&self.reading));
    }
}

/// The endpoint that all HTTP connections share, behind a lock.
pub(super) struct Shared {
    endpoint: Mutex<Endpoint>,
    log: Mutex<Log>,
    started: Instant,
    /// Notifies the timer task when the next timeout may have changed.
    changed: Notify,
}

impl Shared {
    pub(super) fn new(log: Log) -> Self {
        let endpoint = Mutex::new(Endpoint::new(SystemTime::now()));
        Self { endpoint, log: Mutex::new(log), started: Instant::now(), changed: Notify::new() }
    }

    /// Calls a method of the endpoint with the current time. Then writes the endpoint's log lines, and wakes the timer task if
    /// the next timeout may have changed.
    pub(super) fn update<T>(&self, update: impl FnOnce(&mut Endpoint, Duration) -> T) -> T {
        let mut endpoint = lock(&self.endpoint);
        let result = update(&mut endpoint, self.started.elapsed());
        let lines = endpoint.take_log();
        drop(endpoint);
        let mut log = lock(&self.log);
        for line in &lines {
            log.line(line);
        }
        self.changed.notify_one();
        result
    }

    /// Returns the time at which the endpoint must handle its next timeout, or `None` if it waits for no time.
    pub(super) fn next_timeout(&self) -> Option<Instant> {
        lock(&self.endpoint).next_timeout().map(|after| self.started + after)
    }

    /// Waits until a call of [`Shared::update`] may have changed the next timeout.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
