//! [`VirtualTime`]: a runtime whose time advances only while all tasks wait.

use std::cell::RefCell;
use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use mcpwire_driver::process::{ExitHandle, Pipes};
use mcpwire_driver::protocol::Timestamp;
use mcpwire_driver::{Clock, CurrentRuntime, Runtime, Streams, TaskFuture, Timer};

use crate::tasks::Tasks;
use crate::timeline::Timeline;

/// A deterministic single-threaded runtime, whose time advances only while all tasks wait.
///
/// A day of virtual time takes less than a second.
///
/// [`VirtualTime::run`] polls a future and the spawned tasks in the order of their wakeups. If all of them wait, the time
/// advances to the next timer. The runtime has no other threads, no processes and no sockets. If all tasks wait for something
/// else than a timer, `run` panics.
///
/// Clones share the time. [`VirtualTime::runtime`] returns the [`Runtime`] for code that takes one.
///
/// ```
/// use std::time::{Duration, Instant};
///
/// use mcpwire_testkit::VirtualTime;
///
/// let (time, begun) = (VirtualTime::new(), Instant::now());
/// time.run(time.sleep(Duration::from_secs(24 * 3600)));
/// assert_eq!(time.elapsed(), Duration::from_secs(24 * 3600));
/// assert!(begun.elapsed() < Duration::from_secs(1));
/// ```
#[derive(Clone, Default)]
pub struct VirtualTime {
    timeline: Arc<Timeline>,
    tasks: Arc<Tasks>,
}

impl VirtualTime {
    /// Creates a runtime at time zero without tasks.
    pub fn new() -> Self {
        VirtualTime::default()
    }

    /// Returns the elapsed virtual time.
    pub fn elapsed(&self) -> Duration {
        self.timeline.now().since_origin()
    }

    /// Returns the virtual clock, for a client or a server.
    pub fn clock(&self) -> Clock {
        self.timeline.clock()
    }

    /// Creates a virtual timer, for a client or a server.
    pub fn timer(&self) -> VirtualTimer {
        VirtualTimer::new(&self.timeline)
    }

    /// Returns the [`Runtime`], for [`McpClient::connect_on`](mcpwire_driver::McpClient::connect_on) and for code that takes one.
    /// It cannot start processes. Its tasks end when the last clone of this `VirtualTime` is dropped.
    pub fn runtime(&self) -> Arc<dyn Runtime> {
        Arc::new(VirtualRuntime { timeline: Arc::clone(&self.timeline), tasks: Arc::downgrade(&self.tasks) })
    }

    /// Returns a future that completes `duration` from now.
    pub fn sleep(&self, duration: Duration) -> Sleep {
        let mut timer = self.timer();
        timer.reset(duration);
        Sleep(timer)
    }

    /// Spawns a task, which runs during each [`VirtualTime::run`].
    pub fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn(Box::pin(future));
    }

    /// Runs a future to its end, together with the tasks. Then runs the tasks until all of them wait for a later time, so that
    /// the last actions of the future take effect, such as a cancelled request or a closed connection.
    ///
    /// # Panics
    ///
    /// If the future waits and no timer is pending, if tasks wake each other forever, and if the future itself calls `run`.
    #[track_caller]
    pub fn run<F: Future>(&self, future: F) -> F::Output {
        let _current = Current::enter(self);
        self.tasks.run(future, &self.timeline)
    }

    /// Runs the tasks for this virtual time. Within [`VirtualTime::run`], await [`VirtualTime::sleep`] instead.
    ///
    /// # Panics
    ///
    /// In the cases of [`VirtualTime::run`].
    #[track_caller]
    pub fn advance(&self, duration: Duration) {
        self.run(self.sleep(duration));
    }
}

impl fmt::Debug for VirtualTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VirtualTime").field("elapsed", &self.elapsed()).finish_non_exhaustive()
    }
}

impl CurrentRuntime for VirtualTime {
    /// Returns the runtime whose [`VirtualTime::run`] is running on this thread.
    ///
    /// # Panics
    ///
    /// If no `VirtualTime` is running on this thread.
    fn current() -> Arc<dyn Runtime> {
        Current::get().runtime()
    }
}

/// The [`Runtime`] of connections. Its reference to the tasks is weak, because the tasks own it.
struct VirtualRuntime {
    timeline: Arc<Timeline>,
    tasks: Weak<Tasks>,
}

impl Runtime for VirtualRuntime {
    fn spawn(&self, task: TaskFuture) {
        if let Some(tasks) = self.tasks.upgrade() {
            tasks.spawn(task);
        }
    }

    fn timer(&self) -> Box<dyn Timer> {
        Box::new(VirtualTimer::new(&self.timeline))
    }

    fn clock(&self) -> Clock {
        self.timeline.clock()
    }

    fn pipes(&self, _: Pipes, _: Option<ExitHandle>) -> io::Result<Streams> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "there are no processes in virtual time"))
    }
}

thread_local! {
    static CURRENT: RefCell<Option<VirtualTime>> = const { RefCell::new(None) };
}

/// Sets the current runtime of the thread. Dropping it restores the previous one.
struct Current(Option<VirtualTime>);

impl Current {
    fn enter(time: &VirtualTime) -> Self {
        Current(CURRENT.replace(Some(time.clone())))
    }

    fn get() -> VirtualTime {
        CURRENT.with_borrow(Clone::clone).expect("there is no virtual time here: call it within `VirtualTime::run`")
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        drop(CURRENT.replace(self.0.take()));
    }
}

/// A timer in virtual time, created by [`VirtualTime::timer`].
pub struct VirtualTimer {
    timeline: Arc<Timeline>,
    id: u64,
    at: Option<Timestamp>,
}

impl VirtualTimer {
    fn new(timeline: &Arc<Timeline>) -> Self {
        VirtualTimer { id: timeline.lock().next_id(), timeline: Arc::clone(timeline), at: None }
    }
}

impl Timer for VirtualTimer {
    fn reset(&mut self, after: Duration) {
        let mut times = self.timeline.lock();
        let former = self.at.and_then(|at| times.timers.remove(&(at, self.id)));
        self.at = Some(times.now + after);
        drop(times);
        drop(former);
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(at) = self.at else { return Poll::Pending };
        let mut times = self.timeline.lock();
        if at <= times.now {
            let former = times.timers.remove(&(at, self.id));
            drop(times);
            drop(former);
            return Poll::Ready(());
        }
        let former = times.timers.insert((at, self.id), cx.waker().clone());
        drop(times);
        drop(former);
        Poll::Pending
    }
}

impl Drop for VirtualTimer {
    fn drop(&mut self) {
        let former = self.at.and_then(|at| self.timeline.lock().timers.remove(&(at, self.id)));
        drop(former);
    }
}

impl fmt::Debug for VirtualTimer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VirtualTimer").field("at", &self.at).finish_non_exhaustive()
    }
}

/// A future that completes after some virtual time, created by [`VirtualTime::sleep`].
#[derive(Debug)]
#[must_use = "time passes where it is awaited"]
pub struct Sleep(VirtualTimer);

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.poll(cx)
    }
}
