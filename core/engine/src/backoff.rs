//! Exponential backoff: delays that double with each attempt.

use core::time::Duration;

/// Returns the delay before a retry: `first`, doubled `doublings` times, but at most `longest`.
///
/// More than 16 doublings count as 16. Callers should add a random part to the delay. Otherwise, clients that failed
/// together would also retry together.
pub fn exponential(first: Duration, longest: Duration, doublings: u32) -> Duration {
    first.saturating_mul(1 << doublings.min(16)).min(longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_the_longest() {
        let (first, longest) = (Duration::from_secs(1), Duration::from_secs(60));
        let delays = [0, 1, 5, 6, 100, u32::MAX].map(|doublings| exponential(first, longest, doublings).as_secs());
        assert_eq!(delays, [1, 2, 32, 60, 60, 60]);
        assert_eq!(exponential(Duration::MAX, longest, 3), longest);
    }
}
