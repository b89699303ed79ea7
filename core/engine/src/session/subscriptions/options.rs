//! [`SubscribeOptions`]: the options of one subscription.

use core::time::Duration;

use super::ResubscribePolicy;

/// The options of one subscription.
///
/// A subscription has no deadline once it is open: it lasts until either side ends it.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SubscribeOptions {
    /// Time limit for the acknowledgment, instead of [`Config::request_timeout`](crate::Config::request_timeout).
    pub timeout: Option<Duration>,
    /// When to open the subscription again after it has ended.
    pub resubscribe: ResubscribePolicy,
    /// Seed of the random part of the backoff. Adapters set it; `None` stands for a fixed seed.
    pub seed: Option<u64>,
}

impl SubscribeOptions {
    /// Creates options with the defaults of the session.
    pub fn new() -> Self {
        SubscribeOptions::default()
    }

    /// Sets the time limit for the acknowledgment.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets when to open the subscription again after it has ended.
    pub fn resubscribe(mut self, resubscribe: ResubscribePolicy) -> Self {
        self.resubscribe = resubscribe;
        self
    }
}
