//! What a session does with what the server says of subscriptions.

use alloc::borrow::Cow;

use super::changes::{SubscriptionEnd, SubscriptionEvent};
use super::{Stage, common};
use crate::json::scan;
use crate::method::{Method, SubscriptionsListen};
use crate::rpc::decode::{self, Answer};
use crate::rpc::{PeerError, WireId};
#[cfg(feature = "http")]
use crate::session::carried::Fault;
use crate::session::engine::Session;
use crate::session::error::CallError;
use crate::session::event::Notification;
use crate::time::Timestamp;
use crate::types::{Era, SubscriptionsAcknowledged, SubscriptionsListenResult};

impl Session {
    /// Takes in an answer that is none to a request in flight. Whether it belongs to a subscription.
    pub(super) fn subscription_answered(&mut self, id: u64, message: &[u8], now: Timestamp) -> bool {
        if self.subscriptions.is_empty() && self.subscriptions.watches.is_empty() {
            return false;
        }
        let Some(at) = self.subscriptions.by_id(id) else { return self.watch_answered(id, message, now) };
        let method = Cow::Borrowed(SubscriptionsListen::NAME);
        let end = match decode::answer::<SubscriptionsListenResult>(message, id) {
            Ok(Answer::Result(_)) => SubscriptionEnd::ByServer,
            Ok(Answer::Error(error)) => SubscriptionEnd::Failed(CallError::Server { method, error }),
            Err(error) => SubscriptionEnd::Failed(CallError::Invalid { method, error }),
        };
        self.subscription_ended(at, end, Some(now));
        self.subscriptions.reckon();
        true
    }

    /// As [`Session::subscription_answered`], for an answer that is too long to be looked at.
    pub(super) fn subscription_overlong(&mut self, id: u64, error: PeerError, now: Timestamp) -> bool {
        let Some(at) = self.subscriptions.by_id(id) else { return false };
        let error = CallError::Invalid { method: SubscriptionsListen::NAME.into(), error };
        self.subscription_ended(at, SubscriptionEnd::Failed(error), Some(now));
        self.subscriptions.reckon();
        true
    }

    /// Whether an answer to this request of a subscription's is awaited.
    #[cfg(feature = "http")]
    pub(in crate::session) fn subscriptions_wait_for(&self, id: u64) -> bool {
        self.subscriptions.by_id(id).is_some() || self.subscriptions.watches.wait_for(id)
    }

    /// Takes in that a request of a subscription's gets no answer. Whether it was one.
    #[cfg(feature = "http")]
    pub(in crate::session) fn subscription_failed(&mut self, id: u64, fault: Fault, now: Timestamp) -> bool {
        let Some(at) = self.subscriptions.by_id(id) else { return self.watch_failed(id, fault, now) };
        let error = fault.into_error(Cow::Borrowed(SubscriptionsListen::NAME));
        self.subscription_ended(at, SubscriptionEnd::Failed(error), Some(now));
        self.subscriptions.reckon();
        true
    }

    /// Takes in that the server cancels something. Whether that is a subscription, which it may end so (2026-07-28,
    /// basic/patterns/cancellation).
    pub(super) fn subscription_cancelled(&mut self, message: &[u8], now: Timestamp) -> bool {
        if self.subscriptions.is_empty() {
            return false;
        }
        let id = member(message, &["params", "requestId"]).and_then(|id| WireId(id).number());
        let Some(at) = id.and_then(|id| self.subscriptions.by_id(id)) else { return false };
        self.subscription_ended(at, SubscriptionEnd::ByServer, Some(now));
        self.subscriptions.reckon();
        true
    }

    /// Takes in what the server tells, and sorts it to the subscriptions that it belongs to.
    pub(super) fn tell_subscribers(&mut self, notification: &Notification, message: &[u8], now: Timestamp) {
        let event = match notification {
            Notification::ToolsChanged => SubscriptionEvent::ToolsChanged,
            Notification::PromptsChanged => SubscriptionEvent::PromptsChanged,
            Notification::ResourcesChanged => SubscriptionEvent::ResourcesChanged,
            Notification::ResourceUpdated(updated) => SubscriptionEvent::ResourceUpdated { uri: updated.uri.clone() },
            Notification::Other { method, .. } if method == "notifications/subscriptions/acknowledged" => {
                return self.subscription_acknowledged(message, now);
            }
            _ => return,
        };
        if self.era == Some(Era::Legacy) {
            for at in 0..self.subscriptions.table.len() {
                if self.subscriptions.table[at].hears(&event) {
                    self.tell_subscriber(at, event.clone());
                }
            }
        } else if let Some(at) = subscription_id(message).and_then(|id| self.subscriptions.by_id(id))
            && self.subscriptions.table[at].wants(&event)
        {
            self.tell_subscriber(at, event);
        }
    }

    fn subscription_acknowledged(&mut self, message: &[u8], now: Timestamp) {
        let Some(at) = subscription_id(message).and_then(|id| self.subscriptions.by_id(id)) else { return };
        let Some(Ok(told)) = decode::params::<SubscriptionsAcknowledged>(message) else { return };
        let subscription = &self.subscriptions.table[at];
        let Stage::Opening { id, .. } = subscription.stage else { return };
        let acknowledged = common(&subscription.wanted, &told.notifications);
        self.subscription_opened(at, id, acknowledged, now);
        self.subscriptions.reckon();
    }
}

/// The subscription that a notification says it belongs to.
fn subscription_id(message: &[u8]) -> Option<u64> {
    WireId(member(message, &["params", "_meta", "io.modelcontextprotocol/subscriptionId"])?).number()
}

/// The value that lies at the end of a path through objects.
fn member<'a>(message: &'a [u8], path: &[&str]) -> Option<&'a [u8]> {
    path.iter()
        .try_fold(message, |value, name| scan::members(value).find(|member| member.is(name)).map(|member| member.value))
}
