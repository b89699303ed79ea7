//! [`Subscription`]: a subscription to changes of lists and resources.

use std::time::Duration;

use mcpwire_client::Error;
use mcpwire_core::internal::{SubscriptionPoll, SubscriptionReader};
use mcpwire_core::{SubscribeOptions, SubscriptionEvent, SubscriptionFilter};

use crate::client::McpClient;
use crate::pending_replies::{DroppedHandle, DroppedHandles};

/// A subscription to changes of lists and resources. Returned by [`McpClient::subscribe`].
///
/// A subscription does not borrow the client, so a program can have several subscriptions at a time.
///
/// No change is lost, even if the program takes it late. Repeated changes of the same list or resource are merged into one event
/// until the program takes it. If more than 1,024 resources change, [`SubscriptionEvent::ManyResourcesUpdated`] replaces their
/// events.
///
/// Dropping this value ends the subscription. The server is notified when the client is used next. [`Subscription::close`]
/// notifies the server at once.
#[must_use = "dropping it ends the subscription"]
pub struct Subscription {
    reader: SubscriptionReader,
    dropped: DroppedHandles,
}

impl McpClient {
    mcpwire_client::subscribe_methods! {
        /// ```no_run
        /// # mod mcpwire { pub use mcpwire_blocking::protocol::SubscriptionEvent; pub mod types { pub use
        /// # mcpwire_blocking::protocol::SubscriptionFilter; } }
        /// # use mcpwire_blocking::{McpClient, McpServerDef};
        /// use mcpwire::SubscriptionEvent;
        /// use mcpwire::types::SubscriptionFilter;
        ///
        /// # let mut client = McpClient::connect_and_initialize(&McpServerDef::new("my-server"))?;
        /// let wanted = SubscriptionFilter::new().tools().resource("file:///project/config.json");
        /// let mut changes = client.subscribe(&wanted)?;
        /// while let Some(change) = changes.next(&mut client)? {
        ///     if let SubscriptionEvent::ResourceUpdated { uri } = change {
        ///         println!("{:?}", client.read_resource(&uri)?.contents);
        ///     }
        /// }
        /// println!("{:?}", changes.end());
        /// # Ok::<(), mcpwire_blocking::Error>(())
        /// ```
        blocking
    }

    fn open_subscription(
        &mut self,
        wanted: &SubscriptionFilter,
        options: &SubscribeOptions,
    ) -> Result<Subscription, Error> {
        self.cancel_dropped();
        let now = self.connection.now();
        let reader = SubscriptionReader::subscribe(wanted, options, &mut self.connection.io.engine.calls(), now)
            .map_err(|error| self.connection.error(error))?;
        let mut subscription = Subscription { reader, dropped: self.dropped.clone() };
        // The first event is the server's acknowledgment (`SubscriptionEvent::Acknowledged`), or the subscription has ended.
        subscription.next(self)?;
        match subscription.reader.opening_error() {
            Some(error) => Err(self.connection.error(error)),
            None => Ok(subscription),
        }
    }
}

mcpwire_client::subscription_methods!();

impl Subscription {
    /// Waits for the next change. Returns `None` when the subscription has ended.
    ///
    /// [`SubscriptionEvent::Acknowledged`] means that the subscription was interrupted and is open again. `client` must be the
    /// client that created the subscription.
    ///
    /// # Errors
    /// If the wait is cancelled by a [`Canceller`](crate::Canceller). The subscription continues.
    pub fn next(&mut self, client: &mut McpClient) -> Result<Option<SubscriptionEvent>, Error> {
        self.wait(client, None)
    }

    /// Waits for the next change, for at most `duration`.
    ///
    /// Returns `None` if no change has arrived in that time, or if the subscription has ended. In the second case,
    /// [`Subscription::end`] returns the reason.
    ///
    /// # Errors
    /// If the wait is cancelled by a [`Canceller`](crate::Canceller). The subscription continues.
    pub fn next_within(
        &mut self,
        client: &mut McpClient,
        duration: Duration,
    ) -> Result<Option<SubscriptionEvent>, Error> {
        if duration.is_zero() {
            client.connection.catch_up();
        }
        self.wait(client, Some(duration))
    }

    /// Reads the data that has arrived, and returns the next change without waiting. Returns `None` if no change has arrived, or
    /// if the subscription has ended.
    pub fn try_next(&mut self, client: &mut McpClient) -> Option<SubscriptionEvent> {
        client.connection.catch_up();
        match self.reader.poll(&mut client.connection.io.engine.calls()) {
            SubscriptionPoll::Event(event) => Some(event),
            SubscriptionPoll::Ended | SubscriptionPoll::Pending => None,
        }
    }

    /// Returns an iterator over the changes, which waits for each of them. The iterator ends when the subscription ends, or when
    /// a [`Canceller`](crate::Canceller) cancels a wait.
    pub fn changes<'s>(&'s mut self, client: &'s mut McpClient) -> Changes<'s> {
        Changes { subscription: self, client }
    }

    /// Ends the subscription, and notifies the server at once. `client` must be the client that created the subscription.
    pub fn close(self, client: &mut McpClient) {
        drop(self);
        client.cancel_dropped();
        client.connection.flush();
    }

    fn wait(&mut self, client: &mut McpClient, within: Option<Duration>) -> Result<Option<SubscriptionEvent>, Error> {
        client.cancel_dropped();
        if self.reader.end().is_some() {
            return Ok(None);
        }
        let until = within.map(|within| client.connection.now() + within);
        let event = client.connection.wait_for("subscriptions/listen", until, |engine| {
            match self.reader.poll(&mut engine.calls()) {
                SubscriptionPoll::Event(event) => Some(Some(event)),
                SubscriptionPoll::Ended => Some(None),
                SubscriptionPoll::Pending => None,
            }
        });
        event.map(Option::flatten)
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if self.reader.end().is_none() {
            self.dropped.push(DroppedHandle::Subscription(self.reader.key()));
        }
    }
}

/// An iterator over the changes of a subscription. Returned by [`Subscription::changes`].
#[derive(Debug)]
pub struct Changes<'s> {
    subscription: &'s mut Subscription,
    client: &'s mut McpClient,
}

impl Iterator for Changes<'_> {
    type Item = SubscriptionEvent;

    fn next(&mut self) -> Option<SubscriptionEvent> {
        self.subscription.next(self.client).ok().flatten()
    }
}
