//! Subscriptions: each is acknowledged or over first, in time, over at most once and last, and nothing is left of it.

use mcpwire_core::{
    Phase, SendError, SubscribeOptions, SubscriptionEvent, SubscriptionFilter, SubscriptionKey, Timestamp,
};

use super::{MAX_TRANSMIT, Model};
use crate::fuzz::describe;

/// A subscription, as its owner knows it.
pub(super) struct Subscribed {
    key: SubscriptionKey,
    /// When it is acknowledged or over at the latest.
    by: Timestamp,
    /// There is something to take.
    is_told: bool,
    was_acknowledged: bool,
}

impl Model {
    pub(in crate::fuzz::operations) fn subscribe(&mut self, wanted: &SubscriptionFilter, options: &SubscribeOptions) {
        self.trace.line(format_args!("> subscribe {}", describe::json(wanted)));
        self.look();
        let before = self.engine.transmit().len();
        match self.engine.calls().subscribe(wanted, options, self.now) {
            Ok(key) => {
                self.trace.line(format_args!("s{}", self.names.subscription(key)));
                assert_eq!(self.engine.session().phase(), Phase::Ready);
                assert!(self.subscriptions.len() < self.max_subscriptions(), "one too many");
                assert!(before <= MAX_TRANSMIT, "sent although the buffer is full");
                let by = self.now + options.timeout.unwrap_or(self.engine.session().config().request_timeout);
                let one = Subscribed { key, by, is_told: false, was_acknowledged: false };
                self.subscriptions.push(one);
            }
            Err(error) => {
                describe::not_sent(&error, &self.trace);
                let may = match error {
                    SendError::TooManyInFlight { .. } => self.subscriptions.len() == self.max_subscriptions(),
                    error => self.may_refuse(&error, before),
                };
                assert!(may, "refused without a reason");
                assert!(self.look().is_empty(), "refused, and bytes left behind");
            }
        }
        self.drain();
    }

    pub(in crate::fuzz::operations) fn unsubscribe(&mut self, which: usize) {
        let Some(at) = self.subscription(which) else { return };
        let key = self.subscriptions.remove(at).key;
        let was_live = self.engine.calls().unsubscribe(key, self.now);
        self.trace.line(format_args!("> unsubscribe s{}: {was_live}", self.names.subscription(key)));
        assert!(self.engine.calls().poll_subscription(key).is_none(), "something to take of what is gone");
        assert!(!self.engine.calls().unsubscribe(key, self.now), "ended twice");
        self.drain();
    }

    /// Takes what there is to take of one subscription.
    pub(in crate::fuzz::operations) fn take(&mut self, which: usize) {
        let Some(at) = self.subscription(which) else { return };
        let key = self.subscriptions[at].key;
        self.trace.line(format_args!("> take from s{}", self.names.subscription(key)));
        for _ in 0..16 {
            let Some(event) = self.engine.calls().poll_subscription(key) else {
                self.subscriptions[at].is_told = false;
                return;
            };
            self.trace.line(format_args!("{}", describe::subscription_event(&event)));
            let subscription = &mut self.subscriptions[at];
            assert!(subscription.is_told, "something to take, and nobody was told");
            match event {
                SubscriptionEvent::Acknowledged(_) => subscription.was_acknowledged = true,
                SubscriptionEvent::Ended(_) => {
                    self.subscriptions.remove(at);
                    return assert!(self.engine.calls().poll_subscription(key).is_none(), "something after the end");
                }
                event => assert!(subscription.was_acknowledged, "{event:?} before it was acknowledged"),
            }
        }
        panic!("changes without end");
    }

    pub(super) fn subscription_told(&mut self, key: SubscriptionKey) {
        let subscription = self.subscriptions.iter_mut().find(|subscription| subscription.key == key);
        let subscription = subscription.expect("news of a subscription that is gone");
        assert!(!core::mem::replace(&mut subscription.is_told, true), "told twice");
    }

    pub(super) fn check_subscriptions(&mut self) {
        assert_eq!(self.engine.session().subscriptions(), self.subscriptions.len());
        for subscription in self.subscriptions.iter().filter(|subscription| !subscription.is_told) {
            let event = self.engine.calls().poll_subscription(subscription.key);
            assert!(event.is_none(), "something to take, and nobody was told: {event:?}");
        }
    }

    pub(super) fn check_acknowledged_in_time(&self) {
        for subscription in &self.subscriptions {
            let is_known = subscription.is_told || subscription.was_acknowledged;
            assert!(is_known || subscription.by > self.now, "neither acknowledged nor over in time");
        }
    }

    /// The connection has ended: each subscription says so, and is gone then.
    pub(super) fn finish_subscriptions(&mut self) {
        while let Some(Subscribed { key, .. }) = self.subscriptions.first() {
            let key = *key;
            self.take(0);
            assert!(self.subscriptions.first().is_none_or(|first| first.key != key), "it outlives the connection");
        }
        assert_eq!(self.engine.session().subscriptions(), 0);
    }

    fn subscription(&self, which: usize) -> Option<usize> {
        Some(which % self.max_subscriptions()).filter(|at| *at < self.subscriptions.len())
    }

    fn max_subscriptions(&self) -> usize {
        self.engine.session().config().max_subscriptions
    }
}
