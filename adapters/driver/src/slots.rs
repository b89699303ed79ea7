//! [`Slots`]: the requests whose replies were not taken yet.

use std::collections::VecDeque;
use std::task::Waker;

use mcpwire_core::{Notification, Reply, RequestKey};

/// A request whose reply was not taken yet.
#[derive(Default)]
pub(crate) struct Slot {
    pub(crate) reply: Option<Reply>,
    pub(crate) waker: Option<Waker>,
    /// Progress of the request, and status changes of its task. `None` if the caller wants no reports.
    pub(crate) reports: Option<VecDeque<Notification>>,
}

/// The slots by their keys.
///
/// Keys only grow, so the queue stays sorted. A slot that is taken leaves a hole. Holes at the front are removed at once,
/// other holes when they are the majority.
#[derive(Default)]
pub(crate) struct Slots {
    table: VecDeque<(RequestKey, Option<Slot>)>,
    len: usize,
    /// Whether an empty table keeps its memory.
    keeps_memory: bool,
}

/// Number of holes that are not worth removing.
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

    /// Sets whether an empty table keeps its memory.
    pub(crate) fn set_keeps_memory(&mut self, keeps_memory: bool) {
        self.keeps_memory = keeps_memory;
        self.release_buffers();
    }

    fn release_buffers(&mut self) {
        if self.len == 0 && !(self.keeps_memory && self.table.capacity() <= 4 * MIN_HOLES) {
            self.table = VecDeque::new();
        }
    }

    fn position(&self, key: RequestKey) -> Option<usize> {
        self.table.binary_search_by_key(&key, |(key, _)| *key).ok()
    }
}
