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

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::error::{CallError, CloseReason, Deadline, InputError};
use super::link::{Link, RequestExtras};
use super::meta::object;
use super::paused::PausedRequest;
use super::requests::CallerRequest;
use super::ticket::RequestKey;
use super::waiting::Waiting;
use crate::input_requests::InputRequiredResult;
use crate::rpc::{Response, decode};
use mcpwire_text::json::append::push_raw;
use mcpwire_text::json::{Json, scan};
use mcpwire_types::Era;

/// Returns whether the protocol allows an `input_required` result for `method` (from revision 2026-07-28,
/// basic/patterns/mrtr, "Supported Requests").
pub(super) fn may_require_input(method: &str, link: &Link) -> bool {
    matches!(method, "tools/call" | "prompts/get" | "resources/read") && link.connection.is_era(Era::Modern)
}

impl Waiting {
    /// Handles an `input_required` result. Reports the inputs that the result lists to the embedder. If it lists none,
    /// sends the request again at once.
    #[cold]
    pub(super) fn require_input(&mut self, caller: CallerRequest, response: Response, message: &[u8], link: &mut Link) {
        let (key, method) = (caller.key, caller.method.clone());
        let error = match decode::answer::<InputRequiredResult>(message, response) {
            Ok(result) => match self.begin_input_round(caller, result, link) {
                Ok(()) => return,
                Err(error) => CallError::Input { method, error: Arc::new(error) },
            },
            Err(fault) => fault.into_call_error(method),
        };
        link.fail(key, error);
    }

    fn begin_input_round(
        &mut self,
        caller: CallerRequest,
        result: InputRequiredResult,
        link: &mut Link,
    ) -> Result<(), InputError> {
        let InputRequiredResult { input_requests: inputs, request_state: state, .. } = result;
        let limit = link.config.max_input_rounds;
        if caller.input_rounds >= limit {
            return Err(InputError::TooManyInputRounds { limit });
        }
        let state_len = state.as_ref().map_or(0, |state| state.get().len());
        if !caller.retry.as_ref().is_some_and(|retry| self.paused.has_room(retry.len() + state_len, link)) {
            return Err(InputError::RetryTooLarge { limit: link.config.max_retry_bytes });
        }
        if inputs.is_empty() {
            link.check_open().map_err(InputError::NotSent)?;
            send_again(caller, None, state.as_ref(), link);
            return Ok(());
        }
        let missing = inputs.len();
        self.server_requests.request_inputs(&caller.to_client_request(), inputs, link)?;
        self.paused.add(caller, state, missing);
        Ok(())
    }

    /// Stores the answer to an input of a waiting request, and sends the request again if it was the last one. `member` is
    /// the JSON text of one object member: the name of the input and the answer.
    pub(super) fn input_answered(&mut self, key: RequestKey, member: &[u8], link: &mut Link) {
        let Some((PausedRequest { caller, state, .. }, answers)) = self.paused.answered(key, member) else { return };
        match link.check_open() {
            Ok(()) => send_again(caller, Some(&answers), state.as_ref(), link),
            Err(error) => self.fail_input(&caller, InputError::NotSent(error), link),
        }
    }

    /// Fails the waiting request with this key because the embedder refused an input. Sends nothing to the server
    /// (specification: client/roots, "Error Handling").
    #[cold]
    pub(super) fn input_refused(&mut self, key: RequestKey, error: InputError, link: &mut Link) {
        if let Some(PausedRequest { caller, .. }) = self.paused.resume(key) {
            self.fail_input(&caller, error, link);
        }
    }

    /// Cancels the request with this key and withdraws its unanswered inputs. Returns `false` if the request does not
    /// wait for input.
    pub(super) fn cancel_paused(&mut self, key: RequestKey, link: &mut Link) -> bool {
        let Some(PausedRequest { caller, .. }) = self.paused.resume(key) else { return false };
        self.server_requests.withdraw(key, link);
        link.fail(key, CallError::Cancelled { method: caller.method });
        true
    }

    pub(super) fn expire_paused(&mut self, link: &mut Link) {
        while let Some(caller) = self.paused.expire(link.now) {
            self.server_requests.withdraw(caller.key, link);
            link.fail(caller.key, caller.deadlines.error(caller.method, Deadline::Total));
        }
    }

    #[cold]
    pub(super) fn close_paused(&mut self, reason: &CloseReason, link: &mut Link) {
        for PausedRequest { caller, .. } in self.paused.take() {
            self.server_requests.withdraw(caller.key, link);
            link.fail(caller.key, CallError::Closed { method: caller.method, reason: reason.clone() });
        }
    }

    #[cold]
    fn fail_input(&mut self, caller: &CallerRequest, error: InputError, link: &mut Link) {
        self.server_requests.withdraw(caller.key, link);
        link.fail(caller.key, CallError::Input { method: caller.method.clone(), error: Arc::new(error) });
    }
}

/// Sends a request again under a new JSON-RPC id, with the embedder's `answers` as `inputResponses` and the server's
/// `state` as `requestState`. Call this only if the connection is open and has room ([`Link::check_open`]).
fn send_again(caller: CallerRequest, answers: Option<&[u8]>, state: Option<&Json>, link: &mut Link) {
    let retry = caller.retry.as_ref();
    let params = |out: &mut Vec<u8>| {
        push_params(out, retry.map_or(b"{}", |retry| &retry.params), answers, state);
        Ok(())
    };
    let extras = RequestExtras {
        declares_tasks: caller.tasks.is_declared(),
        wants_progress: caller.wants_progress,
        is_repeatable: caller.repeatable,
        meta: retry.and_then(|retry| retry.meta.as_ref()),
    };
    // The parameters are JSON text and cannot fail to serialize.
    let _ = link.write(&caller.method, &params, extras);
    if link.config.reports_requests {
        link.report_sent(caller.to_client_request(), None);
    }
    link.requests.insert_again(caller, link.now);
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
