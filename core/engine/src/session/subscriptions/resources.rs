//! The resources that a legacy server is asked to watch: `resources/subscribe` and `resources/unsubscribe` (2025-11-25,
//! server/resources, "Subscriptions").

use alloc::string::String;
use alloc::vec::Vec;

use super::filters::lists_in_both;
use crate::method::{Method, Subscribe, Unsubscribe};
use crate::rpc::decode::{self, Answer};
use crate::rpc::write;
use crate::session::context::Context;
use crate::session::error::SendError;
use crate::session::fault::RequestFault;
use crate::session::prepared::send_error;
use crate::session::requests::Owner;
use crate::sorted::Sorted;
use crate::types::{ServerCapabilities, SubscribeParams, SubscriptionFilter, UnsubscribeParams};

/// The watched resources, however many subscriptions want each of them.
#[derive(Debug, Default)]
pub(super) struct Resources {
    by_uri: Sorted<String, Watch>,
    /// The list changes that the server declares.
    declared: SubscriptionFilter,
    /// Whether the server declares that resources can be watched.
    can_watch: bool,
}

#[derive(Debug)]
enum Watch {
    /// The server was asked by the request of this id.
    Requested(u64),
    Granted,
    /// Kept until the subscriptions that wait for it know.
    Refused(RequestFault),
}

/// How a subscription stands, by the answers for its resources.
pub(super) enum Settled {
    /// Some answers are missing.
    NotYet,
    /// The part of it that the server agreed to.
    Acknowledged(SubscriptionFilter),
    /// Nothing of it is left, for this reason.
    Refused(RequestFault),
}

impl Resources {
    /// Takes over what the server declares.
    pub(super) fn new(capabilities: Option<&ServerCapabilities>) -> Self {
        let has = |declared: fn(&ServerCapabilities) -> Option<bool>| {
            capabilities.is_none_or(|capabilities| declared(capabilities) == Some(true))
        };
        Resources {
            by_uri: Sorted::default(),
            declared: SubscriptionFilter {
                tools_list_changed: has(|all| Some(all.tools.as_ref()?.list_changed)),
                prompts_list_changed: has(|all| Some(all.prompts.as_ref()?.list_changed)),
                resources_list_changed: has(|all| Some(all.resources.as_ref()?.list_changed)),
                ..SubscriptionFilter::default()
            },
            can_watch: has(|all| Some(all.resources.as_ref()?.subscribe)),
        }
    }

    /// Asks the server to watch the resources that it does not watch yet.
    pub(super) fn watch(&mut self, uris: &[String], context: &mut Context<'_>) -> Result<(), SendError> {
        if !self.can_watch {
            return Ok(());
        }
        for uri in uris {
            if self.by_uri.contains_key(uri) {
                continue;
            }
            let id = send_subscribe(uri, context)?;
            self.by_uri.insert(uri.clone(), Watch::Requested(id));
        }
        Ok(())
    }

    /// Asks the server to watch no longer those of the resources that nobody else wants.
    pub(super) fn unwatch(&mut self, uris: &[String], is_wanted: &dyn Fn(&str) -> bool, context: &mut Context<'_>) {
        for uri in uris {
            if is_wanted(uri) {
                continue;
            }
            let Some(watch) = self.by_uri.remove(uri) else { continue };
            if let Watch::Requested(id) = watch {
                context.requests.disown(id);
            }
            if matches!(watch, Watch::Refused(_)) || context.is_transmit_full() {
                continue;
            }
            let params = |out: &mut Vec<u8>| write::push_object(out, &UnsubscribeParams { uri });
            // A URI cannot fail to serialise.
            let _ = context.send(Unsubscribe::NAME, &params, Owner::Nobody);
        }
    }

    /// Handles the answer to `resources/subscribe`.
    pub(super) fn answered(&mut self, id: u64, message: &[u8]) {
        let watch = match decode::answer_skipped(message, id) {
            Ok(Answer::Result(())) => Watch::Granted,
            Ok(Answer::Error(error)) => Watch::Refused(RequestFault::Server(error)),
            Err(error) => Watch::Refused(RequestFault::Invalid(error)),
        };
        self.set(id, watch);
    }

    /// Handles that `resources/subscribe` ended without an answer.
    pub(super) fn failed(&mut self, id: u64, fault: RequestFault) {
        self.set(id, Watch::Refused(fault));
    }

    /// Asks the server once more to watch what it had agreed to.
    #[cfg(feature = "http")]
    pub(super) fn watch_again(&mut self, context: &mut Context<'_>) {
        for (uri, watch) in self.by_uri.iter_mut() {
            if matches!(watch, Watch::Granted)
                && let Ok(id) = send_subscribe(uri, context)
            {
                *watch = Watch::Requested(id);
            }
        }
    }

    /// Returns how a subscription stands.
    pub(super) fn settled(&self, wanted: &SubscriptionFilter) -> Settled {
        let uris = &wanted.resource_subscriptions;
        if uris.iter().any(|uri| matches!(self.by_uri.get(uri), Some(Watch::Requested(_)))) {
            return Settled::NotYet;
        }
        let granted =
            uris.iter().filter(|uri| matches!(self.by_uri.get(*uri), Some(Watch::Granted))).cloned().collect();
        let refusal = uris.iter().find_map(|uri| match self.by_uri.get(uri) {
            Some(Watch::Refused(fault)) => Some(fault),
            _ => None,
        });
        let lists = lists_in_both(wanted, &self.declared);
        let acknowledged = SubscriptionFilter { resource_subscriptions: granted, ..lists };
        match refusal.filter(|_| acknowledged.is_empty()) {
            Some(fault) => Settled::Refused(fault.clone()),
            None => Settled::Acknowledged(acknowledged),
        }
    }

    /// Forgets the refusals that no subscription waits for, so that the server is asked again the next time.
    pub(super) fn forget_refusals(&mut self, is_awaited: &dyn Fn(&str) -> bool) {
        if self.by_uri.iter().any(|(_, watch)| matches!(watch, Watch::Refused(_))) {
            self.by_uri.retain(|uri, watch| !matches!(watch, Watch::Refused(_)) || is_awaited(uri));
        }
    }

    fn set(&mut self, id: u64, to: Watch) {
        let requested = |watch: &&mut Watch| matches!(watch, Watch::Requested(requested) if *requested == id);
        if let Some(watch) = self.by_uri.iter_mut().map(|(_, watch)| watch).find(requested) {
            *watch = to;
        }
    }
}

fn send_subscribe(uri: &str, context: &mut Context<'_>) -> Result<u64, SendError> {
    let params = |out: &mut Vec<u8>| write::push_object(out, &SubscribeParams { uri });
    context.send(Subscribe::NAME, &params, Owner::ResourceSubscribe).map_err(|error| send_error(Subscribe::NAME, error))
}
