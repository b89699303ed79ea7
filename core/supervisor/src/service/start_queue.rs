//! Limits the number of servers that start at the same time.

use alloc::collections::{BTreeMap, VecDeque};

use super::settings::SupervisorSettings;
use crate::{Generation, PackageKind, ServerId};
use mcpwire_core::Timestamp;

/// Limits the number of servers that start at the same time. Each starting server occupies a slot; further servers wait
/// in a queue.
#[derive(Debug)]
pub(super) struct StartQueue {
    settings: SupervisorSettings,
    waiting: VecDeque<QueuedStart>,
    slots: BTreeMap<ServerId, StartSlot>,
}

#[derive(Debug)]
pub(super) struct QueuedStart {
    pub(super) server: ServerId,
    pub(super) generation: Generation,
    pub(super) kind: PackageKind,
}

#[derive(Debug)]
struct StartSlot {
    kind: PackageKind,
    /// When the slot becomes free, even if the server is still starting by then.
    until: Timestamp,
}

impl StartQueue {
    pub(super) fn new(settings: SupervisorSettings) -> Self {
        StartQueue { settings, waiting: VecDeque::new(), slots: BTreeMap::new() }
    }

    pub(super) fn push(&mut self, start: QueuedStart) {
        self.waiting.push_back(start);
    }

    /// Removes the first waiting server for which a slot is free from the queue, assigns the slot to the server, and
    /// returns it. `None` if no server can start.
    pub(super) fn take_next(&mut self, now: Timestamp) -> Option<QueuedStart> {
        if self.waiting.is_empty() {
            return None;
        }
        self.slots.retain(|_, slot| slot.until > now);
        let next = self.waiting.iter().position(|start| self.has_free_slot(start.kind))?;
        let start = self.waiting.remove(next)?;
        self.slots.insert(start.server, StartSlot { kind: start.kind, until: now + self.settings.slot_timeout });
        Some(start)
    }

    /// Removes a server from the queue without a slot, because the caller starts it regardless of the limits. `None` if
    /// the server is not in the queue.
    pub(super) fn take(&mut self, server: ServerId) -> Option<QueuedStart> {
        let place = self.waiting.iter().position(|start| start.server == server)?;
        self.waiting.remove(place)
    }

    pub(super) fn remove(&mut self, server: ServerId) {
        self.slots.remove(&server);
        self.waiting.retain(|start| start.server != server);
    }

    /// Returns when the next slot times out, so that a waiting server can start. `None` if no server waits.
    pub(super) fn deadline(&self) -> Option<Timestamp> {
        if self.waiting.is_empty() { None } else { self.slots.values().map(|slot| slot.until).min() }
    }

    fn has_free_slot(&self, kind: PackageKind) -> bool {
        let same_kind = || self.slots.values().filter(|slot| slot.kind == kind).count();
        self.slots.len() < self.settings.max_starts.max(1)
            && (!kind.is_fetched() || same_kind() < self.settings.max_starts_per_kind.max(1))
    }
}
