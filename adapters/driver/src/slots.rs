//! [`Slots`]: where requests wait for their replies.

use std::collections::VecDeque;
use std::task::Waker;

use mcpwire_core::{Notification, Reply, RequestKey};

/// Where a request waits for its reply.
#[derive(Default)]
pub(crate) struct Slot {
    pub(crate) reply: Option<Reply>,
    pub(crate) waker: Option<Waker>,
    /// Progress of the request, and the status of the task that it has become. `None` if the caller did not ask for reports.
    pub(crate) reports: Option<VecDeque<Notification>>,
}

/// The slots by their keys.
///
/// Keys only grow, so the table is a queue that stays sorted by itself. A slot that is taken leaves a hole; holes at the
/// front are dropped at once, those between when they are the majority.
#[derive(Default)]
pub(crate) struct Slots {
    table: VecDeque<(RequestKey, Option<Slot>)>,
    len: usize,
    /// The table is kept while nothing is in it.
    is_kept: bool,
}

/// Below this number holes are not worth the trouble.
const FEW: usize = 16;

impl Slots {
    /// Adds a slot whose key is above all before it.
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
        self.let_go();
        while let Some((_, None)) = self.table.front() {
            self.table.pop_front();
        }
        if self.table.len() > 2 * self.len + FEW {
            self.table.retain(|(_, slot)| slot.is_some());
        }
        Some(slot)
    }

    /// Says whether the table is kept while nothing is in it.
    pub(crate) fn keep(&mut self, is_kept: bool) {
        self.is_kept = is_kept;
        self.let_go();
    }

    fn let_go(&mut self) {
        if self.len == 0 && !(self.is_kept && self.table.capacity() <= 4 * FEW) {
            self.table = VecDeque::new();
        }
    }

    fn position(&self, key: RequestKey) -> Option<usize> {
        self.table.binary_search_by_key(&key, |(key, _)| *key).ok()
    }
}
