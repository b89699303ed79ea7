//! What a session keeps of its server's answers, for as long as they hold (2026-07-28, server/utilities/caching).
//!
//! A request whose answer is kept ends at once, with the message that was kept, and nothing is sent. It is on by default:
//! servers have to say how long an answer holds, and one that says nothing, or nothing good, is asked each time.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::vec::Vec;

use super::config::RequestOptions;
use super::engine::Session;
use super::error::{CallError, SendError};
use super::event::{Event, Notification};
use super::prepared::send_error;
use super::ticket::{Outcome, Reply, RequestKey};
use crate::cache::{Cache, CacheContext, CacheKey, CacheLimits, CachedAnswer, is_cacheable};
use crate::json::scan;
use crate::rpc::write::Push;
use crate::time::Timestamp;
use crate::types::Era;

/// The store.
#[derive(Debug)]
pub(super) struct Caching {
    store: Cache,
    /// Whose answers are kept. One for each session, as each has a store of its own.
    context: CacheContext,
}

/// What becomes of the answer to a request.
#[derive(Clone, Copy)]
pub(super) enum Kept {
    /// It may be kept.
    Yes,
    /// It is the caller's alone, and makes doubtful what was kept of the method.
    Doubts,
    No,
}

impl Kept {
    /// That of a method. `const`, so that a request whose answer is not kept does not pay for the question.
    pub(super) const fn of(method: &str) -> Self {
        if is_cacheable(method) { Kept::Yes } else { Kept::No }
    }
}

/// Under what the answer to a request on its way may be kept. A request that is sent again, with what a user has answered,
/// has none.
#[derive(Debug)]
pub(super) struct Pending {
    key: CacheKey,
    /// Whether nothing has changed since it was sent, as far as is known.
    holds: bool,
    stale_if_error: bool,
}

/// What the store has to say about a request.
pub(super) enum LookedUp {
    /// It has been answered.
    Answered(RequestKey),
    /// It is to be sent; its answer may be kept under this.
    ToSend(Option<Box<Pending>>),
}

impl Caching {
    pub(super) fn new(limits: CacheLimits) -> Self {
        Caching { store: Cache::new(limits), context: CacheContext::default() }
    }

    pub(super) fn keeps(&self) -> bool {
        !self.store.is_empty()
    }

    /// Takes in the answer to a request, and gives the one that its caller gets.
    fn answered(&mut self, pending: Pending, reply: Reply, now: Timestamp) -> Reply {
        let Outcome::Answered { message, id } = &reply.outcome else { return self.failed(&pending, reply) };
        if is_error(message) {
            // A cursor that does not hold any more takes all pages with it ("Interaction with Pagination").
            if pending.key.has_cursor() {
                self.store.discard(pending.key.method());
            }
            return self.failed(&pending, reply);
        }
        if pending.holds {
            self.store.put(pending.key, self.context, message, *id, now);
        }
        reply
    }

    fn failed(&mut self, pending: &Pending, reply: Reply) -> Reply {
        let given_up = matches!(reply.error(), Some(CallError::Cancelled { .. }));
        let stale =
            if pending.stale_if_error && !given_up { self.store.stale(&pending.key, self.context) } else { None };
        match stale {
            Some(CachedAnswer { message, id }) => {
                Reply { outcome: Outcome::Answered { message: message.clone(), id: *id }, ..reply }
            }
            None => reply,
        }
    }
}

impl Session {
    /// What is kept for a request, if there may be anything.
    #[expect(clippy::ptr_arg, reason = "the reply keeps it, and a static name costs nothing to keep")]
    pub(super) fn kept(
        &mut self,
        kept: Kept,
        method: &Cow<'static, str>,
        params: Push<'_>,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<LookedUp, SendError> {
        match kept {
            Kept::Yes => self.look_up(method, params, options, now),
            Kept::Doubts => {
                self.doubt_answers_to(&[&**method]);
                Ok(LookedUp::ToSend(None))
            }
            Kept::No => Ok(LookedUp::ToSend(None)),
        }
    }

    /// Whether answers may be kept at all. Legacy servers do not say how long one holds.
    #[inline]
    fn is_caching(&self) -> bool {
        self.era == Some(Era::Modern) && self.config.cache.bytes > 0
    }

    /// Looks for an answer to a request that may be kept.
    #[cold]
    #[expect(clippy::ptr_arg, reason = "the reply keeps it, and a static name costs nothing to keep")]
    fn look_up(
        &mut self,
        method: &Cow<'static, str>,
        params: Push<'_>,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<LookedUp, SendError> {
        if !self.is_caching() {
            return Ok(LookedUp::ToSend(None));
        }
        let mut text = Vec::new();
        params.push(&mut text).map_err(|error| send_error(method, error))?;
        let text = core::str::from_utf8(&text).unwrap_or_default();
        let Some(key) = CacheKey::new(method, text, options.meta.as_ref()) else { return Ok(LookedUp::ToSend(None)) };
        let kept = if options.fresh { None } else { self.caching.store.fresh(&key, self.caching.context, now) };
        let Some(CachedAnswer { message, id }) = kept else {
            let pending = Pending { key, holds: true, stale_if_error: options.stale_if_error };
            return Ok(LookedUp::ToSend(Some(Box::new(pending))));
        };
        let outcome = Outcome::Answered { message: message.clone(), id: *id };
        let key = RequestKey(self.next_key);
        self.next_key += 1;
        self.stats.cached += 1;
        self.events.push_back(Event::Reply(Reply { key, method: method.clone(), outcome, mirrored: false }));
        Ok(LookedUp::Answered(key))
    }

    /// A request has ended.
    #[inline]
    pub(super) fn finish(&mut self, cached_as: Option<Box<Pending>>, reply: Reply, now: Timestamp) {
        let reply = match cached_as {
            Some(pending) => self.caching.answered(*pending, reply, now),
            None => reply,
        };
        self.events.push_back(Event::Reply(reply));
    }

    /// The server tells that something has changed: what was fetched before does not hold, and neither may what is on its
    /// way.
    pub(super) fn doubt_what_is_kept(&mut self, notification: &Notification) {
        if !self.is_caching() {
            return;
        }
        let methods: &[&str] = match notification {
            Notification::ToolsChanged => &["tools/list"],
            Notification::PromptsChanged => &["prompts/list"],
            Notification::ResourcesChanged => &["resources/list", "resources/templates/list"],
            Notification::ResourceUpdated(updated) => {
                self.caching.store.invalidate_resource(&updated.uri);
                return self.doubt(&|key| key.reads(&updated.uri));
            }
            _ => return,
        };
        self.doubt_answers_to(methods);
    }

    fn doubt_answers_to(&mut self, methods: &[&str]) {
        for method in methods {
            self.caching.store.invalidate(method);
        }
        self.doubt(&|key| methods.contains(&key.method()));
    }

    fn doubt(&mut self, changed: &dyn Fn(&CacheKey) -> bool) {
        for pending in self.in_flight.iter_mut().filter_map(|waiting| waiting.cached_as.as_mut()) {
            pending.holds &= !changed(&pending.key);
        }
    }

    /// The connection has ended: what was kept goes with it.
    pub(super) fn end_caching(&mut self) {
        self.caching = Caching::new(self.config.cache);
    }
}

fn is_error(message: &[u8]) -> bool {
    scan::members(message).all(|member| !member.is("result") || member.value == b"null")
}
