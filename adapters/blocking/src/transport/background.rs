//! [`Background`]: HTTP requests on a thread in the background.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use mcpwire_client::catch_panic;
use mcpwire_client::http::{HttpClient, ResponseFuture};
use mcpwire_core::http::Exchange;
use mcpwire_smol::{Runtime as _, Smol, spawn};

/// An HTTP client that sends requests on the thread of [`spawn`], so that they go on while nobody polls them, up to the head of
/// the response. The caller reads the body.
///
/// A request is aborted when its future is dropped.
#[derive(Clone)]
pub(super) struct Background(Arc<dyn HttpClient>);

impl Background {
    /// Creates a client that sends its requests with `client`.
    pub(super) fn new(client: Arc<dyn HttpClient>) -> Self {
        Background(client)
    }

    /// Sends a request that nobody waits for, and aborts it after `limit`.
    pub(super) fn detach(&self, exchange: Exchange, limit: Duration) {
        // A client calls this when it is dropped, on a thread that may already be panicking.
        let Ok(mut response) = catch_panic(|| self.0.send(exchange)) else { return };
        let mut timer = Smol.timer();
        timer.reset(limit);
        let wait = poll_fn(move |cx| match response.as_mut().poll(cx) {
            Poll::Ready(_) => Poll::Ready(()),
            Poll::Pending => timer.poll(cx),
        });
        spawn(wait).detach();
    }
}

impl HttpClient for Background {
    fn send(&self, exchange: Exchange) -> ResponseFuture {
        // Dropped, the task is cancelled.
        Box::pin(spawn(self.0.send(exchange)))
    }

    fn capacity(&self) -> usize {
        self.0.capacity()
    }
}
