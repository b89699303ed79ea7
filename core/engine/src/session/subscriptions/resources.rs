//! The resources that a legacy server watches for the client, by `resources/subscribe` and `resources/unsubscribe`
//! (specification, revision 2025-11-25: server/resources, "Subscriptions").

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::own_requests::{Subscribe, Unsubscribe};
use crate::rpc::write;
use crate::session::error::{CallError, RequestFault, SendError};
use crate::session::link::Link;
use crate::session::requests::Owner;
use mcpwire_types::Method;
use mcpwire_types::{ServerCapabilities, SubscribeParams, SubscriptionFilter, UnsubscribeParams};

/// The resources that a legacy server (up to revision 2025-11-25) watches for the client. All subscriptions to the same
/// resource share one `resources/subscribe`.
#[derive(Debug, Default)]
pub(super) struct Resources {
    by_uri: BTreeMap<String, ResourceWatch>,
    /// The list changes (of tools, prompts and resources) that the server declares in its capabilities. A legacy server
    /// reports them to every client, without a subscription.
    declared: SubscriptionFilter,
    /// Whether the server supports `resources/subscribe`, according to its capabilities.
    can_watch: bool,
}

/// Whether the server watches a resource, so that it reports changes of the resource to the client.
#[derive(Debug)]
enum ResourceWatch {
    /// The `resources/subscribe` with this JSON-RPC id was sent. Its response has not arrived.
    Requested(u64),
    /// The server watches the resource.
    Granted,
    /// The server refused to watch the resource, or the request failed. The entry is kept while a subscription that
    /// includes the resource is opening, because the subscription needs the error.
    Refused(Arc<CallError>),
}

impl Resources {
    /// Creates an empty table for a server with these capabilities. `None` means that the server has every
    /// capability.
    pub(super) fn new(capabilities: Option<&ServerCapabilities>) -> Self {
        let has = |declared: fn(&ServerCapabilities) -> Option<bool>| {
            capabilities.is_none_or(|capabilities| declared(capabilities) == Some(true))
        };
        let mut declared = SubscriptionFilter::default();
        declared.tools_list_changed = has(|all| Some(all.tools.as_ref()?.list_changed));
        declared.prompts_list_changed = has(|all| Some(all.prompts.as_ref()?.list_changed));
        declared.resources_list_changed = has(|all| Some(all.resources.as_ref()?.list_changed));
        Resources {
            by_uri: BTreeMap::default(),
            declared,
            can_watch: has(|all| Some(all.resources.as_ref()?.subscribe)),
        }
    }

    /// Sends `resources/subscribe` for each of these URIs that is not in the table yet. Does nothing if the server does
    /// not support `resources/subscribe`.
    pub(super) fn watch(&mut self, uris: &[String], link: &mut Link) -> Result<(), SendError> {
        if !self.can_watch {
            return Ok(());
        }
        for uri in uris {
            if !self.by_uri.contains_key(uri) {
                let id = send_subscribe(uri, link)?;
                self.by_uri.insert(uri.clone(), ResourceWatch::Requested(id));
            }
        }
        Ok(())
    }

    /// Removes the entry of each URI for which `is_wanted` returns `false`. Sends `resources/unsubscribe` for the URI,
    /// unless the server refused the resource or the transmit buffer is full.
    pub(super) fn unwatch(&mut self, uris: &[String], is_wanted: &dyn Fn(&str) -> bool, link: &mut Link) {
        for uri in uris.iter().filter(|uri| !is_wanted(uri)) {
            let Some(watch) = self.by_uri.remove(uri) else { continue };
            if let ResourceWatch::Requested(id) = watch {
                link.requests.disown(id);
            }
            if matches!(watch, ResourceWatch::Refused(_)) || link.is_transmit_full() {
                continue;
            }
            let params = |out: &mut Vec<u8>| write::push_object(out, &UnsubscribeParams { uri });
            // A URI cannot fail to serialize.
            let _ = link.send(Unsubscribe::NAME, &params, Owner::Nobody);
        }
    }

    /// Stores the server's response to the `resources/subscribe` request with the JSON-RPC id `id`, or its failure.
    pub(super) fn answered(&mut self, id: u64, answer: Result<(), RequestFault>) {
        let requested = |watch: &&mut ResourceWatch| matches!(watch, ResourceWatch::Requested(sent) if *sent == id);
        if let Some(watch) = self.by_uri.values_mut().find(requested) {
            *watch = match answer {
                Ok(()) => ResourceWatch::Granted,
                Err(fault) => ResourceWatch::Refused(Arc::new(fault.into_call_error(Subscribe::NAME.into()))),
            };
        }
    }

    /// Sends `resources/subscribe` again for each resource that the server watched, because the server forgot the
    /// resources when it replaced the HTTP session.
    #[cfg(feature = "http")]
    pub(super) fn watch_again(&mut self, link: &mut Link) {
        for (uri, watch) in &mut self.by_uri {
            if matches!(watch, ResourceWatch::Granted)
                && let Ok(id) = send_subscribe(uri, link)
            {
                *watch = ResourceWatch::Requested(id);
            }
        }
    }

    /// Removes all entries without a message to the server.
    pub(super) fn clear(&mut self) {
        self.by_uri = BTreeMap::default();
    }

    /// Returns which of the changes in `wanted` the server will report, or the error for the first resource that it
    /// refused to watch, if it accepted none of the changes. Returns `None` if it has not yet responded to all
    /// `resources/subscribe` requests of the subscription.
    pub(super) fn settled(&self, wanted: &SubscriptionFilter) -> Option<Result<SubscriptionFilter, Arc<CallError>>> {
        let mut acknowledged = lists_in_both(wanted, &self.declared);
        let mut refusal = None;
        for uri in &wanted.resource_subscriptions {
            match self.by_uri.get(uri) {
                Some(ResourceWatch::Requested(_)) => return None,
                Some(ResourceWatch::Granted) => acknowledged.resource_subscriptions.push(uri.clone()),
                Some(ResourceWatch::Refused(error)) => refusal = refusal.or(Some(error)),
                None => {}
            }
        }
        match refusal.filter(|_| acknowledged.is_empty()) {
            Some(error) => Some(Err(Arc::clone(error))),
            None => Some(Ok(acknowledged)),
        }
    }

    /// Removes the entries of refused resources. Keeps an entry if `is_awaited` returns `true` for its URI: a
    /// subscription that is still opening needs the error.
    pub(super) fn forget_refusals(&mut self, is_awaited: &dyn Fn(&str) -> bool) {
        if self.by_uri.iter().any(|(_, watch)| matches!(watch, ResourceWatch::Refused(_))) {
            self.by_uri.retain(|uri, watch| !matches!(watch, ResourceWatch::Refused(_)) || is_awaited(uri));
        }
    }
}

fn send_subscribe(uri: &str, link: &mut Link) -> Result<u64, SendError> {
    let params = |out: &mut Vec<u8>| write::push_object(out, &SubscribeParams { uri });
    link.send(Subscribe::NAME, &params, Owner::ResourceSubscribe)
}

/// Returns a filter with the changes, resources and tasks that both filters contain. Its resources and tasks are in the
/// order of `wanted`.
pub(super) fn intersection(wanted: &SubscriptionFilter, granted: &SubscriptionFilter) -> SubscriptionFilter {
    let mut both = lists_in_both(wanted, granted);
    both.resource_subscriptions = in_both(&wanted.resource_subscriptions, &granted.resource_subscriptions);
    both.task_ids = in_both(&wanted.task_ids, &granted.task_ids);
    both
}

/// Returns a filter that contains only list changes (of tools, prompts and resources): those that both filters contain.
fn lists_in_both(one: &SubscriptionFilter, other: &SubscriptionFilter) -> SubscriptionFilter {
    let mut both = SubscriptionFilter::default();
    both.tools_list_changed = one.tools_list_changed && other.tools_list_changed;
    both.prompts_list_changed = one.prompts_list_changed && other.prompts_list_changed;
    both.resources_list_changed = one.resources_list_changed && other.resources_list_changed;
    both
}

fn in_both(one: &[String], other: &[String]) -> Vec<String> {
    one.iter().filter(|entry| other.contains(entry)).cloned().collect()
}
