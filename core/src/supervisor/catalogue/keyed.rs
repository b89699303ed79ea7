//! `SipHash`-2-4 (Aumasson and Bernstein, 2012): a short hash that nobody can aim at who does not know the key.

/// What the hashes of one host are made with. Nobody else should know it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key(u64, u64);

impl Key {
    pub(super) fn new(seed: u64) -> Self {
        Key(seed, seed.rotate_left(32) ^ 0x9e37_79b9_7f4a_7c15)
    }

    /// The hash of a text.
    pub(super) fn text(self, text: &str) -> u64 {
        let mut hash = Hash::new(self);
        hash.bytes(text.as_bytes());
        hash.finish()
    }
}

/// A hash on its way.
pub(super) struct Hash {
    state: [u64; 4],
    /// What does not make eight bytes yet.
    rest: u64,
    length: u64,
}

impl Hash {
    pub(super) fn new(Key(low, high): Key) -> Self {
        let state = [
            low ^ 0x736f_6d65_7073_6575,
            high ^ 0x646f_7261_6e64_6f6d,
            low ^ 0x6c79_6765_6e65_7261,
            high ^ 0x7465_6462_7974_6573,
        ];
        Hash { state, rest: 0, length: 0 }
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.rest |= u64::from(*byte) << (8 * (self.length % 8));
            self.length = self.length.wrapping_add(1);
            if self.length.is_multiple_of(8) {
                let word = core::mem::take(&mut self.rest);
                self.word(word);
            }
        }
    }

    pub(super) fn number(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }

    pub(super) fn finish(mut self) -> u64 {
        let last = self.rest | (self.length << 56);
        self.word(last);
        self.state[2] ^= 0xff;
        for _ in 0..4 {
            self.round();
        }
        self.state.into_iter().fold(0, |all, part| all ^ part)
    }

    fn word(&mut self, word: u64) {
        self.state[3] ^= word;
        self.round();
        self.round();
        self.state[0] ^= word;
    }

    fn round(&mut self) {
        let [mut a, mut b, mut c, mut d] = self.state;
        a = a.wrapping_add(b);
        b = b.rotate_left(13) ^ a;
        a = a.rotate_left(32);
        c = c.wrapping_add(d);
        d = d.rotate_left(16) ^ c;
        a = a.wrapping_add(d);
        d = d.rotate_left(21) ^ a;
        c = c.wrapping_add(b);
        b = b.rotate_left(17) ^ c;
        c = c.rotate_left(32);
        self.state = [a, b, c, d];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first of the vectors that the authors give, and the one of their paper (Appendix A).
    #[test]
    fn it_is_the_hash_of_the_paper() {
        let key = Key(0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908);
        let hash = |length: u8| {
            let mut hash = Hash::new(key);
            hash.bytes(&(0..length).collect::<alloc::vec::Vec<u8>>());
            hash.finish()
        };
        assert_eq!(hash(0), 0x726f_db47_dd0e_0e31);
        assert_eq!(hash(15), 0xa129_ca61_49be_45e5);
    }
}
