//! [`Subscription`]: what the server tells of changes, for one who asked for it.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::future::poll_fn;
use std::hash::{BuildHasher, Hasher};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use mcpwire_client::Error;
use mcpwire_core::{
    CallError, SubscribeOptions, SubscriptionEnd, SubscriptionEvent, SubscriptionFilter, SubscriptionKey,
};

use crate::client::McpClient;
use crate::shared::Lives;
use crate::tools::Boxed;

/// What the server tells of changes, for as long as somebody wants to know: a stream that ends with the subscription. Made
/// by [`McpClient::subscribe`].
///
/// Nothing is missed, however late it is taken: a change that is told twice before it is taken is one, and where more
/// than 1,024 resources have changed, that many have ([`SubscriptionEvent::ManyResourcesUpdated`]). So it costs little to
/// let it wait.
///
/// Dropped, it is cancelled, and the server told. It keeps the connection alive.
#[must_use = "a subscription that is dropped is cancelled"]
pub struct Subscription {
    life: Lives,
    key: SubscriptionKey,
    acknowledged: SubscriptionFilter,
    end: Option<SubscriptionEnd>,
}

impl<R> McpClient<R> {
    /// Asks to be told of changes, and waits until the server has acknowledged that: for as long as a request may take, and
    /// after that there is no deadline. What the server does not agree to is missing in [`Subscription::acknowledged`].
    ///
    /// Up to 2025-11-25, it is served by `resources/subscribe` for each resource, and by the list changes that the server
    /// declares. What is told is still among the [`McpClient::notifications`] too.
    ///
    /// ```no_run
    /// # async fn run<R>(client: mcpwire_driver::McpClient<R>) -> Result<(), mcpwire_driver::Error> {
    /// use mcpwire_driver::core::{SubscriptionEvent, SubscriptionFilter};
    ///
    /// let wanted = SubscriptionFilter::new().tools().resource("file:///project/config.json");
    /// let mut changes = client.subscribe(&wanted).await?;
    /// while let Some(change) = changes.next().await {
    ///     if let SubscriptionEvent::ResourceUpdated { uri } = change {
    ///         println!("{uri} has changed");
    ///     }
    /// }
    /// println!("{:?}", changes.end());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the server refuses it, or does not acknowledge it in time, or the connection is lost.
    pub async fn subscribe(&self, wanted: &SubscriptionFilter) -> Result<Subscription, Error> {
        self.subscribe_with(wanted, SubscribeOptions::new()).await
    }

    /// As [`McpClient::subscribe`], with another time for the acknowledgment, or opened again after other ends.
    pub async fn subscribe_with(
        &self,
        wanted: &SubscriptionFilter,
        options: SubscribeOptions,
    ) -> Result<Subscription, Error> {
        subscribe(&self.life, wanted, options).await
    }
}

fn subscribe<'a>(
    life: &'a Lives,
    wanted: &'a SubscriptionFilter,
    mut options: SubscribeOptions,
) -> Boxed<'a, Result<Subscription, Error>> {
    Box::pin(async move {
        options.seed = options.seed.or_else(|| Some(RandomState::new().build_hasher().finish()));
        let now = life.shared().clock.now();
        let key = life.shared().send(|state| state.engine.calls().subscribe(wanted, &options, now))?;
        // From here on, whoever gives up waiting cancels it.
        let acknowledged = SubscriptionFilter::new();
        let mut subscription = Subscription { life: life.clone(), key, acknowledged, end: None };
        // Its first word is that it is acknowledged.
        if subscription.next().await.is_some() {
            return Ok(subscription);
        }
        let error = match &subscription.end {
            Some(SubscriptionEnd::Failed(error)) => (**error).clone(),
            Some(SubscriptionEnd::Dropped(reason)) => {
                CallError::Closed { method: LISTEN.into(), reason: reason.clone() }
            }
            Some(SubscriptionEnd::ByClient) => CallError::Cancelled { method: LISTEN.into() },
            // The server agreed to nothing, and ended it.
            _ => return Ok(subscription),
        };
        Err(life.shared().call_error(error))
    })
}

const LISTEN: &str = "subscriptions/listen";

impl Subscription {
    /// What the server agreed to tell, of what was wanted.
    pub fn acknowledged(&self) -> &SubscriptionFilter {
        &self.acknowledged
    }

    /// The next change; `None` when the subscription is over. [`SubscriptionEvent::Acknowledged`] comes only when a
    /// subscription that had been interrupted is open again.
    pub async fn next(&mut self) -> Option<SubscriptionEvent> {
        poll_fn(|cx| self.poll(cx)).await
    }

    /// The next change, if there is one already.
    pub fn try_next(&mut self) -> Option<SubscriptionEvent> {
        let event = self.life.shared().lock().engine.calls().poll_subscription(self.key);
        event.and_then(|event| self.take(event))
    }

    /// Why it is over, if it is and all has been taken.
    pub fn end(&self) -> Option<&SubscriptionEnd> {
        self.end.as_ref()
    }

    /// Ends it; the server is told. Dropping it does the same.
    pub fn close(self) {}

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<SubscriptionEvent>> {
        if self.end.is_some() {
            return Poll::Ready(None);
        }
        let (event, former) = {
            let mut state = self.life.shared().lock();
            match state.engine.calls().poll_subscription(self.key) {
                Some(event) => (Some(event), state.forget_subscriber(self.key)),
                None => (None, wait(&mut state.subscriptions, self.key, cx)),
            }
        };
        // Without the lock: it may be the last that holds a task.
        drop(former);
        match event {
            Some(event) => Poll::Ready(self.take(event)),
            None => Poll::Pending,
        }
    }

    fn take(&mut self, event: SubscriptionEvent) -> Option<SubscriptionEvent> {
        match event {
            SubscriptionEvent::Ended(end) => {
                self.end = Some(end);
                None
            }
            SubscriptionEvent::Acknowledged(filter) => {
                self.acknowledged = filter.clone();
                Some(SubscriptionEvent::Acknowledged(filter))
            }
            other => Some(other),
        }
    }
}

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
        let key = self.key;
        let shared = self.life.shared();
        let now = shared.clock.now();
        let former = shared.tell(|state| {
            state.engine.calls().unsubscribe(key, now);
            state.forget_subscriber(key)
        });
        drop(former);
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription")
            .field("acknowledged", &self.acknowledged)
            .field("end", &self.end)
            .finish_non_exhaustive()
    }
}
