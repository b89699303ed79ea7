//! [`EventQueue`]: the events of a subscription that the embedder has not polled yet.

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::sync::Arc;
use core::mem::discriminant;

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::session::error::{CallError, CloseReason};
use mcpwire_types::SubscriptionFilter;

/// An event of a subscription, such as a change of the server's list of tools.
///
/// An event says only that a list or resource has changed: the embedder should read it again. If the same list or
/// resource changes again before the embedder polls the event, there is no second event.
///
/// Serializes as an object whose member `event` names the variant, for example
/// `{"event":"resourceUpdated","uri":"file:///a"}`. [`SubscriptionEvent::Acknowledged`] has the filter as
/// `notifications`, and [`SubscriptionEvent::Ended`] the text of its reason as `reason`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[doc(alias = "notifications/subscriptions/acknowledged")]
pub enum SubscriptionEvent {
    /// The server has accepted the subscription, which is now open. Contains the part of the requested filter that the
    /// server accepted.
    ///
    /// This is the first event of a subscription. It occurs again each time the subscription was interrupted and
    /// reopened. Everything in the filter may have changed during the interruption.
    Acknowledged(SubscriptionFilter),
    /// The list of tools has changed.
    ToolsChanged,
    /// The list of prompts has changed.
    PromptsChanged,
    /// The list of resources has changed.
    ResourcesChanged,
    /// A resource has changed.
    ResourceUpdated {
        /// The URI of the changed resource: a subscribed URI, or a URI below a subscribed one.
        uri: String,
    },
    /// Too many resources have changed to list each of them. Any resource of the filter may have changed.
    ManyResourcesUpdated,
    /// The subscription has ended for this reason. No further event follows.
    Ended(SubscriptionEnd),
}

impl Serialize for SubscriptionEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let event = match self {
            SubscriptionEvent::Acknowledged(_) => "acknowledged",
            SubscriptionEvent::ToolsChanged => "toolsChanged",
            SubscriptionEvent::PromptsChanged => "promptsChanged",
            SubscriptionEvent::ResourcesChanged => "resourcesChanged",
            SubscriptionEvent::ResourceUpdated { .. } => "resourceUpdated",
            SubscriptionEvent::ManyResourcesUpdated => "manyResourcesUpdated",
            SubscriptionEvent::Ended(_) => "ended",
        };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("event", event)?;
        match self {
            SubscriptionEvent::Acknowledged(filter) => map.serialize_entry("notifications", filter)?,
            SubscriptionEvent::ResourceUpdated { uri } => map.serialize_entry("uri", uri)?,
            SubscriptionEvent::Ended(end) => map.serialize_entry("reason", &format_args!("{end}"))?,
            _ => {}
        }
        map.end()
    }
}

/// Why a subscription has ended.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SubscriptionEnd {
    /// The client has closed the connection.
    #[error("the subscription was given up")]
    ByClient,
    /// The server has ended the subscription gracefully (specification, revision 2026-07-28:
    /// basic/patterns/subscriptions, "Graceful Closure").
    #[error("the server ended the subscription")]
    ByServer,
    /// The server refused the subscription, did not acknowledge it in time, or ended it with an error. Or the stream of
    /// the subscription broke.
    #[error("{0}")]
    Failed(Arc<CallError>),
    /// The whole connection was lost for this reason, and with it the subscription.
    #[error("the subscription was lost: {0}")]
    Dropped(CloseReason),
}

/// Maximum number of changed resources in the queue of one subscription. 1,024 is more than an embedder reads one by
/// one. Beyond it, [`SubscriptionEvent::ManyResourcesUpdated`] replaces them.
const MAX_RESOURCES: usize = 1024;

/// Maximum total size of the URIs in the queue of one subscription, in bytes. 256 KiB suffices for [`MAX_RESOURCES`]
/// URIs of 256 bytes.
const MAX_URI_BYTES: usize = 256 * 1024;

/// The events of one subscription that the embedder has not polled yet.
///
/// The queue is bounded. It contains at most one event for each list (tools, prompts, resources), one
/// [`SubscriptionEvent::Acknowledged`], one [`SubscriptionEvent::Ended`], and [`MAX_RESOURCES`] changed resources. If
/// more resources change, one [`SubscriptionEvent::ManyResourcesUpdated`] replaces them.
#[derive(Debug, Default)]
pub(super) struct EventQueue {
    events: VecDeque<SubscriptionEvent>,
}

impl EventQueue {
    /// Adds an event, unless the queue already contains an event for the same change. An acknowledgment becomes the
    /// first event, and replaces an earlier acknowledgment.
    pub(super) fn push(&mut self, event: SubscriptionEvent) {
        match &event {
            SubscriptionEvent::Acknowledged(_) => {
                // The acknowledgment precedes all changes.
                self.events.retain(|queued| !matches!(queued, SubscriptionEvent::Acknowledged(_)));
                return self.events.push_front(event);
            }
            SubscriptionEvent::ResourceUpdated { uri } => {
                let (mut resources, mut uri_bytes) = (0, uri.len());
                for queued in &self.events {
                    match queued {
                        SubscriptionEvent::ManyResourcesUpdated => return,
                        SubscriptionEvent::ResourceUpdated { uri: queued } if queued == uri => return,
                        SubscriptionEvent::ResourceUpdated { uri: queued } => {
                            resources += 1;
                            uri_bytes += queued.len();
                        }
                        _ => {}
                    }
                }
                if resources == MAX_RESOURCES || uri_bytes > MAX_URI_BYTES {
                    self.events.retain(|queued| !matches!(queued, SubscriptionEvent::ResourceUpdated { .. }));
                    return self.events.push_back(SubscriptionEvent::ManyResourcesUpdated);
                }
            }
            SubscriptionEvent::Ended(_) => {}
            // The events of list changes have no content.
            list if self.events.iter().any(|queued| discriminant(queued) == discriminant(list)) => return,
            _ => {}
        }
        self.events.push_back(event);
    }

    /// Removes the first event and returns it, or returns `None` if the queue is empty.
    pub(super) fn pop(&mut self) -> Option<SubscriptionEvent> {
        let event = self.events.pop_front()?;
        if self.events.is_empty() {
            // Free the memory of a burst, as a subscription may last for long.
            self.events.shrink_to(4);
        }
        Some(event)
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::vec::Vec;

    use super::*;

    fn updated(uri: &str) -> SubscriptionEvent {
        SubscriptionEvent::ResourceUpdated { uri: uri.into() }
    }

    fn all(queue: &mut EventQueue) -> Vec<SubscriptionEvent> {
        core::iter::from_fn(|| queue.pop()).collect()
    }

    #[test]
    fn a_repeated_change_is_one_event() {
        let mut queue = EventQueue::default();
        for _ in 0..3 {
            queue.push(updated("a"));
            queue.push(SubscriptionEvent::ToolsChanged);
            queue.push(updated("b"));
        }
        assert_eq!(all(&mut queue), [updated("a"), SubscriptionEvent::ToolsChanged, updated("b")]);
        queue.push(updated("a"));
        assert_eq!(all(&mut queue), [updated("a")], "after the event was polled, the resource can change again");
    }

    #[test]
    fn too_many_resources_are_one_event() {
        let mut queue = EventQueue::default();
        queue.push(SubscriptionEvent::PromptsChanged);
        for number in 0..100_000 {
            queue.push(updated(&format!("test://{number}")));
        }
        assert_eq!(all(&mut queue), [SubscriptionEvent::PromptsChanged, SubscriptionEvent::ManyResourcesUpdated]);
        let long = "x".repeat(MAX_URI_BYTES / 4);
        for number in 0..4 {
            queue.push(updated(&format!("{long}{number}")));
        }
        assert_eq!(all(&mut queue), [SubscriptionEvent::ManyResourcesUpdated]);
        queue.push(updated("a"));
        assert_eq!(all(&mut queue), [updated("a")]);
    }
}
