//! [`Timer`] lets hyper use the runtime's timers. [`within`] limits the duration of a future.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use mcpwire_driver::Clock;
use mcpwire_driver::http::Net;

/// Implements hyper's timer trait with the timers and the clock of the runtime.
#[derive(Clone)]
pub(crate) struct Timer {
    net: Arc<dyn Net>,
    clock: Clock,
    /// The `Instant` at which the time of `clock` is zero, to convert its times to those of hyper.
    origin: Instant,
}

impl Timer {
    pub(crate) fn new(net: Arc<dyn Net>) -> Self {
        let clock = net.clock();
        let now = Instant::now();
        let origin = now.checked_sub(clock.now().since_origin()).unwrap_or(now);
        Timer { net, clock, origin }
    }
}

impl hyper::rt::Timer for Timer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn hyper::rt::Sleep>> {
        let mut timer = self.net.timer();
        timer.reset(duration);
        Box::pin(Sleep(Mutex::new(Some(timer))))
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn hyper::rt::Sleep>> {
        self.sleep(deadline.saturating_duration_since(self.now()))
    }

    fn now(&self) -> Instant {
        self.origin + self.clock.now().since_origin()
    }
}

/// A timer of the runtime, as a future for hyper. `None` after the timer has fired, because hyper may poll the future again.
///
/// The mutex only makes this type `Sync`, which hyper requires. It is never contended.
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

/// Runs a future for at most the time `limit`. Returns `None` if the future has not finished by then.
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
