//! [`ReplySlots`]: stores the replies to pending requests until the callers take them.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use mcpwire_core::{Reply, RequestKey};

/// A pending request of the program: its reply, once that has arrived, and who waits for the reply.
#[derive(Debug)]
pub struct ReplySlot<W> {
    /// `None` until the reply arrives.
    pub reply: Option<Reply>,
    /// The data with which the client notifies the caller, such as the waker of a task, or callbacks.
    pub waiter: W,
}

/// The pending requests of the program by request key. A reply to a request without a slot is dropped.
#[derive(Debug)]
pub struct ReplySlots<W> {
    slots: HashMap<RequestKey, ReplySlot<W>, BuildHasherDefault<KeyHasher>>,
    /// Whether an empty table keeps its buffer for the next request.
    keeps_memory: bool,
}

/// Maximum capacity of the buffer that an empty table keeps. A larger buffer is freed.
const MAX_RETAINED: usize = 64;

/// Hashes request keys by a multiplication. Neither the server nor the program chooses them: the session counts them. With the
/// hasher of `std`, one of the three accesses of a call alone cost 357 of its 16,300 instructions.
#[derive(Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.write_u64(bytes.iter().fold(0, |key, byte| key << 8 | u64::from(*byte)));
    }

    fn write_u64(&mut self, key: u64) {
        // The golden ratio spreads numbers that follow each other over the high bits, which the table uses, too.
        self.0 = (self.0 ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl<W> Default for ReplySlots<W> {
    fn default() -> Self {
        ReplySlots { slots: HashMap::default(), keeps_memory: false }
    }
}

impl<W> ReplySlots<W> {
    /// Adds a slot for a request that was sent.
    pub fn add(&mut self, key: RequestKey, waiter: W) {
        self.slots.insert(key, ReplySlot { reply: None, waiter });
    }

    /// Returns the slot of this request, or `None` if the table has none.
    pub fn get_mut(&mut self, key: RequestKey) -> Option<&mut ReplySlot<W>> {
        self.slots.get_mut(&key)
    }

    /// Stores a reply in its slot, and returns the waiter to notify. Returns `None` and drops the reply if the table has no slot
    /// for it.
    pub fn receive(&mut self, reply: Reply) -> Option<&mut W> {
        let slot = self.get_mut(reply.key())?;
        slot.reply = Some(reply);
        Some(&mut slot.waiter)
    }

    /// Removes and returns the slot of this request. Frees the buffer if this was the last slot and the table does not keep it.
    pub fn take(&mut self, key: RequestKey) -> Option<ReplySlot<W>> {
        let slot = self.slots.remove(&key)?;
        self.release_buffers();
        Some(slot)
    }

    /// Returns whether there are no slots.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Sets whether an empty table keeps its buffer, which saves an allocation for each request while requests follow each other.
    pub fn set_keeps_memory(&mut self, keeps_memory: bool) {
        self.keeps_memory = keeps_memory;
        self.release_buffers();
    }

    /// Frees the buffer of an empty table. A buffer for at most [`MAX_RETAINED`] slots is kept while `keeps_memory` is set.
    fn release_buffers(&mut self) {
        if self.slots.is_empty() && !(self.keeps_memory && self.slots.capacity() <= MAX_RETAINED) {
            self.slots = HashMap::default();
        }
    }
}
