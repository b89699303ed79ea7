//! Which exchanges have something to tell: with many under way, only those are polled.

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Wake, Waker};

use mcpwire_core::http::ExchangeId;

/// The exchanges that were woken, in that order.
#[derive(Default)]
pub(super) struct Ready(Mutex<Woken>);

#[derive(Default)]
struct Woken {
    exchanges: Vec<Arc<Flag>>,
    driver: Option<Waker>,
}

/// Wakes one exchange.
pub(super) struct Flag {
    pub(super) id: ExchangeId,
    is_queued: AtomicBool,
    ready: Arc<Ready>,
}

impl Ready {
    /// Those that were woken since. From now on this task is woken for more.
    pub(super) fn take(&self, cx: &mut Context<'_>) -> Vec<Arc<Flag>> {
        let mut woken = self.lock();
        let former = match &woken.driver {
            Some(waker) if waker.will_wake(cx.waker()) => None,
            _ => woken.driver.replace(cx.waker().clone()),
        };
        let taken = mem::take(&mut woken.exchanges);
        drop(woken);
        drop(former);
        for flag in &taken {
            // Before it is polled: what wakes it from here on counts again.
            flag.is_queued.store(false, Ordering::Release);
        }
        taken
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lock().exchanges.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, Woken> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Flag {
    pub(super) fn new(id: ExchangeId, ready: &Arc<Ready>) -> Arc<Self> {
        Arc::new(Flag { id, is_queued: AtomicBool::new(false), ready: Arc::clone(ready) })
    }
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        if self.is_queued.swap(true, Ordering::AcqRel) {
            return;
        }
        let ready = Arc::clone(&self.ready);
        let mut woken = ready.lock();
        woken.exchanges.push(self);
        let driver = woken.driver.clone();
        drop(woken);
        if let Some(driver) = driver {
            driver.wake();
        }
    }
}
