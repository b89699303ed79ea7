//! The response cache of a session: looks up responses, stores them, and invalidates them (specification, revision
//! 2026-07-28: server/utilities/caching).
//!
//! A request with a cached response ends at once, and nothing is sent. The cache is enabled by default. Only
//! responses with a `ttlMs` are stored, so the cache has no effect with a server that does not send that member.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::error::{CallError, SendError};
use super::event::Notification;
use super::link::Link;
use super::prepared::{CacheUse, send_error};
use super::request_options::RequestOptions;
use super::requests::Requests;
use super::ticket::{Reply, ReplyOutcome};
use crate::cache::{Cache, CacheKey, CachedAnswer, PendingEntry};
use crate::rpc::Response;
use crate::rpc::write::ParamsWriter;
use crate::time::Timestamp;
use mcpwire_types::Era;

/// The result of looking up a request in the cache.
pub(super) enum Lookup {
    /// The cache contains a fresh response.
    Hit(CachedAnswer),
    /// The request must be sent. The caller then passes the entry and the response to [`Cache::fill`]. `None`
    /// if the response must not be cached.
    Miss(Option<Box<PendingEntry>>),
}

impl Cache {
    /// Looks up a request in the cache. Returns [`Lookup::Miss`] without an entry if `caching` does not allow a cached
    /// response.
    #[inline]
    pub(super) fn look_up(
        &mut self,
        caching: CacheUse,
        method: &str,
        params: ParamsWriter<'_>,
        options: &RequestOptions,
        link: &mut Link,
    ) -> Result<Lookup, SendError> {
        match caching {
            CacheUse::Yes => return self.look_up_cacheable(method, params, options, link),
            CacheUse::Invalidates => self.invalidate_lists(&[method], &mut link.requests),
            CacheUse::No => {}
        }
        Ok(Lookup::Miss(None))
    }

    #[cold]
    fn look_up_cacheable(
        &mut self,
        method: &str,
        params: ParamsWriter<'_>,
        options: &RequestOptions,
        link: &mut Link,
    ) -> Result<Lookup, SendError> {
        if !link.connection.is_era(Era::Modern) || link.config.cache.bytes == 0 {
            return Ok(Lookup::Miss(None));
        }
        let mut text = Vec::new();
        params(&mut text).map_err(|error| send_error(method, error))?;
        let text = core::str::from_utf8(&text).unwrap_or_default();
        let Some(key) = CacheKey::new(method, text, options.meta.as_ref()) else { return Ok(Lookup::Miss(None)) };
        let cached = if options.fresh { None } else { self.fresh(&key, link.now) };
        Ok(match cached {
            Some(cached) => Lookup::Hit(cached.clone()),
            None => Lookup::Miss(Some(Box::new(PendingEntry {
                key,
                is_valid: true,
                stale_if_error: options.stale_if_error,
            }))),
        })
    }

    /// Stores the response in `reply`, if it may be cached. Returns `reply`, or a stale cached response if `reply` is
    /// an error and the caller accepts stale responses.
    pub(super) fn fill(&mut self, entry: PendingEntry, reply: Reply, now: Timestamp) -> Reply {
        let ReplyOutcome::Answered { message, response } = &reply.outcome else { return self.stale_or(&entry, reply) };
        if is_error(message, *response) {
            // An error response to a request with a cursor invalidates all cached pages of the list ("Interaction
            // with Pagination").
            if entry.key.has_cursor() {
                self.discard(&entry.key.method);
            }
            return self.stale_or(&entry, reply);
        }
        if entry.is_valid {
            self.put(entry.key, message, *response, now);
        }
        reply
    }

    fn stale_or(&mut self, entry: &PendingEntry, reply: Reply) -> Reply {
        if !entry.stale_if_error || matches!(reply.error(), Some(CallError::Cancelled { .. })) {
            return reply;
        }
        match self.stale(&entry.key) {
            Some(CachedAnswer { message, response }) => {
                let outcome = ReplyOutcome::Answered { message: message.as_slice().into(), response: *response };
                Reply { outcome, ..reply }
            }
            None => reply,
        }
    }

    /// Marks the cached responses as stale whose content has changed according to `notification`. Responses to pending
    /// requests for this content will not be cached, because the server may have created them before the change.
    pub(super) fn notified(&mut self, notification: &Notification, requests: &mut Requests) {
        match notification {
            Notification::ToolsChanged => self.invalidate_lists(&["tools/list"], requests),
            Notification::PromptsChanged => self.invalidate_lists(&["prompts/list"], requests),
            Notification::ResourcesChanged => {
                self.invalidate_lists(&["resources/list", "resources/templates/list"], requests);
            }
            Notification::ResourceUpdated(updated) => self.content_changed(&|key| key.reads(&updated.uri), requests),
            _ => {}
        }
    }

    /// Removes the cached responses that are not public, because later requests have another authorization. Responses to
    /// pending requests will not be cached: which authorization they were sent with is not known.
    #[cfg(feature = "http")]
    pub(super) fn authorization_changed(&mut self, requests: &mut Requests) {
        self.discard_private();
        invalidate_pending(requests, &|_| true);
    }

    fn invalidate_lists(&mut self, methods: &[&str], requests: &mut Requests) {
        self.content_changed(&|key| methods.contains(&&*key.method), requests);
    }

    fn content_changed(&mut self, has_changed: &dyn Fn(&CacheKey) -> bool, requests: &mut Requests) {
        self.invalidate(has_changed);
        invalidate_pending(requests, has_changed);
    }
}

fn invalidate_pending(requests: &mut Requests, changed: &dyn Fn(&CacheKey) -> bool) {
    for entry in requests.cache_entries().filter(|entry| changed(&entry.key)) {
        entry.is_valid = false;
    }
}

/// Returns whether a JSON-RPC response has no `result`. The value `null` counts as no result.
fn is_error(message: &[u8], response: Response) -> bool {
    response.result(message).is_none_or(|result| result.trim_ascii_start().starts_with(b"null"))
}
