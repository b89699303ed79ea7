//! Subscriptions to changes on the server (specification, revision 2026-07-28: basic/patterns/subscriptions).
//!
//! ```text
//!  subscribe           acknowledged         ended by the server, connection lost
//!  ─────────▶ Opening ─────────────▶ Open ─────────────────────────────────────▶ Over
//!              │   ▲                   │ interrupted                               ▲
//!              │   └────── Waiting ◀───┘                                           │
//!              └── refused, or not acknowledged in time ───────────────────────────┘
//! ```
//!
//! A subscription to a modern server (from revision 2026-07-28) is one request, `subscriptions/listen`. The server
//! responds to it when the subscription ends, and its notifications contain the id of the request. A subscription to
//! a legacy server (up to revision 2025-11-25) is a `resources/subscribe` for each resource, and the list changes
//! that the server's capabilities declare.
//!
//! | file | content |
//! |---|---|
//! | `mod` | [`Subscriptions`]: opens, ends and reopens subscriptions, and routes notifications to them |
//! | `subscription` | one subscription: its stage and its events |
//! | `event_queue` | the events of one subscription that wait to be polled, bounded |
//! | `resources` | the resources that a legacy server watches for the client; which changes two filters have in common |
//! | `backoff` | when to reopen a subscription |

mod backoff;
mod event_queue;
mod resources;
mod subscription;

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use resources::{Resources, intersection};
use subscription::{Subscription, SubscriptionStage, Via};

use super::error::{CallError, Deadline, RequestFault, SendError};
use super::event::Notification;
use super::link::{Link, timed_out};
use super::requests::Owner;
use super::ticket::SubscriptionKey;
use crate::own_requests::{Subscribe, SubscriptionsListen};
use crate::rpc::{WireId, decode, write};
use crate::time::Timestamp;
use mcpwire_text::json::scan;
use mcpwire_types::{
    Era, Method, ServerCapabilities, SubscriptionFilter, SubscriptionsAcknowledged, SubscriptionsListenParams,
    SubscriptionsListenResult,
};

pub use backoff::ResubscribePolicy;
pub use event_queue::{SubscriptionEnd, SubscriptionEvent};
pub use subscription::SubscribeOptions;

/// The subscriptions of a session.
#[derive(Debug, Default)]
pub(super) struct Subscriptions {
    /// All subscriptions, sorted by key.
    table: Vec<Subscription>,
    next_key: u64,
    /// The resources that a legacy server watches (up to revision 2025-11-25). Unused with modern servers.
    resources: Resources,
}

impl Subscriptions {
    /// Returns the number of subscriptions. An ended subscription counts until the embedder has polled its last
    /// event.
    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    /// Returns whether any subscription has not ended.
    #[cfg(feature = "http")]
    pub(super) fn has_any(&self) -> bool {
        self.table.iter().any(|subscription| subscription.stage != SubscriptionStage::Over)
    }

    /// Returns when to call [`Self::handle_timeout`] next, or `None` if no subscription waits for an acknowledgment or
    /// to be reopened.
    pub(super) fn poll_timeout(&self) -> Option<Timestamp> {
        self.table.iter().filter_map(|subscription| subscription.stage.wake()).min()
    }

    /// Stores the server's capabilities when the connection opens. `None` means that the server has every capability.
    pub(super) fn open(&mut self, capabilities: Option<&ServerCapabilities>) {
        self.resources = Resources::new(capabilities);
    }

    /// Subscribes to the changes in `wanted`, and returns the key of the subscription.
    ///
    /// # Errors
    /// If [`Config::max_subscriptions`](crate::Config::max_subscriptions) is reached. Nothing is sent then.
    pub(super) fn subscribe(
        &mut self,
        wanted: &SubscriptionFilter,
        options: &SubscribeOptions,
        link: &mut Link,
    ) -> Result<SubscriptionKey, SendError> {
        let limit = link.config.max_subscriptions;
        if self.table.len() >= limit {
            return Err(SendError::TooManyInFlight { limit });
        }
        let mut wanted = wanted.clone();
        wanted.resource_subscriptions.sort_unstable();
        wanted.resource_subscriptions.dedup();
        wanted.task_ids.sort_unstable();
        wanted.task_ids.dedup();
        let key = SubscriptionKey(self.next_key);
        let timeout = options.timeout.unwrap_or(link.config.request_timeout);
        let stage = self.send_subscribe(key, &wanted, timeout, link)?;
        self.next_key += 1;
        self.table.push(Subscription::new(key, wanted, stage, timeout, options));
        self.settle(link);
        Ok(key)
    }

    /// Ends a subscription and drops its events. Returns `false` if it had ended already, or if the key is
    /// unknown.
    pub(super) fn unsubscribe(&mut self, key: SubscriptionKey, link: &mut Link) -> bool {
        let Some(at) = self.position(key) else { return false };
        let subscription = self.table.remove(at);
        match subscription.stage.via() {
            Some(Via::Listen(id)) => {
                link.abandon(id);
                link.send_cancelled(id, Some("no longer needed"));
            }
            Some(Via::Resources) => self.unwatch(&subscription.wanted, link),
            None => {}
        }
        subscription.stage != SubscriptionStage::Over
    }

    /// Returns the next event of a subscription, or `None` if no event is ready.
    ///
    /// When the event is [`SubscriptionEvent::Ended`], removes the subscription.
    pub(super) fn poll(&mut self, key: SubscriptionKey) -> Option<SubscriptionEvent> {
        let at = self.position(key)?;
        let event = self.table[at].poll();
        if matches!(event, Some(SubscriptionEvent::Ended(_))) {
            self.table.remove(at);
        }
        event
    }

    /// Handles expired time limits: interrupts subscriptions that the server has not acknowledged in time, and
    /// reopens those whose delay before the next attempt is over.
    pub(super) fn handle_timeout(&mut self, link: &mut Link) {
        let now = link.now;
        if self.poll_timeout().is_none_or(|at| now < at) {
            return;
        }
        for at in 0..self.table.len() {
            match self.table[at].stage {
                SubscriptionStage::Opening { via, by } if by <= now => self.acknowledgment_missed(at, via, link),
                SubscriptionStage::Waiting(again) if again <= now => self.resubscribe(at, link),
                _ => {}
            }
        }
        self.settle(link);
    }

    fn acknowledgment_missed(&mut self, at: usize, via: Via, link: &mut Link) {
        let method = match via {
            Via::Listen(id) => {
                link.abandon(id);
                link.send_cancelled(id, Some(&timed_out(self.table[at].timeout)));
                SubscriptionsListen::NAME
            }
            Via::Resources => {
                let wanted = core::mem::take(&mut self.table[at].wanted);
                // The server stops watching those resources that no other subscription includes.
                self.table[at].stage = SubscriptionStage::Waiting(link.now);
                self.unwatch(&wanted, link);
                self.table[at].wanted = wanted;
                Subscribe::NAME
            }
        };
        let after = self.table[at].timeout;
        let error = CallError::Timeout { method: method.into(), after, deadline: Deadline::Idle };
        self.table[at].interrupt(SubscriptionEnd::Failed(Arc::new(error)), link);
    }

    fn resubscribe(&mut self, at: usize, link: &mut Link) {
        let Subscription { key, ref wanted, timeout, .. } = self.table[at];
        let wanted = wanted.clone();
        let sent = if link.is_transmit_full() { None } else { self.send_subscribe(key, &wanted, timeout, link).ok() };
        // If the server does not read, wait for the time limit of an acknowledgment before the next attempt.
        let later = SubscriptionStage::Waiting(link.now + timeout.max(Duration::from_millis(1)));
        self.table[at].stage = sent.unwrap_or(later);
    }

    /// Handles the end of the `subscriptions/listen` of the subscription `key`: its response, or the reason why it failed.
    pub(super) fn listen_ended(
        &mut self,
        key: SubscriptionKey,
        answer: Result<SubscriptionsListenResult, RequestFault>,
        link: &mut Link,
    ) {
        let end = match answer {
            Ok(_) => SubscriptionEnd::ByServer,
            Err(fault) => SubscriptionEnd::Failed(Arc::new(fault.into_call_error(SubscriptionsListen::NAME.into()))),
        };
        if let Some(at) = self.position(key) {
            self.table[at].interrupt(end, link);
        }
    }

    /// Handles `notifications/cancelled`, by which a server may end a subscription (specification, revision
    /// 2026-07-28: basic/patterns/cancellation).
    ///
    /// Returns `false` if the notification does not concern a subscription.
    pub(super) fn cancelled(&mut self, message: &[u8], link: &mut Link) -> bool {
        let id = member(message, &["params", "requestId"]).and_then(|id| WireId(id).number());
        let Some((id, at)) = id.and_then(|id| Some((id, self.position_of_id(id)?))) else { return false };
        link.requests.remove(id);
        self.table[at].interrupt(SubscriptionEnd::ByServer, link);
        true
    }

    /// Handles the server's response to the `resources/subscribe` request with the JSON-RPC id `id`, or its failure.
    pub(super) fn resource_answered(&mut self, id: u64, answer: Result<(), RequestFault>, link: &mut Link) {
        self.resources.answered(id, answer);
        self.settle(link);
    }

    /// Sends `resources/subscribe` again after a new HTTP session has replaced a lost one. The open subscriptions wait
    /// for a second acknowledgment, because they may have missed changes and the server may refuse a resource this time.
    #[cfg(feature = "http")]
    pub(super) fn watch_again(&mut self, link: &mut Link) {
        self.resources.watch_again(link);
        for subscription in &mut self.table {
            if let SubscriptionStage::Open { via: via @ Via::Resources } = subscription.stage {
                subscription.stage = SubscriptionStage::Opening { via, by: link.now + subscription.timeout };
            }
        }
        self.settle(link);
    }

    /// Ends all subscriptions for the reason `end`.
    pub(super) fn end_all(&mut self, end: &SubscriptionEnd, link: &mut Link) {
        for subscription in self.table.iter_mut().filter(|subscription| subscription.stage != SubscriptionStage::Over) {
            subscription.end(end.clone(), link);
        }
        self.resources.clear();
    }

    /// Adds an event to each subscription that a notification concerns. `message` is the complete notification.
    pub(super) fn notified(&mut self, notification: &Notification, message: &[u8], link: &mut Link) {
        if self.table.is_empty() {
            return;
        }
        let event = match notification {
            Notification::ToolsChanged => SubscriptionEvent::ToolsChanged,
            Notification::PromptsChanged => SubscriptionEvent::PromptsChanged,
            Notification::ResourcesChanged => SubscriptionEvent::ResourcesChanged,
            Notification::ResourceUpdated(updated) => SubscriptionEvent::ResourceUpdated { uri: updated.uri.clone() },
            Notification::Other { method, .. } if method == "notifications/subscriptions/acknowledged" => {
                return self.acknowledged(message, link);
            }
            _ => return,
        };
        if link.connection.is_era(Era::Legacy) {
            for subscription in &mut self.table {
                if subscription.wants_in_legacy_era(&event) {
                    subscription.report(event.clone(), link);
                }
            }
        } else if let Some(at) = subscription_id(message).and_then(|id| self.position_of_id(id))
            && self.table[at].wants(&event)
        {
            self.table[at].report(event, link);
        }
    }

    fn acknowledged(&mut self, message: &[u8], link: &mut Link) {
        let Some(at) = subscription_id(message).and_then(|id| self.position_of_id(id)) else { return };
        let Some(Ok(params)) = decode::params::<SubscriptionsAcknowledged>(message) else { return };
        let subscription = &mut self.table[at];
        if let SubscriptionStage::Opening { via, .. } = subscription.stage {
            let filter = intersection(&subscription.wanted, &params.notifications);
            subscription.acknowledged(via, filter, link);
        }
    }

    /// Sends the requests that open a subscription. Returns the stage [`SubscriptionStage::Opening`], in which the
    /// server must acknowledge the subscription within `timeout`.
    fn send_subscribe(
        &mut self,
        key: SubscriptionKey,
        wanted: &SubscriptionFilter,
        timeout: Duration,
        link: &mut Link,
    ) -> Result<SubscriptionStage, SendError> {
        let by = link.now + timeout;
        if link.connection.is_era(Era::Legacy) {
            self.resources.watch(&wanted.resource_subscriptions, link)?;
            return Ok(SubscriptionStage::Opening { via: Via::Resources, by });
        }
        let params = SubscriptionsListenParams { notifications: wanted };
        let params = |out: &mut Vec<u8>| write::push_object(out, &params);
        let id = link.send(SubscriptionsListen::NAME, &params, Owner::Subscription(key))?;
        Ok(SubscriptionStage::Opening { via: Via::Listen(id), by })
    }

    /// Sends `resources/unsubscribe` for each resource in `wanted` that no opening or open subscription includes.
    fn unwatch(&mut self, wanted: &SubscriptionFilter, link: &mut Link) {
        let table = &self.table;
        let is_wanted = |uri: &str| {
            table.iter().any(|subscription| subscription.stage.via().is_some() && subscription.wants_resource(uri))
        };
        self.resources.unwatch(&wanted.resource_subscriptions, &is_wanted, link);
    }

    /// Updates each subscription that waits for a legacy server (up to revision 2025-11-25). Opens the subscription
    /// when the server has responded to all its `resources/subscribe` requests, or interrupts it if the server accepted
    /// none of the requested changes.
    fn settle(&mut self, link: &mut Link) {
        for at in 0..self.table.len() {
            if !self.table[at].is_opening_in_legacy_era() {
                continue;
            }
            match self.resources.settled(&self.table[at].wanted) {
                None => {}
                Some(Ok(filter)) => self.table[at].acknowledged(Via::Resources, filter, link),
                Some(Err(error)) => self.table[at].interrupt(SubscriptionEnd::Failed(error), link),
            }
        }
        let table = &self.table;
        self.resources.forget_refusals(&|uri| {
            table.iter().any(|subscription| subscription.is_opening_in_legacy_era() && subscription.wants_resource(uri))
        });
    }

    fn position(&self, key: SubscriptionKey) -> Option<usize> {
        self.table.binary_search_by_key(&key, |subscription| subscription.key).ok()
    }

    fn position_of_id(&self, id: u64) -> Option<usize> {
        self.table.iter().position(|subscription| subscription.stage.via() == Some(Via::Listen(id)))
    }
}

/// Returns the JSON-RPC id of the `subscriptions/listen` to which a notification belongs, or `None` if the notification
/// does not contain this id.
fn subscription_id(message: &[u8]) -> Option<u64> {
    WireId(member(message, &["params", "_meta", "io.modelcontextprotocol/subscriptionId"])?).number()
}

/// Returns the JSON value at `path`, the names of nested members. Returns `None` if a member is missing.
fn member<'a>(message: &'a [u8], path: &[&str]) -> Option<&'a [u8]> {
    path.iter().try_fold(message, |value, name| scan::last_member(value, name))
}
