//! Backoff for reopening subscriptions.

use core::time::Duration;

use super::changes::SubscriptionEnd;
use crate::backoff::exponential;
use crate::random::SplitMix64;
use crate::time::Timestamp;

/// Which ends of a subscription are not taken for the last word. What was never acknowledged is not opened again, and
/// neither is what this side has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reopen {
    /// None.
    Never,
    /// All but the server's own word that it is over: an error, or a stream that breaks. (Where the stream is that of the
    /// whole connection, as with a process, its end is the last word all the same.) Servers that end a subscription
    /// gracefully mean it (2026-07-28, basic/patterns/subscriptions, "Graceful Closure").
    #[default]
    AfterDrop,
    /// All. For servers that end subscriptions now and then, as behind a proxy.
    Always,
}

/// Delay before the first attempt. 1 s gives a restarted server time to come up.
const FIRST: Duration = Duration::from_secs(1);

/// Maximum delay. 1 min: a longer delay would make notifications too late, and one request a minute burdens no server.
const LONGEST: Duration = Duration::from_secs(60);

/// Time after which an open subscription resets the backoff. 1 min, the longest delay, bounds the average rate of
/// attempts even if the server ends each subscription.
const STEADY: Duration = Duration::from_secs(60);

/// Maximum number of consecutive attempts. 10 attempts take about seven minutes, after which the user should know.
const MOST: u32 = 10;

/// Says when to listen again. Pure: the time and a seed come in, a moment comes out.
///
/// The waits double from 1 s to 1 min, each between half of it and the whole, by chance: clients that lost their server at
/// the same moment do not come back at the same moment.
///
/// ```
/// use core::time::Duration;
/// use mcpwire_core::{Closed, Relisten, Reopen, SubscriptionEnd, Timestamp};
///
/// let mut relisten = Relisten::new(Reopen::AfterDrop, 42);
/// relisten.acknowledged(Timestamp::ORIGIN);
/// let lost = SubscriptionEnd::Dropped(Closed::ByServer);
/// let at = relisten.ended(&lost, Timestamp::ORIGIN).expect("it is opened again");
/// assert!(at >= Timestamp::from_origin(Duration::from_millis(500)));
/// assert_eq!(relisten.ended(&SubscriptionEnd::ByServer, at), None);
/// ```
#[derive(Clone, Debug)]
pub(crate) struct Relisten {
    reopen: Reopen,
    random: SplitMix64,
    attempts: u32,
    /// Since when it is open, or was for the last time.
    open_since: Option<Timestamp>,
    is_open: bool,
}

impl Relisten {
    /// For a subscription that has not been acknowledged yet. Any seed will do; that of other clients should be another.
    pub(crate) fn new(reopen: Reopen, seed: u64) -> Self {
        Relisten { reopen, random: SplitMix64::new(seed), attempts: 0, open_since: None, is_open: false }
    }

    /// The server has acknowledged the subscription.
    pub(crate) fn acknowledged(&mut self, now: Timestamp) {
        self.open_since = Some(now);
        self.is_open = true;
    }

    /// Whether it ever was acknowledged.
    pub(super) fn was_open(&self) -> bool {
        self.open_since.is_some()
    }

    /// The subscription has ended, or an attempt to open it again has failed. When to try again; `None` for not at all.
    pub(crate) fn ended(&mut self, end: &SubscriptionEnd, now: Timestamp) -> Option<Timestamp> {
        let since = self.open_since?;
        let last_word = match (end, self.reopen) {
            (SubscriptionEnd::ByClient, _) | (_, Reopen::Never) => true,
            (SubscriptionEnd::ByServer, reopen) => reopen != Reopen::Always,
            _ => false,
        };
        if core::mem::take(&mut self.is_open) && now.duration_since(since) >= STEADY {
            self.attempts = 0;
        }
        if last_word || self.attempts == MOST {
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
    use crate::session::error::Closed;

    fn lost() -> SubscriptionEnd {
        SubscriptionEnd::Dropped(Closed::ByServer)
    }

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_origin(Duration::from_secs(seconds))
    }

    #[test]
    fn the_waits_double_and_end() {
        for seed in 0..100 {
            let mut relisten = Relisten::new(Reopen::AfterDrop, seed);
            relisten.acknowledged(at(0));
            let mut now = at(1);
            let mut waits = Vec::new();
            while let Some(next) = relisten.ended(&lost(), now) {
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
    fn one_that_held_begins_anew() {
        let mut relisten = Relisten::new(Reopen::AfterDrop, 7);
        for round in 0..100 {
            relisten.acknowledged(at(round * 1000));
            let ended = at(round * 1000 + 60);
            let again = relisten.ended(&lost(), ended).expect("it goes on for ever");
            assert!(again.duration_since(ended) <= FIRST);
        }
        // Acknowledged and ended at once does not count as having held.
        let mut attempts = 0;
        loop {
            relisten.acknowledged(at(200_000));
            if relisten.ended(&lost(), at(200_000)).is_none() {
                break;
            }
            attempts += 1;
        }
        assert!(attempts <= MOST, "{attempts}");
    }

    #[test]
    fn the_last_word_is_the_last() {
        let tries = |reopen, end: &SubscriptionEnd| {
            let mut relisten = Relisten::new(reopen, 7);
            relisten.acknowledged(at(0));
            relisten.ended(end, at(1)).is_some()
        };
        assert!(!tries(Reopen::Never, &lost()));
        assert!(!tries(Reopen::AfterDrop, &SubscriptionEnd::ByServer));
        assert!(tries(Reopen::AfterDrop, &lost()));
        assert!(tries(Reopen::Always, &SubscriptionEnd::ByServer));
        assert!(!tries(Reopen::Always, &SubscriptionEnd::ByClient));
        let mut never_open = Relisten::new(Reopen::Always, 7);
        assert_eq!(never_open.ended(&lost(), at(1)), None);
    }
}
