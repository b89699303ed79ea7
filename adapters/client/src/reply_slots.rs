//! [`ReplySlots`]: the pending requests whose replies the program wants, by request key.

use std::collections::HashMap;

use mcpwire_core::{Reply, RequestKey};

/// A pending request, and its reply when it has arrived.
#[derive(Debug)]
pub struct ReplySlot<W> {
    /// `None` until the reply arrives, or if it is not wanted anymore.
    pub reply: Option<Reply>,
    /// Who waits for the reply, such as a task or callbacks.
    pub waiter: W,
}

/// A table of slots by key. Replies without a slot are dropped.
#[derive(Debug)]
pub struct ReplySlots<W> {
    slots: HashMap<RequestKey, ReplySlot<W>>,
    /// Whether an empty table retains its buffer.
    keeps_memory: bool,
}

/// Maximum number of slots in the buffer that an empty table retains.
const MAX_RETAINED: usize = 64;

impl<W> Default for ReplySlots<W> {
    fn default() -> Self {
        ReplySlots { slots: HashMap::new(), keeps_memory: false }
    }
}

impl<W> ReplySlots<W> {
    /// Adds a slot.
    pub fn add(&mut self, key: RequestKey, waiter: W) {
        self.slots.insert(key, ReplySlot { reply: None, waiter });
    }

    /// Returns the slot with this key.
    pub fn get_mut(&mut self, key: RequestKey) -> Option<&mut ReplySlot<W>> {
        self.slots.get_mut(&key)
    }

    /// Stores a reply. Returns who waits for it.
    pub fn receive(&mut self, reply: Reply) -> Option<&mut W> {
        let slot = self.get_mut(reply.key())?;
        slot.reply = Some(reply);
        Some(&mut slot.waiter)
    }

    /// Removes and returns a slot.
    pub fn take(&mut self, key: RequestKey) -> Option<ReplySlot<W>> {
        let slot = self.slots.remove(&key)?;
        self.release_buffers();
        Some(slot)
    }

    /// Returns whether there are no slots.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Sets whether an empty table retains its buffer.
    pub fn set_keeps_memory(&mut self, keeps_memory: bool) {
        self.keeps_memory = keeps_memory;
        self.release_buffers();
    }

    /// Frees the buffer of an empty table, unless the buffer is small and requests follow each other.
    fn release_buffers(&mut self) {
        if self.slots.is_empty() && !(self.keeps_memory && self.slots.capacity() <= MAX_RETAINED) {
            self.slots = HashMap::new();
        }
    }
}
