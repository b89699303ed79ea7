//! What a subscription has to tell, until somebody takes it.

use alloc::collections::VecDeque;
use alloc::string::String;
use core::mem::discriminant;

use crate::session::error::{CallError, Closed};
use crate::types::SubscriptionFilter;

/// Something that happened on a subscription.
///
/// Until it is taken, a change that is told twice is one: what changes says no more than that it is to be read again.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SubscriptionEvent {
    /// The subscription is open, and this is the part of what was wanted that the server agreed to. Told first; told again
    /// when a subscription that had been interrupted is open again, and then all of it may have changed meanwhile.
    Acknowledged(SubscriptionFilter),
    /// The list of tools has changed.
    ToolsChanged,
    /// The list of prompts has changed.
    PromptsChanged,
    /// The list of resources has changed.
    ResourcesChanged,
    /// A resource has changed.
    ResourceUpdated {
        /// Its address; may lie within the one that is watched.
        uri: String,
    },
    /// More resources have changed than are kept apart while nobody takes them: all that are watched may have.
    ManyResourcesUpdated,
    /// It is over. Told last.
    Ended(SubscriptionEnd),
}

/// Why a subscription is over.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SubscriptionEnd {
    /// This side ended it.
    #[error("the subscription was given up")]
    ByClient,
    /// The server ended it, and said so (2026-07-28, basic/patterns/subscriptions, "Graceful Closure").
    #[error("the server ended the subscription")]
    ByServer,
    /// The server refused it, did not acknowledge it in time, or ended it with an error.
    #[error("{0}")]
    Failed(CallError),
    /// The connection was lost, and the subscription with it.
    #[error("the subscription was lost: {0}")]
    Dropped(Closed),
}

/// The most resources that are kept apart. 1,024: more than a person or a program looks at one by one.
const MOST: usize = 1024;

/// The most bytes that their addresses may have together. 256 KiB: that many addresses of usual length, with room.
const MOST_BYTES: usize = 256 * 1024;

/// What is still to be told, in order. However much a server tells, it is bounded: three lists, so many resources, and
/// beginning and end.
#[derive(Debug, Default)]
pub(super) struct Changes {
    waiting: VecDeque<SubscriptionEvent>,
    /// How many resources are among it, and the bytes of their addresses.
    resources: usize,
    bytes: usize,
}

impl Changes {
    /// Takes in a change, or that it goes on or ends.
    pub(super) fn push(&mut self, event: SubscriptionEvent) {
        match &event {
            SubscriptionEvent::Acknowledged(_) => {
                // What was told before is still to be told after it.
                self.waiting.retain(|waiting| !matches!(waiting, SubscriptionEvent::Acknowledged(_)));
                return self.waiting.push_front(event);
            }
            SubscriptionEvent::ResourceUpdated { uri } => {
                let is_told = |waiting: &SubscriptionEvent| match waiting {
                    SubscriptionEvent::ManyResourcesUpdated => true,
                    SubscriptionEvent::ResourceUpdated { uri: waiting } => waiting == uri,
                    _ => false,
                };
                if self.waiting.iter().any(is_told) {
                    return;
                }
                if self.resources == MOST || self.bytes + uri.len() > MOST_BYTES {
                    return self.lump();
                }
                self.resources += 1;
                self.bytes += uri.len();
            }
            SubscriptionEvent::Ended(_) => {}
            // That a list has changed is said by the variant alone.
            list if self.waiting.iter().any(|waiting| discriminant(waiting) == discriminant(list)) => return,
            _ => {}
        }
        self.waiting.push_back(event);
    }

    pub(super) fn pop(&mut self) -> Option<SubscriptionEvent> {
        let event = self.waiting.pop_front()?;
        if let SubscriptionEvent::ResourceUpdated { uri } = &event {
            self.resources -= 1;
            self.bytes -= uri.len();
        }
        if self.waiting.is_empty() {
            // A burst is not to be paid for as long as the subscription lives.
            self.waiting.shrink_to(4);
        }
        Some(event)
    }

    fn lump(&mut self) {
        self.waiting.retain(|event| !matches!(event, SubscriptionEvent::ResourceUpdated { .. }));
        (self.resources, self.bytes) = (0, 0);
        self.waiting.push_back(SubscriptionEvent::ManyResourcesUpdated);
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

    fn all(changes: &mut Changes) -> Vec<SubscriptionEvent> {
        core::iter::from_fn(|| changes.pop()).collect()
    }

    #[test]
    fn what_is_told_twice_is_one() {
        let mut changes = Changes::default();
        for _ in 0..3 {
            changes.push(updated("a"));
            changes.push(SubscriptionEvent::ToolsChanged);
            changes.push(updated("b"));
        }
        assert_eq!(all(&mut changes), [updated("a"), SubscriptionEvent::ToolsChanged, updated("b")]);
        changes.push(updated("a"));
        assert_eq!(all(&mut changes), [updated("a")], "once it was taken, it can change again");
    }

    #[test]
    fn too_many_are_one_word() {
        let mut changes = Changes::default();
        changes.push(SubscriptionEvent::PromptsChanged);
        for number in 0..100_000 {
            changes.push(updated(&format!("test://{number}")));
        }
        assert_eq!(all(&mut changes), [SubscriptionEvent::PromptsChanged, SubscriptionEvent::ManyResourcesUpdated]);
        let long = "x".repeat(MOST_BYTES / 4);
        for number in 0..4 {
            changes.push(updated(&format!("{long}{number}")));
        }
        assert_eq!(all(&mut changes), [SubscriptionEvent::ManyResourcesUpdated]);
        changes.push(updated("a"));
        assert_eq!(all(&mut changes), [updated("a")]);
        assert_eq!((changes.resources, changes.bytes), (0, 0));
    }
}
