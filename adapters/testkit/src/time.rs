//! [`VirtualTime`]: a runtime for tests whose time advances when no task can run.

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

use crate::executor::{Tasks, Timeline};

/// A deterministic, single-threaded runtime with a virtual clock. When no task can run, the time advances to the next timer.
///
/// [`VirtualTime::run`] polls a future and the spawned tasks in the order in which they were woken. When all of them wait, the
/// time advances to the next timer. The runtime has no other threads, processes or sockets: `run` panics if the future waits for
/// one of them.
///
/// Clones share the time and the tasks. [`VirtualTime::runtime`] returns the [`Runtime`] for programs that take one.
///
/// ```
/// # mod mcpwire { pub mod testkit { pub use mcpwire_testkit::VirtualTime; } }
/// use std::time::{Duration, Instant};
///
/// use mcpwire::testkit::VirtualTime;
///
/// let (time, start) = (VirtualTime::new(), Instant::now());
/// time.run(time.sleep(Duration::from_secs(24 * 3600)));
/// assert_eq!(time.elapsed(), Duration::from_secs(24 * 3600));
/// assert!(start.elapsed() < Duration::from_secs(1));
/// ```
#[derive(Clone, Default)]
pub struct VirtualTime {
    timeline: Arc<Timeline>,
    tasks: Arc<Tasks>,
}

impl VirtualTime {
    /// The date at which virtual time begins, as the time since the Unix epoch: 2026-01-01 00:00 UTC. Code that asks the runtime
    /// for the date gets this date plus the elapsed time.
    pub const UNIX_START: Duration = Duration::from_secs(1_767_225_600);

    /// Creates a runtime without tasks. Its elapsed time is zero.
    pub fn new() -> Self {
        VirtualTime::default()
    }

    /// Returns the virtual time that has passed since the runtime was created.
    pub fn elapsed(&self) -> Duration {
        self.timeline.now().since_origin()
    }

    /// Returns a clock that reads the virtual time, for a client or a server.
    pub fn clock(&self) -> Clock {
        self.timeline.clock()
    }

    /// Creates a timer that fires in virtual time, for a client or a server.
    pub fn timer(&self) -> VirtualTimer {
        VirtualTimer::new(&self.timeline)
    }

    /// Returns this runtime as a [`Runtime`], for [`McpClient::over_on`](mcpwire_driver::McpClient::over_on) and other functions
    /// that take one.
    ///
    /// The tasks are dropped with the last clone of this `VirtualTime`, even if the returned runtime still exists.
    pub fn runtime(&self) -> Arc<dyn Runtime> {
        Arc::new(VirtualRuntime { timeline: Arc::clone(&self.timeline), tasks: Arc::downgrade(&self.tasks) })
    }

    /// Returns a future that ends after `duration` of virtual time, counted from this call.
    pub fn sleep(&self, duration: Duration) -> Sleep {
        let mut timer = self.timer();
        timer.reset(duration);
        Sleep(timer)
    }

    /// Spawns a task. Tasks run only during [`VirtualTime::run`].
    pub fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn(Box::pin(future));
    }

    /// Runs a future to its end, together with the spawned tasks.
    ///
    /// After the end of the future, the tasks run until none is ready, without advancing the time. The other side of a connection
    /// has then received the last messages, such as a cancellation, or the end of the connection.
    ///
    /// # Panics
    /// If the future waits and neither a task nor a timer can wake it; if tasks wake each other forever without an advance of the
    /// time; if `run` is called within `run`.
    #[track_caller]
    pub fn run<F: Future>(&self, future: F) -> F::Output {
        let _current = CurrentGuard::enter(self);
        self.tasks.run(future, &self.timeline)
    }

    /// Advances the time by `duration`, and runs the tasks meanwhile. Within [`VirtualTime::run`], await [`VirtualTime::sleep`]
    /// instead.
    ///
    /// # Panics
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
    /// Returns the runtime whose [`VirtualTime::run`] runs on this thread.
    ///
    /// # Panics
    /// If it is called outside of [`VirtualTime::run`].
    fn current() -> Arc<dyn Runtime> {
        CurrentGuard::get().runtime()
    }
}

/// The [`Runtime`] of a [`VirtualTime`]. Refers to the tasks weakly, because tasks may own the runtime and would otherwise never
/// be dropped.
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

    /// Runs the function in a task. The function must not block, because all tasks share one thread.
    #[cfg(feature = "http")]
    fn spawn_blocking(&self, task: mcpwire_driver::BlockingTask) {
        self.spawn(Box::pin(async move { task() }));
    }

    fn timer(&self) -> Box<dyn Timer> {
        Box::new(VirtualTimer::new(&self.timeline))
    }

    fn clock(&self) -> Clock {
        self.timeline.clock()
    }

    #[cfg(feature = "http")]
    fn unix_time(&self) -> Duration {
        VirtualTime::UNIX_START + self.timeline.now().since_origin()
    }

    fn pipes(&self, _: Pipes, _: Option<ExitHandle>) -> io::Result<Streams> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "virtual time does not support processes"))
    }
}

thread_local! {
    static CURRENT: RefCell<Option<VirtualTime>> = const { RefCell::new(None) };
}

/// Makes a [`VirtualTime`] the current one of this thread. When the guard is dropped, restores the previous one.
struct CurrentGuard(Option<VirtualTime>);

impl CurrentGuard {
    fn enter(time: &VirtualTime) -> Self {
        CurrentGuard(CURRENT.replace(Some(time.clone())))
    }

    fn get() -> VirtualTime {
        CURRENT
            .with_borrow(Clone::clone)
            .expect("no virtual time runs on this thread. Call this within `VirtualTime::run`")
    }
}

impl Drop for CurrentGuard {
    fn drop(&mut self) {
        drop(CURRENT.replace(self.0.take()));
    }
}

/// A timer that fires in virtual time. Created by [`VirtualTime::timer`].
pub struct VirtualTimer {
    timeline: Arc<Timeline>,
    id: u64,
    /// The deadline of the timer. `None` if the timer was never set.
    at: Option<Timestamp>,
}

impl VirtualTimer {
    fn new(timeline: &Arc<Timeline>) -> Self {
        VirtualTimer { id: timeline.lock().next_id(), timeline: Arc::clone(timeline), at: None }
    }

    fn remove_waker(&self) {
        let waker = self.at.and_then(|at| self.timeline.lock().timers.remove(&(at, self.id)));
        // The lock is not held here: dropping a waker may drop its task and the timers of the task.
        drop(waker);
    }
}

impl Timer for VirtualTimer {
    fn reset(&mut self, after: Duration) {
        self.remove_waker();
        self.at = Some(self.timeline.now() + after);
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(at) = self.at else { return Poll::Pending };
        if at <= self.timeline.now() {
            self.remove_waker();
            return Poll::Ready(());
        }
        let former = self.timeline.lock().timers.insert((at, self.id), cx.waker().clone());
        drop(former);
        Poll::Pending
    }
}

impl Drop for VirtualTimer {
    fn drop(&mut self) {
        self.remove_waker();
    }
}

impl fmt::Debug for VirtualTimer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VirtualTimer").field("at", &self.at).finish_non_exhaustive()
    }
}

/// A future that ends after a duration of virtual time. Created by [`VirtualTime::sleep`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct Sleep(VirtualTimer);

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.poll(cx)
    }
}
