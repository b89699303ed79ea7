//! [`Subscription`]: the changes that a server reports to a client that has subscribed to them.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use mcpwire_client::{Error, subscription_options};
use mcpwire_core::internal::{SubscriptionPoll, SubscriptionReader};
use mcpwire_core::{SubscribeOptions, SubscriptionEnd, SubscriptionEvent, SubscriptionFilter, SubscriptionKey};

use crate::client::McpClient;
use crate::operation::Boxed;
use crate::shared::ConnectionRef;

/// The changes that a server reports to a client that has subscribed to them: a stream that ends with the subscription.
/// Made by [`McpClient::subscribe`].
///
/// No change is lost, however late it is taken: a change that is reported twice before it is taken is one, and if more than
/// 1,024 resources change, one event stands for them ([`SubscriptionEvent::ManyResourcesUpdated`]).
///
/// If it is dropped, the subscription ends, and the server is notified. It keeps the connection alive.
#[must_use = "a subscription that is dropped is cancelled"]
pub struct Subscription {
    connection: ConnectionRef,
    reader: SubscriptionReader,
}

impl<R> McpClient<R> {
    /// Subscribes to changes, and waits until the server has acknowledged the subscription.
    ///
    /// The acknowledgment may take as long as a request; after it there is no deadline. What the server does not agree to
    /// is missing in [`Subscription::acknowledged`].
    ///
    /// With a legacy server (up to revision 2025-11-25), this sends `resources/subscribe` for each resource, and uses the
    /// list changes that the server declares. The changes are also among the [`McpClient::notifications`].
    ///
    /// ```no_run
    /// # async fn run<R>(client: mcpwire_driver::McpClient<R>) -> Result<(), mcpwire_driver::Error> {
    /// use mcpwire_driver::core::{SubscriptionEvent, SubscriptionFilter};
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
    /// If the server refuses the subscription, or does not acknowledge it in time, or the connection ends.
    #[doc(alias = "subscriptions/listen")]
    pub async fn subscribe(&self, wanted: &SubscriptionFilter) -> Result<Subscription, Error> {
        self.subscribe_with(wanted, SubscribeOptions::new()).await
    }

    /// Subscribes to changes with options: another time for the acknowledgment, or other ends after which to subscribe again.
    ///
    /// # Errors
    /// As [`McpClient::subscribe`].
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
) -> Boxed<'a, Result<Subscription, Error>> {
    Box::pin(async move {
        let (options, shared) = (subscription_options(options), connection.shared());
        let now = shared.clock.now();
        let reader =
            shared.send(|state| SubscriptionReader::subscribe(wanted, &options, &mut state.engine.calls(), now))?;
        // From here on, dropping the future ends the subscription.
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
    /// Returns what the server has agreed to report.
    pub fn acknowledged(&self) -> &SubscriptionFilter {
        self.reader.acknowledged()
    }

    /// Waits for the next change. Returns `None` when the subscription has ended.
    ///
    /// [`SubscriptionEvent::Acknowledged`] occurs only when a subscription that was interrupted is open again.
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

    /// Returns why the subscription has ended, if it has and all changes were taken.
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
                SubscriptionPoll::Pending => wait(&mut state.subscriptions, self.reader.key(), cx),
                _ => state.forget_subscriber(self.reader.key()),
            };
            (poll, unused_waker)
        };
        // Without the lock: the waker may be the last reference to a task.
        drop(unused_waker);
        match poll {
            SubscriptionPoll::Event(event) => Poll::Ready(Some(event)),
            SubscriptionPoll::Ended => Poll::Ready(None),
            SubscriptionPoll::Pending => Poll::Pending,
        }
    }
}

/// Stores the waker of a task. Returns the waker that it replaces.
fn wait(waiting: &mut Vec<(SubscriptionKey, Waker)>, key: SubscriptionKey, cx: &mut Context<'_>) -> Option<Waker> {
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
            state.forget_subscriber(key)
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
