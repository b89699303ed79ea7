//! A cache of responses. Each response is fresh for as long as the server declares (protocol revision 2026-07-28,
//! server/utilities/caching).
//!
//! The cache reads no clock: callers pass the time, and entries expire only when they are looked up.

mod key;
#[cfg(test)]
mod tests;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::time::Duration;

use crate::rpc::Response;
use crate::time::Timestamp;
pub(crate) use key::{CacheKey, PendingEntry, is_cacheable, is_within};
use mcpwire_text::json::scan;

/// Limits of a session's response cache: total size, number of responses, and lifetime of each response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheLimits {
    /// Maximum total size of the cached responses and their keys, in bytes. 0 disables the cache.
    ///
    /// A response larger than a quarter of this limit is not cached, because it would displace too many others.
    pub bytes: usize,
    /// Maximum number of cached responses. 0 disables the cache.
    pub entries: usize,
    /// Maximum lifetime of a cached response, even if the server declares a longer lifetime. Zero disables the cache.
    pub ttl: Duration,
}

impl CacheLimits {
    /// Limits that disable the cache.
    pub const NONE: CacheLimits = CacheLimits { bytes: 0, entries: 0, ttl: Duration::ZERO };

    /// Creates limits: `bytes` for the total size, `entries` for the number of responses, `ttl` for the lifetime of
    /// each response.
    pub const fn new(bytes: usize, entries: usize, ttl: Duration) -> Self {
        CacheLimits { bytes, entries, ttl }
    }
}

/// A cached response message, and where its parts are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CachedAnswer {
    /// The complete JSON-RPC message, as received from the server.
    pub message: Vec<u8>,
    pub response: Response,
}

/// A cache of the responses of one server. When the cache is full ([`CacheLimits`]), it removes the least recently used
/// response.
///
/// All responses that are not `public` belong to the current authorization context. [`Cache::discard_private`] removes
/// them when it changes (specification: server/utilities/caching, "Cache Scope Field").
#[derive(Debug)]
pub(crate) struct Cache {
    limits: CacheLimits,
    entries: BTreeMap<CacheKey, CacheEntry>,
    /// Counter that increases by one whenever an entry is stored or returned.
    uses: u64,
}

#[derive(Debug)]
struct CacheEntry {
    answer: CachedAnswer,
    /// Whether the response may be returned in every authorization context.
    #[cfg_attr(not(feature = "http"), expect(dead_code, reason = "only the authorization of HTTP requests changes"))]
    is_public: bool,
    /// When the response becomes stale. `None` if [`Cache::invalidate`] has already made it stale.
    fresh_until: Option<Timestamp>,
    /// Value of [`Cache::uses`] when this entry was last stored or returned. The least recently used entry has the
    /// lowest value.
    used: u64,
}

impl Cache {
    pub(crate) fn new(limits: CacheLimits) -> Self {
        Cache { limits, entries: BTreeMap::default(), uses: 0 }
    }

    /// Returns the cached response to the request `key` if it is fresh at the time `now`. Returns `None` otherwise.
    pub(crate) fn fresh(&mut self, key: &CacheKey, now: Timestamp) -> Option<&CachedAnswer> {
        self.find(key, &|entry| entry.fresh_until.is_some_and(|until| now < until))
    }

    /// Returns the cached response to the request `key`, even if it is stale, or `None` if there is none.
    pub(crate) fn stale(&mut self, key: &CacheKey) -> Option<&CachedAnswer> {
        self.find(key, &|_| true)
    }

    /// Stores `message`, the response received at the time `now`, in place of any earlier response to the same request.
    /// Returns whether the response was stored.
    ///
    /// The response is not stored if its result is incomplete or has no valid `ttlMs`, or if the response and its key
    /// are larger than a quarter of [`CacheLimits::bytes`]. The earlier response is removed in any case.
    pub(crate) fn put(&mut self, key: CacheKey, message: &[u8], response: Response, now: Timestamp) -> bool {
        self.entries.remove(&key);
        let weight = key.weight() + message.len();
        // A single result must not evict all others.
        if self.limits.entries == 0 || weight > self.limits.bytes / 4 {
            return false;
        }
        let hints = Hints::parse(response.result(message).unwrap_or_default());
        let ttl = hints.ttl.min(self.limits.ttl);
        if ttl.is_zero() || !hints.complete || !mcpwire_text::json::is_json(message) {
            return false;
        }
        while self.entries.len() >= self.limits.entries || self.bytes() + weight > self.limits.bytes {
            let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.used).map(|(key, _)| key.clone());
            let Some(oldest) = oldest else { break };
            self.entries.remove(&oldest);
        }
        self.uses += 1;
        let answer = CachedAnswer { message: message.into(), response };
        let entry = CacheEntry { answer, is_public: hints.public, fresh_until: Some(now + ttl), used: self.uses };
        self.entries.insert(key, entry);
        true
    }

    /// Marks the cached responses to the requests that have changed as stale.
    pub(crate) fn invalidate(&mut self, has_changed: &dyn Fn(&CacheKey) -> bool) {
        for (_, entry) in self.entries.iter_mut().filter(|(key, _)| has_changed(key)) {
            entry.fresh_until = None;
        }
    }

    /// Removes all cached responses to requests with this method.
    pub(crate) fn discard(&mut self, method: &str) {
        self.entries.retain(|key, _| key.method != method);
    }

    /// Removes all cached responses that are not public.
    #[cfg(feature = "http")]
    pub(crate) fn discard_private(&mut self) {
        self.entries.retain(|_, entry| entry.is_public);
    }

    /// Returns the total size of the cached responses and their keys, in bytes.
    fn bytes(&self) -> usize {
        self.entries.iter().map(|(key, entry)| key.weight() + entry.answer.message.len()).sum()
    }

    /// Returns whether the cache is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn find(&mut self, key: &CacheKey, good: &dyn Fn(&CacheEntry) -> bool) -> Option<&CachedAnswer> {
        let entry = self.entries.get_mut(key).filter(|entry| good(entry))?;
        self.uses += 1;
        entry.used = self.uses;
        Some(&entry.answer)
    }
}

/// The cache hints of a response: whether, for how long and for whom the result may be cached.
#[derive(Debug, PartialEq)]
struct Hints {
    /// Time for which the result may be cached after receipt (`ttlMs`). Zero if `ttlMs` is absent or invalid: then the
    /// result must not be cached.
    ttl: Duration,
    /// Whether requests with any authorization may receive the cached result (`cacheScope` is `public`).
    public: bool,
    /// Whether the result is complete (`resultType` is `complete` or absent). No other result may be cached.
    complete: bool,
}

impl Hints {
    fn parse(result: &[u8]) -> Hints {
        let mut hints = Hints { ttl: Duration::ZERO, public: false, complete: true };
        for member in scan::members(result) {
            if member.is("ttlMs") {
                hints.ttl = parse_ttl(member.value);
            } else if member.is("cacheScope") {
                hints.public = scan::text(member.value).as_deref() == Some("public");
            } else if member.is("resultType") {
                hints.complete = scan::text(member.value).as_deref() == Some("complete");
            }
        }
        hints
    }
}

/// Parses the value of `ttlMs`, rounded down to whole milliseconds. Returns zero if the value is negative or not a
/// number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast rounds down, and numbers out of range become 0 or `u64::MAX`"
)]
fn parse_ttl(number: &[u8]) -> Duration {
    let millis = core::str::from_utf8(number).ok().and_then(|text| text.parse::<f64>().ok());
    Duration::from_millis(millis.unwrap_or(0.0) as u64)
}
