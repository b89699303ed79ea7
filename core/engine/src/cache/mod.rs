//! A cache of responses. Each response is fresh for as long as the server declares (protocol revision 2026-07-28,
//! server/utilities/caching).
//!
//! The cache reads no clock: callers pass the time, and entries expire only when they are looked up.

mod hints;
mod key;
mod pending;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;
use core::time::Duration;

use crate::time::Timestamp;
use hints::Hints;
pub(crate) use key::CacheKey;
pub(crate) use key::{is_cacheable, is_within};
use mcpwire_types::vec_map::VecMap;
pub(crate) use pending::PendingEntry;

/// A number that identifies an authorization, such as an access token. Different authorizations must have different
/// numbers in one cache.
///
/// A cached response without the scope `public` is returned only to requests with the number of the request that
/// fetched it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CacheContext(pub u64);

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

/// A cached response message and its JSON-RPC id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CachedAnswer {
    /// The complete JSON-RPC message, as received from the server.
    pub message: Vec<u8>,
    pub id: u64,
}

/// A cache of the responses of one server. When the cache is full ([`CacheLimits`]), it removes the least recently used
/// response.
///
/// A response with the scope `public` is returned for every [`CacheContext`]. Any other response is returned only for
/// the context of the request that fetched it (specification: server/utilities/caching, "Cache Scope Field").
#[derive(Debug)]
pub(crate) struct Cache {
    limits: CacheLimits,
    entries: VecMap<EntryKey, CacheEntry>,
    /// Total size of the cached responses and their keys, in bytes.
    bytes: usize,
    /// Counter that increases by one whenever an entry is stored or returned.
    uses: u64,
}

/// The authorization whose requests may receive the cached response (`None` if all may), and the key of the request.
type EntryKey = (Option<CacheContext>, CacheKey);

#[derive(Debug)]
struct CacheEntry {
    answer: CachedAnswer,
    /// When the response becomes stale. `None` if [`Cache::invalidate`] or [`Cache::invalidate_resource`] has already
    /// made it stale.
    fresh_until: Option<Timestamp>,
    /// Value of [`Cache::uses`] when this entry was last stored or returned. The least recently used entry has the
    /// lowest value.
    used: u64,
}

impl Cache {
    pub(crate) fn new(limits: CacheLimits) -> Self {
        Cache { limits, entries: VecMap::default(), bytes: 0, uses: 0 }
    }

    /// Returns the cached response to the request `key`, if it may be returned for `context` and is fresh at the time
    /// `now`. Returns `None` otherwise.
    pub(crate) fn fresh(&mut self, key: &CacheKey, context: CacheContext, now: Timestamp) -> Option<&CachedAnswer> {
        self.find(key, context, &|entry| entry.fresh_until.is_some_and(|until| now < until))
    }

    /// Returns the cached response to the request `key`, even if it is stale, or `None` if the cache has no response
    /// that may be returned for `context`.
    pub(crate) fn stale(&mut self, key: &CacheKey, context: CacheContext) -> Option<&CachedAnswer> {
        self.find(key, context, &|_| true)
    }

    /// Stores `message`, the response received at the time `now`, in place of any earlier response to the same request.
    /// `id` is the JSON-RPC id of `message`. Returns whether the response was stored.
    ///
    /// The response is not stored if its result is incomplete or has no valid `ttlMs`, or if the response and its key
    /// are larger than a quarter of [`CacheLimits::bytes`]. The earlier response is removed in any case.
    pub(crate) fn put(
        &mut self,
        key: CacheKey,
        context: CacheContext,
        message: &[u8],
        id: u64,
        now: Timestamp,
    ) -> bool {
        let places = [(None, key.clone()), (Some(context), key)];
        for place in &places {
            self.remove(place);
        }
        let [public, private] = places;
        let weight = public.1.weight() + message.len();
        // A single result must not evict all others.
        if self.limits.entries == 0 || weight > self.limits.bytes / 4 {
            return false;
        }
        let hints = Hints::parse(message);
        let ttl = hints.ttl.min(self.limits.ttl);
        if ttl.is_zero() || !hints.complete || !mcpwire_types::json::is_json(message) {
            return false;
        }
        while self.entries.len() >= self.limits.entries || self.bytes + weight > self.limits.bytes {
            let Some(oldest) = self.entries.iter().min_by_key(|(_, entry)| entry.used).map(|(place, _)| place.clone())
            else {
                break;
            };
            self.remove(&oldest);
        }
        self.uses += 1;
        self.bytes += weight;
        let answer = CachedAnswer { message: message.into(), id };
        let entry = CacheEntry { answer, fresh_until: Some(now + ttl), used: self.uses };
        self.entries.insert(if hints.public { public } else { private }, entry);
        true
    }

    /// Marks all cached responses to requests with this method as stale, for every [`CacheContext`].
    pub(crate) fn invalidate(&mut self, method: &str) {
        for ((_, key), entry) in self.entries.iter_mut() {
            if key.method() == method {
                entry.fresh_until = None;
            }
        }
    }

    /// Marks the cached contents of the resource `uri` as stale, and also those of resources within it and of resources
    /// that contain it.
    pub(crate) fn invalidate_resource(&mut self, uri: &str) {
        for ((_, key), entry) in self.entries.iter_mut() {
            if key.reads(uri) {
                entry.fresh_until = None;
            }
        }
    }

    /// Removes all cached responses to requests with this method, for every [`CacheContext`].
    pub(crate) fn discard(&mut self, method: &str) {
        self.entries.retain(|(_, key), entry| {
            let stays = key.method() != method;
            if !stays {
                self.bytes -= key.weight() + entry.answer.message.len();
            }
            stays
        });
    }

    /// Returns the number of cached responses.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether the cache is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the total size of the cached responses and their keys, in bytes.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    fn find(
        &mut self,
        key: &CacheKey,
        context: CacheContext,
        good: &dyn Fn(&CacheEntry) -> bool,
    ) -> Option<&CachedAnswer> {
        let place = [None, Some(context)]
            .into_iter()
            .map(|whose| (whose, key.clone()))
            .find(|place| self.entries.get(place).is_some_and(good))?;
        self.uses += 1;
        let entry = self.entries.get_mut(&place)?;
        entry.used = self.uses;
        Some(&entry.answer)
    }

    fn remove(&mut self, place: &EntryKey) {
        if let Some(entry) = self.entries.remove(place) {
            self.bytes -= place.1.weight() + entry.answer.message.len();
        }
    }
}
