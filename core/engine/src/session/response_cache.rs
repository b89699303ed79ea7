//! The session's use of the cache: which answers are kept, and for how long (2026-07-28, server/utilities/caching).
//!
//! A request whose answer is in the cache ends at once, with the message that was kept, and nothing is sent. The cache is on by
//! default: only the server's `ttlMs` makes an answer fresh, so a server that says nothing is asked each time.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::config::RequestOptions;
use super::context::Context;
use super::error::{CallError, SendError};
use super::event::Notification;
use super::prepared::{Caching, send_error};
use super::requests::Requests;
use super::ticket::{Outcome, Reply};
use crate::cache::{Cache, CacheContext, CacheKey, CacheLimits, CachedAnswer, PendingEntry};
use crate::json::scan;
use crate::rpc::write::Push;
use crate::time::Timestamp;
use crate::types::Era;

/// The answers of one session's server.
#[derive(Debug)]
pub(super) struct ResponseCache {
    store: Cache,
    /// One for the whole session, as each session has a store of its own.
    context: CacheContext,
}

/// The result of a lookup.
pub(super) enum Lookup {
    /// The cached answer, under the id that it came with.
    Hit { message: Vec<u8>, id: u64 },
    /// The request is to be sent; its answer may be cached in this entry.
    Miss(Option<Box<PendingEntry>>),
}

impl ResponseCache {
    pub(super) fn new(limits: CacheLimits) -> Self {
        ResponseCache { store: Cache::new(limits), context: CacheContext::default() }
    }

    /// Whether nothing is cached.
    pub(super) fn is_empty(&self) -> bool {
        self.store.is_empty()
    }

    /// Looks for the answer to a request.
    #[inline]
    pub(super) fn look_up(
        &mut self,
        caching: Caching,
        method: &str,
        params: Push<'_>,
        options: &RequestOptions,
        context: &mut Context<'_>,
    ) -> Result<Lookup, SendError> {
        match caching {
            Caching::Yes => return self.look_up_cacheable(method, params, options, context),
            Caching::Invalidates => self.invalidate(&[method], context.requests),
            Caching::No => {}
        }
        Ok(Lookup::Miss(None))
    }

    #[cold]
    fn look_up_cacheable(
        &mut self,
        method: &str,
        params: Push<'_>,
        options: &RequestOptions,
        context: &mut Context<'_>,
    ) -> Result<Lookup, SendError> {
        if !context.connection.is_era(Era::Modern) || context.config.cache.bytes == 0 {
            return Ok(Lookup::Miss(None));
        }
        let mut text = Vec::new();
        params.push(&mut text).map_err(|error| send_error(method, error))?;
        let text = core::str::from_utf8(&text).unwrap_or_default();
        let Some(key) = CacheKey::new(method, text, options.meta.as_ref()) else { return Ok(Lookup::Miss(None)) };
        let cached = if options.fresh { None } else { self.store.fresh(&key, self.context, context.now) };
        Ok(match cached {
            Some(CachedAnswer { message, id }) => Lookup::Hit { message: message.clone(), id: *id },
            None => Lookup::Miss(Some(Box::new(PendingEntry::new(key, options.stale_if_error)))),
        })
    }

    /// Stores the answer to a request that missed, and returns the reply that its caller gets.
    #[inline(never)]
    pub(super) fn fill(&mut self, entry: PendingEntry, reply: Reply, now: Timestamp) -> Reply {
        let Outcome::Answered { message, id } = &reply.outcome else { return self.stale_or(&entry, reply) };
        if is_error(message) {
            // An invalid cursor makes all pages of the list invalid ("Interaction with Pagination").
            if entry.key().has_cursor() {
                self.store.discard(entry.key().method());
            }
            return self.stale_or(&entry, reply);
        }
        if let Some(key) = entry.into_valid_key() {
            self.store.put(key, self.context, message, *id, now);
        }
        reply
    }

    /// Returns the stale answer in place of an error, where the caller prefers it.
    fn stale_or(&mut self, entry: &PendingEntry, reply: Reply) -> Reply {
        if !entry.stale_if_error() || matches!(reply.error(), Some(CallError::Cancelled { .. })) {
            return reply;
        }
        match self.store.stale(entry.key(), self.context) {
            Some(CachedAnswer { message, id }) => {
                Reply { outcome: Outcome::Answered { message: message.clone(), id: *id }, ..reply }
            }
            None => reply,
        }
    }

    /// Makes stale what a notification says has changed, in the cache and on its way to it.
    pub(super) fn notified(&mut self, notification: &Notification, requests: &mut Requests) {
        match notification {
            Notification::ToolsChanged => self.invalidate(&["tools/list"], requests),
            Notification::PromptsChanged => self.invalidate(&["prompts/list"], requests),
            Notification::ResourcesChanged => {
                self.invalidate(&["resources/list", "resources/templates/list"], requests);
            }
            Notification::ResourceUpdated(updated) => {
                self.store.invalidate_resource(&updated.uri);
                invalidate_pending(requests, &|key| key.reads(&updated.uri));
            }
            _ => {}
        }
    }

    fn invalidate(&mut self, methods: &[&str], requests: &mut Requests) {
        for method in methods {
            self.store.invalidate(method);
        }
        invalidate_pending(requests, &|key| methods.contains(&key.method()));
    }
}

fn invalidate_pending(requests: &mut Requests, changed: &dyn Fn(&CacheKey) -> bool) {
    for entry in requests.cache_entries().filter(|entry| changed(entry.key())) {
        entry.invalidate();
    }
}

fn is_error(message: &[u8]) -> bool {
    scan::members(message).all(|member| !member.is("result") || member.value == b"null")
}
