//! Backoff: the delays between attempts to reopen a subscription.

use core::time::Duration;

use super::event_queue::SubscriptionEnd;
use crate::backoff::exponential;
use crate::random::SplitMix64;
use crate::time::Timestamp;

/// The policy for reopening a subscription after it has ended.
///
/// A subscription is never reopened if the server has never acknowledged it, if the client has ended it, or if the
/// whole connection has ended (for example, because the server process has exited).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResubscribePolicy {
    /// Never reopen the subscription.
    Never,
    /// Reopen the subscription after an error or a broken stream, but not after the server ended it gracefully
    /// (specification, revision 2026-07-28: basic/patterns/subscriptions, "Graceful Closure").
    #[default]
    AfterDrop,
    /// Reopen the subscription after an error, a broken stream, or a graceful end by the server. Use this policy for
    /// servers that regularly end subscriptions, for example because of a proxy.
    Always,
}

/// Delay before the first attempt to reopen a subscription. 1 s gives a restarted server time to start.
const FIRST: Duration = Duration::from_secs(1);

/// Maximum delay between two attempts to reopen a subscription. 1 min: a longer delay would make notifications too
/// late, and one request per minute is no load for a server.
const LONGEST: Duration = Duration::from_secs(60);

/// How long a subscription must be open before its end resets the delay to [`FIRST`]. 1 min: if the server ends each
/// subscription sooner, the delays continue to grow.
const STEADY: Duration = Duration::from_secs(60);

/// Maximum number of consecutive attempts to reopen a subscription. 10: their delays add up to at most about five
/// minutes. Then the subscription ends, so that the embedder learns of the failure.
const MAX_ATTEMPTS: u32 = 10;

/// Computes when to reopen an interrupted subscription.
///
/// The delays double from 1 s to 1 min. Each delay is reduced by a random part, by half at most. So clients that lost
/// a server at the same time do not all return at the same time.
#[derive(Clone, Debug)]
pub(crate) struct ResubscribeBackoff {
    resubscribe: ResubscribePolicy,
    random: SplitMix64,
    /// Number of attempts to reopen the subscription since it was last open for at least [`STEADY`].
    attempts: u32,
    /// Whether the server has ever acknowledged the subscription.
    pub(super) was_open: bool,
    /// When the server last acknowledged the subscription. `None` if it was interrupted since.
    open_since: Option<Timestamp>,
}

impl ResubscribeBackoff {
    /// Creates the backoff of a subscription that the server has not acknowledged yet. Use a different `seed` for
    /// each client, so that their random delays differ.
    pub(crate) fn new(resubscribe: ResubscribePolicy, seed: u64) -> Self {
        ResubscribeBackoff {
            resubscribe,
            random: SplitMix64::new(seed),
            attempts: 0,
            was_open: false,
            open_since: None,
        }
    }

    /// Records that the server acknowledged the subscription at `now`.
    pub(crate) fn acknowledged(&mut self, now: Timestamp) {
        self.was_open = true;
        self.open_since = Some(now);
    }

    /// Returns when to reopen a subscription that has just ended, or whose reopening has just failed. Returns `None` if
    /// the subscription must not be reopened.
    pub(crate) fn ended(&mut self, end: &SubscriptionEnd, now: Timestamp) -> Option<Timestamp> {
        let is_final = match (end, self.resubscribe) {
            (SubscriptionEnd::ByClient, _) | (_, ResubscribePolicy::Never) => true,
            (SubscriptionEnd::ByServer, resubscribe) => resubscribe != ResubscribePolicy::Always,
            _ => false,
        };
        if !self.was_open {
            return None;
        }
        if self.open_since.take().is_some_and(|since| now.duration_since(since) >= STEADY) {
            self.attempts = 0;
        }
        if is_final || self.attempts == MAX_ATTEMPTS {
            return None;
        }
        let whole = exponential(FIRST, LONGEST, self.attempts);
        self.attempts += 1;
        let half = u64::try_from((whole / 2).as_millis()).unwrap_or(u64::MAX);
        Some(now + whole / 2 + Duration::from_millis(self.random.below(half)))
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::session::error::CloseReason;

    fn lost() -> SubscriptionEnd {
        SubscriptionEnd::Dropped(CloseReason::ByServer)
    }

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_origin(Duration::from_secs(seconds))
    }

    #[test]
    fn the_delays_double_and_end() {
        for seed in 0..100 {
            let mut backoff = ResubscribeBackoff::new(ResubscribePolicy::AfterDrop, seed);
            backoff.acknowledged(at(0));
            let mut now = at(1);
            let mut waits = Vec::new();
            while let Some(next) = backoff.ended(&lost(), now) {
                waits.push(next.duration_since(now));
                now = next;
            }
            let whole = [1, 2, 4, 8, 16, 32, 60, 60, 60, 60].map(Duration::from_secs);
            assert_eq!(waits.len(), whole.len());
            for (wait, whole) in waits.iter().zip(whole) {
                assert!(*wait >= whole / 2 && *wait <= whole, "{wait:?} of {whole:?}");
            }
        }
    }

    #[test]
    fn a_subscription_that_was_open_for_long_resets_the_delays() {
        let mut backoff = ResubscribeBackoff::new(ResubscribePolicy::AfterDrop, 7);
        for round in 0..100 {
            backoff.acknowledged(at(round * 1000));
            let ended = at(round * 1000 + 60);
            let again = backoff.ended(&lost(), ended).expect("each interruption leads to another attempt");
            assert!(again.duration_since(ended) <= FIRST);
        }
        // A subscription that ends at once after its acknowledgment does not reset the delays.
        let mut attempts = 0;
        loop {
            backoff.acknowledged(at(200_000));
            if backoff.ended(&lost(), at(200_000)).is_none() {
                break;
            }
            attempts += 1;
        }
        assert!(attempts <= MAX_ATTEMPTS, "{attempts}");
    }

    #[test]
    fn reopen_decides_which_ends_are_final() {
        let tries = |resubscribe, end: &SubscriptionEnd| {
            let mut backoff = ResubscribeBackoff::new(resubscribe, 7);
            backoff.acknowledged(at(0));
            backoff.ended(end, at(1)).is_some()
        };
        assert!(!tries(ResubscribePolicy::Never, &lost()));
        assert!(!tries(ResubscribePolicy::AfterDrop, &SubscriptionEnd::ByServer));
        assert!(tries(ResubscribePolicy::AfterDrop, &lost()));
        assert!(tries(ResubscribePolicy::Always, &SubscriptionEnd::ByServer));
        assert!(!tries(ResubscribePolicy::Always, &SubscriptionEnd::ByClient));
        let mut never_open = ResubscribeBackoff::new(ResubscribePolicy::Always, 7);
        assert_eq!(never_open.ended(&lost(), at(1)), None);
    }
}
