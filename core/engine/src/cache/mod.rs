//! Answers that are kept for as long as the server said that they hold (2026-07-28, server/utilities/caching).
//!
//! Pure, like all of the core: the time comes in, and nothing expires but by being asked for.

mod hints;
mod key;
mod pending;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;
use core::time::Duration;

use crate::sorted::Sorted;
use crate::time::Timestamp;
use hints::Hints;
pub use key::CacheKey;
pub(crate) use key::{is_cacheable, is_within};
pub(crate) use pending::PendingEntry;

/// On whose behalf answers are fetched: what may be shared by all who have the same authorisation, and by nobody else. For
/// a connection without authorisation, any number that no other connection to the same server has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CacheContext(pub u64);

/// How much is kept, and for how long at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheLimits {
    /// The most bytes of answers and their keys. None at all keeps nothing.
    pub bytes: usize,
    /// The most answers.
    pub entries: usize,
    /// For how long an answer counts as fresh at most, whatever the server says.
    pub ttl: Duration,
}

impl CacheLimits {
    /// Nothing is kept.
    pub const NONE: CacheLimits = CacheLimits { bytes: 0, entries: 0, ttl: Duration::ZERO };

    /// So much and for so long.
    pub const fn new(bytes: usize, entries: usize, ttl: Duration) -> Self {
        CacheLimits { bytes, entries, ttl }
    }
}

/// An answer that was kept: the server's message, and the id that it answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachedAnswer {
    /// The whole message as it came.
    pub message: Vec<u8>,
    /// The id of the request that it answered.
    pub id: u64,
}

/// Answers of one server, each under the method and parameters that brought it.
///
/// What the server calls `public` may be given to anybody; what it calls `private`, or does not call anything, only to
/// those of the same [`CacheContext`] ("Cache Scope Field"). So one store may serve many sessions with the same server. All
/// of them count time from the same origin.
///
/// It is bounded: where there is no room, what was used longest ago goes first.
#[derive(Debug)]
pub struct Cache {
    limits: CacheLimits,
    entries: Sorted<Place, Entry>,
    bytes: usize,
    uses: u64,
}

/// Whose an answer is, `None` for everybody's, and what it answers.
type Place = (Option<CacheContext>, CacheKey);

#[derive(Debug)]
struct Entry {
    answer: CachedAnswer,
    /// `None` once it is known to be stale.
    fresh_until: Option<Timestamp>,
    used: u64,
}

impl Cache {
    /// An empty store.
    pub fn new(limits: CacheLimits) -> Self {
        Cache { limits, entries: Sorted::default(), bytes: 0, uses: 0 }
    }

    /// The answer that is kept for a request, if it is fresh.
    pub fn fresh(&mut self, key: &CacheKey, context: CacheContext, now: Timestamp) -> Option<&CachedAnswer> {
        self.find(key, context, &|entry| entry.fresh_until.is_some_and(|until| now < until))
    }

    /// The answer that is kept for a request, fresh or not: for when no other is to be had.
    pub fn stale(&mut self, key: &CacheKey, context: CacheContext) -> Option<&CachedAnswer> {
        self.find(key, context, &|_| true)
    }

    /// Takes in the answer to a request, which came at `now`. Whether it is kept: it must be a complete result that the
    /// server says holds for a while. What was kept before goes either way.
    pub fn put(&mut self, key: CacheKey, context: CacheContext, message: &[u8], id: u64, now: Timestamp) -> bool {
        let places = [(None, key.clone()), (Some(context), key)];
        for place in &places {
            self.remove(place);
        }
        let [public, private] = places;
        let weight = public.1.weight() + message.len();
        // One answer is not to drive out all others.
        if self.limits.entries == 0 || weight > self.limits.bytes / 4 {
            return false;
        }
        let hints = Hints::of(message);
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
        let entry = Entry { answer, fresh_until: Some(now + ttl), used: self.uses };
        self.entries.insert(if hints.public { public } else { private }, entry);
        true
    }

    /// What is kept of this method is stale from now on, whoever fetched it.
    pub fn invalidate(&mut self, method: &str) {
        for ((_, key), entry) in self.entries.iter_mut() {
            if key.method() == method {
                entry.fresh_until = None;
            }
        }
    }

    /// A resource has changed: what was read of it, of what it lies in, and of what lies in it, is stale from now on.
    pub fn invalidate_resource(&mut self, uri: &str) {
        for ((_, key), entry) in self.entries.iter_mut() {
            if key.reads(uri) {
                entry.fresh_until = None;
            }
        }
    }

    /// Forgets what is kept of this method.
    pub fn discard(&mut self, method: &str) {
        self.entries.retain(|(_, key), entry| {
            let stays = key.method() != method;
            if !stays {
                self.bytes -= key.weight() + entry.answer.message.len();
            }
            stays
        });
    }

    /// How many answers are kept.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether none is kept.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The bytes of the answers and their keys.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    fn find(&mut self, key: &CacheKey, context: CacheContext, good: &dyn Fn(&Entry) -> bool) -> Option<&CachedAnswer> {
        let place = [None, Some(context)]
            .into_iter()
            .map(|whose| (whose, key.clone()))
            .find(|place| self.entries.get(place).is_some_and(good))?;
        self.uses += 1;
        let entry = self.entries.get_mut(&place)?;
        entry.used = self.uses;
        Some(&entry.answer)
    }

    fn remove(&mut self, place: &Place) {
        if let Some(entry) = self.entries.remove(place) {
            self.bytes -= place.1.weight() + entry.answer.message.len();
        }
    }
}
