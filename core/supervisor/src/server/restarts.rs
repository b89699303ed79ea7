//! Restart decisions after a failure: whether to restart, and after which delay.

use alloc::collections::VecDeque;
use core::time::Duration;

use crate::{Policy, Restart, Retry};
use mcpwire_core::Timestamp;
use mcpwire_core::internal::XorShift64;
use mcpwire_core::internal::exponential;

/// Upper limit of [`Budget::restarts`](crate::Budget::restarts), because every restart within the window is stored.
const MAX_RESTARTS: u32 = 1_000;

/// Longest delay accepted from a server's `Retry-After`. 1 h: a wrong header must not disable a server for good.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(3_600);

/// Counts the restarts of a server across attempts.
#[derive(Clone, Debug)]
pub(super) struct Restarts {
    /// Number of consecutive attempts that did not run for [`Policy::stable_after`].
    attempt: u32,
    /// Times of the restarts within the budget window, oldest first.
    granted: VecDeque<Timestamp>,
    total: u64,
    random: XorShift64,
}

/// The decision about a failed server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RestartDecision {
    /// Restart after this delay.
    After(Duration),
    /// Do not restart: the server has failed too often.
    CrashLoop,
    /// Do not restart: a restart would not help, or the policy forbids it.
    GiveUp,
}

impl Restarts {
    pub(super) fn new(seed: u64) -> Self {
        Restarts { attempt: 0, granted: VecDeque::new(), total: 0, random: XorShift64::new(seed) }
    }

    /// Resets the counters when a user starts or restarts the server.
    pub(super) fn reset(&mut self) {
        self.attempt = 0;
        self.granted.clear();
    }

    /// Resets the number of consecutive failures.
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
        while self.granted.front().is_some_and(|at| now.duration_since(*at) >= budget.within) {
            self.granted.pop_front();
        }
        let many = u32::try_from(self.granted.len()).unwrap_or(u32::MAX);
        if many >= budget.restarts.min(MAX_RESTARTS) || self.attempt >= budget.attempts {
            return RestartDecision::CrashLoop;
        }
        self.granted.push_back(now);
        let wait = self.wait(policy);
        RestartDecision::After(match retry {
            Retry::After(least) => wait.max(least.min(MAX_RETRY_AFTER)),
            _ => wait,
        })
    }

    /// Returns the next delay. It doubles with each attempt and varies by 20 %, so that servers that failed together do
    /// not restart together.
    fn wait(&mut self, policy: &Policy) -> Duration {
        let wait = exponential(policy.first_backoff, policy.longest_backoff, self.attempt.saturating_sub(1));
        let fifth = u64::try_from((wait / 5).as_millis()).unwrap_or(u64::MAX / 4);
        wait.saturating_sub(wait / 5).saturating_add(Duration::from_millis(self.random.below(2 * fifth + 1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PackageKind;

    #[test]
    fn waits_double_up_to_the_longest_and_vary_by_a_fifth() {
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
    fn what_the_other_side_asks_for_is_the_least() {
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
