//! Data of pending requests whose responses can be cached.

use super::CacheKey;

/// The cache key of a request that awaits its response, and whether the response may be cached.
#[derive(Debug)]
pub(crate) struct PendingEntry {
    key: CacheKey,
    is_valid: bool,
    stale_if_error: bool,
}

impl PendingEntry {
    pub(crate) fn new(key: CacheKey, stale_if_error: bool) -> Self {
        PendingEntry { key, is_valid: true, stale_if_error }
    }

    pub(crate) fn key(&self) -> &CacheKey {
        &self.key
    }

    /// Returns whether the caller accepts a stale cached response if the request fails.
    pub(crate) fn stale_if_error(&self) -> bool {
        self.stale_if_error
    }

    /// Prevents the response from being cached. Called when the server's data may have changed while the request was
    /// pending, because the response may predate the change.
    pub(crate) fn invalidate(&mut self) {
        self.is_valid = false;
    }

    /// Returns the key under which to cache the response, or `None` after [`Self::invalidate`].
    pub(crate) fn into_valid_key(self) -> Option<CacheKey> {
        self.is_valid.then_some(self.key)
    }
}
