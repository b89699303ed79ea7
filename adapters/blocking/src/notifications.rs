//! [`Notifications`] and [`Events`]: queues of the notifications of the server and of the events of the connection.

use std::time::Duration;

use mcpwire_client::{Error, EventConsumer, EventQueue};
use mcpwire_core::{Event, Notification, Phase};

use crate::client::McpClient;

/// A queue of the notifications of the server, in order of arrival. Returned by [`McpClient::notifications`].
///
/// The queue does not borrow the client: it also receives the notifications that arrive while the client waits for something else.
/// If it contains more than 1,024 notifications or 1 MiB, it drops the oldest ones, and counts them
/// ([`Notifications::dropped`]). It never drops a change of a list, but merges repeated changes of the same list.
#[derive(Debug)]
pub struct Notifications(EventConsumer);

/// A queue of the events of the connection, in order of occurrence. Returned by [`McpClient::events`].
///
/// Besides notifications, it contains invalid messages, rejected requests of the server, notifications and answers that could not
/// be delivered over HTTP, new HTTP sessions after the server has ended one, and the end of the connection. The limits are those
/// of [`Notifications`].
#[derive(Debug)]
pub struct Events(EventConsumer);

impl McpClient {
    /// Returns a queue that receives the server's notifications from now on.
    ///
    /// The client reads only while one of its methods runs, or a method of the queue.
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

    /// Returns a queue that receives the events of the connection from now on, including notifications.
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

    /// Waits for the next notification, for at most `duration`. Returns `None` if none has arrived.
    ///
    /// # Errors
    /// If the wait is cancelled by a [`Canceller`](crate::Canceller).
    pub fn next_within(&mut self, client: &mut McpClient, duration: Duration) -> Result<Option<Notification>, Error> {
        next(&mut self.0, client, Some(duration)).map(into_notification)
    }

    /// Returns the next notification if one has arrived.
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

    /// Waits for the next event, for at most `duration`. Returns `None` if none has occurred.
    ///
    /// # Errors
    /// If the wait is cancelled by a [`Canceller`](crate::Canceller).
    pub fn next_within(&mut self, client: &mut McpClient, duration: Duration) -> Result<Option<Event>, Error> {
        next(&mut self.0, client, Some(duration))
    }

    /// Returns the next event if one has occurred.
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
