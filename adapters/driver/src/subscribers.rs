//! [`Subscribers`]: the queues of events that consumers take, and the driver fills.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use mcpwire_client::EventQueue;
use mcpwire_core::Event;

/// The end of a queue at which events are taken.
#[derive(Debug)]
pub(crate) struct Consumer(Arc<Mutex<Queue>>);

#[derive(Debug)]
struct Queue {
    events: EventQueue,
    /// Whether no more events will be added.
    is_over: bool,
    /// Whether the consumer was dropped. Then the queue stores no waker: whoever has the last reference to the queue may
    /// drop it while it holds the lock of the connection.
    is_abandoned: bool,
    waker: Option<Waker>,
    /// Whether the consumer did not keep up, and has not caught up since.
    is_stalled: bool,
    /// Wakes the driver that waits for the consumer to catch up.
    room: Option<Waker>,
}

impl Consumer {
    /// Takes the next event; `None` at the end of the connection. If there is no event, the task is woken for the next one.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        let mut is_over = false;
        // Dropped without the lock: the waker may be the last reference to a task.
        let mut unused_waker = None;
        let next = self.take(|queue| {
            is_over = queue.is_over;
            unused_waker = replace(&mut queue.waker, cx.waker());
        });
        drop(unused_waker);
        if next.is_none() && !is_over { Poll::Pending } else { Poll::Ready(next) }
    }

    /// Takes the next event if there is one.
    pub(crate) fn try_next(&mut self) -> Option<Event> {
        self.take(|_| {})
    }

    /// Returns how many events were dropped because they were not taken in time.
    pub(crate) fn dropped(&self) -> u64 {
        lock(&self.0).events.dropped()
    }

    #[inline]
    fn take(&mut self, if_empty: impl FnOnce(&mut Queue)) -> Option<Event> {
        let mut queue = lock(&self.0);
        let event = queue.events.pop();
        if event.is_none() {
            if_empty(&mut queue);
        }
        let mut driver = None;
        if queue.events.is_empty() {
            queue.is_stalled = false;
            driver = queue.room.take();
        }
        drop(queue);
        if let Some(driver) = driver {
            driver.wake();
        }
        event
    }
}

impl Drop for Consumer {
    fn drop(&mut self) {
        let mut queue = lock(&self.0);
        queue.is_abandoned = true;
        let wakers = (queue.waker.take(), queue.room.take());
        drop(queue);
        drop(wakers);
    }
}

impl Queue {
    /// Returns whether it is worth waiting for the consumer.
    fn is_crowded(&self) -> bool {
        !self.is_stalled && !self.is_abandoned && self.events.is_half_full()
    }
}

fn lock(queue: &Mutex<Queue>) -> MutexGuard<'_, Queue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Stores the waker of a task. Returns the former waker if that is another, to be dropped without any lock.
#[must_use = "a waker is dropped without any lock"]
fn replace(stored: &mut Option<Waker>, waker: &Waker) -> Option<Waker> {
    match stored {
        Some(former) if former.will_wake(waker) => None,
        stored => stored.replace(waker.clone()),
    }
}

/// The queues of events as the state fills them. A trait object, so that a program without consumers of events contains no code
/// for them.
pub(crate) trait EventSink: Send {
    /// Adds a queue.
    fn add(&mut self, events: EventQueue, is_over: bool) -> Consumer;

    /// Adds an event to the queues. Adds the tasks to wake to `wakers`. Returns how many events were dropped.
    fn push(&mut self, event: Event, wakers: &mut Vec<Waker>) -> u64;

    /// Returns whether a queue is so full that its consumer should have its turn.
    fn is_crowded(&self) -> bool;

    /// Returns whether a queue is still crowded. Then `driver` is woken when its consumer has caught up. Adds wakers that are
    /// not needed any more to `unused`, to be dropped without the lock.
    fn wait_for_room(&mut self, driver: &Waker, unused: &mut Vec<Waker>) -> bool;

    /// Stops waiting for the consumers that have not caught up, until they have.
    fn give_up_waiting(&mut self);

    /// Ends all queues: no more events will be added.
    fn end(&mut self, wakers: &mut Vec<Waker>);
}

/// The queues of all consumers of events.
#[derive(Default)]
pub(crate) struct Subscribers {
    queues: Vec<Weak<Mutex<Queue>>>,
    /// Whether a queue is so full that its consumer should have its turn.
    is_crowded: bool,
}

impl EventSink for Subscribers {
    fn add(&mut self, events: EventQueue, is_over: bool) -> Consumer {
        let queue = Queue { events, is_over, is_abandoned: false, waker: None, is_stalled: false, room: None };
        let queue = Arc::new(Mutex::new(queue));
        if self.queues.len() == self.queues.capacity() {
            // The queues of dropped consumers need no place.
            self.queues.retain(|queue| queue.strong_count() > 0);
        }
        self.queues.push(Arc::downgrade(&queue));
        Consumer(queue)
    }

    fn push(&mut self, event: Event, wakers: &mut Vec<Waker>) -> u64 {
        let Some((last, others)) = self.queues.split_last() else { return 0 };
        let (mut dropped, mut is_crowded) = (0, self.is_crowded);
        let mut push = |queue: &mut Queue, event: Event| {
            let before = queue.events.dropped();
            queue.events.push(event);
            dropped += queue.events.dropped() - before;
            wakers.extend(queue.waker.take());
            is_crowded |= queue.is_crowded();
        };
        for queue in others.iter().filter_map(Weak::upgrade) {
            let mut queue = lock(&queue);
            if queue.events.takes(&event) {
                push(&mut queue, event.clone());
            }
        }
        // The last queue needs no copy.
        if let Some(queue) = last.upgrade() {
            let mut queue = lock(&queue);
            if queue.events.takes(&event) {
                push(&mut queue, event);
            }
        }
        self.is_crowded = is_crowded;
        dropped
    }

    fn is_crowded(&self) -> bool {
        self.is_crowded
    }

    fn wait_for_room(&mut self, driver: &Waker, unused: &mut Vec<Waker>) -> bool {
        self.is_crowded = false;
        for queue in self.queues.iter().filter_map(Weak::upgrade) {
            let mut queue = lock(&queue);
            if queue.is_crowded() {
                self.is_crowded = true;
                unused.extend(replace(&mut queue.room, driver));
            }
        }
        self.is_crowded
    }

    fn give_up_waiting(&mut self) {
        for queue in self.queues.iter().filter_map(Weak::upgrade) {
            let mut queue = lock(&queue);
            queue.is_stalled |= queue.is_crowded();
        }
        self.is_crowded = false;
    }

    fn end(&mut self, wakers: &mut Vec<Waker>) {
        for queue in mem::take(&mut self.queues).iter().filter_map(Weak::upgrade) {
            let mut queue = lock(&queue);
            queue.is_over = true;
            wakers.extend(queue.waker.take());
        }
        self.is_crowded = false;
    }
}

#[cfg(test)]
mod tests {
    use std::task::Wake;

    use super::*;

    struct Task;

    impl Wake for Task {
        fn wake(self: Arc<Self>) {}
    }

    #[test]
    fn the_queue_of_a_dropped_consumer_stores_no_waker() {
        let mut subscribers = Subscribers::default();
        let consumer = subscribers.add(EventQueue::of_events(), false);
        // As the driver has it while it looks at the queue.
        let queue = Arc::clone(&consumer.0);
        for n in 0..2_000 {
            subscribers.push(Event::InvalidMessage { excerpt: n.to_string() }, &mut Vec::new());
        }
        let task = Arc::new(Task);
        let waker = Waker::from(Arc::clone(&task));
        let mut unused = Vec::new();
        assert!(subscribers.wait_for_room(&waker, &mut unused), "the queue is crowded");
        assert_eq!(Arc::strong_count(&task), 3, "the queue wakes the driver when there is room");
        drop(consumer);
        assert_eq!(Arc::strong_count(&task), 2);
        assert!(!subscribers.wait_for_room(&waker, &mut unused), "nobody will make room");
        assert_eq!(Arc::strong_count(&task), 2, "the last reference to the queue has no waker to drop");
        drop(queue);
    }
}
