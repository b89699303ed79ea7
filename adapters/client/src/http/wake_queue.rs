//! [`WakeQueue`]: the HTTP exchanges that were woken. The connection polls only these, instead of all its exchanges.

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};

use mcpwire_core::http::ExchangeId;

use crate::{lock, replace_waker};

/// The HTTP exchanges that were woken since their last poll, in the order in which they were woken.
#[derive(Default)]
pub(super) struct WakeQueue(Mutex<Queue>);

#[derive(Default)]
struct Queue {
    exchanges: Vec<Arc<ExchangeWaker>>,
    /// Wakes the task that polls the exchanges. `None` before the first poll.
    task: Option<Waker>,
}

/// The waker of one exchange. Waking it adds the exchange to the queue and wakes the task that polls the exchanges.
pub(super) struct ExchangeWaker {
    pub(super) id: ExchangeId,
    is_queued: AtomicBool,
    queue: Arc<WakeQueue>,
}

impl WakeQueue {
    /// Removes and returns the exchanges that were woken. When another exchange is woken later, the task of `cx` is woken.
    pub(super) fn take(&self, cx: &mut Context<'_>) -> Vec<Arc<ExchangeWaker>> {
        let mut queue = lock(&self.0);
        let former = replace_waker(&mut queue.task, cx.waker());
        let taken = mem::take(&mut queue.exchanges);
        drop(queue);
        drop(former);
        for exchange in &taken {
            // Cleared before the exchange is polled. A wake-up during the poll then adds the exchange to the queue again.
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
