//! Multi round-trip requests: the server needs input before it can respond (2026-07-28, basic/patterns/mrtr).
//!
//! ```text
//! request ──▶ server ──▶ a result ───────────────────────────────▶ Event::Reply
//!   ▲            │
//!   │            └─────▶ input_required ──▶ Event::ServerRequest, one for each input
//!   │                         │                  │ all inputs are answered
//!   │  new id, same key       ▼ no inputs        ▼
//!   └───── inputResponses, requestState ◀────────┘
//! ```
//!
//! After an `input_required` result, the server no longer knows the request. Until the embedder has answered all inputs,
//! the request is stored here, and only its total timeout runs.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem;

use super::error::{CallError, CloseReason, Deadline, InputError};
use super::event::{self, ClientRequest, Event, SentRequest};
use super::json_objects::object;
use super::link::Link;
use super::outbox::RequestHead;
use super::request_keys::RequestKey;
use super::requests::{CallerRequest, TaskUse};
use super::retry_params::RetryParams;
use super::server_requests::{InputOwner, ServerRequests};
use crate::rpc::write::Meta;
use crate::rpc::{Response, decode};
use crate::time::Timestamp;
use mcpwire_types::json::Json;
use mcpwire_types::json::append::push_raw;
use mcpwire_types::json::scan;
use mcpwire_types::{Era, InputRequiredResult};

/// Requests of the client to which the server has responded with `input_required`, and that wait for the embedder's
/// answers (from revision 2026-07-28, basic/patterns/mrtr).
#[derive(Debug, Default)]
pub(super) struct InputRequired {
    /// The waiting requests, oldest first. At most [`Config::max_server_requests`](super::Config::max_server_requests),
    /// because each waits for at least one input.
    paused: Vec<PausedRequest>,
    /// The parameter buffer of an ended request, which the next request reuses to save an allocation. At most
    /// `MAX_SPARE` bytes.
    spare: Vec<u8>,
}

#[derive(Debug)]
struct PausedRequest {
    caller: CallerRequest,
    /// The opaque `requestState` that the server sent, for the client to send back unchanged. `None` if the server sent
    /// none.
    state: Option<Json>,
}

/// Maximum capacity, in bytes, of a parameter buffer that is kept for reuse. Enough for the parameters of most
/// requests.
const MAX_SPARE: usize = 4 * 1024;

/// Returns whether the protocol allows an `input_required` result for `method` (from revision 2026-07-28,
/// basic/patterns/mrtr, "Supported Requests").
#[inline]
pub(super) fn may_require_input(method: &str, link: &Link) -> bool {
    matches!(method, "tools/call" | "prompts/get" | "resources/read") && link.connection.is_era(Era::Modern)
}

impl InputRequired {
    /// Returns the number of requests that are waiting for input from the embedder.
    pub(super) fn len(&self) -> usize {
        self.paused.len()
    }

    /// Returns whether the request with this key is waiting for input from the embedder.
    pub(super) fn is_paused(&self, key: RequestKey) -> bool {
        self.position(key).is_some()
    }

    pub(super) fn poll_timeout(&self) -> Option<Timestamp> {
        self.paused.iter().map(|paused| paused.caller.deadlines.total).min()
    }

    pub(super) fn release_buffers(&mut self) {
        self.spare = Vec::new();
        self.paused.shrink_to_fit();
    }

    /// Copies the parameters of a request and the `_meta` that the caller passed, so that the session can send the
    /// request again with input. `params` is a JSON object without its closing brace.
    ///
    /// Returns `None` if the copy would exceed [`Config::max_retry_bytes`](super::Config::max_retry_bytes).
    pub(super) fn retry_params(&mut self, params: &[u8], meta: Option<&Json>, link: &Link) -> Option<RetryParams> {
        let meta = meta.map_or(&b""[..], |meta| meta.get().as_bytes());
        let has_room = self.has_room(params.len() + 1 + meta.len(), link);
        has_room.then(|| RetryParams::new(params, meta, mem::take(&mut self.spare)))
    }

    #[inline]
    pub(super) fn recycle(&mut self, caller: &mut CallerRequest) {
        if let Some(buffer) = caller.retry.take().map(RetryParams::into_buffer)
            && buffer.capacity() <= MAX_SPARE
        {
            self.spare = buffer;
        }
    }

    /// Handles an `input_required` result. Reports the inputs that the result lists to the embedder. If it lists none,
    /// sends the request again at once.
    #[cold]
    #[inline(never)]
    pub(super) fn receive(
        &mut self,
        caller: CallerRequest,
        response: Response,
        message: &[u8],
        server_requests: &mut ServerRequests,
        link: &mut Link,
    ) {
        let (key, method) = (caller.key, caller.method.clone());
        let error = match decode::answer::<InputRequiredResult>(message, response) {
            Ok(result) => match self.begin(caller, result, server_requests, link) {
                Ok(()) => return,
                Err(error) => CallError::Input { method, error: Arc::new(error) },
            },
            Err(fault) => fault.into_call_error(method),
        };
        link.fail(key, error);
    }

    fn begin(
        &mut self,
        caller: CallerRequest,
        result: InputRequiredResult,
        server_requests: &mut ServerRequests,
        link: &mut Link,
    ) -> Result<(), InputError> {
        let InputRequiredResult { input_requests: inputs, request_state: state, .. } = result;
        let limit = link.config.max_input_rounds;
        if caller.input_rounds >= limit {
            return Err(InputError::TooManyInputRounds { limit });
        }
        let state_len = state.as_ref().map_or(0, |state| state.get().len());
        if !caller.retry.as_ref().is_some_and(|retry| self.has_room(retry.len() + state_len, link)) {
            return Err(InputError::RetryTooLarge { limit: link.config.max_retry_bytes });
        }
        if inputs.is_empty() {
            return send_again(caller, None, state.as_ref(), link).map_err(|(_, error)| error);
        }
        let target = caller.retry.as_ref().and_then(|retry| event::target(&caller.method, retry.params()));
        let during = ClientRequest::new(caller.key, caller.method.clone(), target);
        server_requests.request_inputs(InputOwner::Request(caller.key), &during, inputs, link)?;
        self.paused.push(PausedRequest { caller, state });
        Ok(())
    }

    /// Sends a waiting request again. `answers` is a JSON object that maps the name of each required input to the
    /// embedder's answer.
    pub(super) fn answered(
        &mut self,
        key: RequestKey,
        answers: &[u8],
        server_requests: &mut ServerRequests,
        link: &mut Link,
    ) {
        let Some(PausedRequest { caller, state }) = self.resume(key) else { return };
        if let Err((caller, error)) = send_again(caller, Some(answers), state.as_ref(), link) {
            fail(&caller, error, server_requests, link);
        }
    }

    /// Fails the waiting request with this key because the embedder refused an input. Sends nothing to the server
    /// (specification: client/roots, "Error Handling").
    #[cold]
    pub(super) fn refused(
        &mut self,
        key: RequestKey,
        error: InputError,
        server_requests: &mut ServerRequests,
        link: &mut Link,
    ) {
        if let Some(PausedRequest { caller, .. }) = self.resume(key) {
            fail(&caller, error, server_requests, link);
        }
    }

    /// Cancels the request with this key and withdraws its unanswered inputs. Returns `false` if the request does not
    /// wait for input.
    pub(super) fn cancel(&mut self, key: RequestKey, server_requests: &mut ServerRequests, link: &mut Link) -> bool {
        let Some(PausedRequest { caller, .. }) = self.resume(key) else { return false };
        server_requests.withdraw(InputOwner::Request(key), link);
        link.fail(key, CallError::Cancelled { method: caller.method });
        true
    }

    pub(super) fn expire(&mut self, server_requests: &mut ServerRequests, link: &mut Link) {
        let now = link.now;
        while let Some(at) = self.paused.iter().position(|paused| paused.caller.deadlines.total <= now) {
            let PausedRequest { caller, .. } = self.paused.remove(at);
            server_requests.withdraw(InputOwner::Request(caller.key), link);
            link.fail(caller.key, caller.deadlines.error(caller.method, Deadline::Total));
        }
    }

    #[cold]
    pub(super) fn close(&mut self, reason: &CloseReason, server_requests: &mut ServerRequests, link: &mut Link) {
        for PausedRequest { caller, .. } in mem::take(self).paused {
            server_requests.withdraw(InputOwner::Request(caller.key), link);
            link.fail(caller.key, CallError::Closed { method: caller.method, reason: reason.clone() });
        }
    }

    fn has_room(&self, more: usize, link: &Link) -> bool {
        let state_len = |paused: &PausedRequest| paused.state.as_ref().map_or(0, |state| state.get().len());
        let paused =
            |paused: &PausedRequest| paused.caller.retry.as_ref().map_or(0, RetryParams::len) + state_len(paused);
        let kept = link.requests.retry_bytes() + self.paused.iter().map(paused).sum::<usize>();
        kept + more <= link.config.max_retry_bytes
    }

    fn position(&self, key: RequestKey) -> Option<usize> {
        self.paused.iter().position(|paused| paused.caller.key == key)
    }

    fn resume(&mut self, key: RequestKey) -> Option<PausedRequest> {
        let at = self.position(key)?;
        Some(self.paused.remove(at))
    }
}

#[inline(never)]
#[cold]
fn fail(caller: &CallerRequest, error: InputError, server_requests: &mut ServerRequests, link: &mut Link) {
    server_requests.withdraw(InputOwner::Request(caller.key), link);
    link.fail(caller.key, CallError::Input { method: caller.method.clone(), error: Arc::new(error) });
}

/// Sends a request again under a new JSON-RPC id, with the embedder's `answers` as `inputResponses` and the server's
/// `state` as `requestState`.
///
/// If the request cannot be sent, returns it together with the error.
#[expect(clippy::result_large_err, reason = "the error returns the request that the caller passed by value")]
fn send_again(
    caller: CallerRequest,
    answers: Option<&[u8]>,
    state: Option<&Json>,
    link: &mut Link,
) -> Result<(), (CallerRequest, InputError)> {
    if let Err(error) = link.check_open() {
        return Err((caller, InputError::NotSent(error)));
    }
    let id = link.requests.next_id();
    let meta = caller.retry.as_ref().and_then(RetryParams::meta);
    let params = |out: &mut Vec<u8>| {
        push_params(out, caller.retry.as_ref().map_or(b"{}", RetryParams::params), answers, state);
        Ok(())
    };
    let connection = &link.connection;
    let meta = Meta {
        protocol: if caller.tasks == TaskUse::None { connection.request_meta() } else { connection.task_meta() },
        progress_token: caller.wants_progress.then_some(id),
        caller: meta.as_ref(),
    };
    let head = RequestHead {
        id,
        method: &caller.method,
        version: connection.modern_version(),
        is_repeatable: caller.repeatable,
    };
    // The parameters are JSON text and cannot fail to serialize.
    let _ = link.outbox.request(head, &params, meta);
    if link.config.reports_requests() {
        report_sent(&caller, id, link);
    }
    link.requests.insert_again(caller, link.now);
    Ok(())
}

#[cold]
#[inline(never)]
fn report_sent(caller: &CallerRequest, id: u64, link: &mut Link) {
    let target = caller.retry.as_ref().and_then(|retry| event::target(&caller.method, retry.params()));
    let request = ClientRequest::new(caller.key, caller.method.clone(), target);
    link.report(Event::RequestSent(Box::new(SentRequest { request, id, tag: None, trace_parent: None })));
}

/// Appends the JSON object `params` to `out`, with its member `inputResponses` set to `answers` and `requestState` set
/// to `state` (basic/patterns/mrtr, "Client Requirements"). `None` removes the member.
fn push_params(out: &mut Vec<u8>, params: &[u8], answers: Option<&[u8]>, state: Option<&Json>) {
    let is_replaced = |member: &scan::Member<'_>| member.is("inputResponses") || member.is("requestState");
    if scan::members(params).any(|member| is_replaced(&member)) {
        // The caller passed its own answers to inputs in the parameters.
        let mut members = scan::members(params);
        let others = object(&mut || members.find(|member| !is_replaced(member)));
        push_raw(out, others.get().as_bytes());
    } else {
        push_raw(out, params);
    }
    out.pop();
    while let Some(b' ' | b'\t') = out.last() {
        out.pop();
    }
    let mut add = |name: &[u8], value: &[u8]| {
        if out.last() != Some(&b'{') {
            out.push(b',');
        }
        out.extend_from_slice(name);
        push_raw(out, value);
    };
    if let Some(answers) = answers {
        add(b"\"inputResponses\":", answers);
    }
    if let Some(state) = state {
        add(b"\"requestState\":", state.get().as_bytes());
    }
    out.push(b'}');
}
