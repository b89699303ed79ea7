//! A keyed hash: without the key, nobody can construct a collision.

use core::hash::Hasher;

use siphasher::sip::SipHasher24;

/// The secret key of a host's hashes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key(u64, u64);

impl Key {
    pub(super) fn new(seed: u64) -> Self {
        Key(seed, seed.rotate_left(32) ^ 0x9e37_79b9_7f4a_7c15)
    }

    /// Returns the hash of a text.
    pub(super) fn text(self, text: &str) -> u64 {
        let mut hash = Hash::new(self);
        hash.bytes(text.as_bytes());
        hash.finish()
    }
}

/// A hash computation in progress.
pub(super) struct Hash(SipHasher24);

impl Hash {
    pub(super) fn new(Key(low, high): Key) -> Self {
        Hash(SipHasher24::new_with_keys(low, high))
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    pub(super) fn number(&mut self, number: u64) {
        self.0.write_u64(number);
    }

    pub(super) fn finish(self) -> u64 {
        self.0.finish()
    }
}
