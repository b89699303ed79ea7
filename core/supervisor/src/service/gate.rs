//! Limits the number of servers that start at the same time.

use alloc::collections::{BTreeMap, VecDeque};

use super::{Action, Supervisor, SupervisorSettings};
use crate::{Effect, Generation, PackageKind, ServerId, State};
use mcpwire_core::Timestamp;

/// The queue of servers that wait to start, and the slots of those that are starting.
#[derive(Debug, Default)]
pub(super) struct Gate {
    held: VecDeque<Held>,
    slots: BTreeMap<ServerId, Slot>,
}

#[derive(Debug)]
struct Held {
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

impl Gate {
    /// Removes a server that runs, failed or was stopped.
    pub(super) fn left(&mut self, server: ServerId) {
        self.slots.remove(&server);
        self.held.retain(|held| held.server != server);
    }

    /// Returns when the next slot is freed, if a server waits for a slot.
    pub(super) fn deadline(&self) -> Option<Timestamp> {
        if self.held.is_empty() { None } else { self.slots.values().map(|slot| slot.until).min() }
    }

    fn is_free(&self, kind: PackageKind, settings: &SupervisorSettings) -> bool {
        let alike = || self.slots.values().filter(|slot| slot.kind == kind).count();
        self.slots.len() < settings.starts.max(1) && (!kind.is_fetched() || alike() < settings.starts_of_a_kind.max(1))
    }

    fn take_next(&mut self, settings: &SupervisorSettings, now: Timestamp) -> Option<Held> {
        if self.held.is_empty() {
            return None;
        }
        self.slots.retain(|_, slot| slot.until > now);
        let next = self.held.iter().position(|held| self.is_free(held.kind, settings))?;
        let held = self.held.remove(next)?;
        self.slots.insert(held.server, Slot { kind: held.kind, until: now + settings.slot_for });
        Some(held)
    }

    fn take(&mut self, server: ServerId) -> Option<Held> {
        let held = self.held.iter().position(|held| held.server == server)?;
        self.held.remove(held)
    }
}

impl Supervisor {
    /// Starts a server at once if a user waits for it; otherwise queues it for a slot.
    pub(super) fn ask_for_slot(&mut self, server: ServerId, generation: Generation, now: Timestamp) {
        let Some(managed) = self.servers.get(&server) else { return };
        self.gate.left(server);
        let held = Held { server, generation, kind: managed.server.policy().kind };
        if managed.urgent {
            self.resolve(&held);
        } else {
            self.gate.held.push_back(held);
            self.open_gate(now);
        }
    }

    /// Starts queued servers while slots are free.
    pub(super) fn open_gate(&mut self, now: Timestamp) {
        while let Some(held) = self.gate.take_next(&self.settings, now) {
            self.resolve(&held);
        }
    }

    /// Updates the queue after a state change: frees slots, and starts an urgent server at once.
    pub(super) fn mind_gate(&mut self, server: ServerId) {
        let Some(managed) = self.servers.get_mut(&server) else { return self.gate.left(server) };
        let state = managed.server.state();
        if state == State::Running || state.is_resting() {
            managed.urgent = false;
        }
        if !state.is_starting() {
            self.gate.left(server);
        } else if managed.urgent
            && let Some(held) = self.gate.take(server)
        {
            self.resolve(&held);
        }
    }

    fn resolve(&mut self, held: &Held) {
        let effect = Effect::Resolve { generation: held.generation };
        self.actions.push_back(Action::Perform { server: held.server, effect });
    }
}
