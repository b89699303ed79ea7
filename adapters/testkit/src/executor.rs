//! [`Tasks`], an executor on one thread, and [`Timeline`], its virtual time.

use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use mcpwire_driver::Clock;
use mcpwire_driver::protocol::Timestamp;

use crate::lock;

/// Maximum number of polls while the time does not advance, to detect tasks that wake each other forever. 10 million polls take
/// some seconds.
const MAX_POLLS: usize = 10_000_000;

type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The tasks that were spawned and have not ended. They are polled in the order in which they were woken.
#[derive(Default)]
pub(crate) struct Tasks {
    spawned: Mutex<BTreeMap<u64, Task>>,
    ready: Arc<Mutex<ReadyQueue>>,
    is_running: AtomicBool,
}

struct Task {
    work: Work,
    waker: Arc<TaskWaker>,
}

/// The ids of the tasks that were woken and not yet polled. Each id occurs at most once.
#[derive(Default)]
struct ReadyQueue {
    queue: VecDeque<u64>,
    last_id: u64,
}

/// The waker of one task. Waking a task adds its id to the ready queue.
struct TaskWaker {
    id: u64,
    is_woken: AtomicBool,
    ready: Arc<Mutex<ReadyQueue>>,
}

impl Tasks {
    pub(crate) fn spawn(&self, work: Work) {
        let waker = self.new_waker();
        lock(&self.spawned).insert(waker.id, Task { work, waker: Arc::clone(&waker) });
        waker.wake();
    }

    /// Runs a future to its end, and then the tasks until none is ready.
    #[track_caller]
    pub(crate) fn run<F: Future>(&self, future: F, timeline: &Timeline) -> F::Output {
        assert!(
            !self.is_running.swap(true, Ordering::Relaxed),
            "`run` was called within `run`. Await or spawn the future instead"
        );
        let _running = RunGuard(&self.is_running);
        let waker = self.new_waker();
        Arc::clone(&waker).wake();
        let (mut future, mut value) = (Some(Box::pin(future)), None);
        let mut polls = 0;
        loop {
            match (self.next_ready(), &mut future) {
                (Some(id), Some(running)) if id == waker.id => {
                    if let Poll::Ready(ready) = waker.poll(running.as_mut()) {
                        value = Some(ready);
                        // Dropping the future may wake tasks, such as the task at the other end of a connection.
                        future = None;
                    }
                }
                (Some(id), _) => self.poll(id),
                (None, Some(_)) if timeline.advance_to_next_timer() => polls = 0,
                (None, Some(_)) => panic!(
                    "deadlock: after {:?} of virtual time, the future still waits, no task can run, and no timer is set",
                    timeline.now().since_origin()
                ),
                (None, None) => break,
            }
            polls += 1;
            assert!(
                polls < MAX_POLLS,
                "livelock: tasks wake each other again and again, and the virtual time does not advance"
            );
        }
        value.expect("the loop ends after the future")
    }

    fn poll(&self, id: u64) {
        // The task is removed from the map while it is polled, because it may spawn tasks. If the map has no task with this id,
        // the task has ended.
        let Some(mut task) = lock(&self.spawned).remove(&id) else { return };
        if task.waker.poll(task.work.as_mut()).is_pending() {
            lock(&self.spawned).insert(id, task);
        }
    }

    fn next_ready(&self) -> Option<u64> {
        lock(&self.ready).queue.pop_front()
    }

    fn new_waker(&self) -> Arc<TaskWaker> {
        let mut ready = lock(&self.ready);
        ready.last_id += 1;
        Arc::new(TaskWaker { id: ready.last_id, is_woken: AtomicBool::new(false), ready: Arc::clone(&self.ready) })
    }
}

impl TaskWaker {
    /// Polls the future of the task with this waker, and allows the waker to add the task to the ready queue again.
    fn poll<F: Future + ?Sized>(self: &Arc<Self>, future: Pin<&mut F>) -> Poll<F::Output> {
        self.is_woken.store(false, Ordering::Release);
        future.poll(&mut Context::from_waker(&Waker::from(Arc::clone(self))))
    }
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.is_woken.swap(true, Ordering::AcqRel) {
            lock(&self.ready).queue.push_back(self.id);
        }
    }
}

/// Clears the mark that `run` is running when dropped, even if the test panics.
struct RunGuard<'r>(&'r AtomicBool);

impl Drop for RunGuard<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// The virtual clock: the current time, and the timers that have not fired.
#[derive(Default)]
pub(crate) struct Timeline(Mutex<TimelineState>);

#[derive(Default)]
pub(crate) struct TimelineState {
    pub(crate) now: Timestamp,
    /// The wakers of the timers, by deadline and timer id. Timers with the same deadline fire in the order of their creation.
    pub(crate) timers: BTreeMap<(Timestamp, u64), Waker>,
    last_id: u64,
}

/// The deadline of a timer that never fires. The time does not advance to it.
const NEVER: Timestamp = Timestamp::from_origin(Duration::MAX);

impl Timeline {
    pub(crate) fn now(&self) -> Timestamp {
        self.lock().now
    }

    pub(crate) fn clock(self: &Arc<Self>) -> Clock {
        let timeline = Arc::clone(self);
        Clock::from_fn(move || timeline.now())
    }

    /// Advances the time to the next timer, and wakes the tasks of all timers with this deadline. Returns `false` if no timer is
    /// set.
    fn advance_to_next_timer(&self) -> bool {
        let mut times = self.lock();
        let Some(&(at, _)) = times.timers.keys().next().filter(|(at, _)| *at < NEVER) else { return false };
        times.now = times.now.max(at);
        let later = times.timers.split_off(&(at, u64::MAX));
        let due = std::mem::replace(&mut times.timers, later);
        drop(times);
        due.into_values().for_each(Waker::wake);
        true
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, TimelineState> {
        lock(&self.0)
    }
}

impl TimelineState {
    pub(crate) fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }
}
