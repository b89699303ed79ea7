//! [`Batch`]: a JSON-RPC batch, message by message.

use alloc::vec::Vec;
use core::ops::Range;

use mcpwire_text::json::scan::next_element;

/// Iterates over the messages of a JSON-RPC batch, which is a JSON array.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) bytes: Vec<u8>,
    /// Offset in `bytes` from which to read the next element.
    at: usize,
    /// Whether the batch contained an object so far. A batch without objects is an invalid message.
    pub(crate) has_messages: bool,
}

impl Batch {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Batch { bytes, at: 0, has_messages: false }
    }

    /// Returns the position in `bytes` of the next JSON object in the batch, or `None` at the end of the batch. Skips
    /// elements that are not objects.
    pub(crate) fn next_message(&mut self) -> Option<Range<usize>> {
        while let Some(element) = next_element(&self.bytes, &mut self.at) {
            if self.bytes[element.clone()].first() == Some(&b'{') {
                self.has_messages = true;
                return Some(element);
            }
        }
        None
    }
}
