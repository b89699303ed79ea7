//! [`ReplySlots`]: the pending requests whose replies the program wants, by request key.

use std::collections::VecDeque;

use mcpwire_core::{Reply, RequestKey};

/// A pending request, and its reply when it has arrived.
#[derive(Debug)]
pub struct ReplySlot<W> {
    /// `None` until the reply arrives, or if it is not wanted anymore.
    pub reply: Option<Reply>,
    /// Who waits for the reply, such as a task or callbacks.
    pub waiter: W,
}

/// A table of slots, sorted by key. Replies without a slot are dropped.
///
/// Keys increase, so new slots are added at the end. Removing a slot leaves a hole. Holes at the front are removed at once, other
/// holes when they are the majority.
#[derive(Debug)]
pub struct ReplySlots<W> {
    table: VecDeque<(RequestKey, Option<ReplySlot<W>>)>,
    /// Number of slots, without holes.
    len: usize,
    /// Whether an empty table retains its buffer.
    keeps_memory: bool,
}

/// Holes are removed when they outnumber the slots by more than this.
const MIN_HOLES: usize = 16;

impl<W> Default for ReplySlots<W> {
    fn default() -> Self {
        ReplySlots { table: VecDeque::new(), len: 0, keeps_memory: false }
    }
}

impl<W> ReplySlots<W> {
    /// Adds a slot. Its key must be greater than all earlier keys.
    pub fn add(&mut self, key: RequestKey, waiter: W) {
        self.table.push_back((key, Some(ReplySlot { reply: None, waiter })));
        self.len += 1;
    }

    /// Returns the slot with this key.
    pub fn get_mut(&mut self, key: RequestKey) -> Option<&mut ReplySlot<W>> {
        let at = self.position(key)?;
        self.table[at].1.as_mut()
    }

    /// Stores a reply. Returns who waits for it.
    pub fn receive(&mut self, reply: Reply) -> Option<&mut W> {
        let slot = self.get_mut(reply.key())?;
        slot.reply = Some(reply);
        Some(&mut slot.waiter)
    }

    /// Removes and returns a slot.
    pub fn take(&mut self, key: RequestKey) -> Option<ReplySlot<W>> {
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

    /// Returns whether there are no slots.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Sets whether an empty table retains its buffer.
    pub fn set_keeps_memory(&mut self, keeps_memory: bool) {
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
