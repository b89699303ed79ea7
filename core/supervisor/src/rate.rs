//! [`RateLimiter`]: limits the rate of tool calls to a server.

use alloc::collections::VecDeque;
use core::time::Duration;

use super::{ErrorKind, HubError};
use mcpwire_core::Timestamp;

/// Largest effective value of [`Rate::calls`]. The limit bounds the memory use.
const MAX_CALLS: u32 = 10_000;

/// A rate limit: the maximum number of calls in a time window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Maximum number of calls in the time window [`per`](Self::per). 0 rejects every call; values above 10,000 count
    /// as 10,000.
    pub calls: u32,
    /// Length of the sliding time window in which calls are counted.
    pub per: Duration,
}

/// Limits the rate of calls: admits at most [`Rate::calls`] in each sliding time window of length [`Rate::per`].
///
/// ```
/// # mod mcpwire { pub mod hub { pub mod protocol { pub use mcpwire_core::Timestamp; } pub mod supervisor { pub use
/// # mcpwire_supervisor::{Rate, RateLimiter}; } } }
/// use core::time::Duration;
/// use mcpwire::hub::protocol::Timestamp;
/// use mcpwire::hub::supervisor::{Rate, RateLimiter};
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
    /// When each call in the current time window was admitted, oldest first.
    admitted: VecDeque<Timestamp>,
}

/// The error of a tool call that was rejected because its server has reached its rate limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.to_hub_error())]
pub struct TooManyCalls {
    /// The rate limit that the call exceeded.
    pub rate: Rate,
    /// Time to wait, counted from the rejected call, until the rate limit allows the next call.
    pub retry_after: Duration,
}

impl TooManyCalls {
    /// Converts this error to a [`HubError`], whose message tells the user the rate limit and the time to wait.
    pub fn to_hub_error(&self) -> HubError {
        let Rate { calls, per } = self.rate;
        let wait = self.retry_after.as_millis().div_ceil(1_000);
        let message = alloc::format!("Rate limit of {calls} calls in {per:?} reached; try again in {wait} s");
        HubError::new(ErrorKind::RateLimited, message).with_retry_after(self.retry_after)
    }
}

impl RateLimiter {
    /// Creates a rate limiter that allows calls at this rate, or all calls if `rate` is `None`.
    pub fn new(rate: Option<Rate>) -> Self {
        RateLimiter { rate, admitted: VecDeque::new() }
    }

    /// Changes the rate limit. Calls that were admitted before still count, unless the limit is removed (`rate` is
    /// `None`).
    pub fn set(&mut self, rate: Option<Rate>) {
        self.rate = rate;
        if rate.is_none() {
            self.admitted = VecDeque::new();
        }
    }

    /// Admits and counts a call at the time `now`. Returns an error with the time to wait if the rate limit is reached.
    pub fn take(&mut self, now: Timestamp) -> Result<(), TooManyCalls> {
        let Some(rate) = self.rate else { return Ok(()) };
        while self.admitted.front().is_some_and(|at| now.duration_since(*at) >= rate.per) {
            self.admitted.pop_front();
        }
        let max = rate.calls.min(MAX_CALLS) as usize;
        if self.admitted.len() < max {
            self.admitted.push_back(now);
            return Ok(());
        }
        // The next call is allowed when at most `max - 1` calls are left in the window.
        let blocking = self.admitted.get(self.admitted.len() - max);
        let retry_after = blocking.map_or(rate.per, |at| (*at + rate.per).duration_since(now));
        Err(TooManyCalls { rate, retry_after })
    }
}
