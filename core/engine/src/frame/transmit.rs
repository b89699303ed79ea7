//! The transmit buffer.

use alloc::vec::Vec;

/// What an idle connection keeps.
const SMALL: usize = 8 * 1024;

/// Bytes that wait to be sent. All that is queued goes out in one write if the pipe takes it.
#[derive(Debug, Default)]
pub(crate) struct Transmit {
    data: Vec<u8>,
    sent: usize,
}

impl Transmit {
    /// What is to be sent next.
    pub(crate) fn pending(&self) -> &[u8] {
        &self.data[self.sent..]
    }

    /// Tells how many bytes of [`Transmit::pending`] were sent.
    pub(crate) fn sent(&mut self, n: usize) {
        self.sent = self.sent.saturating_add(n).min(self.data.len());
        if self.sent == self.data.len() {
            self.clear();
        } else if self.sent > self.data.len() / 2 {
            // Moves less than was sent.
            self.data.drain(..self.sent);
            self.sent = 0;
        }
    }

    /// Where messages are appended.
    pub(crate) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.data
    }

    /// Gives back the buffer, if nothing is in it.
    pub(crate) fn let_go(&mut self) {
        if self.data.is_empty() {
            self.data = Vec::new();
        }
    }

    pub(crate) fn clear(&mut self) {
        self.sent = 0;
        self.data.clear();
        if self.data.capacity() > SMALL {
            self.data = Vec::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partial_writes_lose_nothing() {
        let mut transmit = Transmit::default();
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
        let mut transmit = Transmit::default();
        transmit.buffer().resize(1 << 20, 0);
        transmit.sent(1 << 20);
        assert!(transmit.buffer().capacity() <= SMALL);
    }
}
