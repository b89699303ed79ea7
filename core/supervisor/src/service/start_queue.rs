//! Limits the number of servers that start at the same time.

use alloc::collections::{BTreeMap, VecDeque};

use super::settings::SupervisorSettings;
use crate::{Generation, PackageKind, ServerId};
use mcpwire_core::Timestamp;

/// Limits the number of servers that start at the same time.
///
/// A start slot is the permission to start one server. Servers without a slot wait in the queue `waiting`.
#[derive(Debug)]
pub(super) struct StartQueue {
    settings: SupervisorSettings,
    waiting: VecDeque<QueuedStart>,
    slots: BTreeMap<ServerId, StartSlot>,
}

/// The start of a server that waits for a free start slot.
#[derive(Debug)]
pub(super) struct QueuedStart {
    pub(super) server: ServerId,
    pub(super) generation: Generation,
    pub(super) kind: PackageKind,
}

#[derive(Debug)]
struct StartSlot {
    kind: PackageKind,
    /// When the start slot becomes free, even if the server is still starting.
    until: Timestamp,
}

impl StartQueue {
    pub(super) fn new(settings: SupervisorSettings) -> Self {
        StartQueue { settings, waiting: VecDeque::new(), slots: BTreeMap::new() }
    }

    /// Appends the start of a server to the queue.
    pub(super) fn push(&mut self, start: QueuedStart) {
        self.waiting.push_back(start);
    }

    /// Removes and returns the first queued start that may proceed, and assigns a start slot to it.
    ///
    /// Returns `None` if no slot is free for any queued start.
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

    /// Removes and returns the queued start of a server, which then proceeds without a start slot. Returns `None` if
    /// there is none.
    pub(super) fn take(&mut self, server: ServerId) -> Option<QueuedStart> {
        let place = self.waiting.iter().position(|start| start.server == server)?;
        self.waiting.remove(place)
    }

    /// Removes a server from the queue, and frees its start slot. Has no effect if the server has neither.
    pub(super) fn remove(&mut self, server: ServerId) {
        self.slots.remove(&server);
        self.waiting.retain(|start| start.server != server);
    }

    /// Returns when the next start slot becomes free by timeout, or `None` if no server waits for a start slot.
    pub(super) fn deadline(&self) -> Option<Timestamp> {
        if self.waiting.is_empty() { None } else { self.slots.values().map(|slot| slot.until).min() }
    }

    fn has_free_slot(&self, kind: PackageKind) -> bool {
        let same_kind = || self.slots.values().filter(|slot| slot.kind == kind).count();
        self.slots.len() < self.settings.max_starts.max(1)
            && (!kind.is_fetched() || same_kind() < self.settings.max_starts_per_kind.max(1))
    }
}
