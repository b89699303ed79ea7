//! Decides after a failure whether to restart the server, and after which delay.

use alloc::collections::VecDeque;
use core::time::Duration;

use crate::{Policy, Restart, Retry};
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
    /// Number of consecutive failures of the server. A failure after a run of at least [`Policy::stable_after`] counts
    /// as the first.
    attempt: u32,
    /// When each automatic restart in the time window of the [`Budget`](crate::Budget) was scheduled, oldest first.
    recent: VecDeque<Timestamp>,
    total: u64,
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
        Restarts { attempt: 0, recent: VecDeque::new(), total: 0, random: XorShift64::new(seed) }
    }

    pub(super) fn reset(&mut self) {
        self.attempt = 0;
        self.recent.clear();
    }

    pub(super) fn reset_attempts(&mut self) {
        self.attempt = 0;
    }

    pub(super) fn attempt(&self) -> u32 {
        self.attempt
    }

    pub(super) fn total(&self) -> u64 {
        self.total
    }

    pub(super) fn count_restart(&mut self) {
        self.total += 1;
    }

    pub(super) fn after_failure(&mut self, retry: Retry, policy: &Policy, now: Timestamp) -> RestartDecision {
        self.attempt = self.attempt.saturating_add(1);
        if !retry.is_automatic() || policy.restart == Restart::Never {
            return RestartDecision::GiveUp;
        }
        let budget = &policy.budget;
        while self.recent.front().is_some_and(|at| now.duration_since(*at) >= budget.within) {
            self.recent.pop_front();
        }
        let count = u32::try_from(self.recent.len()).unwrap_or(u32::MAX);
        if count >= budget.restarts.min(MAX_RESTARTS) || self.attempt >= budget.attempts {
            return RestartDecision::CrashLoop;
        }
        self.recent.push_back(now);
        let delay = self.next_delay(policy);
        RestartDecision::After(match retry {
            Retry::After(requested) => delay.max(requested.min(MAX_RETRY_AFTER)),
            _ => delay,
        })
    }

    /// Returns the delay before the next automatic restart.
    ///
    /// The delay doubles with each consecutive failure. It varies randomly by up to 20 %, so that servers that failed
    /// together do not restart together.
    fn next_delay(&mut self, policy: &Policy) -> Duration {
        let delay = exponential(policy.first_backoff, policy.longest_backoff, self.attempt.saturating_sub(1));
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
