//! A keyed hash (SipHash): without the key, nobody can construct a collision.

use core::hash::Hasher;

use siphasher::sip::SipHasher24;

/// The secret key of the hashes that detect changed tool definitions.
#[derive(Clone, Copy, Debug)]
pub(super) struct HashKey(u64, u64);

impl HashKey {
    pub(super) fn new(seed: u64) -> Self {
        HashKey(seed, seed.rotate_left(32) ^ 0x9e37_79b9_7f4a_7c15)
    }

    pub(super) fn hash_text(self, text: &str) -> u64 {
        let mut hash = KeyedHasher::new(self);
        hash.write(text.as_bytes());
        hash.finish()
    }
}

pub(super) struct KeyedHasher(SipHasher24);

impl KeyedHasher {
    pub(super) fn new(HashKey(low, high): HashKey) -> Self {
        KeyedHasher(SipHasher24::new_with_keys(low, high))
    }

    pub(super) fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    pub(super) fn write_u64(&mut self, number: u64) {
        self.0.write_u64(number);
    }

    pub(super) fn finish(self) -> u64 {
        self.0.finish()
    }
}
