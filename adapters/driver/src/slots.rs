//! [`Slots`]: a table of the replies to pending requests, by request key.

use std::collections::VecDeque;
use std::task::Waker;

use mcpwire_core::{Notification, Reply, RequestKey};

/// The reply to a pending request, and the task that waits for the reply.
#[derive(Default)]
pub(crate) struct Slot {
    /// `None` until the reply arrives.
    pub(crate) reply: Option<Reply>,
    pub(crate) waker: Option<Waker>,
    /// Progress notifications and task statuses for the caller. `None` if the caller does not want them.
    pub(crate) reports: Option<VecDeque<Notification>>,
}

/// A table of slots, sorted by key.
///
/// Keys increase, so new slots are added at the end. Removing a slot leaves a hole. Holes at the front are removed at once, other
/// holes when they are the majority.
#[derive(Default)]
pub(crate) struct Slots {
    table: VecDeque<(RequestKey, Option<Slot>)>,
    /// Number of slots, without holes.
    len: usize,
    /// Whether an empty table retains its buffer.
    keeps_memory: bool,
}

/// Holes are removed when they outnumber the slots by more than this.
const MIN_HOLES: usize = 16;

impl Slots {
    /// Adds a slot. Its key must be greater than all earlier keys.
    pub(crate) fn add(&mut self, key: RequestKey, slot: Slot) {
        self.table.push_back((key, Some(slot)));
        self.len += 1;
    }

    pub(crate) fn get_mut(&mut self, key: RequestKey) -> Option<&mut Slot> {
        let at = self.position(key)?;
        self.table[at].1.as_mut()
    }

    /// Removes and returns a slot.
    pub(crate) fn take(&mut self, key: RequestKey) -> Option<Slot> {
        let at = self.position(key)?;
        let slot = self.table[at].1.take()?;
        self.len -= 1;
        self.release_buffers();
        while let Some((_, None)) = self.table.front() {
            self.table.pop_front();
        }
        if self.table.len() > 2 * self.len + MIN_HOLES {
            self.table.retain(|(_, slot)| slot.is_some());
        }
        Some(slot)
    }

    /// Sets whether an empty table retains its buffer.
    pub(crate) fn set_keeps_memory(&mut self, keeps_memory: bool) {
        self.keeps_memory = keeps_memory;
        self.release_buffers();
    }

    /// Frees the buffer of an empty table, unless the buffer is small and requests follow each other.
    fn release_buffers(&mut self) {
        if self.len == 0 && !(self.keeps_memory && self.table.capacity() <= 4 * MIN_HOLES) {
            self.table = VecDeque::new();
        }
    }

    fn position(&self, key: RequestKey) -> Option<usize> {
        self.table.binary_search_by_key(&key, |(key, _)| *key).ok()
    }
}
