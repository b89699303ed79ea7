//! [`Subscription`]: what the server tells of changes, for one who asked for it.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::{BuildHasher, Hasher};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcpwire_client::Error;
use mcpwire_core::{
    CallError, SubscribeOptions, SubscriptionEnd, SubscriptionEvent, SubscriptionFilter, SubscriptionKey,
};

use crate::client::McpClient;

/// Subscriptions whose handles have gone, for the client to end.
pub(crate) type Unwanted = Arc<Mutex<Vec<SubscriptionKey>>>;

/// What the server tells of changes, for as long as somebody wants to know. Made by [`McpClient::subscribe`].
///
/// It does not borrow the client: between two changes the client can be asked for anything, and there may be any number of
/// subscriptions. Nothing is missed, however late it is taken: a change that is told twice before it is taken is one, and
/// where more than 1,024 resources have changed, that many have ([`SubscriptionEvent::ManyResourcesUpdated`]).
///
/// Dropped, it is cancelled; the server is told the next time that the client is used. [`Subscription::close`] tells it at
/// once.
#[must_use = "a subscription that is dropped is cancelled"]
pub struct Subscription {
    key: SubscriptionKey,
    acknowledged: SubscriptionFilter,
    end: Option<SubscriptionEnd>,
    unwanted: Unwanted,
}

impl McpClient {
    /// Asks to be told of changes, and waits until the server has acknowledged that: for as long as a request may take, and
    /// after that there is no deadline. What the server does not agree to is missing in [`Subscription::acknowledged`].
    ///
    /// Up to 2025-11-25, it is served by `resources/subscribe` for each resource, and by the list changes that the server
    /// declares. Whoever hears all events hears what is told all the same.
    ///
    /// ```no_run
    /// # use mcpwire_blocking::{McpClient, McpServerDef};
    /// use mcpwire_blocking::core::{SubscriptionEvent, SubscriptionFilter};
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
    ///
    /// # Errors
    /// If the server refuses it, or does not acknowledge it in time, or the connection is lost.
    pub fn subscribe(&mut self, wanted: &SubscriptionFilter) -> Result<Subscription, Error> {
        self.subscribe_with(wanted, SubscribeOptions::new())
    }

    /// As [`McpClient::subscribe`], with another time for the acknowledgment, or opened again after other ends.
    pub fn subscribe_with(
        &mut self,
        wanted: &SubscriptionFilter,
        mut options: SubscribeOptions,
    ) -> Result<Subscription, Error> {
        self.unsubscribe_unwanted();
        options.seed = options.seed.or_else(|| Some(RandomState::new().build_hasher().finish()));
        let now = self.connection.now();
        let key =
            self.connection.engine.calls().subscribe(wanted, &options, now).map_err(|error| self.send_error(error))?;
        let unwanted = Arc::clone(&self.unwanted);
        let mut subscription = Subscription { key, acknowledged: SubscriptionFilter::new(), end: None, unwanted };
        // Its first word is that it is acknowledged.
        if subscription.next(self)?.is_some() {
            return Ok(subscription);
        }
        Err(match &subscription.end {
            Some(SubscriptionEnd::Failed(error)) => self.call_error((**error).clone()),
            Some(SubscriptionEnd::Dropped(reason)) => {
                self.call_error(CallError::Closed { method: LISTEN.into(), reason: reason.clone() })
            }
            Some(SubscriptionEnd::ByClient) => self.call_error(CallError::Cancelled { method: LISTEN.into() }),
            // The server agreed to nothing, and ended it.
            _ => return Ok(subscription),
        })
    }

    /// Ends the subscriptions whose handles have gone.
    pub(crate) fn unsubscribe_unwanted(&mut self) {
        if self.connection.engine.session().subscriptions() == 0 {
            return;
        }
        let unwanted = std::mem::take(&mut *self.unwanted.lock().unwrap_or_else(PoisonError::into_inner));
        let now = self.connection.now();
        for key in unwanted {
            self.connection.engine.calls().unsubscribe(key, now);
        }
    }
}

const LISTEN: &str = "subscriptions/listen";

impl Subscription {
    /// What the server agreed to tell, of what was wanted.
    pub fn acknowledged(&self) -> &SubscriptionFilter {
        &self.acknowledged
    }

    /// Waits for the next change; `None` when the subscription is over. [`SubscriptionEvent::Acknowledged`] comes only when
    /// a subscription that had been interrupted is open again. `client` is the one that made it.
    ///
    /// # Errors
    /// If the wait is cancelled by a [`Canceller`](crate::Canceller); the subscription goes on.
    pub fn next(&mut self, client: &mut McpClient) -> Result<Option<SubscriptionEvent>, Error> {
        self.wait(client, None)
    }

    /// As [`Subscription::next`], for so long at most: `None` also if nothing came, and then there is no
    /// [`Subscription::end`]. With no time at all, it takes what has come already.
    ///
    /// # Errors
    /// As [`Subscription::next`].
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

    /// The changes to come, each waited for. Ends when the subscription is over, or the wait for it is cancelled.
    pub fn changes<'s>(&'s mut self, client: &'s mut McpClient) -> Changes<'s> {
        Changes { subscription: self, client }
    }

    /// Why it is over, if it is and all has been taken.
    pub fn end(&self) -> Option<&SubscriptionEnd> {
        self.end.as_ref()
    }

    /// Ends it; the server is told at once.
    pub fn close(self, client: &mut McpClient) {
        drop(self);
        client.unsubscribe_unwanted();
        client.connection.flush();
    }

    fn wait(&mut self, client: &mut McpClient, within: Option<Duration>) -> Result<Option<SubscriptionEvent>, Error> {
        client.unsubscribe_unwanted();
        if self.end.is_some() {
            return Ok(None);
        }
        let until = within.map(|within| client.connection.now() + within);
        match client.connection.next_of(self.key, until) {
            Ok(Ok(Some(SubscriptionEvent::Ended(end)))) => {
                self.end = Some(end);
                Ok(None)
            }
            Ok(Ok(event)) => {
                if let Some(SubscriptionEvent::Acknowledged(filter)) = &event {
                    self.acknowledged = filter.clone();
                }
                Ok(event)
            }
            Ok(Err(())) => Err(client.call_error(CallError::Cancelled { method: LISTEN.into() })),
            Err(error) => Err(client.io_error(error)),
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if self.end.is_none() {
            self.unwanted.lock().unwrap_or_else(PoisonError::into_inner).push(self.key);
        }
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

/// The changes that a subscription tells, as an iterator. Made by [`Subscription::changes`].
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
