//! [`EventQueue`]: the events that one consumer has not taken yet.

use std::collections::VecDeque;
use std::mem;

use mcpwire_core::{Event, Json, Notification};

/// Maximum number of events in a queue: 1,024, more than a second's worth of the most talkative servers.
pub(crate) const MAX_EVENTS: usize = 1024;

/// Maximum size in bytes of the texts in a queue: 1 MiB, so that a consumer that has stopped costs little.
pub(crate) const MAX_BYTES: usize = 1 << 20;

/// The events that one consumer has not taken yet, in the order in which they occurred.
///
/// The queue is bounded. Beyond its limits, the oldest event is dropped and counted. A change of a list, a new HTTP
/// session and the end of the connection are never dropped: the queue contains each of them at most once.
#[derive(Debug, Default)]
pub struct EventQueue {
    waiting: VecDeque<QueuedEvent>,
    /// The sum of the sizes of all events.
    bytes: usize,
    dropped: u64,
    /// Whether the consumer takes only notifications.
    only_notifications: bool,
}

#[derive(Debug)]
struct QueuedEvent {
    event: Event,
    /// Size in bytes of the texts in the event.
    size: usize,
}

impl EventQueue {
    /// Creates a queue of all events that [`EventQueue::takes`] names.
    pub fn of_events() -> Self {
        EventQueue::default()
    }

    /// Creates a queue of the server's notifications.
    pub fn of_notifications() -> Self {
        EventQueue { only_notifications: true, ..EventQueue::default() }
    }

    /// Returns whether the consumer of this queue receives the event.
    ///
    /// Replies, subscriptions and requests of the server have consumers of their own.
    #[inline]
    pub fn takes(&self, event: &Event) -> bool {
        match event {
            Event::Notification(_) => true,
            Event::Connected
            | Event::Reply(_)
            | Event::Subscription(_)
            | Event::ServerRequest(_)
            | Event::ServerRequestCancelled(_)
            | Event::RequestSent(_)
            | Event::Restart => false,
            #[cfg(feature = "http")]
            Event::RequestRetried { .. } => false,
            _ => !self.only_notifications,
        }
    }

    /// Adds an event, and drops the oldest one if the queue is full.
    pub fn push(&mut self, event: Event) {
        if !may_be_dropped(&event) && self.waiting.iter().any(|waiting| is_same(&waiting.event, &event)) {
            return;
        }
        let size = size(&event);
        self.bytes += size;
        self.waiting.push_back(QueuedEvent { event, size });
        if self.waiting.len() > MAX_EVENTS || self.bytes > MAX_BYTES {
            self.drop_oldest();
        }
    }

    #[cold]
    fn drop_oldest(&mut self) {
        while self.waiting.len() > MAX_EVENTS || self.bytes > MAX_BYTES {
            // The others are few: each is in the queue at most once.
            let Some(oldest) = self.waiting.iter().position(|waiting| may_be_dropped(&waiting.event)) else { return };
            if let Some(dropped) = self.waiting.remove(oldest) {
                self.bytes -= dropped.size;
                self.dropped += 1;
            }
        }
    }

    /// Removes and returns the oldest event.
    #[inline]
    pub fn pop(&mut self) -> Option<Event> {
        let QueuedEvent { event, size } = self.waiting.pop_front()?;
        self.bytes -= size;
        if self.waiting.is_empty() {
            // A connection may be idle for long after a burst of events.
            self.waiting.shrink_to(16);
        }
        Some(event)
    }

    /// Returns whether the queue contains no event.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Returns whether the queue is at least half full.
    pub fn is_half_full(&self) -> bool {
        self.waiting.len() >= MAX_EVENTS / 2 || self.bytes >= MAX_BYTES / 2
    }

    /// Returns how many events were dropped because the consumer did not take them in time.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

/// Returns whether two events, none of which may be dropped, say the same: these events have no content.
fn is_same(one: &Event, other: &Event) -> bool {
    match (one, other) {
        (Event::Notification(one), Event::Notification(other)) => mem::discriminant(one) == mem::discriminant(other),
        _ => mem::discriminant(one) == mem::discriminant(other),
    }
}

fn may_be_dropped(event: &Event) -> bool {
    match event {
        Event::Notification(notification) => !matches!(
            notification,
            Notification::ToolsChanged | Notification::PromptsChanged | Notification::ResourcesChanged
        ),
        Event::Closed(_) => false,
        #[cfg(feature = "http")]
        Event::SessionReestablished => false,
        _ => true,
    }
}

/// Returns the size in bytes of the texts in an event.
fn size(event: &Event) -> usize {
    match event {
        Event::Notification(notification) => notification_size(notification),
        Event::InvalidMessage { excerpt } => excerpt.len(),
        Event::ServerRequestRefused { method } => method.len(),
        Event::UnmatchedError(error) => error.message.len() + error.data.as_ref().map_or(0, |data| data.get().len()),
        _ => 0,
    }
}

fn notification_size(notification: &Notification) -> usize {
    let json = |json: &Option<Json>| json.as_ref().map_or(0, |json| json.get().len());
    let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    match notification {
        Notification::Progress { progress, .. } => text(&progress.message) + json(&progress.meta),
        Notification::TaskStatus { task, .. } => {
            let texts = [&task.status_message, &task.created_at, &task.last_updated_at];
            let parts = [&task.input_requests, &task.result, &task.error, &task.meta];
            task.task_id.len() + texts.map(text).iter().sum::<usize>() + parts.map(json).iter().sum::<usize>()
        }
        Notification::Log(message) => message.data.get().len() + text(&message.logger) + json(&message.meta),
        Notification::Other { method, params } => method.len() + json(params),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn other(method: &str) -> Event {
        Event::Notification(Notification::Other { method: method.into(), params: None })
    }

    #[test]
    fn a_full_queue_drops_the_oldest_event_but_no_change_of_a_list() {
        let mut queue = EventQueue::of_notifications();
        queue.push(Event::Notification(Notification::ToolsChanged));
        (0..MAX_EVENTS + 10).for_each(|n| queue.push(other(&n.to_string())));
        queue.push(Event::Notification(Notification::ToolsChanged));
        assert_eq!(queue.dropped(), 11);
        assert_eq!(queue.pop(), Some(Event::Notification(Notification::ToolsChanged)));
        assert_eq!(queue.pop(), Some(other("11")));
    }

    #[test]
    fn a_queue_is_limited_by_the_size_of_its_texts() {
        let mut queue = EventQueue::of_events();
        for _ in 0..3 {
            queue.push(Event::InvalidMessage { excerpt: "x".repeat(MAX_BYTES / 2) });
        }
        assert_eq!(queue.dropped(), 1);
        assert!(queue.pop().is_some() && queue.pop().is_some() && queue.pop().is_none());
    }

    #[test]
    fn events_that_are_no_notifications_are_for_those_who_want_all_events() {
        let invalid = Event::InvalidMessage { excerpt: "x".into() };
        assert!(EventQueue::of_events().takes(&invalid));
        assert!(!EventQueue::of_notifications().takes(&invalid));
        assert!(!EventQueue::of_events().takes(&Event::Connected));
    }
}
