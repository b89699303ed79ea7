//! [`Tasks`]: a single-threaded executor that polls tasks in the order of their wakeups.

use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use crate::timeline::Timeline;

/// Maximum number of polls without a change of the time. 10 million polls take seconds, which is more than any test needs.
const LIVELOCK: usize = 10_000_000;

type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The tasks that have not ended.
#[derive(Default)]
pub(crate) struct Tasks {
    waiting: Mutex<BTreeMap<u64, Task>>,
    ready: Arc<Ready>,
    running: AtomicBool,
}

struct Task {
    work: Work,
    alarm: Arc<Alarm>,
}

/// The ids of the woken tasks, each once.
#[derive(Default)]
struct Ready(Mutex<Woken>);

#[derive(Default)]
struct Woken {
    queue: VecDeque<u64>,
    ids: u64,
}

/// The waker of one task.
struct Alarm {
    id: u64,
    woken: AtomicBool,
    ready: Arc<Ready>,
}

impl Tasks {
    pub(crate) fn spawn(&self, work: Work) {
        let alarm = self.alarm();
        lock(&self.waiting).insert(alarm.id, Task { work, alarm: Arc::clone(&alarm) });
        alarm.wake();
    }

    #[track_caller]
    pub(crate) fn run<F: Future>(&self, future: F, timeline: &Timeline) -> F::Output {
        assert!(
            !self.running.swap(true, Ordering::Relaxed),
            "`run` is under way: await what is to be done, or spawn it"
        );
        let _running = Running(&self.running);
        let alarm = self.alarm();
        let id = alarm.id;
        let waker = Waker::from(Arc::clone(&alarm));
        waker.wake_by_ref();
        let value = {
            let mut future = pin!(future);
            let mut polls = 0;
            loop {
                match self.next() {
                    Some(ready) if ready == id => {
                        alarm.woken.swap(false, Ordering::AcqRel);
                        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                            break value;
                        }
                    }
                    Some(ready) => self.poll(ready),
                    None if timeline.step() => polls = 0,
                    None => panic!(
                        "nothing can happen any more: after {:?} of virtual time, the future waits for what no task and \
                         no timer will bring",
                        timeline.now().since_origin()
                    ),
                }
                polls += 1;
                assert!(polls < LIVELOCK, "tasks run in circles: they wake each other, and time does not pass");
            }
        };
        // The future was dropped above.
        self.settle();
        value
    }

    /// Polls the woken tasks until all tasks wait for a timer or have ended.
    #[track_caller]
    fn settle(&self) {
        for _ in 0..LIVELOCK {
            let Some(ready) = self.next() else { return };
            self.poll(ready);
        }
        panic!("tasks run in circles: they wake each other, and time does not pass");
    }

    fn poll(&self, id: u64) {
        // The task is removed from the table while it is polled, because it may spawn others. A finished task may still be woken.
        let Some(mut task) = lock(&self.waiting).remove(&id) else { return };
        task.alarm.woken.swap(false, Ordering::AcqRel);
        let waker = Waker::from(Arc::clone(&task.alarm));
        if task.work.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
            lock(&self.waiting).insert(id, task);
        }
    }

    fn next(&self) -> Option<u64> {
        lock(&self.ready.0).queue.pop_front()
    }

    fn alarm(&self) -> Arc<Alarm> {
        let mut woken = lock(&self.ready.0);
        woken.ids += 1;
        Arc::new(Alarm { id: woken.ids, woken: AtomicBool::new(false), ready: Arc::clone(&self.ready) })
    }
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.woken.swap(true, Ordering::AcqRel) {
            lock(&self.ready.0).queue.push_back(self.id);
        }
    }
}

/// Marks the executor as running. Dropping it, also by a panic, removes the mark.
struct Running<'r>(&'r AtomicBool);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
