//! [`WakeQueue`]: the exchanges that were woken, so that only these are polled.

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};

use mcpwire_core::http::ExchangeId;

use crate::{lock, replace_waker};

/// The exchanges that were woken since they were last polled, in the order of their wake-ups.
#[derive(Default)]
pub(super) struct WakeQueue(Mutex<Queue>);

#[derive(Default)]
struct Queue {
    exchanges: Vec<Arc<ExchangeWaker>>,
    /// The task that polls the exchanges.
    task: Option<Waker>,
}

/// The waker of one exchange: adds the exchange to the queue.
pub(super) struct ExchangeWaker {
    pub(super) id: ExchangeId,
    is_queued: AtomicBool,
    queue: Arc<WakeQueue>,
}

impl WakeQueue {
    /// Removes and returns the exchanges that were woken. Wakes the task of `cx` when another exchange is woken.
    pub(super) fn take(&self, cx: &mut Context<'_>) -> Vec<Arc<ExchangeWaker>> {
        let mut queue = lock(&self.0);
        let former = replace_waker(&mut queue.task, cx.waker());
        let taken = mem::take(&mut queue.exchanges);
        drop(queue);
        drop(former);
        for exchange in &taken {
            // Cleared before the poll, so that a wake-up during the poll queues the exchange again.
            exchange.is_queued.store(false, Ordering::Release);
        }
        taken
    }

    pub(super) fn is_empty(&self) -> bool {
        lock(&self.0).exchanges.is_empty()
    }
}

impl ExchangeWaker {
    pub(super) fn new(id: ExchangeId, queue: &Arc<WakeQueue>) -> Arc<Self> {
        Arc::new(ExchangeWaker { id, is_queued: AtomicBool::new(false), queue: Arc::clone(queue) })
    }
}

impl Wake for ExchangeWaker {
    fn wake(self: Arc<Self>) {
        if self.is_queued.swap(true, Ordering::AcqRel) {
            return;
        }
        let shared = Arc::clone(&self.queue);
        let mut queue = lock(&shared.0);
        queue.exchanges.push(self);
        let task = queue.task.clone();
        drop(queue);
        if let Some(task) = task {
            task.wake();
        }
    }
}
