//! The queue of outgoing bytes.

use alloc::vec::Vec;
use core::ops::Range;

/// Maximum capacity of an empty transmit buffer, in bytes: 8 KiB. A larger buffer is freed when all its bytes are
/// sent.
const MAX_IDLE_CAPACITY: usize = 8 * 1024;

/// A queue of bytes to send. One write can send several messages.
#[derive(Debug, Default)]
pub(crate) struct TransmitBuffer {
    data: Vec<u8>,
    /// Number of bytes at the start of `data` that have already been sent.
    sent: usize,
}

impl TransmitBuffer {
    /// Returns all queued bytes that have not been sent.
    pub(crate) fn pending(&self) -> &[u8] {
        &self.data[self.sent..]
    }

    /// Removes `n` bytes from the front of the queue after they were sent.
    pub(crate) fn sent(&mut self, n: usize) {
        self.sent = self.sent.saturating_add(n).min(self.data.len());
        if self.sent == self.data.len() {
            self.clear();
        } else if self.sent > self.data.len() / 2 {
            // This moves fewer bytes than were sent since the last move.
            self.data.drain(..self.sent);
            self.sent = 0;
        }
    }

    pub(crate) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.data
    }

    /// Returns the size of the queue, in bytes. Bytes at its front that were sent may still count.
    pub(crate) fn len(&self) -> usize {
        self.data.len()
    }

    /// Returns bytes that were appended by [`Self::buffer`].
    pub(crate) fn text(&self, range: Range<usize>) -> &[u8] {
        self.data.get(range).unwrap_or_default()
    }

    /// Frees the memory of the queue if it contains no bytes.
    pub(crate) fn release_if_empty(&mut self) {
        if self.data.is_empty() {
            self.data = Vec::new();
        }
    }

    /// Removes all bytes from the queue, and frees the memory if it is larger than 8 KiB.
    pub(crate) fn clear(&mut self) {
        self.sent = 0;
        self.data.clear();
        if self.data.capacity() > MAX_IDLE_CAPACITY {
            self.data = Vec::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partial_writes_lose_nothing() {
        let mut transmit = TransmitBuffer::default();
        let mut received = Vec::new();
        let mut expected = Vec::new();
        for round in 0..100u8 {
            let message = alloc::vec![round; usize::from(round) * 7];
            transmit.buffer().extend_from_slice(&message);
            expected.extend_from_slice(&message);
            let n = transmit.pending().len().min(usize::from(round) * 5 + 1);
            received.extend_from_slice(&transmit.pending()[..n]);
            transmit.sent(n);
        }
        received.extend_from_slice(transmit.pending());
        assert_eq!(received, expected);
    }

    #[test]
    fn a_big_message_leaves_a_small_buffer() {
        let mut transmit = TransmitBuffer::default();
        transmit.buffer().resize(1 << 20, 0);
        transmit.sent(1 << 20);
        assert!(transmit.buffer().capacity() <= MAX_IDLE_CAPACITY);
    }
}
