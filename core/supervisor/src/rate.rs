//! How many calls a server is sent.

use alloc::collections::VecDeque;
use core::time::Duration;

use super::ErrorContract;
use mcpwire_core::Timestamp;

/// No limit of calls is larger than this: each call within the window is remembered.
const MOST: u32 = 10_000;

/// So many calls in so much time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// How many; 0 is none at all, and more than 10,000 are taken for 10,000.
    pub calls: u32,
    /// In how much time.
    pub per: Duration,
}

impl Default for Rate {
    /// 60 calls a minute.
    fn default() -> Self {
        Rate { calls: 60, per: Duration::from_secs(60) }
    }
}

/// Keeps calls to a [`Rate`]: in no stretch of that time are there more, wherever it begins.
///
/// ```
/// use core::time::Duration;
/// use mcpwire_core::Timestamp;
/// use mcpwire_supervisor::{Rate, RateLimiter};
///
/// let at = |secs| Timestamp::from_origin(Duration::from_secs(secs));
/// let mut limiter = RateLimiter::new(Some(Rate { calls: 2, per: Duration::from_secs(60) }));
/// assert!(limiter.take(at(0)).is_ok());
/// assert!(limiter.take(at(10)).is_ok());
/// assert_eq!(limiter.take(at(20)).unwrap_err().retry_after, Duration::from_secs(40));
/// assert!(limiter.take(at(60)).is_ok());
/// ```
#[derive(Clone, Debug)]
pub struct RateLimiter {
    rate: Option<Rate>,
    /// When calls were let through, the latest last.
    taken: VecDeque<Timestamp>,
}

/// A call comes too early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyCalls {
    /// The limit.
    pub rate: Rate,
    /// After how long one will be let through.
    pub retry_after: Duration,
}

impl TooManyCalls {
    /// As hosts show it.
    pub fn contract(&self) -> ErrorContract {
        let Rate { calls, per } = self.rate;
        let wait = self.retry_after.as_millis().div_ceil(1_000);
        let text = alloc::format!("Rate limit of {calls} calls in {per:?} reached; try again in {wait} s");
        ErrorContract::unavailable(text)
    }
}

impl core::fmt::Display for TooManyCalls {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.contract().fmt(f)
    }
}

impl core::error::Error for TooManyCalls {}

impl RateLimiter {
    /// `None` lets everything through.
    pub fn new(rate: Option<Rate>) -> Self {
        RateLimiter { rate, taken: VecDeque::new() }
    }

    /// Another limit from now on. What was let through counts.
    pub fn set(&mut self, rate: Option<Rate>) {
        self.rate = rate;
        if rate.is_none() {
            self.taken = VecDeque::new();
        }
    }

    /// Lets a call through, or says when to come again.
    pub fn take(&mut self, now: Timestamp) -> Result<(), TooManyCalls> {
        let Some(rate) = self.rate else { return Ok(()) };
        while self.taken.front().is_some_and(|at| now.duration_since(*at) >= rate.per) {
            self.taken.pop_front();
        }
        let most = rate.calls.min(MOST) as usize;
        if self.taken.len() < most {
            self.taken.push_back(now);
            return Ok(());
        }
        // As many have to pass as there are too many, and one more.
        let blocking = self.taken.get(self.taken.len() - most);
        let retry_after = blocking.map_or(rate.per, |at| (*at + rate.per).duration_since(now));
        Err(TooManyCalls { rate, retry_after })
    }
}
