//! Subscriptions: one handle for what servers tell of changes, whatever the era (2026-07-28, basic/patterns/subscriptions).
//!
//! ```text
//!            subscribe                 acknowledged                 the server ends it, unsubscribe, the connection is lost
//!  (nothing) ─────────▶ Stage::Opening ────────────▶ Stage::Open ──────────────────────────────────────────▶ Stage::Over
//!                        │     ▲  not in time, refused: over                        │ it is to be opened again
//!                        ▼     └────────────────────── Stage::Waiting ◀─────────────┘
//! ```
//!
//! In the modern era a subscription is one request that is not answered before it ends, and what belongs to it carries its
//! id. In the legacy era it is `resources/subscribe` for each resource (`legacy`), and whatever the capabilities declare.
//!
//! | file | what it does |
//! |---|---|
//! | `mod` | the table of subscriptions, and what a session does with it |
//! | `inbound` | what the server says of them |
//! | `legacy` | which resources are watched, and by how many |
//! | `changes` | what is to be told, bounded |
//! | `relisten` | when to listen again |

mod changes;
mod inbound;
mod legacy;
mod relisten;

use alloc::vec::Vec;
use core::time::Duration;

pub use changes::{SubscriptionEnd, SubscriptionEvent};
pub use relisten::{Relisten, Reopen};

use super::closed::Closed;
use super::engine::Session;
use super::error::{CallError, Deadline, SendError};
use super::event::Event;
use super::prepared::send_error;
use crate::cache::is_within;
use crate::method::{Method, Subscribe, SubscriptionsListen};
use crate::rpc::write::{self, Meta};
use crate::time::Timestamp;
use crate::types::{Era, SubscriptionFilter, SubscriptionsListenParams};
use changes::Changes;
use legacy::Watches;

/// Names a subscription for as long as its session lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubscriptionKey(u64);

/// What one subscription may have of its own.
///
/// There is no deadline for it as a whole: it is there until somebody ends it.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SubscribeOptions {
    /// How long the server may take to acknowledge it, in place of [`Config::request_timeout`](crate::Config::request_timeout).
    pub timeout: Option<Duration>,
    /// Which ends are not taken for the last word.
    pub reopen: Reopen,
    /// What the waits before it is opened again are drawn from. Adapters fill it in; `None` stands for some fixed number.
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

    /// Sets which ends are not taken for the last word.
    pub fn reopen(mut self, reopen: Reopen) -> Self {
        self.reopen = reopen;
        self
    }
}

/// All subscriptions of a session.
#[derive(Debug, Default)]
pub(super) struct Subscriptions {
    /// In the order of their keys.
    table: Vec<Subscription>,
    next: u64,
    watches: Watches,
    /// When something is due.
    due: Option<Timestamp>,
}

#[derive(Debug)]
struct Subscription {
    key: SubscriptionKey,
    wanted: SubscriptionFilter,
    acknowledged: SubscriptionFilter,
    stage: Stage,
    timeout: Duration,
    relisten: Relisten,
    changes: Changes,
    /// That there is something to take has been told, and not all of it was taken.
    told: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    /// It was asked for. In the legacy era it has no id of its own.
    Opening {
        id: Option<u64>,
        by: Timestamp,
    },
    Open {
        id: Option<u64>,
    },
    /// It was interrupted, and is to be opened again then.
    Waiting(Timestamp),
    /// What is left is to be taken.
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
    pub(super) fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    pub(super) fn poll_timeout(&self) -> Option<Timestamp> {
        self.due
    }

    fn position(&self, key: SubscriptionKey) -> Option<usize> {
        self.table.binary_search_by_key(&key, |subscription| subscription.key).ok()
    }

    fn by_id(&self, id: u64) -> Option<usize> {
        self.table.iter().position(|subscription| subscription.stage.id() == Some(id))
    }

    fn reckon(&mut self) {
        let due = self.table.iter().filter_map(|subscription| match subscription.stage {
            Stage::Opening { by: at, .. } | Stage::Waiting(at) => Some(at),
            Stage::Open { .. } | Stage::Over => None,
        });
        self.due = due.min();
    }
}

impl Session {
    /// Asks to be told of changes, and goes on until [`Session::unsubscribe`], the server's end of it, or that of the
    /// connection. What comes is told by [`Event::Subscription`] and taken with [`Session::poll_subscription`]: first that the
    /// server has acknowledged it, or that it is over.
    ///
    /// A subscription is no request that [`Session::in_flight`] counts, and has no deadline but that of the acknowledgment.
    /// Up to 2025-11-25 it is served by `resources/subscribe` and by the list changes that the server's capabilities
    /// declare; what they do not declare, and what the server refuses, is not acknowledged. Two subscriptions to a resource
    /// are one for the server.
    ///
    /// # Errors
    /// If nothing was sent: the connection is not open, or a limit is reached.
    pub fn subscribe(
        &mut self,
        wanted: &SubscriptionFilter,
        options: &SubscribeOptions,
        now: Timestamp,
        out: &mut Vec<u8>,
    ) -> Result<SubscriptionKey, SendError> {
        self.check_open(out)?;
        let limit = self.config.max_subscriptions;
        if self.subscriptions.table.len() >= limit {
            return Err(SendError::TooManyInFlight { limit });
        }
        let mut wanted = wanted.clone();
        wanted.resource_subscriptions.sort_unstable();
        wanted.resource_subscriptions.dedup();
        wanted.task_ids.sort_unstable();
        wanted.task_ids.dedup();
        let key = SubscriptionKey(self.subscriptions.next);
        let timeout = options.timeout.unwrap_or(self.config.request_timeout);
        let stage = self.begin_listening(&wanted, timeout, now, out)?;
        self.subscriptions.next += 1;
        self.subscriptions.table.push(Subscription {
            key,
            wanted,
            acknowledged: SubscriptionFilter::default(),
            stage,
            timeout,
            relisten: Relisten::new(options.reopen, options.seed.unwrap_or(key.0)),
            changes: Changes::default(),
            told: false,
        });
        self.settle_watches(now);
        self.subscriptions.reckon();
        Ok(key)
    }

    /// Ends a subscription, and forgets what was still to be taken. The server is told. `false` if it was over already.
    pub fn unsubscribe(&mut self, key: SubscriptionKey, out: &mut Vec<u8>) -> bool {
        let Some(at) = self.subscriptions.position(key) else { return false };
        let subscription = self.subscriptions.table.remove(at);
        if subscription.stage.is_live() {
            match subscription.stage.id() {
                Some(id) => self.tell_cancelled(id, "not wanted any more", out),
                None => self.unwatch(&subscription.wanted, out),
            }
        }
        self.subscriptions.reckon();
        subscription.stage != Stage::Over
    }

    /// How many subscriptions there are, with those that are over and not taken to their end.
    #[inline]
    pub fn subscriptions(&self) -> usize {
        self.subscriptions.table.len()
    }

    /// Takes what a subscription has to tell. After [`SubscriptionEvent::Ended`] it is forgotten.
    pub fn poll_subscription(&mut self, key: SubscriptionKey) -> Option<SubscriptionEvent> {
        let at = self.subscriptions.position(key)?;
        let subscription = &mut self.subscriptions.table[at];
        if subscription.is_unheard() {
            return None;
        }
        let event = subscription.changes.pop();
        match event {
            None => subscription.told = false,
            Some(SubscriptionEvent::Ended(_)) => drop(self.subscriptions.table.remove(at)),
            Some(_) => {}
        }
        event
    }

    /// Asks the server. How far the subscription is by that.
    fn begin_listening(
        &mut self,
        wanted: &SubscriptionFilter,
        timeout: Duration,
        now: Timestamp,
        out: &mut Vec<u8>,
    ) -> Result<Stage, SendError> {
        let by = now + timeout;
        if self.era == Some(Era::Legacy) {
            self.watch(wanted, out)?;
            return Ok(Stage::Opening { id: None, by });
        }
        let id = self.next_id;
        let params = SubscriptionsListenParams { notifications: wanted };
        let meta = Meta { protocol: &self.meta, ..Meta::default() };
        write::request(out, id, SubscriptionsListen::NAME, &|out: &mut Vec<u8>| write::push_object(out, &params), meta)
            .map_err(|error| send_error(SubscriptionsListen::NAME, error))?;
        self.next_id += 1;
        Ok(Stage::Opening { id: Some(id), by })
    }

    /// What is due for subscriptions.
    pub(super) fn subscriptions_due(&mut self, now: Timestamp, out: &mut Vec<u8>) {
        for at in 0..self.subscriptions.table.len() {
            match self.subscriptions.table[at].stage {
                Stage::Opening { id, by } if by <= now => {
                    let method = if let Some(id) = id {
                        self.tell_cancelled(id, "timed out", out);
                        SubscriptionsListen::NAME
                    } else {
                        let wanted = core::mem::take(&mut self.subscriptions.table[at].wanted);
                        // What it waits for is given up, unless others wait for it too.
                        self.subscriptions.table[at].stage = Stage::Waiting(now);
                        self.unwatch(&wanted, out);
                        self.subscriptions.table[at].wanted = wanted;
                        Subscribe::NAME
                    };
                    let after = self.subscriptions.table[at].timeout;
                    let error = CallError::Timeout { method: method.into(), after, deadline: Deadline::Idle };
                    self.subscription_ended(at, SubscriptionEnd::Failed(error), Some(now));
                }
                Stage::Waiting(again) if again <= now => {
                    let subscription = &self.subscriptions.table[at];
                    let (wanted, timeout) = (subscription.wanted.clone(), subscription.timeout);
                    // Where the server does not even read, it is left alone for the time that an answer may take.
                    let full = out.len() > self.config.max_transmit;
                    let begun = if full { None } else { self.begin_listening(&wanted, timeout, now, out).ok() };
                    let later = Stage::Waiting(now + timeout.max(Duration::from_millis(1)));
                    self.subscriptions.table[at].stage = begun.unwrap_or(later);
                }
                _ => {}
            }
        }
        self.settle_watches(now);
        self.subscriptions.reckon();
    }

    fn subscription_opened(&mut self, at: usize, id: Option<u64>, acknowledged: SubscriptionFilter, now: Timestamp) {
        let subscription = &mut self.subscriptions.table[at];
        subscription.stage = Stage::Open { id };
        subscription.relisten.acknowledged(now);
        subscription.acknowledged = acknowledged.clone();
        self.tell_subscriber(at, SubscriptionEvent::Acknowledged(acknowledged));
    }

    /// A subscription has ended, or an attempt to open it. Without a time, it is not opened again.
    fn subscription_ended(&mut self, at: usize, end: SubscriptionEnd, now: Option<Timestamp>) {
        let subscription = &mut self.subscriptions.table[at];
        if let Some(again) = now.and_then(|now| subscription.relisten.ended(&end, now)) {
            subscription.stage = Stage::Waiting(again);
            return;
        }
        if subscription.is_unheard() {
            subscription.changes = Changes::default();
        }
        subscription.stage = Stage::Over;
        self.tell_subscriber(at, SubscriptionEvent::Ended(end));
    }

    fn tell_subscriber(&mut self, at: usize, event: SubscriptionEvent) {
        let subscription = &mut self.subscriptions.table[at];
        subscription.changes.push(event);
        if subscription.is_unheard() {
            return;
        }
        if !core::mem::replace(&mut subscription.told, true) {
            self.events.push_back(Event::Subscription(subscription.key));
        }
    }

    /// The connection has ended, and all subscriptions with it.
    pub(super) fn end_subscriptions(&mut self, how: &Closed) {
        for at in 0..self.subscriptions.table.len() {
            if self.subscriptions.table[at].stage != Stage::Over {
                let end = match how {
                    Closed::ByClient => SubscriptionEnd::ByClient,
                    how => SubscriptionEnd::Dropped(how.clone()),
                };
                self.subscription_ended(at, end, None);
            }
        }
        self.subscriptions.watches = Watches::default();
        self.subscriptions.due = None;
    }
}

impl Subscription {
    /// Whether the server is still to say that it agrees. What it tells before is told after that ("Acknowledgment").
    fn is_unheard(&self) -> bool {
        self.stage != Stage::Over && !self.relisten.was_open()
    }

    /// Whether such a change was asked for. Servers are to tell nothing else.
    fn wants(&self, event: &SubscriptionEvent) -> bool {
        self.stage.is_live()
            && match event {
                SubscriptionEvent::ToolsChanged => self.wanted.tools_list_changed,
                SubscriptionEvent::PromptsChanged => self.wanted.prompts_list_changed,
                SubscriptionEvent::ResourcesChanged => self.wanted.resources_list_changed,
                SubscriptionEvent::ResourceUpdated { .. } => !self.wanted.resource_subscriptions.is_empty(),
                _ => false,
            }
    }

    /// As [`Subscription::wants`], where nothing says to which subscription a change belongs.
    fn hears(&self, event: &SubscriptionEvent) -> bool {
        self.wants(event)
            && match event {
                SubscriptionEvent::ResourceUpdated { uri } => {
                    self.wanted.resource_subscriptions.iter().any(|watched| is_within(uri, watched))
                }
                _ => true,
            }
    }
}

/// What was wanted and was agreed to.
fn common(wanted: &SubscriptionFilter, told: &SubscriptionFilter) -> SubscriptionFilter {
    let watched = |uri: &&alloc::string::String| told.resource_subscriptions.contains(uri);
    SubscriptionFilter {
        tools_list_changed: wanted.tools_list_changed && told.tools_list_changed,
        prompts_list_changed: wanted.prompts_list_changed && told.prompts_list_changed,
        resources_list_changed: wanted.resources_list_changed && told.resources_list_changed,
        resource_subscriptions: wanted.resource_subscriptions.iter().filter(watched).cloned().collect(),
        task_ids: wanted.task_ids.iter().filter(|id| told.task_ids.contains(id)).cloned().collect(),
        ..SubscriptionFilter::default()
    }
}
