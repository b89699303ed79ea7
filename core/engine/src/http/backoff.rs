//! How long to wait before a stream is taken up again.

use core::time::Duration;

/// The first wait where the server names none.
const FIRST: Duration = Duration::from_secs(1);

/// The longest wait of this side's choice.
const LONGEST: Duration = Duration::from_secs(60);

/// The wait before attempt number `attempt`, from 0, since the stream last brought something. What the server asked for is a
/// lower bound, and the first attempt comes right then: a server that closes a connection to be polled knows when it wants to
/// be (2025-11-25, basic/transports, "Sending Messages to the Server"). After that the wait doubles, up to a minute, and up to
/// a quarter of it is added by chance, so that the clients of a server that was gone do not come back all at once.
pub(super) fn wait(asked: Option<Duration>, attempt: u32, entropy: &mut Entropy) -> Duration {
    let doubled = FIRST.saturating_mul(1 << attempt.min(16)).min(LONGEST);
    match (asked, attempt) {
        (Some(asked), 0) => asked,
        (asked, _) => {
            let base = asked.unwrap_or_default().max(doubled);
            let quarter = u64::try_from(doubled.as_millis() / 4).unwrap_or(0);
            base.saturating_add(Duration::from_millis(entropy.below(quarter + 1)))
        }
    }
}

/// Numbers that look like chance, from a seed that the embedder gives (xorshift).
#[derive(Clone, Debug)]
pub(super) struct Entropy(u64);

impl Entropy {
    pub(super) fn new(seed: u64) -> Self {
        // Zero would stay zero.
        Entropy((seed ^ 0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_has_its_way_first() {
        let mut entropy = Entropy::new(1);
        let asked = Some(Duration::from_millis(500));
        assert_eq!(wait(asked, 0, &mut entropy), Duration::from_millis(500));
        for attempt in 0..100 {
            let waited = wait(asked, attempt, &mut entropy);
            assert!(waited >= Duration::from_millis(500) && waited <= LONGEST + LONGEST / 4, "{waited:?}");
        }
        assert_eq!(wait(Some(Duration::MAX), 3, &mut entropy), Duration::MAX);
    }

    #[test]
    fn waits_double_and_differ() {
        let (mut one, mut other) = (Entropy::new(1), Entropy::new(2));
        let mut differ = 0;
        for attempt in 0..8 {
            let (a, b) = (wait(None, attempt, &mut one), wait(None, attempt, &mut other));
            let base = FIRST.saturating_mul(1 << attempt).min(LONGEST);
            assert!(a >= base && a <= base + base / 4, "{attempt}: {a:?}");
            differ += usize::from(a != b);
        }
        assert!(differ > 4);
    }
}
