//! Limits the number of servers that start at the same time.

use alloc::collections::{BTreeMap, VecDeque};

use super::{Action, Supervisor, SupervisorSettings};
use crate::{Effect, Generation, PackageKind, ServerId, State};
use mcpwire_core::Timestamp;

/// The queue of servers that wait to start, and the slots of those that are starting.
#[derive(Debug, Default)]
pub(super) struct StartQueue {
    queued: VecDeque<QueuedStart>,
    slots: BTreeMap<ServerId, Slot>,
}

#[derive(Debug)]
struct QueuedStart {
    server: ServerId,
    generation: Generation,
    kind: PackageKind,
}

#[derive(Debug)]
struct Slot {
    kind: PackageKind,
    /// When the slot is freed although the server is still starting.
    until: Timestamp,
}

impl StartQueue {
    /// Removes a server that runs, failed or was stopped.
    pub(super) fn remove(&mut self, server: ServerId) {
        self.slots.remove(&server);
        self.queued.retain(|queued| queued.server != server);
    }

    /// Returns when the next slot is freed, if a server waits for a slot.
    pub(super) fn deadline(&self) -> Option<Timestamp> {
        if self.queued.is_empty() { None } else { self.slots.values().map(|slot| slot.until).min() }
    }

    fn is_free(&self, kind: PackageKind, settings: &SupervisorSettings) -> bool {
        let alike = || self.slots.values().filter(|slot| slot.kind == kind).count();
        self.slots.len() < settings.max_starts.max(1)
            && (!kind.is_fetched() || alike() < settings.max_starts_per_kind.max(1))
    }

    fn take_next(&mut self, settings: &SupervisorSettings, now: Timestamp) -> Option<QueuedStart> {
        if self.queued.is_empty() {
            return None;
        }
        self.slots.retain(|_, slot| slot.until > now);
        let next = self.queued.iter().position(|queued| self.is_free(queued.kind, settings))?;
        let queued = self.queued.remove(next)?;
        self.slots.insert(queued.server, Slot { kind: queued.kind, until: now + settings.slot_timeout });
        Some(queued)
    }

    fn take(&mut self, server: ServerId) -> Option<QueuedStart> {
        let queued = self.queued.iter().position(|queued| queued.server == server)?;
        self.queued.remove(queued)
    }
}

impl Supervisor {
    /// Starts a server at once if a user waits for it; otherwise queues it for a slot.
    pub(super) fn queue_start(&mut self, server: ServerId, generation: Generation, now: Timestamp) {
        let Some(managed) = self.servers.get(&server) else { return };
        self.start_queue.remove(server);
        let queued = QueuedStart { server, generation, kind: managed.server.policy().kind };
        if managed.urgent {
            self.resolve(&queued);
        } else {
            self.start_queue.queued.push_back(queued);
            self.start_queued(now);
        }
    }

    /// Starts queued servers while slots are free.
    pub(super) fn start_queued(&mut self, now: Timestamp) {
        while let Some(queued) = self.start_queue.take_next(&self.settings, now) {
            self.resolve(&queued);
        }
    }

    /// Updates the queue after a state change: frees slots, and starts an urgent server at once.
    pub(super) fn update_start_queue(&mut self, server: ServerId) {
        let Some(managed) = self.servers.get_mut(&server) else { return self.start_queue.remove(server) };
        let state = managed.server.state();
        if state == State::Running || state.is_resting() {
            managed.urgent = false;
        }
        if !state.is_starting() {
            self.start_queue.remove(server);
        } else if managed.urgent
            && let Some(queued) = self.start_queue.take(server)
        {
            self.resolve(&queued);
        }
    }

    fn resolve(&mut self, queued: &QueuedStart) {
        let effect = Effect::Resolve { generation: queued.generation };
        self.actions.push_back(Action::Perform { server: queued.server, effect });
    }
}
