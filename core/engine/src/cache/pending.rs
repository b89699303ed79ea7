//! An answer that will be cached once it has come.

use super::CacheKey;

/// The place in the cache that waits for an answer.
#[derive(Debug)]
pub(crate) struct PendingEntry {
    key: CacheKey,
    /// Cleared when the server says that the answer has changed after the request was sent.
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

    /// Whether the caller prefers a stale answer to an error.
    pub(crate) fn stale_if_error(&self) -> bool {
        self.stale_if_error
    }

    /// Keeps the answer out of the cache: it may be older than a change that the server has reported.
    pub(crate) fn invalidate(&mut self) {
        self.is_valid = false;
    }

    /// Returns the key, unless the answer must not be cached.
    pub(crate) fn into_valid_key(self) -> Option<CacheKey> {
        self.is_valid.then_some(self.key)
    }
}
