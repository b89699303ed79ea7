//! [`Notifications`] and [`Events`]: what the server and the connection report, as streams.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use mcpwire_client::EventQueue;
use mcpwire_core::{Event, Notification, Phase};

use crate::state::State;
use crate::subscribers::{Consumer, Subscribers};

/// The notifications of the server, in the order in which they arrived. Made by
/// [`McpClient::notifications`](crate::McpClient::notifications); ends when the connection does.
///
/// A consumer that keeps up misses nothing: before its queue is full, the server is not read for up to 20 ms. A consumer
/// that does not keep up delays nobody: if more than 1,024 notifications or 1 MiB of them wait, the oldest ones are
/// dropped, and counted by [`Notifications::dropped`]. A change of a list is never dropped; until it is taken, a second
/// change of the same list is left out.
#[derive(Debug)]
pub struct Notifications(Consumer);

/// The events of the connection, in the order in which they occurred. Made by
/// [`McpClient::events`](crate::McpClient::events); ends when the connection does.
///
/// These are the notifications of the server, and what becomes of the connection: messages that could not be read, requests
/// that were refused, notifications and answers that could not be delivered over HTTP, a new HTTP session in place of one
/// that the server has ended, and the end of the connection. The queue has the limits of [`Notifications`].
#[derive(Debug)]
pub struct Events(Consumer);

impl Notifications {
    pub(crate) fn new(state: &mut State) -> Self {
        Notifications(consumer(EventQueue::for_notifications(), state))
    }

    /// Waits for the next notification. Returns `None` when the connection has ended and all were taken.
    pub async fn next(&mut self) -> Option<Notification> {
        poll_fn(|cx| self.0.poll(cx)).await.and_then(notification)
    }

    /// Returns the next notification if one has arrived.
    pub fn try_next(&mut self) -> Option<Notification> {
        self.0.try_next().and_then(notification)
    }

    /// Returns how many notifications were dropped because they were not taken in time.
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

    /// Waits for the next event. Returns `None` when the connection has ended and all were taken.
    pub async fn next(&mut self) -> Option<Event> {
        poll_fn(|cx| self.0.poll(cx)).await
    }

    /// Returns the next event if one has occurred.
    pub fn try_next(&mut self) -> Option<Event> {
        self.0.try_next()
    }

    /// Returns how many events were dropped because they were not taken in time.
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

/// Adds a queue to the state, and returns the end at which its events are taken.
fn consumer(events: EventQueue, state: &mut State) -> Consumer {
    let is_over = state.engine.session().phase() == Phase::Closed;
    state.subscribers.get_or_insert_with(|| Box::new(Subscribers::default())).add(events, is_over)
}
