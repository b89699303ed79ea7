//! [`VirtualTime`]: a runtime whose time passes only when all tasks wait.

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

/// A deterministic runtime on one thread whose time passes only when all of its tasks wait.
///
/// A day of virtual time takes a moment.
///
/// [`VirtualTime::run`] polls a future and the spawned tasks in the order in which they were woken. When none of them can
/// go on, the time moves to the next timer. The runtime has no other threads, no processes and no sockets: a task that waits
/// for such a thing waits for ever, and `run` panics.
///
/// Clones are cheap and share the time. [`VirtualTime::runtime`] is for programs that take a [`Runtime`].
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

    /// Returns the virtual time that has passed.
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

    /// Returns the [`Runtime`], for [`McpClient::connect_on`](mcpwire_driver::McpClient::connect_on) and for programs that take
    /// one. It has no processes. Its tasks end when the last clone of this `VirtualTime` is dropped.
    pub fn runtime(&self) -> Arc<dyn Runtime> {
        Arc::new(VirtualRuntime { timeline: Arc::clone(&self.timeline), tasks: Arc::downgrade(&self.tasks) })
    }

    /// Returns a future that ends after `duration`, counted from now.
    pub fn sleep(&self, duration: Duration) -> Sleep {
        let mut timer = self.timer();
        timer.reset(duration);
        Sleep(timer)
    }

    /// Adds a task, which runs during each [`VirtualTime::run`].
    pub fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn(Box::pin(future));
    }

    /// Runs a future to its end, and the tasks meanwhile. Then runs the tasks on as long as no time passes, so that what the
    /// future did last has its effect: a request that it cancelled, a connection that it closed.
    ///
    /// # Panics
    ///
    /// If the future waits and there is no timer left, if tasks wake each other for ever, and if a future calls it that it
    /// runs.
    #[track_caller]
    pub fn run<F: Future>(&self, future: F) -> F::Output {
        let _current = Current::enter(self);
        self.tasks.run(future, &self.timeline)
    }

    /// Runs the tasks for so much virtual time. Within [`VirtualTime::run`], await [`VirtualTime::sleep`] instead.
    ///
    /// # Panics
    ///
    /// As [`VirtualTime::run`].
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
    /// Returns the runtime whose [`VirtualTime::run`] is under way on this thread.
    ///
    /// # Panics
    ///
    /// If there is none.
    fn current() -> Arc<dyn Runtime> {
        Current::get().runtime()
    }
}

/// The [`Runtime`] of connections. It has a weak reference to the tasks, because they own it.
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

/// Sets the current runtime of the thread until it is dropped.
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

/// A timer in virtual time. Created by [`VirtualTime::timer`].
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

/// A future that ends after some virtual time. Created by [`VirtualTime::sleep`].
#[derive(Debug)]
#[must_use = "time passes where it is awaited"]
pub struct Sleep(VirtualTimer);

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.poll(cx)
    }
}
