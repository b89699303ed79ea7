//! [`EventConsumers`]: passes the events of a connection to each part of the program that consumes them, through queues.

use std::mem;
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll, Waker};

use mcpwire_core::Event;

use crate::{EventQueue, lock, replace_waker};

/// Takes the events of a connection from a queue. Dropping this value ends the queue.
#[derive(Debug)]
pub struct EventConsumer(Arc<Mutex<Queue>>);

#[derive(Debug)]
struct Queue {
    events: EventQueue,
    /// Whether the connection has ended. Then no more events are added.
    has_ended: bool,
    /// Whether the consumer was dropped. The queue then stores no waker. The driver may drop the queue while it holds the lock of
    /// the connection, and a waker must not be dropped under that lock.
    is_abandoned: bool,
    /// Wakes the consumer when an event is added or the connection ends.
    waker: Option<Waker>,
    /// Whether the consumer has not emptied the queue in time, so that the driver does not wait for it. Reset when the queue is
    /// empty.
    is_stalled: bool,
    /// Wakes the driver when the consumer has emptied the queue. `None` if the driver does not wait.
    driver_waker: Option<Waker>,
}

impl EventConsumer {
    /// Polls for the next event. Returns `None` after the last event of a connection that has ended.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        let mut has_ended = false;
        // The former waker is dropped after the lock is released, because it may be the last reference to a task.
        let mut unused_waker = None;
        let next = self.take(|queue| {
            has_ended = queue.has_ended;
            unused_waker = replace_waker(&mut queue.waker, cx.waker());
        });
        drop(unused_waker);
        if next.is_none() && !has_ended { Poll::Pending } else { Poll::Ready(next) }
    }

    /// Returns the next event without waiting, or `None` if the queue is empty.
    pub fn try_next(&mut self) -> Option<Event> {
        self.take(|_| {})
    }

    /// Returns the number of events that were dropped because the queue was full, since the queue was created.
    pub fn dropped(&self) -> u64 {
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
            driver = queue.driver_waker.take();
        }
        drop(queue);
        if let Some(driver) = driver {
            driver.wake();
        }
        event
    }
}

impl Drop for EventConsumer {
    fn drop(&mut self) {
        let mut queue = lock(&self.0);
        queue.is_abandoned = true;
        let wakers = (queue.waker.take(), queue.driver_waker.take());
        drop(queue);
        drop(wakers);
    }
}

impl Queue {
    /// Returns whether the driver should wait for the consumer: the queue is half full, and the consumer is not stalled.
    fn is_crowded(&self) -> bool {
        !self.is_stalled && !self.is_abandoned && self.events.is_half_full()
    }
}

/// The event queues of all consumers of a connection. The driver adds events, and waits if a consumer is slow.
#[derive(Debug, Default)]
pub struct EventConsumers {
    queues: Vec<Weak<Mutex<Queue>>>,
    /// Whether a queue is half full and its consumer is not stalled, so that the driver should wait before it reads more.
    is_crowded: bool,
}

impl EventConsumers {
    /// Adds a queue, and returns its consumer. If `has_ended` is set, the connection has already ended, and the queue gets no
    /// events.
    pub fn add(&mut self, events: EventQueue, has_ended: bool) -> EventConsumer {
        let queue =
            Queue { events, has_ended, is_abandoned: false, waker: None, is_stalled: false, driver_waker: None };
        let queue = Arc::new(Mutex::new(queue));
        if self.queues.len() == self.queues.capacity() {
            // Removes the queues of dropped consumers before the vector grows.
            self.queues.retain(|queue| queue.strong_count() > 0);
        }
        self.queues.push(Arc::downgrade(&queue));
        EventConsumer(queue)
    }

    /// Adds an event to all queues that accept it. Returns the number of events that full queues have dropped.
    ///
    /// Adds the wakers of the consumers to `wakers`, for the caller to wake. [`Event::Closed`] ends all queues.
    pub fn push(&mut self, event: Event, wakers: &mut Vec<Waker>) -> u64 {
        let is_last = matches!(event, Event::Closed(_));
        let mut dropped = 0;
        let mut unsent = Some(event);
        for (at, queue) in self.queues.iter().enumerate() {
            let Some(queue) = queue.upgrade() else { continue };
            let mut queue = lock(&queue);
            if !unsent.as_ref().is_some_and(|event| queue.events.accepts(event)) {
                continue;
            }
            // The last queue takes the event itself, without a copy.
            let event = if at + 1 == self.queues.len() { unsent.take() } else { unsent.clone() };
            let Some(event) = event else { break };
            let before = queue.events.dropped();
            queue.events.push(event);
            dropped += queue.events.dropped() - before;
            wakers.extend(queue.waker.take());
            self.is_crowded |= queue.is_crowded();
        }
        if is_last {
            self.end(wakers);
        }
        dropped
    }

    /// Returns whether the driver should wait for a consumer before it reads more from the server.
    pub fn is_crowded(&self) -> bool {
        self.is_crowded
    }

    /// Returns whether the driver still has to wait for a consumer. If so, `driver` is woken when the consumer has emptied its
    /// queue.
    ///
    /// Moves replaced wakers to `unused`. The caller must drop these without holding the lock of the connection.
    pub fn wait_for_room(&mut self, driver: &Waker, unused: &mut Vec<Waker>) -> bool {
        self.is_crowded = false;
        for queue in self.queues.iter().filter_map(Weak::upgrade) {
            let mut queue = lock(&queue);
            if queue.is_crowded() {
                self.is_crowded = true;
                unused.extend(replace_waker(&mut queue.driver_waker, driver));
            }
        }
        self.is_crowded
    }

    /// Marks slow consumers as stalled. The driver does not wait for them until they have emptied their queues.
    pub fn give_up_waiting(&mut self) {
        for queue in self.queues.iter().filter_map(Weak::upgrade) {
            let mut queue = lock(&queue);
            queue.is_stalled |= queue.is_crowded();
        }
        self.is_crowded = false;
    }

    /// Ends all queues: consumers take the remaining events, and then `None`. Adds the wakers of the consumers to `wakers`.
    pub fn end(&mut self, wakers: &mut Vec<Waker>) {
        for queue in mem::take(&mut self.queues).iter().filter_map(Weak::upgrade) {
            let mut queue = lock(&queue);
            queue.has_ended = true;
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
        let mut subscribers = EventConsumers::default();
        let consumer = subscribers.add(EventQueue::for_events(), false);
        // The driver holds such a reference while it inspects the queue.
        let queue = Arc::clone(&consumer.0);
        for n in 0..2_000 {
            subscribers.push(Event::InvalidMessage { excerpt: n.to_string() }, &mut Vec::new());
        }
        let task = Arc::new(Task);
        let waker = Waker::from(Arc::clone(&task));
        let mut unused = Vec::new();
        assert!(subscribers.wait_for_room(&waker, &mut unused), "the queue is crowded");
        assert_eq!(Arc::strong_count(&task), 3, "the queue stores the waker of the driver");
        drop(consumer);
        assert_eq!(Arc::strong_count(&task), 2);
        assert!(!subscribers.wait_for_room(&waker, &mut unused), "the consumer was dropped");
        assert_eq!(Arc::strong_count(&task), 2, "the queue stores no waker");
        drop(queue);
    }
}
