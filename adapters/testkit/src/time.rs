//! [`VirtualTime`]: time that passes when nothing else can happen.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use mcpwire_driver::core::Timestamp;
use mcpwire_driver::process::{ExitHandle, Pipes};
use mcpwire_driver::{Clock, CurrentRuntime, Runtime, Streams, TaskFuture, Timer};

use crate::tasks::Tasks;

/// Time that passes when nothing else can happen, and the tasks that live in it: a runtime on one thread that does the
/// same each time, and for which a day is a moment.
///
/// [`VirtualTime::run`] polls a future, and what was spawned, in the order in which they were woken. When none of them can
/// go on, the time moves to the next timer. There are no other threads, no pipes of processes and no sockets in it: what
/// waits for such things waits for ever, and `run` panics rather than wait with it.
///
/// It is cheap to clone; all clones are one time. [`VirtualTime::runtime`] is for programs that take a [`Runtime`].
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
    /// Creates a time that begins at zero, without tasks.
    pub fn new() -> Self {
        VirtualTime::default()
    }

    /// Returns how much of this time has passed.
    pub fn elapsed(&self) -> Duration {
        self.timeline.now().since_origin()
    }

    /// Returns the clock of this time, for a client or a server.
    pub fn clock(&self) -> Clock {
        self.timeline.clock()
    }

    /// Creates a timer of this time, for a client or a server.
    pub fn timer(&self) -> VirtualTimer {
        VirtualTimer::new(&self.timeline)
    }

    /// Returns this time as a runtime, for [`McpClient::connect_on`](mcpwire_driver::McpClient::connect_on) and for programs that
    /// take one. There are no processes in it. The tasks that it was given end when the last clone of this time is dropped.
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

    /// Runs a future to its end, and everything else meanwhile that can happen before it. What it left behind (a request
    /// that is cancelled, a connection that is closed) has its effect too, as far as that takes no time.
    ///
    /// # Panics
    ///
    /// When the future waits for something that nothing will bring; when tasks keep each other busy and time does not pass;
    /// and when it is called by a future that it runs.
    #[track_caller]
    pub fn run<F: Future>(&self, future: F) -> F::Output {
        let _current = Current::enter(self);
        self.tasks.run(future, &self.timeline)
    }

    /// Lets time pass, and everything happen at its time. Within [`VirtualTime::run`], await [`VirtualTime::sleep`].
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
    /// Returns the time whose [`VirtualTime::run`] is under way on this thread.
    ///
    /// # Panics
    ///
    /// If there is none.
    fn current() -> Arc<dyn Runtime> {
        Current::get().runtime()
    }
}

/// The time as the runtime of a connection. It does not keep the tasks alive, because the tasks keep it alive.
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

/// Makes a time the current one of the thread, until it is dropped.
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

/// A timer in virtual time. Made by [`VirtualTime::timer`].
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

/// A future that is pending for a while of virtual time. Made by [`VirtualTime::sleep`].
#[derive(Debug)]
#[must_use = "time passes where it is awaited"]
pub struct Sleep(VirtualTimer);

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.poll(cx)
    }
}

/// The current time, and the wakers of timers. The tasks hold it, so it does not hold the tasks.
#[derive(Default)]
pub(crate) struct Timeline(Mutex<Times>);

#[derive(Default)]
struct Times {
    now: Timestamp,
    /// Sorted by time; timers of the same time go off in the order in which they were made.
    timers: BTreeMap<(Timestamp, u64), Waker>,
    ids: u64,
}

impl Timeline {
    pub(crate) fn now(&self) -> Timestamp {
        self.lock().now
    }

    fn clock(self: &Arc<Self>) -> Clock {
        let timeline = Arc::clone(self);
        Clock::from_fn(move || timeline.now())
    }

    /// Moves to the next timer, and wakes who waits for it. Whether there is one.
    pub(crate) fn step(&self) -> bool {
        let mut times = self.lock();
        let Some(&(at, _)) = times.timers.keys().next().filter(|(at, _)| *at < NEVER) else { return false };
        times.now = times.now.max(at);
        let mut due = Vec::new();
        while let Some(first) = times.timers.first_entry().filter(|entry| entry.key().0 <= at) {
            due.push(first.remove());
        }
        drop(times);
        due.into_iter().for_each(Waker::wake);
        true
    }

    fn lock(&self) -> MutexGuard<'_, Times> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A timer that is set to this time does not go off.
const NEVER: Timestamp = Timestamp::from_origin(Duration::MAX);

impl Times {
    fn next_id(&mut self) -> u64 {
        self.ids += 1;
        self.ids
    }
}
