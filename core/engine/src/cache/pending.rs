//! Tracking of requests whose results will be cached.

use super::CacheKey;

/// The cache key of a pending request.
#[derive(Debug)]
pub(crate) struct PendingEntry {
    key: CacheKey,
    /// Cleared when the server reports a change after the request was sent.
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

    /// Returns whether the caller prefers a stale result to an error.
    pub(crate) fn stale_if_error(&self) -> bool {
        self.stale_if_error
    }

    /// Excludes the result from the cache, because it may predate a change that the server has reported.
    pub(crate) fn invalidate(&mut self) {
        self.is_valid = false;
    }

    /// Returns the key, or `None` if the result must not be cached.
    pub(crate) fn into_valid_key(self) -> Option<CacheKey> {
        self.is_valid.then_some(self.key)
    }
}
