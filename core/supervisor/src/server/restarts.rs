//! Decides after a failure whether to restart the server, and after which delay.

use core::time::Duration;

use crate::{Policy, Rate, RateLimiter, Restart, Retry};
use mcpwire_core::Timestamp;
use mcpwire_core::backoff::exponential;
use mcpwire_core::random::XorShift64;

/// Largest effective value of [`Budget::restarts`](crate::Budget::restarts). The limit bounds the memory for the times
/// of recent restarts.
const MAX_RESTARTS: u32 = 1_000;

/// Maximum restart delay that a server can request with `Retry-After`. Longer delays are shortened to one hour, because
/// the header may be wrong.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(3_600);

#[derive(Clone, Debug)]
pub(super) struct Restarts {
    /// Number of failures of the server in a row. A failure after a run of at least [`Policy::stable_after`] counts as
    /// the first.
    pub(super) failures: u32,
    /// Counts the automatic restarts in the time window of the [`Budget`](crate::Budget).
    recent: RateLimiter,
    /// Number of automatic restarts since the server was added.
    pub(super) total: u64,
    random: XorShift64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RestartDecision {
    /// Restart the server after this delay.
    After(Duration),
    /// Do not restart the server, because it has failed too often.
    CrashLoop,
    /// Do not restart the server, because a restart cannot help or [`Policy::restart`] forbids it.
    GiveUp,
}

impl Restarts {
    pub(super) fn new(seed: u64) -> Self {
        Restarts { failures: 0, recent: RateLimiter::new(None), total: 0, random: XorShift64::new(seed) }
    }

    pub(super) fn reset(&mut self) {
        self.failures = 0;
        self.recent.set(None);
    }

    pub(super) fn after_failure(&mut self, retry: Retry, policy: &Policy, now: Timestamp) -> RestartDecision {
        self.failures = self.failures.saturating_add(1);
        if !retry.is_automatic() || policy.restart == Restart::Never {
            return RestartDecision::GiveUp;
        }
        let budget = &policy.budget;
        self.recent.set(Some(Rate { calls: budget.restarts.min(MAX_RESTARTS), per: budget.within }));
        if self.failures >= budget.attempts || self.recent.take(now).is_err() {
            return RestartDecision::CrashLoop;
        }
        let delay = self.next_delay(policy);
        RestartDecision::After(match retry {
            Retry::After(requested) => delay.max(requested.min(MAX_RETRY_AFTER)),
            _ => delay,
        })
    }

    /// Returns the delay before the next automatic restart.
    ///
    /// The delay doubles with each failure in a row. It varies randomly by up to 20 %, so that servers that failed
    /// together do not restart together.
    fn next_delay(&mut self, policy: &Policy) -> Duration {
        let delay = exponential(policy.first_backoff, policy.longest_backoff, self.failures.saturating_sub(1));
        let spread = u64::try_from((delay / 5).as_millis()).unwrap_or(u64::MAX / 4);
        delay.saturating_sub(delay / 5).saturating_add(Duration::from_millis(self.random.below(2 * spread + 1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PackageKind;

    #[test]
    fn delays_double_up_to_the_maximum_and_vary_by_a_fifth() {
        let mut policy = Policy::new(PackageKind::Binary);
        policy.budget.attempts = 100;
        policy.budget.within = Duration::ZERO;
        let mut restarts = Restarts::new(7);
        for attempt in 0..20 {
            let base = Duration::from_secs(1 << attempt.min(10)).min(policy.longest_backoff);
            let RestartDecision::After(wait) = restarts.after_failure(Retry::Backoff, &policy, Timestamp::ORIGIN)
            else {
                panic!("attempt {attempt} is refused");
            };
            assert!(wait >= base * 4 / 5 && wait <= base * 6 / 5, "{attempt}: {wait:?}");
        }
    }

    #[test]
    fn a_delay_is_at_least_the_one_that_the_server_requests() {
        let policy = Policy::new(PackageKind::Http);
        let requested = Retry::After(Duration::from_secs(90));
        let verdict = Restarts::new(1).after_failure(requested, &policy, Timestamp::ORIGIN);
        assert_eq!(verdict, RestartDecision::After(Duration::from_secs(90)));
    }

    #[test]
    fn a_server_that_fails_slowly_is_given_up_too() {
        let policy = Policy::new(PackageKind::Npm);
        let mut restarts = Restarts::new(3);
        let mut granted = 0;
        for hour in 0..100 {
            let now = Timestamp::from_origin(Duration::from_secs(hour * 3_600));
            if let RestartDecision::After(_) = restarts.after_failure(Retry::Backoff, &policy, now) {
                granted += 1;
            }
        }
        assert_eq!(granted, policy.budget.attempts - 1);
    }
}
