//! The runtime's timers, for hyper and for timeouts.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use crate::net::{Net, Task};

/// The runtime's timers, as hyper's [`Timer`](hyper::rt::Timer).
pub(crate) struct Timer<N>(PhantomData<fn() -> N>);

impl<N> Timer<N> {
    pub(crate) fn new() -> Self {
        Timer(PhantomData)
    }
}

impl<N> Clone for Timer<N> {
    fn clone(&self) -> Self {
        Timer::new()
    }
}

impl<N: Net> hyper::rt::Timer for Timer<N> {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn hyper::rt::Sleep>> {
        Box::pin(Sleep(Mutex::new(Some(N::sleep(duration)))))
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn hyper::rt::Sleep>> {
        self.sleep(deadline.saturating_duration_since(Instant::now()))
    }
}

/// A timer that is running, or `None` once it has gone off: hyper polls it again then.
///
/// The lock makes the timer `Sync`, as hyper needs it. It is never contended.
struct Sleep(Mutex<Option<Task>>);

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let sleep = self.get_mut().0.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(task) = sleep {
            ready!(task.as_mut().poll(cx));
        }
        *sleep = None;
        Poll::Ready(())
    }
}

impl hyper::rt::Sleep for Sleep {}

/// Runs a future with a time limit. Returns `None` if the limit is exceeded.
pub(crate) async fn within<N: Net, T>(limit: Duration, future: impl Future<Output = T>) -> Option<T> {
    let mut future = std::pin::pin!(future);
    let mut sleep = N::sleep(limit);
    std::future::poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => sleep.as_mut().poll(cx).map(|()| None),
    })
    .await
}
