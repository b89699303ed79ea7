//! [`Subscription`]: the state of one subscription. [`SubscribeOptions`]: its options.

use core::mem;
use core::time::Duration;

use super::ResubscribePolicy;
use super::backoff::ResubscribeBackoff;
use super::event_queue::{EventQueue, SubscriptionEnd, SubscriptionEvent};
use crate::cache::is_within;
use crate::session::event::Event;
use crate::session::link::Link;
use crate::session::ticket::SubscriptionKey;
use crate::time::Timestamp;
use mcpwire_types::SubscriptionFilter;

/// The state of one subscription, and its events that the embedder has not polled yet.
#[derive(Debug)]
pub(super) struct Subscription {
    pub(super) key: SubscriptionKey,
    /// The changes that the embedder subscribed to.
    pub(super) wanted: SubscriptionFilter,
    pub(super) stage: SubscriptionStage,
    /// Maximum time from sending the subscription until the server acknowledges it.
    pub(super) timeout: Duration,
    backoff: ResubscribeBackoff,
    queue: EventQueue,
    /// Whether [`Event::Subscription`] was reported since the embedder last found `queue` empty.
    is_reported: bool,
}

/// The stage of a subscription: opening, open, waiting to be reopened, or ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum SubscriptionStage {
    /// The client has sent the requests that `via` names, and waits until the time `by` for the server's acknowledgment
    /// of the subscription.
    Opening { via: Via, by: Timestamp },
    /// The server has acknowledged the subscription. `via` says which requests of the client opened the subscription.
    Open { via: Via },
    /// The subscription was interrupted. The next attempt to reopen it is at this time.
    Waiting(Timestamp),
    /// The subscription has ended, but the embedder has not polled its last event yet.
    Over,
}

/// The requests that the client sends to open a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Via {
    /// The pending `subscriptions/listen` with this JSON-RPC id, sent to a modern server (from revision 2026-07-28).
    Listen(u64),
    /// One `resources/subscribe` for each resource, sent to a legacy server (up to revision 2025-11-25).
    Resources,
}

impl SubscriptionStage {
    pub(super) fn via(self) -> Option<Via> {
        match self {
            SubscriptionStage::Opening { via, .. } | SubscriptionStage::Open { via } => Some(via),
            SubscriptionStage::Waiting(_) | SubscriptionStage::Over => None,
        }
    }

    pub(super) fn wake(self) -> Option<Timestamp> {
        match self {
            SubscriptionStage::Opening { by: at, .. } | SubscriptionStage::Waiting(at) => Some(at),
            SubscriptionStage::Open { .. } | SubscriptionStage::Over => None,
        }
    }
}

impl Subscription {
    pub(super) fn new(
        key: SubscriptionKey,
        wanted: SubscriptionFilter,
        stage: SubscriptionStage,
        timeout: Duration,
        options: &SubscribeOptions,
    ) -> Self {
        Subscription {
            key,
            wanted,
            stage,
            timeout,
            backoff: ResubscribeBackoff::new(options.resubscribe, options.seed.unwrap_or(key.0)),
            queue: EventQueue::default(),
            is_reported: false,
        }
    }

    pub(super) fn is_opening_in_legacy_era(&self) -> bool {
        matches!(self.stage, SubscriptionStage::Opening { via: Via::Resources, .. })
    }

    /// Returns whether the filter of the subscription contains exactly this URI.
    pub(super) fn wants_resource(&self, uri: &str) -> bool {
        self.wanted.resource_subscriptions.iter().any(|wanted| wanted == uri)
    }

    /// Handles the server's acknowledgment of the subscription. `filter` contains the changes that the server
    /// accepted.
    pub(super) fn acknowledged(&mut self, via: Via, filter: SubscriptionFilter, link: &mut Link) {
        self.stage = SubscriptionStage::Open { via };
        self.backoff.acknowledged(link.now);
        self.report(SubscriptionEvent::Acknowledged(filter), link);
    }

    /// Schedules the next attempt to open the subscription. If no further attempt is allowed, ends the subscription for
    /// the reason `end`.
    pub(super) fn interrupt(&mut self, end: SubscriptionEnd, link: &mut Link) {
        match self.backoff.ended(&end, link.now) {
            Some(again) => self.stage = SubscriptionStage::Waiting(again),
            None => self.end(end, link),
        }
    }

    /// Ends the subscription for the reason `end`, which becomes its last event.
    pub(super) fn end(&mut self, end: SubscriptionEnd, link: &mut Link) {
        if self.holds_back_events() {
            self.queue = EventQueue::default();
        }
        self.stage = SubscriptionStage::Over;
        self.report(SubscriptionEvent::Ended(end), link);
    }

    /// Adds `event` to the queue of the subscription. Informs the embedder with [`Event::Subscription`], unless the
    /// embedder knows already that events are ready, or must not see them before the acknowledgment.
    pub(super) fn report(&mut self, event: SubscriptionEvent, link: &mut Link) {
        self.queue.push(event);
        if !self.holds_back_events() && !mem::replace(&mut self.is_reported, true) {
            link.report(Event::Subscription(self.key));
        }
    }

    pub(super) fn poll(&mut self) -> Option<SubscriptionEvent> {
        if self.holds_back_events() {
            return None;
        }
        let event = self.queue.pop();
        if event.is_none() {
            self.is_reported = false;
        }
        event
    }

    /// Returns whether the embedder must not see any events yet, because the server has never acknowledged the
    /// subscription.
    ///
    /// The acknowledgment must be the first event (specification, revision 2026-07-28: basic/patterns/subscriptions,
    /// "Acknowledgment").
    fn holds_back_events(&self) -> bool {
        self.stage != SubscriptionStage::Over && !self.backoff.was_open
    }

    /// Returns whether the subscription is opening or open, and includes this kind of change. Does not compare the URI
    /// of a changed resource.
    pub(super) fn wants(&self, change: &SubscriptionEvent) -> bool {
        self.stage.via().is_some()
            && match change {
                SubscriptionEvent::ToolsChanged => self.wanted.tools_list_changed,
                SubscriptionEvent::PromptsChanged => self.wanted.prompts_list_changed,
                SubscriptionEvent::ResourcesChanged => self.wanted.resources_list_changed,
                SubscriptionEvent::ResourceUpdated { .. } => !self.wanted.resource_subscriptions.is_empty(),
                _ => false,
            }
    }

    /// Returns whether a change that a legacy server (up to revision 2025-11-25) has reported belongs to this
    /// subscription.
    ///
    /// The notification of a legacy server does not name the subscription. Therefore, the URI of a changed resource
    /// must equal a subscribed URI or lie below it.
    pub(super) fn wants_in_legacy_era(&self, change: &SubscriptionEvent) -> bool {
        self.wants(change)
            && match change {
                SubscriptionEvent::ResourceUpdated { uri } => {
                    self.wanted.resource_subscriptions.iter().any(|watched| is_within(uri, watched))
                }
                _ => true,
            }
    }
}

/// The options of one subscription: how long to wait for the server's acknowledgment, and when to reopen the
/// subscription.
///
/// An acknowledged subscription has no deadline: it lasts until the client or the server ends it.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
#[must_use = "options have no effect until they are used"]
pub struct SubscribeOptions {
    /// Maximum time until the server acknowledges the subscription. `None` uses
    /// [`Config::request_timeout`](crate::Config::request_timeout).
    pub timeout: Option<Duration>,
    /// The policy that decides whether the subscription is reopened after it has ended.
    pub resubscribe: ResubscribePolicy,
    /// Seed for the random part of the delays before the subscription is reopened. It should differ between clients, so
    /// that they do not all reconnect to a restarted server at the same time. If it is `None`, the adapters (the crates
    /// that do the I/O) choose a random seed, but the engine alone uses the same seed in each client.
    pub seed: Option<u64>,
}

impl SubscribeOptions {
    /// Creates options with default values.
    pub fn new() -> Self {
        SubscribeOptions::default()
    }

    /// Sets the maximum time until the server acknowledges the subscription.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets the policy that decides whether the subscription is reopened after it has ended.
    pub fn resubscribe(mut self, resubscribe: ResubscribePolicy) -> Self {
        self.resubscribe = resubscribe;
        self
    }
}
