//! [`Events`]: what happens in a hub, for whoever wants to know.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use mcpwire_supervisor::{State, ToolChange};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::HubError;

/// So many events may wait to be taken. 1,024: five changes of state of each of 200 servers that start at the same time.
const MOST: usize = 1_024;

/// Something that has happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum HubEvent {
    /// A server is in another state.
    Status {
        /// Which one.
        id: Uuid,
        /// What it is called.
        name: String,
        /// Where it is in its life.
        state: State,
        /// Why it does not run, if it should.
        error: Option<HubError>,
    },
    /// The tools that are offered are others.
    Tools {
        /// How many there are.
        count: usize,
    },
    /// A server describes tools in another way than when it listed them last, be that before it was started anew, or before
    /// this hub was: another description, another schema, other annotations, under the same name. It may be an update, and
    /// it may be meant to make a model do what nobody has agreed to: whoever has agreed to these tools should look again.
    /// They are offered as they are now. [`StatusDetail::changed_tools`](super::StatusDetail::changed_tools) keeps them.
    ToolChanged {
        /// Which server.
        id: Uuid,
        /// What it is called.
        name: String,
        /// Which tools, by the names that the server gives them, and what of them is different: the first 100.
        changes: Vec<ToolChange>,
        /// So many more there are.
        more: usize,
    },
    /// A server has been added, or its configuration is another.
    Configured {
        /// Which one.
        id: Uuid,
    },
    /// A server is no longer configured.
    Removed {
        /// Which one.
        id: Uuid,
    },
    /// All servers that are to be started with the hub have come up, or have failed.
    Booted {
        /// So many run, or sleep until they are called.
        ready: usize,
        /// So many have failed; those that may recover are started again.
        failed: usize,
        /// So many were stopped before they ran.
        cancelled: usize,
    },
    /// A process could not be ended. It may still run.
    Abandoned {
        /// Whose it is.
        id: Uuid,
    },
    /// So many events were dropped here because they were not taken in time.
    Missed {
        /// How many.
        count: u64,
    },
}

/// What happens from now on, in order. A consumer that is too slow holds up nobody: the oldest events are dropped, and
/// [`HubEvent::Missed`] says how many.
#[derive(Debug)]
pub struct Events(Arc<Mutex<Queue>>);

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<HubEvent>,
    missed: u64,
    over: bool,
    waker: Option<Waker>,
}

impl Events {
    /// The next one; `None` when the hub is gone and all have been taken.
    pub async fn next(&mut self) -> Option<HubEvent> {
        poll_fn(|cx| self.poll(cx)).await
    }

    /// The next one, if there is one already.
    pub fn try_next(&mut self) -> Option<HubEvent> {
        lock(&self.0).pop()
    }

    fn poll(&self, cx: &mut Context<'_>) -> Poll<Option<HubEvent>> {
        let mut queue = lock(&self.0);
        match queue.pop() {
            Some(event) => Poll::Ready(Some(event)),
            None if queue.over => Poll::Ready(None),
            None => {
                queue.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Stream for Events {
    type Item = HubEvent;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<HubEvent>> {
        self.poll(cx)
    }
}

impl Queue {
    fn pop(&mut self) -> Option<HubEvent> {
        if self.missed > 0 {
            return Some(HubEvent::Missed { count: std::mem::take(&mut self.missed) });
        }
        self.waiting.pop_front()
    }
}

fn lock(queue: &Mutex<Queue>) -> std::sync::MutexGuard<'_, Queue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All who want to know.
#[derive(Debug, Default)]
pub(super) struct Listeners(Mutex<Vec<Weak<Mutex<Queue>>>>);

impl Listeners {
    pub(super) fn add(&self) -> Events {
        let queue = Arc::new(Mutex::new(Queue::default()));
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|queue| queue.strong_count() > 0);
        all.push(Arc::downgrade(&queue));
        Events(queue)
    }

    pub(super) fn tell(&self, event: &HubEvent) {
        self.each(|queue| {
            if queue.waiting.len() == MOST {
                queue.waiting.pop_front();
                queue.missed += 1;
            }
            queue.waiting.push_back(event.clone());
        });
    }

    /// Nothing more will happen.
    pub(super) fn end(&self) {
        self.each(|queue| queue.over = true);
    }

    fn each(&self, mut f: impl FnMut(&mut Queue)) {
        let mut wakers = Vec::new();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|queue| {
            let Some(queue) = queue.upgrade() else { return false };
            let mut queue = lock(&queue);
            f(&mut queue);
            wakers.extend(queue.waker.take());
            true
        });
        wakers.into_iter().for_each(Waker::wake);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(count: usize) -> HubEvent {
        HubEvent::Tools { count }
    }

    #[test]
    fn a_slow_listener_is_told_how_much_it_has_missed() {
        let listeners = Listeners::default();
        let (mut slow, mut quick) = (listeners.add(), listeners.add());
        for count in 0..MOST + 3 {
            listeners.tell(&tools(count));
            assert_eq!(quick.try_next(), Some(tools(count)));
        }
        assert_eq!(slow.try_next(), Some(HubEvent::Missed { count: 3 }));
        assert_eq!(slow.try_next(), Some(tools(3)));
    }

    #[test]
    fn the_end_comes_after_what_was_told_before() {
        let listeners = Listeners::default();
        let events = listeners.add();
        listeners.tell(&tools(1));
        listeners.end();
        let mut cx = Context::from_waker(Waker::noop());
        assert_eq!(events.poll(&mut cx), Poll::Ready(Some(tools(1))));
        assert_eq!(events.poll(&mut cx), Poll::Ready(None));
    }
}
