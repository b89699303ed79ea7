//! Subscriptions up to 2025-11-25: `resources/subscribe` for each resource, and what the capabilities declare (server/resources,
//! "Subscriptions"; server/tools, "List Changed Notification").

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;

use super::changes::SubscriptionEnd;
use super::{Stage, common};
use crate::method::{Method, Subscribe, Unsubscribe};
use crate::rpc::decode::{self, Answer};
use crate::rpc::write::{self, Meta};
#[cfg(feature = "http")]
use crate::session::carried::Fault;
use crate::session::engine::Session;
use crate::session::error::{CallError, SendError};
use crate::session::prepared::send_error;
use crate::session::ticket::Failure;
use crate::sorted::Sorted;
use crate::time::Timestamp;
use crate::types::{ServerCapabilities, SubscribeParams, SubscriptionFilter, UnsubscribeParams};

/// The most answers to `resources/unsubscribe` that are waited for. 64: they only keep answers from counting as late.
const MOST_PARTING: usize = 64;

/// The resources that the server was asked to watch, however many subscriptions want them.
#[derive(Debug, Default)]
pub(super) struct Watches {
    by_uri: Sorted<String, Watch>,
    /// Requests to watch no more, whose answers say nothing.
    parting: VecDeque<u64>,
    /// The list changes that the server's capabilities declare.
    declared: SubscriptionFilter,
    /// Whether they declare that resources can be watched.
    watching: bool,
}

#[derive(Debug)]
enum Watch {
    /// The server was asked.
    Asked(u64),
    /// It agreed.
    Agreed,
    /// It did not; kept until those who asked know.
    Refused(Failure),
}

impl Watches {
    pub(super) fn is_empty(&self) -> bool {
        self.by_uri.is_empty() && self.parting.is_empty()
    }

    #[cfg(feature = "http")]
    pub(super) fn wait_for(&self, id: u64) -> bool {
        let asked = |watch: &Watch| matches!(watch, Watch::Asked(asked) if *asked == id);
        self.parting.contains(&id) || self.by_uri.iter().any(|(_, watch)| asked(watch))
    }
}

impl Session {
    /// Asks for the resources that are not watched yet.
    pub(super) fn watch(&mut self, wanted: &SubscriptionFilter, out: &mut Vec<u8>) -> Result<(), SendError> {
        if !self.subscriptions.watches.watching {
            return Ok(());
        }
        for uri in &wanted.resource_subscriptions {
            if self.subscriptions.watches.by_uri.contains_key(uri) {
                continue;
            }
            let id = self.ask_to::<Subscribe>(&SubscribeParams { uri }, out)?;
            self.subscriptions.watches.by_uri.insert(uri.clone(), Watch::Asked(id));
        }
        Ok(())
    }

    /// Gives up the resources that nobody wants any more. The subscription itself is not among those that are live by now.
    pub(super) fn unwatch(&mut self, wanted: &SubscriptionFilter, out: &mut Vec<u8>) {
        for uri in &wanted.resource_subscriptions {
            let is_wanted = |subscription: &super::Subscription| {
                subscription.stage.is_live() && subscription.wanted.resource_subscriptions.contains(uri)
            };
            if self.subscriptions.table.iter().any(is_wanted) {
                continue;
            }
            let Some(watch) = self.subscriptions.watches.by_uri.remove(uri) else { continue };
            if matches!(watch, Watch::Refused(_)) || out.len() > self.config.max_transmit {
                continue;
            }
            if let Watch::Asked(id) = watch {
                self.subscriptions.watches.part_from(id);
            }
            if let Ok(id) = self.ask_to::<Unsubscribe>(&UnsubscribeParams { uri }, out) {
                self.subscriptions.watches.part_from(id);
            }
        }
    }

    /// Takes in an answer to one of the requests above. Whether it was one.
    pub(super) fn watch_answered(&mut self, id: u64, message: &[u8], now: Timestamp) -> bool {
        let watches = &mut self.subscriptions.watches;
        if let Some(at) = watches.parting.iter().position(|parting| *parting == id) {
            watches.parting.remove(at);
            return true;
        }
        let asked = |watch: &Watch| matches!(watch, Watch::Asked(asked) if *asked == id);
        let Some(watch) = watches.by_uri.iter_mut().map(|(_, watch)| watch).find(|watch| asked(watch)) else {
            return false;
        };
        let method = || Subscribe::NAME.into();
        *watch = match decode::answer_skipped(message, id) {
            Ok(Answer::Result(())) => Watch::Agreed,
            Ok(Answer::Error(error)) => Watch::Refused(Failure::new(CallError::Server { method: method(), error })),
            Err(error) => Watch::Refused(Failure::new(CallError::Invalid { method: method(), error })),
        };
        self.settle_watches(now);
        self.subscriptions.reckon();
        true
    }

    /// Takes in that one of the requests above gets no answer. Whether it was one.
    #[cfg(feature = "http")]
    pub(super) fn watch_failed(&mut self, id: u64, fault: Fault, now: Timestamp) -> bool {
        let watches = &mut self.subscriptions.watches;
        watches.parting.retain(|parting| *parting != id);
        let asked = |watch: &Watch| matches!(watch, Watch::Asked(asked) if *asked == id);
        let Some(watch) = watches.by_uri.iter_mut().map(|(_, watch)| watch).find(|watch| asked(watch)) else {
            return false;
        };
        *watch = Watch::Refused(Failure::new(fault.into_error(Subscribe::NAME.into())));
        self.settle_watches(now);
        self.subscriptions.reckon();
        true
    }

    /// Asks once more for what the server had agreed to watch.
    #[cfg(feature = "http")]
    pub(in crate::session) fn watch_again(&mut self, out: &mut Vec<u8>) {
        let watches = &self.subscriptions.watches.by_uri;
        let agreed = watches.iter().filter(|(_, watch)| matches!(watch, Watch::Agreed)).map(|(uri, _)| uri.clone());
        for uri in agreed.collect::<Vec<String>>() {
            if let Ok(id) = self.ask_to::<Subscribe>(&SubscribeParams { uri: &uri }, out) {
                self.subscriptions.watches.by_uri.insert(uri, Watch::Asked(id));
            }
        }
    }

    /// Acknowledges the subscriptions for which everything has been answered.
    pub(super) fn settle_watches(&mut self, now: Timestamp) {
        for at in 0..self.subscriptions.table.len() {
            let subscription = &self.subscriptions.table[at];
            if !matches!(subscription.stage, Stage::Opening { id: None, .. }) {
                continue;
            }
            let watches = &self.subscriptions.watches.by_uri;
            let watch_of = |uri: &String| watches.get(uri);
            let uris = &subscription.wanted.resource_subscriptions;
            if uris.iter().any(|uri| matches!(watch_of(uri), Some(Watch::Asked(_)))) {
                continue;
            }
            let agreed = uris.iter().filter(|uri| matches!(watch_of(uri), Some(Watch::Agreed))).cloned().collect();
            let refusal = uris.iter().find_map(|uri| match watch_of(uri) {
                Some(Watch::Refused(failure)) => failure.error().cloned(),
                _ => None,
            });
            let lists = common(&subscription.wanted, &self.subscriptions.watches.declared);
            let acknowledged = SubscriptionFilter { resource_subscriptions: agreed, ..lists };
            match refusal.filter(|_| acknowledged.is_empty()) {
                // Nothing is left of it, and the server said why.
                Some(error) => self.subscription_ended(at, SubscriptionEnd::Failed(error), Some(now)),
                None => self.subscription_opened(at, None, acknowledged, now),
            }
        }
        // Whoever asked knows by now, and may ask again.
        let watches = &mut self.subscriptions.watches.by_uri;
        if watches.iter().any(|(_, watch)| matches!(watch, Watch::Refused(_))) {
            let table = &self.subscriptions.table;
            let is_awaited = |uri: &String| {
                table.iter().any(|subscription| {
                    matches!(subscription.stage, Stage::Opening { id: None, .. })
                        && subscription.wanted.resource_subscriptions.contains(uri)
                })
            };
            watches.retain(|uri, watch| !matches!(watch, Watch::Refused(_)) || is_awaited(uri));
        }
    }

    /// The connection is open, to a server that says it can do so much. One that says nothing at all is taken to do all.
    pub(in crate::session) fn note_capabilities(&mut self, capabilities: Option<&ServerCapabilities>) {
        let has = |declared: fn(&ServerCapabilities) -> Option<bool>| {
            capabilities.is_none_or(|capabilities| declared(capabilities) == Some(true))
        };
        let watches = &mut self.subscriptions.watches;
        watches.watching = has(|all| Some(all.resources.as_ref()?.subscribe));
        watches.declared = SubscriptionFilter {
            tools_list_changed: has(|all| Some(all.tools.as_ref()?.list_changed)),
            prompts_list_changed: has(|all| Some(all.prompts.as_ref()?.list_changed)),
            resources_list_changed: has(|all| Some(all.resources.as_ref()?.list_changed)),
            ..SubscriptionFilter::default()
        };
    }

    /// Sends a request whose answer comes back here.
    fn ask_to<M: Method>(&mut self, params: &impl serde::Serialize, out: &mut Vec<u8>) -> Result<u64, SendError> {
        let id = self.next_id;
        let meta = Meta { protocol: &self.meta, ..Meta::default() };
        write::request(out, id, M::NAME, &|out: &mut Vec<u8>| write::push_object(out, params), meta)
            .map_err(|error| send_error(M::NAME, error))?;
        self.next_id += 1;
        Ok(id)
    }
}

impl Watches {
    fn part_from(&mut self, id: u64) {
        if self.parting.len() == MOST_PARTING {
            self.parting.pop_front();
        }
        self.parting.push_back(id);
    }
}
