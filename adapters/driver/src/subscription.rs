//! [`Subscription`]: a stream of changes of the server's lists and resources.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use mcpwire_client::Error;
use mcpwire_core::internal::{SubscriptionPoll, SubscriptionReader};
use mcpwire_core::{SubscribeOptions, SubscriptionEvent, SubscriptionFilter};

use crate::client::McpClient;
use crate::connection::ConnectionRef;
use crate::operation::BoxFuture;

/// A stream of changes of the server's lists and resources. It ends when the subscription ends. Created by
/// [`McpClient::subscribe`].
///
/// No change is lost, even if the program reads the stream late. Repeated changes of the same list or resource are merged into
/// one event until the program takes it. If more than 1,024 resources change, [`SubscriptionEvent::ManyResourcesUpdated`]
/// replaces their events.
///
/// Dropping this value ends the subscription and notifies the server. While it exists, it keeps the connection alive.
#[must_use = "a subscription that is dropped is cancelled"]
pub struct Subscription {
    connection: ConnectionRef,
    reader: SubscriptionReader,
}

impl<R> McpClient<R> {
    mcpwire_client::subscribe_methods! {
        /// ```no_run
        /// # mod mcpwire { pub use mcpwire_driver::protocol::SubscriptionEvent; pub mod types { pub use
        /// # mcpwire_driver::protocol::SubscriptionFilter; } }
        /// # async fn run<R>(client: mcpwire_driver::McpClient<R>) -> Result<(), mcpwire_driver::Error> {
        /// use mcpwire::SubscriptionEvent;
        /// use mcpwire::types::SubscriptionFilter;
        ///
        /// let wanted = SubscriptionFilter::new().tools().resource("file:///project/config.json");
        /// let mut changes = client.subscribe(&wanted).await?;
        /// while let Some(change) = changes.next().await {
        ///     if let SubscriptionEvent::ResourceUpdated { uri } = change {
        ///         println!("{:?}", client.read_resource(&uri).await?.contents);
        ///     }
        /// }
        /// println!("{:?}", changes.end());
        /// # Ok(())
        /// # }
        /// ```
        async
    }

    /// Subscribes, and waits for the server's acknowledgment.
    ///
    /// The future is boxed, because several methods await it. A program then contains its code only once.
    fn open_subscription<'a>(
        &'a self,
        wanted: &'a SubscriptionFilter,
        options: &'a SubscribeOptions,
    ) -> BoxFuture<'a, Result<Subscription, Error>> {
        Box::pin(async move {
            let shared = &self.connection;
            let reader = shared
                .send(|state, now| SubscriptionReader::subscribe(wanted, options, &mut state.engine.calls(), now))?;
            // If the future is dropped from here on, the subscription is dropped too, which notifies the server.
            let mut subscription = Subscription { connection: self.connection.clone(), reader };
            // The first event is the acknowledgment.
            subscription.next().await;
            match subscription.reader.opening_error() {
                Some(error) => Err(shared.error(error)),
                None => Ok(subscription),
            }
        })
    }
}

mcpwire_client::subscription_methods!();

impl Subscription {
    /// Waits for the next change. Returns `None` when the subscription has ended.
    ///
    /// [`SubscriptionEvent::Acknowledged`] means that the subscription was interrupted and is open again.
    ///
    /// # Cancel safety
    /// If the future is dropped, no change is lost.
    pub async fn next(&mut self) -> Option<SubscriptionEvent> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// Returns the next change without waiting. `None` if no change has arrived, or if the subscription has ended.
    pub fn try_next(&mut self) -> Option<SubscriptionEvent> {
        match self.reader.poll(&mut self.connection.lock().engine.calls()) {
            SubscriptionPoll::Event(event) => Some(event),
            SubscriptionPoll::Ended | SubscriptionPoll::Pending => None,
        }
    }

    /// Ends the subscription, and notifies the server. Dropping the subscription does the same.
    pub fn close(self) {}
}

impl Stream for Subscription {
    type Item = SubscriptionEvent;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<SubscriptionEvent>> {
        let Subscription { connection, reader } = self.get_mut();
        let mut state = connection.lock();
        match reader.poll(&mut state.engine.calls()) {
            SubscriptionPoll::Event(event) => Poll::Ready(Some(event)),
            SubscriptionPoll::Ended => Poll::Ready(None),
            SubscriptionPoll::Pending => {
                state.wait_for_subscription(reader.key(), cx);
                Poll::Pending
            }
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let key = self.reader.key();
        self.connection.with_state(|state, now| {
            state.engine.calls().unsubscribe(key, now);
            state.remove_subscription(key);
        });
    }
}
