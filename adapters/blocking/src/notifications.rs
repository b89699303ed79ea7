//! [`Notifications`] and [`Events`]: queues of the notifications of the server and of the events of the connection.

use std::time::Duration;

use mcpwire_client::{Error, EventConsumer, EventQueue};
use mcpwire_core::{Event, Notification, Phase};

use crate::client::McpClient;

/// A queue of the server's notifications, in the order of their arrival. Returned by [`McpClient::notifications`].
///
/// The queue does not borrow the client. It also receives the notifications that arrive during calls and other waits of the
/// client.
///
/// The queue contains at most 1,024 notifications and 1 MiB. When the queue is full, the client drops the oldest notification,
/// and [`Notifications::dropped`] counts it. Notifications of changed lists are never dropped, but merged: the queue contains at
/// most one for each list.
#[derive(Debug)]
pub struct Notifications(EventConsumer);

/// A queue of the connection's events, in the order of their occurrence. Returned by [`McpClient::events`].
///
/// The events are the server's notifications, invalid messages, refused requests of the server, messages that could not be
/// delivered over HTTP, a new HTTP session after the server has ended the previous session, a changed authorization, and the end
/// of the connection. The queue has the same limits as the queue of [`Notifications`].
#[derive(Debug)]
pub struct Events(EventConsumer);

impl McpClient {
    /// Returns a queue that receives the server's notifications, such as log messages and list changes, from now on.
    ///
    /// The client reads from the server only while a method of the client or of a queue runs.
    ///
    /// ```no_run
    /// # use mcpwire_blocking::{McpClient, McpServerDef};
    /// # let mut client = McpClient::connect_and_initialize(&McpServerDef::new("my-server"))?;
    /// let mut notifications = client.notifications();
    /// while let Some(notification) = notifications.next(&mut client)? {
    ///     println!("{notification:?}");
    /// }
    /// # Ok::<(), mcpwire_blocking::Error>(())
    /// ```
    #[doc(alias = "notifications/message")]
    pub fn notifications(&mut self) -> Notifications {
        Notifications(self.consumer(EventQueue::for_notifications()))
    }

    /// Returns a queue that receives the connection's events from now on, such as invalid messages, new HTTP sessions and the
    /// end. It also receives the server's notifications.
    pub fn events(&mut self) -> Events {
        Events(self.consumer(EventQueue::for_events()))
    }

    fn consumer(&mut self, queue: EventQueue) -> EventConsumer {
        let has_ended = self.connection.io.engine.session().phase() == Phase::Closed;
        self.connection.consumers.add(queue, has_ended)
    }
}

impl Notifications {
    /// Waits for the next notification. Returns `None` when the connection has ended and the queue is empty.
    ///
    /// # Errors
    /// If the wait is cancelled by a [`Canceller`](crate::Canceller).
    pub fn next(&mut self, client: &mut McpClient) -> Result<Option<Notification>, Error> {
        next(&mut self.0, client, None).map(into_notification)
    }

    /// Waits for the next notification, for at most `duration`. Returns `None` if no notification has arrived in that time, or if
    /// the connection has ended.
    ///
    /// # Errors
    /// If the wait is cancelled by a [`Canceller`](crate::Canceller).
    pub fn next_within(&mut self, client: &mut McpClient, duration: Duration) -> Result<Option<Notification>, Error> {
        next(&mut self.0, client, Some(duration)).map(into_notification)
    }

    /// Reads the data that has arrived, and returns the next notification without waiting. Returns `None` if the queue is empty.
    pub fn try_next(&mut self, client: &mut McpClient) -> Option<Notification> {
        into_notification(try_next(&mut self.0, client))
    }

    /// Returns the number of notifications that were dropped because the queue was full.
    pub fn dropped(&self) -> u64 {
        self.0.dropped()
    }
}

impl Events {
    /// Waits for the next event. Returns `None` when the connection has ended and the queue is empty.
    ///
    /// # Errors
    /// If the wait is cancelled by a [`Canceller`](crate::Canceller).
    pub fn next(&mut self, client: &mut McpClient) -> Result<Option<Event>, Error> {
        next(&mut self.0, client, None)
    }

    /// Waits for the next event, for at most `duration`. Returns `None` if no event has occurred in that time, or if the
    /// connection has ended.
    ///
    /// # Errors
    /// If the wait is cancelled by a [`Canceller`](crate::Canceller).
    pub fn next_within(&mut self, client: &mut McpClient, duration: Duration) -> Result<Option<Event>, Error> {
        next(&mut self.0, client, Some(duration))
    }

    /// Reads the data that has arrived, and returns the next event without waiting. Returns `None` if the queue is empty.
    pub fn try_next(&mut self, client: &mut McpClient) -> Option<Event> {
        try_next(&mut self.0, client)
    }

    /// Returns the number of events that were dropped because the queue was full.
    pub fn dropped(&self) -> u64 {
        self.0.dropped()
    }
}

fn next(
    consumer: &mut EventConsumer,
    client: &mut McpClient,
    within: Option<Duration>,
) -> Result<Option<Event>, Error> {
    client.cancel_dropped();
    let until = within.map(|within| client.connection.now() + within);
    client.connection.wait_for("a notification", until, |_| consumer.try_next())
}

fn try_next(consumer: &mut EventConsumer, client: &mut McpClient) -> Option<Event> {
    let event = consumer.try_next();
    if event.is_some() {
        return event;
    }
    client.connection.catch_up();
    consumer.try_next()
}

fn into_notification(event: Option<Event>) -> Option<Notification> {
    match event? {
        Event::Notification(notification) => Some(notification),
        _ => None,
    }
}
