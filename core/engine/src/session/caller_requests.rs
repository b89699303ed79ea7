//! Sends the requests of callers, and reports exactly one reply to each request.
//!
//! ```text
//! send ──▶ is it in the cache? ── yes ─────────────────────────────────▶ Event::Reply
//!            │ no
//!            ▼
//!        request table ──▶ response ── a result or an error ──▶ cache ──▶ Event::Reply
//!            ▲                ├─────── input is required ──▶ input_required ─┐
//!            ├────────────────┼──────── sent again ◀─────────────────────────┘
//!            │                └─────── a task ──▶ tasks ── it has ended ───▶ Event::Reply
//!            └── tasks/get, tasks/result, tasks/update ◀─┘
//! ```

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::vec::Vec;

use super::config::Config;
use super::error::{CallError, CloseReason, SendError};
use super::event::{self, ClientRequest, Event};
use super::input_required;
use super::link::{Link, RequestExtras, timed_out};
use super::prepared::CacheUse;
use super::request_options::RequestOptions;
use super::requests::{CallerRequest, Deadlines, Expired, Owner, Requests, TaskUse};
use super::response_cache::Lookup;
use super::tasks::{self, push_task_param};
use super::ticket::{Reply, RequestKey};
use super::waiting::Waiting;
use crate::cache::{Cache, CachedAnswer, PendingEntry};
use crate::frame::Message;
use crate::rpc::write::ParamsWriter;
use crate::rpc::{Response, ResultType};
use mcpwire_types::Era;

/// The requests of callers that have no reply yet, and the response cache.
///
/// Such a request waits for its response in [`Link::requests`], or for input or a task in `waiting`.
#[derive(Debug)]
pub(super) struct CallerRequests {
    pub(super) cache: Cache,
    pub(super) waiting: Waiting,
}

pub(super) struct NewRequest<'a> {
    pub(super) method: Cow<'static, str>,
    pub(super) params: ParamsWriter<'a>,
    pub(super) caching: CacheUse,
    pub(super) tasks: TaskUse,
}

impl CallerRequests {
    pub(super) fn new(config: &Config) -> Self {
        CallerRequests { cache: Cache::new(config.cache), waiting: Waiting::default() }
    }

    pub(super) fn len(&self, requests: &Requests) -> usize {
        requests.callers() + self.waiting.len()
    }

    pub(super) fn is_pending(&self, key: RequestKey, requests: &Requests) -> bool {
        requests.id_of(key).is_some() || self.waiting.contains(key)
    }

    /// Sends a request, unless the cache contains a fresh response: then reports that response as the reply.
    pub(super) fn send(
        &mut self,
        request: NewRequest<'_>,
        options: &RequestOptions,
        link: &mut Link,
    ) -> Result<RequestKey, SendError> {
        let limit = link.config.max_in_flight;
        if self.len(&link.requests) >= limit {
            return Err(SendError::TooManyInFlight { limit });
        }
        if options.meta.as_ref().is_some_and(|meta| !meta.is_object()) {
            return Err(SendError::NotAnObject { method: request.method.into_owned() });
        }
        let cache_entry = match self.cache.look_up(request.caching, &request.method, request.params, options, link)? {
            Lookup::Miss(entry) => entry,
            Lookup::Hit(CachedAnswer { message, response }) => {
                let key = link.requests.fresh_key();
                link.stats.cached += 1;
                let reply = Reply { cached: true, ..Reply::answered(key, request.method, message.into(), response) };
                link.report(Event::Reply(reply));
                return Ok(key);
            }
        };
        let NewRequest { method, params, tasks, .. } = request;
        let with_task_param = |out: &mut Vec<u8>| {
            let begin = out.len();
            params(out)?;
            push_task_param(out, begin, options);
            Ok(())
        };
        let extras = RequestExtras {
            declares_tasks: tasks.is_declared(),
            wants_progress: options.wants_progress(),
            is_repeatable: options.repeatable,
            meta: options.meta.as_ref(),
        };
        let written = link.write(&method, if tasks.requests_task() { &with_task_param } else { params }, extras)?;
        let retry = if input_required::may_require_input(&method, link) {
            self.waiting.paused.retry_params(link.outbox.text(written.clone()), options.meta.as_ref(), link)
        } else {
            None
        };
        let key = link.requests.fresh_key();
        if link.config.reports_requests {
            let target = event::target(&method, link.outbox.text(written));
            link.report_sent(ClientRequest { key, method: method.clone(), target }, Some(options));
        }
        let deadlines = deadlines(options, link);
        link.requests.insert(Owner::Caller(CallerRequest {
            key,
            method,
            wants_progress: options.wants_progress(),
            repeatable: options.repeatable,
            tasks,
            input_rounds: 0,
            retry,
            cache_entry,
            deadlines,
        }));
        Ok(key)
    }

    /// Cancels a caller's request. Returns `false` if no request with this key is pending.
    pub(super) fn cancel(&mut self, key: RequestKey, reason: Option<&str>, link: &mut Link) -> bool {
        let Some(id) = link.requests.id_of(key) else {
            return self.waiting.cancel_paused(key, link) || self.waiting.cancel_task(key, link);
        };
        let Some(Owner::Caller(caller)) = link.abandon(id) else { return false };
        link.send_cancelled(id, reason);
        link.fail(key, CallError::Cancelled { method: caller.method });
        true
    }

    #[inline]
    pub(super) fn receive(
        &mut self,
        caller: CallerRequest,
        response: Response,
        message: impl AsRef<[u8]> + Into<Message>,
        link: &mut Link,
    ) {
        match result_type(&caller, response, message.as_ref(), link) {
            ResultType::Complete => {}
            ResultType::InputRequired => {
                return self.waiting.require_input(caller, response, message.as_ref(), link);
            }
            ResultType::Task => return self.waiting.begin_task(caller, response, message.as_ref(), link),
        }
        let reply = Reply::answered(caller.key, caller.method, message.into(), response);
        self.end(caller.cache_entry, reply, link);
    }

    #[cold]
    pub(super) fn fail(&mut self, caller: CallerRequest, error: CallError, link: &mut Link) {
        self.end(caller.cache_entry, Reply::failed(caller.key, error), link);
    }

    #[inline]
    fn end(&mut self, cache_entry: Option<Box<PendingEntry>>, reply: Reply, link: &mut Link) {
        let reply = match cache_entry {
            Some(entry) => self.cache.fill(*entry, reply, link.now),
            None => reply,
        };
        link.report(Event::Reply(reply));
    }

    /// Handles a progress notification for the request whose progress token is `id`. Returns the key of that request,
    /// or `None` if it is not pending.
    pub(super) fn progress(&self, id: u64, link: &mut Link) -> Option<RequestKey> {
        link.requests.progress(id, link.now).or_else(|| self.waiting.tasks.progress(id))
    }

    pub(super) fn handle_timeout(&mut self, link: &mut Link) {
        while let Some(Expired { id, owner, missed }) = link.requests.expire(link.now) {
            link.outbox.abandoned(id);
            let Some(deadlines) = owner.deadlines().copied() else { continue };
            link.send_cancelled(id, Some(&timed_out(deadlines.length(missed))));
            match owner {
                Owner::Caller(caller) => {
                    let error = deadlines.error(caller.method.clone(), missed);
                    self.fail(caller, error, link);
                }
                Owner::Task { call, request, .. } => {
                    let error = deadlines.error(request.method().into(), missed);
                    self.waiting.fail_about_task(call, request, error, link);
                }
                // Requests of other owners have no deadlines in this table.
                _ => {}
            }
        }
        self.waiting.poll_tasks(link);
        self.waiting.expire_paused(link);
    }

    /// Fails all pending requests of callers because the connection has ended, and empties the cache.
    #[cold]
    pub(super) fn close(&mut self, reason: &CloseReason, link: &mut Link) {
        while let Some(owner) = link.requests.pop() {
            if let Owner::Caller(caller) = owner {
                let error = CallError::Closed { method: caller.method.clone(), reason: reason.clone() };
                self.fail(caller, error, link);
            }
        }
        self.waiting.close_paused(reason, link);
        self.waiting.close_tasks(reason, link);
        self.cache = Cache::new(link.config.cache);
    }
}

/// Returns what the response to a caller's request contains. A request for input or a task is recognized only if the
/// specification allows it for the request.
#[inline]
fn result_type(caller: &CallerRequest, response: Response, message: &[u8], link: &Link) -> ResultType {
    let follows_task = caller.tasks.is_followed();
    let may_require_input = input_required::may_require_input(&caller.method, link);
    if !follows_task && !may_require_input {
        return ResultType::Complete;
    }
    if !link.connection.is_era(Era::Modern) {
        return if tasks::is_experimental_task(message) { ResultType::Task } else { ResultType::Complete };
    }
    match response.result_type(message) {
        ResultType::InputRequired if may_require_input => ResultType::InputRequired,
        ResultType::Task if follows_task => ResultType::Task,
        _ => ResultType::Complete,
    }
}

pub(super) fn deadlines(options: &RequestOptions, link: &Link) -> Deadlines {
    let timeout = options.timeout.unwrap_or(link.config.request_timeout);
    // An idle timeout that exceeds the configured total timeout extends the total timeout.
    let total = options.total_timeout.unwrap_or(link.config.total_timeout.max(timeout));
    Deadlines::new(link.now, timeout, total)
}
