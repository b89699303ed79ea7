//! [`Message`]: the bytes of a received message.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::{Deref, Range};

/// The bytes of a received message, which outlive the receive buffer's next read.
#[derive(Clone, Debug)]
pub(crate) enum Message {
    /// A message in memory of its own.
    Owned(Vec<u8>),
    /// A large message in the memory of the receive buffer, which uses that memory again once the message is dropped.
    Lent { memory: Arc<Vec<u8>>, range: Range<usize> },
}

impl Deref for Message {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Message::Owned(bytes) => bytes,
            Message::Lent { memory, range } => memory.get(range.clone()).unwrap_or_default(),
        }
    }
}

impl From<Vec<u8>> for Message {
    fn from(bytes: Vec<u8>) -> Self {
        Message::Owned(bytes)
    }
}

impl From<&[u8]> for Message {
    fn from(bytes: &[u8]) -> Self {
        Message::Owned(bytes.to_vec())
    }
}

impl PartialEq for Message {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}
