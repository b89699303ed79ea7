//! [`Subscription`]: a stream of the changes that the client has subscribed to.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use mcpwire_client::{Error, subscription_options};
use mcpwire_core::internal::{SubscriptionPoll, SubscriptionReader};
use mcpwire_core::{SubscribeOptions, SubscriptionEnd, SubscriptionEvent, SubscriptionFilter, SubscriptionKey};

use crate::client::McpClient;
use crate::connection::ConnectionRef;
use crate::operation::BoxFuture;

/// A stream of the changes that the client has subscribed to. It ends with the subscription. Created by
/// [`McpClient::subscribe`].
///
/// No change is lost, even if the program takes it late. Repeated changes that were not taken are merged into one event. If
/// more than 1,024 resources change, [`SubscriptionEvent::ManyResourcesUpdated`] replaces their events.
///
/// Dropping this value ends the subscription and notifies the server. It keeps the connection alive.
#[must_use = "a subscription that is dropped is cancelled"]
pub struct Subscription {
    connection: ConnectionRef,
    reader: SubscriptionReader,
}

impl<R> McpClient<R> {
    /// Subscribes to changes, and waits until the server has acknowledged the subscription.
    ///
    /// The timeout of a request applies to the acknowledgment only. The server may acknowledge a part of the filter: see
    /// [`Subscription::acknowledged`].
    ///
    /// With a legacy server (up to revision 2025-11-25), this sends `resources/subscribe` for each resource, and uses the
    /// `listChanged` notifications that the server declares. The changes are also among the [`McpClient::notifications`].
    ///
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
    ///
    /// # Errors
    /// If the server refuses the subscription or does not acknowledge it in time, or if the connection ends.
    ///
    /// # Cancel safety
    /// Dropping the future before its end ends the subscription on the server.
    #[doc(alias = "subscriptions/listen")]
    pub async fn subscribe(&self, wanted: &SubscriptionFilter) -> Result<Subscription, Error> {
        self.subscribe_with(wanted, SubscribeOptions::new()).await
    }

    /// Subscribes to changes with options: the timeout of the acknowledgment, and when to subscribe again.
    ///
    /// # Errors
    /// As [`McpClient::subscribe`].
    ///
    /// # Cancel safety
    /// Dropping the future before its end ends the subscription on the server.
    #[doc(alias = "subscriptions/listen")]
    pub async fn subscribe_with(
        &self,
        wanted: &SubscriptionFilter,
        options: SubscribeOptions,
    ) -> Result<Subscription, Error> {
        subscribe(&self.connection, wanted, options).await
    }
}

fn subscribe<'a>(
    connection: &'a ConnectionRef,
    wanted: &'a SubscriptionFilter,
    options: SubscribeOptions,
) -> BoxFuture<'a, Result<Subscription, Error>> {
    Box::pin(async move {
        let (options, shared) = (subscription_options(options), connection.shared());
        let now = shared.clock.now();
        let reader =
            shared.send(|state| SubscriptionReader::subscribe(wanted, &options, &mut state.engine.calls(), now))?;
        // From here on, dropping the future drops the subscription, which ends it on the server.
        let mut subscription = Subscription { connection: connection.clone(), reader };
        // The first event is the acknowledgment.
        subscription.next().await;
        match subscription.reader.opening_error() {
            Some(error) => Err(shared.call_error(error)),
            None => Ok(subscription),
        }
    })
}

impl Subscription {
    /// Returns the changes that the server has accepted to report.
    pub fn acknowledged(&self) -> &SubscriptionFilter {
        self.reader.acknowledged()
    }

    /// Waits for the next change. Returns `None` when the subscription has ended.
    ///
    /// [`SubscriptionEvent::Acknowledged`] occurs only after an interrupted subscription was opened again.
    ///
    /// # Cancel safety
    /// If the future is dropped, no change is lost.
    pub async fn next(&mut self) -> Option<SubscriptionEvent> {
        poll_fn(|cx| self.poll(cx)).await
    }

    /// Returns the next change if one has arrived.
    pub fn try_next(&mut self) -> Option<SubscriptionEvent> {
        match self.reader.poll(&mut self.connection.shared().lock().engine.calls()) {
            SubscriptionPoll::Event(event) => Some(event),
            SubscriptionPoll::Ended | SubscriptionPoll::Pending => None,
        }
    }

    /// Returns why the subscription has ended, or `None` if it is open or changes were not taken yet.
    pub fn end(&self) -> Option<&SubscriptionEnd> {
        self.reader.end()
    }

    /// Ends the subscription, and notifies the server.
    pub fn close(self) {}

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<SubscriptionEvent>> {
        let (poll, unused_waker) = {
            let mut state = self.connection.shared().lock();
            let poll = self.reader.poll(&mut state.engine.calls());
            let unused_waker = match poll {
                SubscriptionPoll::Pending => store_waker(&mut state.subscriptions, self.reader.key(), cx),
                _ => state.take_subscription_waker(self.reader.key()),
            };
            (poll, unused_waker)
        };
        // Dropped after the lock is released, because it may be the last reference to a task.
        drop(unused_waker);
        match poll {
            SubscriptionPoll::Event(event) => Poll::Ready(Some(event)),
            SubscriptionPoll::Ended => Poll::Ready(None),
            SubscriptionPoll::Pending => Poll::Pending,
        }
    }
}

/// Stores the waker of the current task for a subscription. Returns the waker that it replaces.
fn store_waker(
    waiting: &mut Vec<(SubscriptionKey, Waker)>,
    key: SubscriptionKey,
    cx: &mut Context<'_>,
) -> Option<Waker> {
    match waiting.iter_mut().find(|(waiting, _)| *waiting == key) {
        Some((_, waker)) if waker.will_wake(cx.waker()) => None,
        Some((_, waker)) => Some(std::mem::replace(waker, cx.waker().clone())),
        None => {
            waiting.push((key, cx.waker().clone()));
            None
        }
    }
}

impl Stream for Subscription {
    type Item = SubscriptionEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<SubscriptionEvent>> {
        self.poll(cx)
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let key = self.reader.key();
        let shared = self.connection.shared();
        let now = shared.clock.now();
        let unused_waker = shared.with_state(|state| {
            state.engine.calls().unsubscribe(key, now);
            state.take_subscription_waker(key)
        });
        drop(unused_waker);
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription")
            .field("acknowledged", self.acknowledged())
            .field("end", &self.end())
            .finish_non_exhaustive()
    }
}
