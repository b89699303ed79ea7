//! [`Background`]: an HTTP client that sends its requests on the background thread.

use std::future::{poll_fn, ready};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use mcpwire_client::catch_panic;
use mcpwire_client::http::{HttpClient, ResponseFuture};
use mcpwire_core::http::{Exchange, Failure, FailureKind};
use mcpwire_smol::{Runtime as _, Smol, spawn, start};

/// An HTTP client that sends its requests on the background thread of [`spawn`]. A request continues while the caller does not
/// poll its future.
///
/// The caller reads the body of the response. Dropping the future aborts the request.
#[derive(Clone)]
pub(super) struct Background(Arc<dyn HttpClient>);

impl Background {
    /// Creates a client that sends its requests with `client`.
    pub(super) fn new(client: Arc<dyn HttpClient>) -> Self {
        Background(client)
    }

    /// Sends a request without waiting for the response. If no response has arrived after `limit`, the request is aborted.
    pub(super) fn detach(&self, exchange: Exchange, limit: Duration) {
        // Panics are caught because a client calls this in `drop`, where a second panic would abort the program.
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
        if let Err(error) = start() {
            let failure =
                Failure::new(FailureKind::NotMade, format!("the background thread cannot be started: {error}"));
            return Box::pin(ready(Err(failure)));
        }
        // Dropping the task cancels it.
        Box::pin(spawn(self.0.send(exchange)))
    }

    mcpwire_client::properties_of_client!(self => self.0);
}
