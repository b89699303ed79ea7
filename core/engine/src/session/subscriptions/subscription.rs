//! [`Subscription`]: the state of one subscription.

use core::mem;
use core::time::Duration;

use super::backoff::ResubscribeBackoff;
use super::event_queue::{EventQueue, SubscriptionEnd, SubscriptionEvent};
use super::options::SubscribeOptions;
use crate::cache::is_within;
use crate::session::context::Context;
use crate::session::event::Event;
use crate::session::request_keys::SubscriptionKey;
use crate::time::Timestamp;
use crate::types::SubscriptionFilter;

/// The state of one subscription.
#[derive(Debug)]
pub(super) struct Subscription {
    pub(super) key: SubscriptionKey,
    /// The changes that the embedder subscribed to.
    pub(super) wanted: SubscriptionFilter,
    pub(super) stage: SubscriptionStage,
    /// Time limit for the acknowledgment.
    pub(super) timeout: Duration,
    backoff: ResubscribeBackoff,
    queue: EventQueue,
    /// Whether the embedder knows that `queue` has events: an [`Event::Subscription`] was added since the queue was last empty.
    is_reported: bool,
}

/// The stage of a subscription.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum SubscriptionStage {
    /// The server has not acknowledged the subscription yet.
    Opening { via: Via, by: Timestamp },
    /// The server has acknowledged the subscription.
    Open { via: Via },
    /// The subscription was interrupted, and opens again at this time.
    Waiting(Timestamp),
    /// The subscription has ended, and the embedder has not polled its last event yet.
    Over,
}

/// The requests by which the server knows of a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Via {
    /// The pending `subscriptions/listen` with this id (modern).
    Listen(u64),
    /// `resources/subscribe` for each resource (legacy).
    Resources,
}

impl SubscriptionStage {
    pub(super) fn via(self) -> Option<Via> {
        match self {
            SubscriptionStage::Opening { via, .. } | SubscriptionStage::Open { via } => Some(via),
            SubscriptionStage::Waiting(_) | SubscriptionStage::Over => None,
        }
    }

    /// Returns the next time at which the stage needs attention.
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

    /// Returns the id of the pending `subscriptions/listen`.
    pub(super) fn listen_id(&self) -> Option<u64> {
        match self.stage.via()? {
            Via::Listen(id) => Some(id),
            Via::Resources => None,
        }
    }

    /// Returns whether the subscription waits for responses to `resources/subscribe`.
    pub(super) fn is_opening_in_legacy_era(&self) -> bool {
        matches!(self.stage, SubscriptionStage::Opening { via: Via::Resources, .. })
    }

    /// Returns whether the server was asked to watch a resource for this subscription.
    pub(super) fn watches(&self, uri: &str) -> bool {
        self.stage.via().is_some() && self.wants_resource(uri)
    }

    /// Returns whether the embedder subscribed to exactly this resource.
    pub(super) fn wants_resource(&self, uri: &str) -> bool {
        self.wanted.resource_subscriptions.iter().any(|wanted| wanted == uri)
    }

    /// Handles the acknowledgment of the server.
    pub(super) fn acknowledged(&mut self, via: Via, filter: SubscriptionFilter, context: &mut Context<'_>) {
        self.stage = SubscriptionStage::Open { via };
        self.backoff.acknowledged(context.now);
        self.report(SubscriptionEvent::Acknowledged(filter), context);
    }

    /// Ends the subscription, or the attempt to open it, unless another attempt follows later.
    pub(super) fn interrupt(&mut self, end: SubscriptionEnd, context: &mut Context<'_>) {
        match self.backoff.ended(&end, context.now) {
            Some(again) => self.stage = SubscriptionStage::Waiting(again),
            None => self.end(end, context),
        }
    }

    /// Ends the subscription.
    pub(super) fn end(&mut self, end: SubscriptionEnd, context: &mut Context<'_>) {
        if self.holds_back_events() {
            self.queue = EventQueue::default();
        }
        self.stage = SubscriptionStage::Over;
        self.report(SubscriptionEvent::Ended(end), context);
    }

    /// Adds a subscription event, and an [`Event::Subscription`] if the embedder has polled all earlier ones.
    pub(super) fn report(&mut self, event: SubscriptionEvent, context: &mut Context<'_>) {
        self.queue.push(event);
        if !self.holds_back_events() && !mem::replace(&mut self.is_reported, true) {
            context.report(Event::Subscription(self.key));
        }
    }

    /// Returns the next subscription event.
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

    /// Returns whether events stay in the queue because the server has never acknowledged the subscription: the
    /// acknowledgment must come first ("Acknowledgment").
    fn holds_back_events(&self) -> bool {
        self.stage != SubscriptionStage::Over && !self.backoff.was_open()
    }

    /// Returns whether the embedder subscribed to this change. A server must not report others.
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

    /// Returns the same as [`Self::wants`] for the legacy era, whose notifications do not name a subscription.
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
