//! [`Notifications`] and [`Events`]: what the server reports without a request, in order.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcpwire_client::{Error, EventQueue};
use mcpwire_core::{CallError, Event, Notification};

use crate::client::McpClient;
use crate::connection::Waited;

/// The notifications of the server, in the order in which they arrived. Made by [`McpClient::notifications`].
///
/// It does not borrow the client: notifications also arrive while the client waits for something else. If more than
/// 1,024 notifications or 1 MiB of them wait, the oldest ones are dropped, and counted by [`Notifications::dropped`].
/// A change of a list is never dropped; until it is taken, a second change of the same list is left out.
#[derive(Debug)]
pub struct Notifications(Queue);

/// The events of the connection, in the order in which they occurred. Made by [`McpClient::events`].
///
/// These are the notifications of the server, and what becomes of the connection: messages that could not be read, requests
/// that were refused, notifications and answers that could not be delivered over HTTP, a new HTTP session in place of one
/// that the server has ended, and the end of the connection. The queue has the limits of [`Notifications`].
#[derive(Debug)]
pub struct Events(Queue);

#[derive(Debug)]
struct Queue(Arc<Mutex<EventQueue>>);

impl McpClient {
    /// Returns the server's notifications from now on.
    ///
    /// While the client is not used, nothing is read.
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
        Notifications(self.queue(EventQueue::for_notifications()))
    }

    /// Returns the events of the connection from now on: notifications, and what becomes of the connection.
    pub fn events(&mut self) -> Events {
        Events(self.queue(EventQueue::for_events()))
    }

    fn queue(&mut self, queue: EventQueue) -> Queue {
        let queue = Arc::new(Mutex::new(queue));
        self.connection.add_queue(&queue);
        Queue(queue)
    }
}

impl Notifications {
    /// Waits for the next notification. Returns `None` when the connection has ended and all were taken.
    ///
    /// # Errors
    /// If the wait is cancelled by a [`Canceller`](crate::Canceller).
    pub fn next(&mut self, client: &mut McpClient) -> Result<Option<Notification>, Error> {
        self.0.next(client, None).map(notification)
    }

    /// Waits for the next notification, but not longer than `duration`. Returns `None` if none has arrived.
    ///
    /// # Errors
    /// If the wait is cancelled by a [`Canceller`](crate::Canceller).
    pub fn next_within(&mut self, client: &mut McpClient, duration: Duration) -> Result<Option<Notification>, Error> {
        self.0.next(client, Some(duration)).map(notification)
    }

    /// Returns the next notification if one has arrived.
    pub fn try_next(&mut self, client: &mut McpClient) -> Option<Notification> {
        notification(self.0.try_next(client))
    }

    /// Returns how many notifications were dropped because they were not taken in time.
    pub fn dropped(&self) -> u64 {
        self.0.lock(|queue| queue.dropped())
    }
}

impl Events {
    /// Waits for the next event. Returns `None` when the connection has ended and all were taken.
    ///
    /// # Errors
    /// If the wait is cancelled by a [`Canceller`](crate::Canceller).
    pub fn next(&mut self, client: &mut McpClient) -> Result<Option<Event>, Error> {
        self.0.next(client, None)
    }

    /// Waits for the next event, but not longer than `duration`. Returns `None` if none has occurred.
    ///
    /// # Errors
    /// If the wait is cancelled by a [`Canceller`](crate::Canceller).
    pub fn next_within(&mut self, client: &mut McpClient, duration: Duration) -> Result<Option<Event>, Error> {
        self.0.next(client, Some(duration))
    }

    /// Returns the next event if one has occurred.
    pub fn try_next(&mut self, client: &mut McpClient) -> Option<Event> {
        self.0.try_next(client)
    }

    /// Returns how many events were dropped because they were not taken in time.
    pub fn dropped(&self) -> u64 {
        self.0.lock(|queue| queue.dropped())
    }
}

impl Queue {
    fn next(&mut self, client: &mut McpClient, within: Option<Duration>) -> Result<Option<Event>, Error> {
        client.cancel_dropped();
        let until = within.map(|within| client.connection.now() + within);
        match client.connection.wait_for(until, |_| self.lock(EventQueue::pop)) {
            Ok(Waited::Value(event)) => Ok(Some(event)),
            Ok(Waited::Nothing) => Ok(None),
            Ok(Waited::Cancelled) => Err(client.call_error(CallError::Cancelled { method: "a notification".into() })),
            Err(error) => Err(client.io_error(error)),
        }
    }

    fn try_next(&mut self, client: &mut McpClient) -> Option<Event> {
        let event = self.lock(EventQueue::pop);
        if event.is_some() {
            return event;
        }
        client.connection.catch_up();
        self.lock(EventQueue::pop)
    }

    fn lock<T>(&self, f: impl FnOnce(&mut EventQueue) -> T) -> T {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn notification(event: Option<Event>) -> Option<Notification> {
    match event? {
        Event::Notification(notification) => Some(notification),
        _ => None,
    }
}
