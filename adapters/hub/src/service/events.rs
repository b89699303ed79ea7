//! [`Events`]: a stream of the events of a hub. A hub can have any number of such streams.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use mcpwire_client::lock;
use mcpwire_supervisor::{State, ToolChange};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::HubError;

/// Maximum number of events that wait in the stream of one listener. Beyond this number, the oldest events are dropped. 200
/// servers that start at the same time cause about 1,000 events, five state changes each.
const MAX_EVENTS: usize = 1_024;

/// A change in a hub that the hub reports to its listeners.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum HubEvent {
    /// A server has entered another state, for example running or failed.
    Status {
        /// The id of the server.
        id: Uuid,
        /// The name of the server.
        name: String,
        /// The new state.
        state: State,
        /// The error of the server's last failure. `None` if the server runs or has never failed.
        error: Option<HubError>,
    },
    /// The combined list of the tools of all servers has changed.
    Tools {
        /// The number of tools of all servers after the change.
        count: usize,
    },
    /// A server has changed the definitions of some of its tools, compared to its previous tool list. That list may be from
    /// before a restart of the server or of the hub.
    ///
    /// The change may be a regular update. It may also be an attempt to make a language model do something to which the user has
    /// not agreed. The hub offers the new definitions at once. Users who approved the old definitions should review the new ones.
    /// [`StatusDetail::changed_tools`](super::StatusDetail::changed_tools) contains the changes until the program acknowledges
    /// them.
    ToolChanged {
        /// The id of the server.
        id: Uuid,
        /// The name of the server.
        name: String,
        /// The changed tools, at most 100, each with its changed fields. The names are those that the server uses.
        changes: Vec<ToolChange>,
        /// The number of further changed tools, which `changes` does not contain. 0 if it contains all changes.
        more: usize,
    },
    /// A server was added, or its configuration was changed.
    Configured {
        /// The id of the server.
        id: Uuid,
    },
    /// A server was deleted.
    Removed {
        /// The id of the server.
        id: Uuid,
    },
    /// All servers that [`Hub::boot`](super::Hub::boot) had to start have started or failed.
    Booted {
        /// Number of servers that run, or sleep until one of their tools is called.
        ready: usize,
        /// Number of servers that failed to start. The hub restarts servers that may recover automatically.
        failed: usize,
        /// Number of servers whose start was cancelled by another command, for example to stop the server.
        cancelled: usize,
    },
    /// The hub could not end the process of a server. The process may still run.
    Abandoned {
        /// The id of the server.
        id: Uuid,
    },
    /// The listener did not read its events fast enough, so the hub dropped the oldest events of this stream.
    Missed {
        /// Number of events that the hub has dropped.
        count: u64,
    },
}

/// A stream of the events of a hub, in the order in which they occurred.
///
/// A listener that reads slowly delays neither the hub nor other listeners. If its stream is full, the hub drops the oldest
/// events of this stream. [`HubEvent::Missed`] then contains their number.
#[derive(Debug, Default)]
pub struct Events(Arc<Mutex<Queue>>);

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<HubEvent>,
    missed: u64,
    is_ended: bool,
    waker: Option<Waker>,
}

impl Events {
    /// Waits for the next event of the hub. Returns `None` when the hub has ended and this stream has returned all its events.
    pub async fn next(&mut self) -> Option<HubEvent> {
        poll_fn(|cx| self.poll(cx)).await
    }

    /// Returns the next event of the hub without waiting. Returns `None` if no event has occurred since the last call, or if the
    /// hub has ended.
    pub fn try_next(&mut self) -> Option<HubEvent> {
        lock(&self.0).pop()
    }

    fn poll(&self, cx: &mut Context<'_>) -> Poll<Option<HubEvent>> {
        let waker = cx.waker().clone();
        let mut queue = lock(&self.0);
        if let Some(event) = queue.pop() {
            return Poll::Ready(Some(event));
        }
        if queue.is_ended {
            return Poll::Ready(None);
        }
        let previous = queue.waker.replace(waker);
        // Dropping a waker may run code of the program, so the lock is released before.
        drop(queue);
        drop(previous);
        Poll::Pending
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

/// The event streams of all listeners of a hub, to which the hub adds its events.
#[derive(Debug, Default)]
pub(super) struct Listeners(Mutex<Vec<Weak<Mutex<Queue>>>>);

impl Listeners {
    pub(super) fn subscribe(&self) -> Events {
        let queue = Arc::new(Mutex::new(Queue::default()));
        let mut queues = lock(&self.0);
        queues.retain(|queue| queue.strong_count() > 0);
        queues.push(Arc::downgrade(&queue));
        Events(queue)
    }

    /// Adds an event to the streams of all listeners. Moves the wakers of waiting listeners to `wakers`, so that the caller can
    /// wake them after it has released its locks.
    pub(super) fn push(&self, event: &HubEvent, wakers: &mut Vec<Waker>) {
        self.each(wakers, |queue| {
            if queue.waiting.len() == MAX_EVENTS {
                queue.waiting.pop_front();
                queue.missed += 1;
            }
            queue.waiting.push_back(event.clone());
        });
    }

    /// Ends the event streams of all listeners. They still receive the events that are already in their streams. Moves the wakers
    /// of waiting listeners to `wakers`.
    pub(super) fn end(&self, wakers: &mut Vec<Waker>) {
        self.each(wakers, |queue| queue.is_ended = true);
    }

    fn each(&self, wakers: &mut Vec<Waker>, mut f: impl FnMut(&mut Queue)) {
        lock(&self.0).retain(|queue| {
            let Some(queue) = queue.upgrade() else { return false };
            let mut queue = lock(&queue);
            f(&mut queue);
            wakers.extend(queue.waker.take());
            true
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(count: usize) -> HubEvent {
        HubEvent::Tools { count }
    }

    #[test]
    fn a_slow_listener_learns_how_many_events_it_missed() {
        let listeners = Listeners::default();
        let (mut slow, mut quick) = (listeners.subscribe(), listeners.subscribe());
        for count in 0..MAX_EVENTS + 3 {
            listeners.push(&tools(count), &mut Vec::new());
            assert_eq!(quick.try_next(), Some(tools(count)));
        }
        assert_eq!(slow.try_next(), Some(HubEvent::Missed { count: 3 }));
        assert_eq!(slow.try_next(), Some(tools(3)));
    }

    #[test]
    fn a_stream_ends_after_its_last_event() {
        let listeners = Listeners::default();
        let events = listeners.subscribe();
        listeners.push(&tools(1), &mut Vec::new());
        listeners.end(&mut Vec::new());
        let mut cx = Context::from_waker(Waker::noop());
        assert_eq!(events.poll(&mut cx), Poll::Ready(Some(tools(1))));
        assert_eq!(events.poll(&mut cx), Poll::Ready(None));
    }

    /// A waker that fails the test if it is dropped while the queue is locked.
    struct ChecksLock(Arc<Mutex<Queue>>);

    impl std::task::Wake for ChecksLock {
        fn wake(self: Arc<Self>) {}
    }

    impl Drop for ChecksLock {
        fn drop(&mut self) {
            assert!(self.0.try_lock().is_ok(), "the waker is dropped under the lock");
        }
    }

    #[test]
    fn a_waker_is_not_dropped_under_the_lock() {
        let events = Listeners::default().subscribe();
        let waker = Waker::from(Arc::new(ChecksLock(Arc::clone(&events.0))));
        assert_eq!(events.poll(&mut Context::from_waker(&waker)), Poll::Pending);
        drop(waker);
        assert_eq!(events.poll(&mut Context::from_waker(Waker::noop())), Poll::Pending);
    }
}
