//! Small deterministic random number generators for delays. They are not cryptographically secure.

/// The constant that the `SplitMix64` generator adds to its state for each number: the golden ratio as a 64-bit
/// fraction.
const GOLDEN_RATIO: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns a pseudorandom number for `z`, with the output function of the `SplitMix64` generator. Successive values of
/// `z` give unrelated numbers.
pub const fn mix64(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The `SplitMix64` random number generator. Not cryptographically secure.
#[derive(Clone, Debug)]
pub(crate) struct SplitMix64(u64);

impl SplitMix64 {
    /// Creates a generator from a seed, which may be any number.
    pub(crate) const fn new(seed: u64) -> Self {
        SplitMix64(seed)
    }

    /// Returns the next random number below `bound`, or 0 if `bound` is 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN_RATIO);
        mix64(self.0) % bound.max(1)
    }
}

/// The `xorshift64` random number generator. Not cryptographically secure.
#[derive(Clone, Debug)]
pub struct XorShift64(u64);

impl XorShift64 {
    /// Creates a generator from a seed, which may be any number.
    ///
    /// Seeds that differ only in the lowest bit result in the same random numbers.
    pub const fn new(seed: u64) -> Self {
        // The state must not be 0: it would then stay 0.
        XorShift64((seed ^ GOLDEN_RATIO) | 1)
    }

    /// Returns the next random number below `bound`, or 0 if `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        // The low bits are the weakest.
        (self.0 >> 11) % bound.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_those_of_the_published_algorithms() {
        let mut split_mix = SplitMix64::new(0);
        assert_eq!(
            [0; 3].map(|_| split_mix.below(u64::MAX)),
            [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f]
        );
        let mut xor_shift = XorShift64::new(GOLDEN_RATIO);
        assert_eq!([0; 2].map(|_| xor_shift.below(u64::MAX)), [0x4082_2041 >> 11, 0x1000_4106_0c01_1441 >> 11]);
    }

    #[test]
    fn numbers_stay_below_the_bound() {
        let (mut split_mix, mut xor_shift) = (SplitMix64::new(7), XorShift64::new(7));
        for bound in 0..100 {
            assert!(split_mix.below(bound) < bound.max(1));
            assert!(xor_shift.below(bound) < bound.max(1));
        }
    }
}
