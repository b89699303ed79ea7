//! Subscriptions: one handle for what the server reports of changes, in both eras (2026-07-28,
//! basic/patterns/subscriptions).
//!
//! ```text
//!            subscribe            acknowledged             the server ends it, unsubscribe, the connection is lost
//!  (nothing) ─────────▶ Opening ───────────────▶ Open ────────────────────────────────────────────────▶ Over
//!                        │   ▲  refused, or not in time: Over        │ it is to be opened again
//!                        ▼   └──────────────── Waiting ◀─────────────┘
//! ```
//!
//! In the modern era a subscription is one request that the server answers when it ends; notifications name it by its id. In
//! the legacy era it is `resources/subscribe` for each resource (`resources`), and the list changes that the server's
//! capabilities declare.
//!
//! | file | what it does |
//! |---|---|
//! | `mod` | the table of subscriptions: opens, ends and reopens them, hands out changes |
//! | `resources` | which resources the legacy server is asked to watch |
//! | `changes` | the changes of one subscription, bounded |
//! | `filters` | what two filters have in common |
//! | `backoff` | when to reopen |

mod backoff;
mod changes;
mod filters;
mod resources;

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::time::Duration;

pub use backoff::{Relisten, Reopen};
pub use changes::{SubscriptionEnd, SubscriptionEvent};

use super::closed::Closed;
use super::context::Context;
use super::error::{CallError, Deadline, SendError};
use super::event::{Event, Notification};
use super::fault::RequestFault;
use super::keys::SubscriptionKey;
use super::prepared::send_error;
use super::requests::Owner;
use crate::cache::is_within;
use crate::json::scan;
use crate::method::{Method, Subscribe, SubscriptionsListen};
use crate::rpc::decode::{self, Answer};
use crate::rpc::{WireId, write};
use crate::time::Timestamp;
use crate::types::{
    Era, ServerCapabilities, SubscriptionFilter, SubscriptionsAcknowledged, SubscriptionsListenParams,
    SubscriptionsListenResult,
};
use changes::Changes;
use filters::intersection;
use resources::{Resources, Settled};

/// The options of one subscription.
///
/// It has no deadline as a whole: it lasts until somebody ends it.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SubscribeOptions {
    /// How long the server may take to acknowledge it, in place of [`Config::request_timeout`](crate::Config::request_timeout).
    pub timeout: Option<Duration>,
    /// After which ends it is opened again.
    pub reopen: Reopen,
    /// The seed of the random part of the waits before it is opened again. Adapters fill it in; `None` is a fixed number.
    pub seed: Option<u64>,
}

impl SubscribeOptions {
    /// The defaults of the session.
    pub fn new() -> Self {
        SubscribeOptions::default()
    }

    /// Sets how long the server may take to acknowledge it.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets after which ends it is opened again.
    pub fn reopen(mut self, reopen: Reopen) -> Self {
        self.reopen = reopen;
        self
    }
}

/// The subscriptions of a session.
#[derive(Debug, Default)]
pub(super) struct Subscriptions {
    /// In the order of their keys.
    table: Vec<Subscription>,
    next_key: u64,
    /// Used in the legacy era only.
    resources: Resources,
    /// When the next subscription misses its acknowledgment or is to be opened again.
    wake: Option<Timestamp>,
}

#[derive(Debug)]
struct Subscription {
    key: SubscriptionKey,
    wanted: SubscriptionFilter,
    stage: Stage,
    /// How long the server may take to acknowledge it.
    timeout: Duration,
    backoff: Relisten,
    changes: Changes,
    /// An [`Event::Subscription`] was given for what is in `changes`.
    is_reported: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    /// The server was asked. In the legacy era there is no id.
    Opening { id: Option<u64>, by: Timestamp },
    /// The server has acknowledged it.
    Open { id: Option<u64> },
    /// It was interrupted, and is opened again at that time.
    Waiting(Timestamp),
    /// It has ended, and its last changes were not polled yet.
    Over,
}

impl Stage {
    fn id(self) -> Option<u64> {
        match self {
            Stage::Opening { id, .. } | Stage::Open { id } => id,
            Stage::Waiting(_) | Stage::Over => None,
        }
    }

    fn is_live(self) -> bool {
        matches!(self, Stage::Opening { .. } | Stage::Open { .. })
    }
}

impl Subscriptions {
    /// Returns the number of subscriptions, with those that are over and not polled to their end.
    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    pub(super) fn poll_timeout(&self) -> Option<Timestamp> {
        self.wake
    }

    /// Takes over what the server declares. A server that declares nothing at all is taken to have everything.
    pub(super) fn open(&mut self, capabilities: Option<&ServerCapabilities>) {
        self.resources = Resources::new(capabilities);
    }

    /// Opens a subscription.
    pub(super) fn subscribe(
        &mut self,
        wanted: &SubscriptionFilter,
        options: &SubscribeOptions,
        context: &mut Context<'_>,
    ) -> Result<SubscriptionKey, SendError> {
        context.check_open()?;
        let limit = context.config.max_subscriptions;
        if self.table.len() >= limit {
            return Err(SendError::TooManyInFlight { limit });
        }
        let mut wanted = wanted.clone();
        wanted.resource_subscriptions.sort_unstable();
        wanted.resource_subscriptions.dedup();
        wanted.task_ids.sort_unstable();
        wanted.task_ids.dedup();
        let key = SubscriptionKey(self.next_key);
        let timeout = options.timeout.unwrap_or(context.config.request_timeout);
        let stage = self.send_subscribe(key, &wanted, timeout, context)?;
        self.next_key += 1;
        self.table.push(Subscription {
            key,
            wanted,
            stage,
            timeout,
            backoff: Relisten::new(options.reopen, options.seed.unwrap_or(key.0)),
            changes: Changes::default(),
            is_reported: false,
        });
        self.settle(context);
        Ok(key)
    }

    /// Ends a subscription and drops its changes. Returns `false` if it was over already.
    pub(super) fn unsubscribe(&mut self, key: SubscriptionKey, context: &mut Context<'_>) -> bool {
        let Some(at) = self.position(key) else { return false };
        let subscription = self.table.remove(at);
        if subscription.stage.is_live() {
            match subscription.stage.id() {
                Some(id) => {
                    context.requests.abandon(id);
                    context.send_cancelled(id, "not wanted any more");
                }
                None => self.unwatch(&subscription.wanted, context),
            }
        }
        self.update_wake();
        subscription.stage != Stage::Over
    }

    /// Returns the next change of a subscription. After [`SubscriptionEvent::Ended`] the subscription is forgotten.
    pub(super) fn poll(&mut self, key: SubscriptionKey) -> Option<SubscriptionEvent> {
        let at = self.position(key)?;
        let subscription = &mut self.table[at];
        if subscription.is_unacknowledged() {
            return None;
        }
        let event = subscription.changes.pop();
        match event {
            None => subscription.is_reported = false,
            Some(SubscriptionEvent::Ended(_)) => drop(self.table.remove(at)),
            Some(_) => {}
        }
        event
    }

    /// Handles missed acknowledgments, and reopens the subscriptions whose wait is over.
    pub(super) fn handle_timeout(&mut self, context: &mut Context<'_>) {
        let now = context.now;
        for at in 0..self.table.len() {
            match self.table[at].stage {
                Stage::Opening { id, by } if by <= now => self.acknowledgment_missed(at, id, context),
                Stage::Waiting(again) if again <= now => {
                    let Subscription { key, ref wanted, timeout, .. } = self.table[at];
                    let wanted = wanted.clone();
                    // A server that does not read is left alone for as long as an answer may take.
                    let sent = if context.is_transmit_full() {
                        None
                    } else {
                        self.send_subscribe(key, &wanted, timeout, context).ok()
                    };
                    let later = Stage::Waiting(now + timeout.max(Duration::from_millis(1)));
                    self.table[at].stage = sent.unwrap_or(later);
                }
                _ => {}
            }
        }
        self.settle(context);
    }

    fn acknowledgment_missed(&mut self, at: usize, id: Option<u64>, context: &mut Context<'_>) {
        let method = if let Some(id) = id {
            context.requests.abandon(id);
            context.send_cancelled(id, "timed out");
            SubscriptionsListen::NAME
        } else {
            let wanted = core::mem::take(&mut self.table[at].wanted);
            // Its resources are given up, unless other subscriptions want them too.
            self.table[at].stage = Stage::Waiting(context.now);
            self.unwatch(&wanted, context);
            self.table[at].wanted = wanted;
            Subscribe::NAME
        };
        let after = self.table[at].timeout;
        let error = CallError::Timeout { method: method.into(), after, deadline: Deadline::Idle };
        self.ended(at, SubscriptionEnd::Failed(error), context);
    }

    /// Handles the answer to `subscriptions/listen`, which ends the subscription.
    pub(super) fn answered(&mut self, key: SubscriptionKey, id: u64, message: &[u8], context: &mut Context<'_>) {
        let method = Cow::Borrowed(SubscriptionsListen::NAME);
        let end = match decode::answer::<SubscriptionsListenResult>(message, id) {
            Ok(Answer::Result(_)) => SubscriptionEnd::ByServer,
            Ok(Answer::Error(error)) => SubscriptionEnd::Failed(CallError::Server { method, error }),
            Err(error) => SubscriptionEnd::Failed(CallError::Invalid { method, error }),
        };
        self.listening_ended(key, end, context);
    }

    /// Handles that `subscriptions/listen` ended in another way than by an answer.
    pub(super) fn listening_ended(&mut self, key: SubscriptionKey, end: SubscriptionEnd, context: &mut Context<'_>) {
        if let Some(at) = self.position(key) {
            self.ended(at, end, context);
            self.update_wake();
        }
    }

    /// Handles `notifications/cancelled`, by which a server may end a subscription (2026-07-28, basic/patterns/cancellation).
    /// Returns whether it was about a subscription.
    pub(super) fn cancelled(&mut self, message: &[u8], context: &mut Context<'_>) -> bool {
        let id = member(message, &["params", "requestId"]).and_then(|id| WireId(id).number());
        let Some((id, at)) = id.and_then(|id| Some((id, self.position_of_id(id)?))) else { return false };
        context.requests.remove(id);
        self.ended(at, SubscriptionEnd::ByServer, context);
        self.update_wake();
        true
    }

    /// Handles the answer to `resources/subscribe`.
    pub(super) fn resource_answered(&mut self, id: u64, message: &[u8], context: &mut Context<'_>) {
        self.resources.answered(id, message);
        self.settle(context);
    }

    /// Handles that `resources/subscribe` ended without an answer.
    pub(super) fn resource_failed(&mut self, id: u64, fault: RequestFault, context: &mut Context<'_>) {
        self.resources.failed(id, fault);
        self.settle(context);
    }

    /// Watches the same resources again, in a new session of the server.
    #[cfg(feature = "http")]
    pub(super) fn watch_again(&mut self, context: &mut Context<'_>) {
        self.resources.watch_again(context);
    }

    /// Hands a notification to the subscriptions that it belongs to.
    pub(super) fn notified(&mut self, notification: &Notification, message: &[u8], context: &mut Context<'_>) {
        if self.table.is_empty() {
            return;
        }
        if let Notification::Other { method, .. } = notification
            && method == "notifications/subscriptions/acknowledged"
        {
            return self.acknowledged(message, context);
        }
        if context.connection.is_era(Era::Legacy) {
            for subscription in &mut self.table {
                if let Some(change) = change_in(notification)
                    && subscription.wants_in_legacy_era(&change)
                {
                    subscription.report(change, context);
                }
            }
        } else if let Some(change) = change_in(notification)
            && let Some(at) = subscription_id(message).and_then(|id| self.position_of_id(id))
            && self.table[at].wants(&change)
        {
            self.table[at].report(change, context);
        }
    }

    fn acknowledged(&mut self, message: &[u8], context: &mut Context<'_>) {
        let Some(at) = subscription_id(message).and_then(|id| self.position_of_id(id)) else { return };
        let Some(Ok(params)) = decode::params::<SubscriptionsAcknowledged>(message) else { return };
        let subscription = &mut self.table[at];
        if let Stage::Opening { id, .. } = subscription.stage {
            let filter = intersection(&subscription.wanted, &params.notifications);
            subscription.opened(id, filter, context);
            self.update_wake();
        }
    }

    /// Ends all subscriptions, as the connection has ended.
    pub(super) fn close(&mut self, reason: &Closed, context: &mut Context<'_>) {
        for subscription in self.table.iter_mut().filter(|subscription| subscription.stage != Stage::Over) {
            let end = match reason {
                Closed::ByClient => SubscriptionEnd::ByClient,
                reason => SubscriptionEnd::Dropped(reason.clone()),
            };
            subscription.over(end, context);
        }
        self.resources = Resources::default();
        self.wake = None;
    }

    /// Sends what opens a subscription, and returns its stage.
    fn send_subscribe(
        &mut self,
        key: SubscriptionKey,
        wanted: &SubscriptionFilter,
        timeout: Duration,
        context: &mut Context<'_>,
    ) -> Result<Stage, SendError> {
        let by = context.now + timeout;
        if context.connection.is_era(Era::Legacy) {
            self.resources.watch(&wanted.resource_subscriptions, context)?;
            return Ok(Stage::Opening { id: None, by });
        }
        let params = SubscriptionsListenParams { notifications: wanted };
        let params = |out: &mut Vec<u8>| write::push_object(out, &params);
        let id = context
            .send(SubscriptionsListen::NAME, &params, Owner::Subscription(key))
            .map_err(|error| send_error(SubscriptionsListen::NAME, error))?;
        Ok(Stage::Opening { id: Some(id), by })
    }

    /// Gives up the resources that no live subscription wants any more.
    fn unwatch(&mut self, wanted: &SubscriptionFilter, context: &mut Context<'_>) {
        let table = &self.table;
        let is_wanted = |uri: &str| {
            table.iter().any(|subscription| {
                subscription.stage.is_live() && subscription.wanted.resource_subscriptions.iter().any(|own| own == uri)
            })
        };
        self.resources.unwatch(&wanted.resource_subscriptions, &is_wanted, context);
    }

    /// Acknowledges the legacy subscriptions all of whose resources are answered.
    fn settle(&mut self, context: &mut Context<'_>) {
        for at in 0..self.table.len() {
            if !self.table[at].is_opening_in_legacy_era() {
                continue;
            }
            match self.resources.settled(&self.table[at].wanted) {
                Settled::NotYet => {}
                Settled::Acknowledged(filter) => self.table[at].opened(None, filter, context),
                Settled::Refused(fault) => {
                    let error = fault.into_error(Subscribe::NAME.into());
                    self.ended(at, SubscriptionEnd::Failed(error), context);
                }
            }
        }
        // A refusal is kept for the subscriptions that still open; later ones ask again.
        let table = &self.table;
        self.resources.forget_refusals(&|uri| {
            table.iter().any(|subscription| {
                subscription.is_opening_in_legacy_era()
                    && subscription.wanted.resource_subscriptions.iter().any(|own| own == uri)
            })
        });
        self.update_wake();
    }

    /// Ends a subscription or an attempt to open it, which may be repeated later.
    fn ended(&mut self, at: usize, end: SubscriptionEnd, context: &mut Context<'_>) {
        let subscription = &mut self.table[at];
        match subscription.backoff.ended(&end, context.now) {
            Some(again) => subscription.stage = Stage::Waiting(again),
            None => subscription.over(end, context),
        }
    }

    fn position(&self, key: SubscriptionKey) -> Option<usize> {
        self.table.binary_search_by_key(&key, |subscription| subscription.key).ok()
    }

    fn position_of_id(&self, id: u64) -> Option<usize> {
        self.table.iter().position(|subscription| subscription.stage.id() == Some(id))
    }

    fn update_wake(&mut self) {
        let wakes = self.table.iter().filter_map(|subscription| match subscription.stage {
            Stage::Opening { by: at, .. } | Stage::Waiting(at) => Some(at),
            Stage::Open { .. } | Stage::Over => None,
        });
        self.wake = wakes.min();
    }
}

impl Subscription {
    /// Whether the server has never acknowledged it. Changes that come before are reported after the acknowledgment
    /// ("Acknowledgment").
    fn is_unacknowledged(&self) -> bool {
        self.stage != Stage::Over && !self.backoff.was_open()
    }

    fn is_opening_in_legacy_era(&self) -> bool {
        matches!(self.stage, Stage::Opening { id: None, .. })
    }

    fn opened(&mut self, id: Option<u64>, acknowledged: SubscriptionFilter, context: &mut Context<'_>) {
        self.stage = Stage::Open { id };
        self.backoff.acknowledged(context.now);
        self.report(SubscriptionEvent::Acknowledged(acknowledged), context);
    }

    fn over(&mut self, end: SubscriptionEnd, context: &mut Context<'_>) {
        if self.is_unacknowledged() {
            self.changes = Changes::default();
        }
        self.stage = Stage::Over;
        self.report(SubscriptionEvent::Ended(end), context);
    }

    /// Adds a change, and an event if there was nothing to poll before.
    fn report(&mut self, change: SubscriptionEvent, context: &mut Context<'_>) {
        self.changes.push(change);
        if !self.is_unacknowledged() && !core::mem::replace(&mut self.is_reported, true) {
            context.report(Event::Subscription(self.key));
        }
    }

    /// Whether a change was asked for: the server must report nothing else.
    fn wants(&self, change: &SubscriptionEvent) -> bool {
        self.stage.is_live()
            && match change {
                SubscriptionEvent::ToolsChanged => self.wanted.tools_list_changed,
                SubscriptionEvent::PromptsChanged => self.wanted.prompts_list_changed,
                SubscriptionEvent::ResourcesChanged => self.wanted.resources_list_changed,
                SubscriptionEvent::ResourceUpdated { .. } => !self.wanted.resource_subscriptions.is_empty(),
                _ => false,
            }
    }

    /// Like [`Self::wants`], where the notification does not name its subscription.
    fn wants_in_legacy_era(&self, change: &SubscriptionEvent) -> bool {
        self.wants(change)
            && match change {
                SubscriptionEvent::ResourceUpdated { uri } => {
                    self.wanted.resource_subscriptions.iter().any(|watched| is_within(uri, watched))
                }
                _ => true,
            }
    }
}

/// Returns the change that a notification reports, if subscriptions are about changes of that kind.
fn change_in(notification: &Notification) -> Option<SubscriptionEvent> {
    Some(match notification {
        Notification::ToolsChanged => SubscriptionEvent::ToolsChanged,
        Notification::PromptsChanged => SubscriptionEvent::PromptsChanged,
        Notification::ResourcesChanged => SubscriptionEvent::ResourcesChanged,
        Notification::ResourceUpdated(updated) => SubscriptionEvent::ResourceUpdated { uri: updated.uri.clone() },
        _ => return None,
    })
}

/// Returns the id of the subscription that a notification names.
fn subscription_id(message: &[u8]) -> Option<u64> {
    WireId(member(message, &["params", "_meta", "io.modelcontextprotocol/subscriptionId"])?).number()
}

/// Returns the value at the end of a path through objects.
fn member<'a>(message: &'a [u8], path: &[&str]) -> Option<&'a [u8]> {
    path.iter()
        .try_fold(message, |value, name| scan::members(value).find(|member| member.is(name)).map(|member| member.value))
}
