//! [`Tasks`]: an executor on one thread that polls tasks in the order in which they were woken.

use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use crate::timeline::Timeline;

/// Maximum number of polls while the time stands still, to detect tasks that wake each other forever. 10 million: some seconds.
const MAX_POLLS: usize = 10_000_000;

type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The tasks that were spawned and have not ended.
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

/// The ids of the tasks that were woken, each once.
#[derive(Default)]
struct ReadyQueue {
    queue: VecDeque<u64>,
    last_id: u64,
}

/// Wakes one task.
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

    #[track_caller]
    pub(crate) fn run<F: Future>(&self, future: F, timeline: &Timeline) -> F::Output {
        assert!(
            !self.is_running.swap(true, Ordering::Relaxed),
            "`run` was called within `run`. Await or spawn the future instead"
        );
        let _running = RunGuard(&self.is_running);
        let task_waker = self.new_waker();
        let id = task_waker.id;
        let waker = Waker::from(Arc::clone(&task_waker));
        waker.wake_by_ref();
        let value = {
            let mut future = pin!(future);
            let mut polls = 0;
            loop {
                match self.next_ready() {
                    Some(ready) if ready == id => {
                        task_waker.is_woken.swap(false, Ordering::AcqRel);
                        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                            break value;
                        }
                    }
                    Some(ready) => self.poll(ready),
                    None if timeline.advance_to_next_timer() => polls = 0,
                    None => panic!(
                        "deadlock: after {:?} of virtual time, the future still waits, no task can run, and no timer is set",
                        timeline.now().since_origin()
                    ),
                }
                polls += 1;
                assert!(
                    polls < MAX_POLLS,
                    "livelock: tasks wake each other again and again, and the virtual time does not advance"
                );
            }
        };
        // The future is dropped, which may have woken tasks.
        self.run_ready();
        value
    }

    /// Polls the tasks until none is ready. The time does not advance.
    #[track_caller]
    fn run_ready(&self) {
        for _ in 0..MAX_POLLS {
            let Some(ready) = self.next_ready() else { return };
            self.poll(ready);
        }
        panic!("livelock: tasks wake each other again and again, and the virtual time does not advance");
    }

    fn poll(&self, id: u64) {
        // Taken out of the map, because the task may spawn others. A waker may outlive its task.
        let Some(mut task) = lock(&self.spawned).remove(&id) else { return };
        task.waker.is_woken.swap(false, Ordering::AcqRel);
        let waker = Waker::from(Arc::clone(&task.waker));
        if task.work.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
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

/// Marks `run` as running until dropped, also by a panic.
struct RunGuard<'r>(&'r AtomicBool);

impl Drop for RunGuard<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
