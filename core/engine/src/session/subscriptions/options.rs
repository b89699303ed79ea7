//! [`SubscribeOptions`]: the options of one subscription.

use core::time::Duration;

use super::ResubscribePolicy;

/// The options of one subscription: how long to wait for the server's acknowledgment, and when to reopen the
/// subscription.
///
/// An acknowledged subscription has no deadline: it lasts until the client or the server ends it.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
#[must_use = "options have no effect until they are used"]
pub struct SubscribeOptions {
    /// Maximum time until the server acknowledges the subscription. `None` uses
    /// [`Config::request_timeout`](crate::Config::request_timeout).
    pub timeout: Option<Duration>,
    /// The policy that decides whether the subscription is reopened after it has ended.
    pub resubscribe: ResubscribePolicy,
    /// Seed for the random part of the delays before the subscription is reopened. It should differ between clients, so
    /// that they do not all reconnect to a restarted server at the same time. If it is `None`, the adapters (the crates
    /// that do the I/O) choose a random seed, but the engine alone uses the same seed in each client.
    pub seed: Option<u64>,
}

impl SubscribeOptions {
    /// Creates options with default values.
    pub fn new() -> Self {
        SubscribeOptions::default()
    }

    /// Sets the maximum time until the server acknowledges the subscription.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets the policy that decides whether the subscription is reopened after it has ended.
    pub fn resubscribe(mut self, resubscribe: ResubscribePolicy) -> Self {
        self.resubscribe = resubscribe;
        self
    }
}
