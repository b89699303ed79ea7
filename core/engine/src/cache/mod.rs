//! A cache of results, valid for as long as the server declares (2026-07-28, server/utilities/caching).
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
use crate::vec_map::VecMap;
use hints::Hints;
pub(crate) use key::CacheKey;
pub(crate) use key::{is_cacheable, is_within};
pub(crate) use pending::PendingEntry;

/// Identifies the authorization under which results were fetched.
///
/// Private results are shared only within one context. A connection without authorization uses any number that no other
/// connection to the same server uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CacheContext(pub u64);

/// Limits of the response cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheLimits {
    /// Maximum total size of results and keys, in bytes. 0 disables the cache.
    pub bytes: usize,
    /// Maximum number of results.
    pub entries: usize,
    /// Maximum lifetime of a result, whatever the server declares.
    pub ttl: Duration,
}

impl CacheLimits {
    /// Limits that disable the cache.
    pub const NONE: CacheLimits = CacheLimits { bytes: 0, entries: 0, ttl: Duration::ZERO };

    /// Creates limits from a size in bytes, a number of results and a lifetime.
    pub const fn new(bytes: usize, entries: usize, ttl: Duration) -> Self {
        CacheLimits { bytes, entries, ttl }
    }
}

/// A cached response message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CachedAnswer {
    /// The complete message as received.
    pub message: Vec<u8>,
    /// The id of the request that the message answered.
    pub id: u64,
}

/// A bounded cache of the results of one server.
///
/// Results with the scope `public` are returned for every [`CacheContext`]. All other results are returned only for the
/// context that fetched them ("Cache Scope Field"). So sessions with the same server can share one cache. They must
/// count time from the same origin.
///
/// When the cache is full, the least recently used result is removed.
#[derive(Debug)]
pub(crate) struct Cache {
    limits: CacheLimits,
    entries: VecMap<EntryKey, CacheEntry>,
    bytes: usize,
    uses: u64,
}

/// The context of a result (`None` if public), and its key.
type EntryKey = (Option<CacheContext>, CacheKey);

#[derive(Debug)]
struct CacheEntry {
    answer: CachedAnswer,
    /// When the result expires; `None` if it was invalidated.
    fresh_until: Option<Timestamp>,
    used: u64,
}

impl Cache {
    /// Creates an empty cache.
    pub(crate) fn new(limits: CacheLimits) -> Self {
        Cache { limits, entries: VecMap::default(), bytes: 0, uses: 0 }
    }

    /// Returns the cached result for a request if it is fresh.
    pub(crate) fn fresh(&mut self, key: &CacheKey, context: CacheContext, now: Timestamp) -> Option<&CachedAnswer> {
        self.find(key, context, &|entry| entry.fresh_until.is_some_and(|until| now < until))
    }

    /// Returns the cached result for a request, even if it is stale. For use when the server does not respond.
    pub(crate) fn stale(&mut self, key: &CacheKey, context: CacheContext) -> Option<&CachedAnswer> {
        self.find(key, context, &|_| true)
    }

    /// Stores the response to a request, received at `now`. Returns whether it was stored.
    ///
    /// Only complete results with a lifetime are stored. An earlier result for the same request is removed in any case.
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
        if ttl.is_zero() || !hints.complete || !crate::json::is_json(message) {
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

    /// Marks all results of a method as stale, in every context.
    pub(crate) fn invalidate(&mut self, method: &str) {
        for ((_, key), entry) in self.entries.iter_mut() {
            if key.method() == method {
                entry.fresh_until = None;
            }
        }
    }

    /// Marks the reads of a changed resource as stale, including resources above and below it.
    pub(crate) fn invalidate_resource(&mut self, uri: &str) {
        for ((_, key), entry) in self.entries.iter_mut() {
            if key.reads(uri) {
                entry.fresh_until = None;
            }
        }
    }

    /// Removes all results of a method.
    pub(crate) fn discard(&mut self, method: &str) {
        self.entries.retain(|(_, key), entry| {
            let stays = key.method() != method;
            if !stays {
                self.bytes -= key.weight() + entry.answer.message.len();
            }
            stays
        });
    }

    /// Returns the number of results.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether the cache is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the total size of results and keys, in bytes.
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
