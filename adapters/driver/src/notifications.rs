//! [`Notifications`] and [`Events`]: streams of the server's notifications and of the connection's events.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use mcpwire_client::{EventConsumer, EventQueue};
use mcpwire_core::{Event, Notification, Phase};

use crate::locked_state::State;

/// A stream of the server's notifications, in the order of their arrival. It ends when the connection ends. Created by
/// [`McpClient::notifications`](crate::McpClient::notifications).
///
/// The queue contains at most 1,024 notifications and 1 MiB. When the queue is half full, the client stops reading from the
/// server for up to 20 ms, so that the consumer can catch up. When the queue is full, the client drops the oldest notification,
/// and [`Notifications::dropped`] counts it.
///
/// Notifications of changed lists are never dropped, but merged: the queue contains at most one for each list.
#[derive(Debug)]
pub struct Notifications(EventConsumer);

/// A stream of the connection's events, in the order of their occurrence. It ends when the connection ends. Created by
/// [`McpClient::events`](crate::McpClient::events).
///
/// The events are the server's notifications, invalid messages, refused requests of the server, messages that could not be
/// delivered over HTTP, a new HTTP session after the server has ended the previous session, a changed authorization, and the end
/// of the connection. The queue has the same limits as the queue of [`Notifications`].
#[derive(Debug)]
pub struct Events(EventConsumer);

impl Notifications {
    pub(crate) fn new(state: &mut State) -> Self {
        Notifications(consumer(EventQueue::for_notifications(), state))
    }

    /// Waits for the next notification. Returns `None` when the connection has ended and the queue is empty.
    ///
    /// # Cancel safety
    /// If the future is dropped, no notification is lost.
    pub async fn next(&mut self) -> Option<Notification> {
        poll_fn(|cx| self.0.poll(cx)).await.and_then(notification)
    }

    /// Returns the next notification without waiting, or `None` if the queue is empty.
    pub fn try_next(&mut self) -> Option<Notification> {
        self.0.try_next().and_then(notification)
    }

    /// Returns the number of notifications that were dropped because the queue was full.
    pub fn dropped(&self) -> u64 {
        self.0.dropped()
    }
}

impl Stream for Notifications {
    type Item = Notification;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Notification>> {
        self.0.poll(cx).map(|event| event.and_then(notification))
    }
}

impl Events {
    pub(crate) fn new(state: &mut State) -> Self {
        Events(consumer(EventQueue::for_events(), state))
    }

    /// Waits for the next event. Returns `None` when the connection has ended and the queue is empty.
    ///
    /// # Cancel safety
    /// If the future is dropped, no event is lost.
    pub async fn next(&mut self) -> Option<Event> {
        poll_fn(|cx| self.0.poll(cx)).await
    }

    /// Returns the next event without waiting, or `None` if the queue is empty.
    pub fn try_next(&mut self) -> Option<Event> {
        self.0.try_next()
    }

    /// Returns the number of events that were dropped because the queue was full.
    pub fn dropped(&self) -> u64 {
        self.0.dropped()
    }
}

impl Stream for Events {
    type Item = Event;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        self.0.poll(cx)
    }
}

fn notification(event: Event) -> Option<Notification> {
    match event {
        Event::Notification(notification) => Some(notification),
        _ => None,
    }
}

/// Registers an event queue, and returns the consumer that reads from the queue.
fn consumer(events: EventQueue, state: &mut State) -> EventConsumer {
    let has_ended = state.engine.session().phase() == Phase::Closed;
    state.consumers.add(events, has_ended)
}
