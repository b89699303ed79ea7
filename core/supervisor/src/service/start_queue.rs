//! Operations in progress: commands without a reply, changes of enabled flags, the boot, and [`StartQueue`], which
//! limits the number of servers that start at the same time.

use alloc::collections::{BTreeMap, VecDeque};

use super::settings::SupervisorSettings;
use crate::{CommandId, ErrorKind, Generation, HubError, PackageKind, ServerId};
use mcpwire_core::Timestamp;

/// The sender of a command to a server, which determines how the supervisor handles the reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CommandOrigin {
    /// The embedder sent the command with this id, and receives the reply.
    Embedder(CommandId),
    /// The supervisor sent the command, and ignores the reply.
    Internal,
    /// [`Supervisor::boot`](crate::Supervisor::boot) sent the command, and counts the replies of all servers.
    Boot,
    /// [`Supervisor::shutdown`](crate::Supervisor::shutdown) sent the command, and waits for the replies of all servers.
    Shutdown,
    /// [`Supervisor::set_enabled`](crate::Supervisor::set_enabled) sent the command to start the server.
    Enable,
    /// The command disables a server that [`Supervisor::set_enabled`](crate::Supervisor::set_enabled) could not start.
    /// After its reply, the embedder's `command` fails with `error`, the error of the start.
    EnableFailed { command: CommandId, error: HubError },
}

/// The progress of [`Supervisor::set_enabled`](crate::Supervisor::set_enabled) for one server.
///
/// ```text
/// enable:   Saving ─▶ Starting ─▶ server runs: reply
///                          ├────▶ start failed: Reverting ─▶ disable the server ─▶ reply with the error
///                          └────▶ login required: reply with the error; the flag stays on
/// disable:  Saving ─▶ disable the server ─▶ reply
/// ```
#[derive(Debug)]
pub(super) struct EnabledChange {
    /// The command of the embedder. It gets its reply when the operation ends.
    pub(super) command: CommandId,
    pub(super) step: EnabledStep,
}

#[derive(Debug)]
pub(super) enum EnabledStep {
    /// The embedder is saving the new value of the server's enabled flag, `enabled`, in the stored configuration.
    Saving { enabled: bool },
    /// The server is starting because it was enabled. `revision` is the revision of the saved configuration, or `None`
    /// if the flag did not have to be saved.
    Starting { revision: Option<u64> },
    /// The server failed to start with `error`, so the embedder is saving the enabled flag as `false` again.
    Reverting { error: HubError },
}

/// The outcomes of the starts of a [`Supervisor::boot`](crate::Supervisor::boot). All counts are 0 when no boot is in
/// progress.
#[derive(Debug, Default)]
pub(super) struct BootCounts {
    pub(super) ready: usize,
    pub(super) failed: usize,
    pub(super) cancelled: usize,
}

impl BootCounts {
    pub(super) fn add(&mut self, result: &Result<(), HubError>) {
        match result {
            Ok(()) => self.ready += 1,
            Err(error) if was_ended_by_command(error) => self.cancelled += 1,
            Err(_) => self.failed += 1,
        }
    }
}

/// Returns whether a start ended because another command stopped, disabled or deleted the server, and not by a failure.
pub(super) fn was_ended_by_command(error: &HubError) -> bool {
    matches!(error.kind(), ErrorKind::Cancelled | ErrorKind::Disabled)
}

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
