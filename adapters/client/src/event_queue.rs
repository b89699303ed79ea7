//! [`EventQueue`]: a bounded queue of the events that one consumer has not taken yet.

use std::collections::VecDeque;

use mcpwire_core::{Event, Json, Notification};

/// Maximum number of events in a queue. 1,024: more than a busy server sends in a second.
pub(crate) const MAX_EVENTS: usize = 1024;

/// Maximum total size of the texts in a queue, in bytes. 1 MiB: little memory, even if the consumer never takes an event.
pub(crate) const MAX_BYTES: usize = 1 << 20;

/// A bounded queue of the events that one consumer has not taken yet, in the order in which they occurred.
///
/// If the queue is full, it drops the oldest events and counts them. It never drops events that report a list change, a new HTTP
/// session, another authorization, or the end of the connection. It contains each of these events at most once.
#[derive(Debug, Default)]
pub struct EventQueue {
    waiting: VecDeque<Event>,
    /// Total size of the texts in `waiting`, in bytes.
    bytes: usize,
    /// Number of events that were dropped.
    dropped: u64,
    /// Whether the queue accepts notifications only, and no events of the connection.
    only_notifications: bool,
}

impl EventQueue {
    /// Creates an empty queue that accepts notifications and events of the connection.
    pub fn for_events() -> Self {
        EventQueue::default()
    }

    /// Creates an empty queue that accepts notifications only.
    pub fn for_notifications() -> Self {
        EventQueue { only_notifications: true, ..EventQueue::default() }
    }

    /// Returns whether the event belongs in this queue.
    ///
    /// Replies, subscription events and requests of the server do not, because the client passes them directly to those who wait
    /// for them.
    #[inline]
    pub fn accepts(&self, event: &Event) -> bool {
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

    /// Adds an event. If this exceeds a limit of the queue, drops the oldest events that may be dropped.
    pub fn push(&mut self, event: Event) {
        if !can_be_dropped(&event) && self.waiting.contains(&event) {
            return;
        }
        self.bytes += size(&event);
        self.waiting.push_back(event);
        if self.waiting.len() > MAX_EVENTS || self.bytes > MAX_BYTES {
            self.drop_oldest();
        }
    }

    #[cold]
    fn drop_oldest(&mut self) {
        while self.waiting.len() > MAX_EVENTS || self.bytes > MAX_BYTES {
            // If no event can be dropped, the queue is small anyway: it contains each of the other events at most once.
            let Some(oldest) = self.waiting.iter().position(can_be_dropped) else { return };
            if let Some(dropped) = self.waiting.remove(oldest) {
                self.bytes -= size(&dropped);
                self.dropped += 1;
            }
        }
    }

    /// Removes and returns the oldest event, or returns `None` if the queue is empty.
    #[inline]
    pub fn pop(&mut self) -> Option<Event> {
        let event = self.waiting.pop_front()?;
        self.bytes -= size(&event);
        if self.waiting.is_empty() {
            // Frees most of the buffer, because a connection may be idle for long after a burst of events.
            self.waiting.shrink_to(16);
        }
        Some(event)
    }

    /// Returns whether the consumer has taken all events.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Returns whether the queue has reached half of its maximum number of events or bytes.
    pub fn is_half_full(&self) -> bool {
        self.waiting.len() >= MAX_EVENTS / 2 || self.bytes >= MAX_BYTES / 2
    }

    /// Returns the number of events that were dropped because the consumer did not take them in time, since the queue was
    /// created.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

/// Returns whether a full queue may drop the event. `false` for events without which the program would miss a lasting change.
fn can_be_dropped(event: &Event) -> bool {
    match event {
        Event::Notification(notification) => !matches!(
            notification,
            Notification::ToolsChanged | Notification::PromptsChanged | Notification::ResourcesChanged
        ),
        Event::Closed(_) => false,
        #[cfg(feature = "http")]
        Event::SessionReestablished | Event::AuthorizationChanged => false,
        _ => true,
    }
}

/// Returns the total size of the texts in an event, in bytes.
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
    fn a_full_queue_drops_the_oldest_event_but_no_list_change() {
        let mut queue = EventQueue::for_notifications();
        queue.push(Event::Notification(Notification::ToolsChanged));
        (0..MAX_EVENTS + 10).for_each(|n| queue.push(other(&n.to_string())));
        queue.push(Event::Notification(Notification::ToolsChanged));
        assert_eq!(queue.dropped(), 11);
        assert_eq!(queue.pop(), Some(Event::Notification(Notification::ToolsChanged)));
        assert_eq!(queue.pop(), Some(other("11")));
    }

    #[test]
    fn a_queue_is_limited_by_the_size_of_its_texts() {
        let mut queue = EventQueue::for_events();
        for _ in 0..3 {
            queue.push(Event::InvalidMessage { excerpt: "x".repeat(MAX_BYTES / 2) });
        }
        assert_eq!(queue.dropped(), 1);
        assert!(queue.pop().is_some() && queue.pop().is_some() && queue.pop().is_none());
    }

    #[test]
    fn a_queue_for_notifications_accepts_no_other_events() {
        let invalid = Event::InvalidMessage { excerpt: "x".into() };
        assert!(EventQueue::for_events().accepts(&invalid));
        assert!(!EventQueue::for_notifications().accepts(&invalid));
        assert!(!EventQueue::for_events().accepts(&Event::Connected));
    }
}
