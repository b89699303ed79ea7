//! The runtime's timers, for hyper and for timeouts.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use mcpwire_driver::http::Net;

/// Makes timers for hyper.
#[derive(Clone)]
pub(crate) struct Timer(pub(crate) Arc<dyn Net>);

impl hyper::rt::Timer for Timer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn hyper::rt::Sleep>> {
        let mut timer = self.0.timer();
        timer.reset(duration);
        Box::pin(Sleep(Mutex::new(Some(timer))))
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn hyper::rt::Sleep>> {
        self.sleep(deadline.saturating_duration_since(Instant::now()))
    }
}

/// A timer that is set, or `None` after it has gone off: hyper polls it again then.
///
/// hyper requires `Sync`, which timers are not. The lock is never contended.
struct Sleep(Mutex<Option<Box<dyn mcpwire_driver::Timer>>>);

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let sleep = self.get_mut().0.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(timer) = sleep {
            ready!(timer.poll(cx));
        }
        *sleep = None;
        Poll::Ready(())
    }
}

impl hyper::rt::Sleep for Sleep {}

/// Runs a future with a time limit. Returns `None` if the limit is exceeded.
pub(crate) async fn within<T>(net: &dyn Net, limit: Duration, f: impl Future<Output = T>) -> Option<T> {
    let mut f = pin!(f);
    let mut timer = net.timer();
    timer.reset(limit);
    poll_fn(|cx| match f.as_mut().poll(cx) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => timer.poll(cx).map(|()| None),
    })
    .await
}
