//! [`Background`]: HTTP for programs without a runtime.

use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use mcpwire_client::catch_panic;
use mcpwire_driver::core::http::Exchange;
use mcpwire_driver::http::{HttpClient, ResponseFuture};

use crate::executor::executor;
use crate::{Runtime as _, Smol, spawn};

/// An HTTP client whose requests are made by the thread of the connections, whoever waits for them: what is begun goes on while
/// nobody polls it, up to the head of its response. The body is read by who polls it.
///
/// A request that is not waited for any more is given up there.
#[derive(Clone)]
pub struct Background(Arc<dyn HttpClient>);

impl Background {
    /// Lets the thread make the requests of this client.
    pub fn new(client: Arc<dyn HttpClient>) -> Self {
        Background(client)
    }

    /// Makes a request that nobody waits for, and gives it up after so long.
    pub fn detach(&self, exchange: Exchange, limit: Duration) {
        // It is called where the client is dropped, by a thread that may be panicking already.
        let Ok(mut begun) = catch_panic(|| self.0.send(exchange)) else { return };
        let mut timer = Smol.timer();
        timer.reset(limit);
        spawn(poll_fn(move |cx| match begun.as_mut().poll(cx) {
            Poll::Ready(_) => Poll::Ready(()),
            Poll::Pending => timer.poll(cx),
        }));
    }
}

impl HttpClient for Background {
    fn send(&self, exchange: Exchange) -> ResponseFuture {
        // Dropped, the task is cancelled.
        Box::pin(executor().spawn(self.0.send(exchange)))
    }

    fn capacity(&self) -> usize {
        self.0.capacity()
    }
}

impl fmt::Debug for Background {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Background").finish_non_exhaustive()
    }
}
