//! Requests that take more than one round: the server wants input before it can answer (2026-07-28, basic/patterns/mrtr).
//!
//! ```text
//! request ──▶ server ──▶ a result ───────────────────────────────▶ Event::Reply
//!   ▲            │
//!   │            └─────▶ input_required ──▶ Event::Ask, one for each input
//!   │                         │                  │ all are answered
//!   │  new id, same key       ▼ no inputs        ▼
//!   └───── inputResponses, requestState ◀────────┘
//! ```
//!
//! Between the rounds the request is not on the server: it is paused here, with nothing but its total deadline running.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::mem;

use super::asks::InputOwner;
use super::engine::{Session, object};
use super::error::{CallError, Deadline, InputError};
use super::inflight::Waiting;
use super::tasks::Tasked;
use super::ticket::RequestKey;
use crate::json::Json;
use crate::json::append::push_raw;
use crate::json::scan;
use crate::rpc::decode::{self, Answer};
use crate::rpc::result_type::{ResultType, result_type};
use crate::rpc::write::{self, Meta};
use crate::time::Timestamp;
use crate::types::InputRequiredResult;

/// What it takes to send a request again: its parameters and the members that its caller put into `_meta`, as text.
pub(crate) struct Kept {
    text: Vec<u8>,
    /// Where the latter begin; they are an object, or nothing.
    meta: usize,
}

impl Kept {
    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kept({} bytes)", self.len())
    }
}

/// The requests that are between two rounds.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    /// Few: each has at least one of [`Config::max_asks`](super::Config::max_asks) open.
    paused: Vec<Paused>,
    /// The room of a request that has ended, for the next one.
    spare: Vec<u8>,
}

#[derive(Debug)]
struct Paused {
    waiting: Waiting,
    state: Option<Json>,
}

/// What is kept for the next request, at most.
const SMALL: usize = 4 * 1024;

impl Rounds {
    pub(super) fn len(&self) -> usize {
        self.paused.len()
    }

    pub(super) fn has(&self, key: RequestKey) -> bool {
        self.place(key).is_some()
    }

    /// The next deadline of those in between.
    pub(super) fn poll_timeout(&self) -> Option<Timestamp> {
        self.paused.iter().map(|paused| paused.waiting.total()).min()
    }

    pub(super) fn let_go(&mut self) {
        self.spare = Vec::new();
    }

    /// Takes in a request that has ended.
    #[inline]
    pub(super) fn recycle(&mut self, waiting: &mut Waiting) {
        if let Some(Kept { text, .. }) = waiting.kept.take()
            && text.capacity() <= SMALL
        {
            self.spare = text;
        }
    }

    fn place(&self, key: RequestKey) -> Option<usize> {
        self.paused.iter().position(|paused| paused.waiting.key == key)
    }

    fn kept(&self) -> usize {
        let state = |paused: &Paused| paused.state.as_ref().map_or(0, |state| state.get().len());
        self.paused.iter().map(|paused| paused.waiting.kept.as_ref().map_or(0, Kept::len) + state(paused)).sum()
    }
}

impl Session {
    /// Whether the server may want input before it answers this method ("Supported Requests").
    #[inline]
    pub(super) fn has_rounds(&self, method: &str) -> bool {
        // Only in the modern era there is something to say in `_meta`.
        !self.meta.is_empty() && matches!(method, "tools/call" | "prompts/get" | "resources/read")
    }

    /// Whether a message asks for input before it answers a request.
    #[inline]
    pub(super) fn wants_input(&self, waiting: &Waiting, message: &[u8]) -> bool {
        self.has_rounds(&waiting.method) && result_type(message) == ResultType::InputRequired
    }

    /// Keeps what it takes to send a request again; `params` are those that were sent, without the brace that closes them.
    /// `None` if too much is kept already.
    pub(super) fn keep(&mut self, params: &[u8], meta: Option<&Json>) -> Option<Kept> {
        let meta = meta.map_or(&b""[..], |meta| meta.get().as_bytes());
        let len = params.len() + 1 + meta.len();
        if !self.may_keep(len) {
            return None;
        }
        let mut text = mem::take(&mut self.rounds.spare);
        text.clear();
        text.reserve(len);
        text.extend_from_slice(params);
        text.push(b'}');
        let at = text.len();
        text.extend_from_slice(meta);
        Some(Kept { text, meta: at })
    }

    fn may_keep(&self, more: usize) -> bool {
        self.in_flight.kept() + self.rounds.kept() + more <= self.config.max_kept
    }

    /// Takes in that the server wants input before it answers a request, which has left the table.
    #[cold]
    #[inline(never)]
    pub(super) fn input_required(
        &mut self,
        waiting: Waiting,
        id: u64,
        message: &[u8],
        now: Timestamp,
        out: &mut Vec<u8>,
    ) {
        let (key, method) = (waiting.key, waiting.method.clone());
        let error = match decode::answer::<InputRequiredResult>(message, id) {
            Ok(Answer::Result(wanted)) => match self.begin_round(waiting, wanted, now, out) {
                Ok(()) => return,
                Err(error) => CallError::Input { method, error: Arc::new(error) },
            },
            Ok(Answer::Error(error)) => CallError::Server { method, error },
            Err(error) => CallError::Invalid { method, error },
        };
        self.end_with(key, error);
    }

    fn begin_round(
        &mut self,
        waiting: Waiting,
        wanted: InputRequiredResult,
        now: Timestamp,
        out: &mut Vec<u8>,
    ) -> Result<(), InputError> {
        let InputRequiredResult { input_requests: inputs, request_state: state, .. } = wanted;
        if waiting.rounds >= self.config.max_rounds {
            return Err(InputError::TooManyRounds { limit: self.config.max_rounds });
        }
        let more = state.as_ref().map_or(0, |state| state.get().len());
        if !waiting.kept.as_ref().is_some_and(|kept| self.may_keep(kept.len() + more)) {
            return Err(InputError::TooMuchToKeep { limit: self.config.max_kept });
        }
        if inputs.is_empty() {
            return self.send_again(waiting, None, state.as_ref(), now, out).map_err(|(_, error)| error);
        }
        self.ask_inputs(InputOwner::Round(waiting.key), Some(waiting.key), inputs)?;
        self.rounds.paused.push(Paused { waiting, state });
        Ok(())
    }

    /// Takes in the answers to all that the server wanted: an object of theirs by their names, as text.
    pub(super) fn round_answered(&mut self, key: RequestKey, answers: &[u8], now: Timestamp, out: &mut Vec<u8>) {
        let Some(Paused { waiting, state }) = self.resumed(key) else { return };
        if let Err((waiting, error)) = self.send_again(waiting, Some(answers), state.as_ref(), now, out) {
            self.fail_round(waiting, error);
        }
    }

    /// Takes in that one of the inputs is not to be had. The server waits for nothing, so it is not told (client/roots,
    /// "Error Handling").
    pub(super) fn round_refused(&mut self, key: RequestKey, error: InputError) {
        if let Some(Paused { waiting, .. }) = self.resumed(key) {
            self.fail_round(waiting, error);
        }
    }

    /// Gives up a request between two rounds, and with it what was asked for it. `false` if there is none.
    pub(super) fn cancel_round(&mut self, key: RequestKey) -> bool {
        let Some(Paused { waiting, .. }) = self.resumed(key) else { return false };
        let error = CallError::Cancelled { method: waiting.method };
        self.give_up_inputs(InputOwner::Round(key));
        self.end_with(key, error);
        true
    }

    /// Ends the requests between two rounds that have taken too long in all.
    pub(super) fn expire_rounds(&mut self, now: Timestamp) {
        while let Some(at) = self.rounds.paused.iter().position(|paused| paused.waiting.total() <= now) {
            let waiting = self.rounds.paused.remove(at).waiting;
            self.give_up_inputs(InputOwner::Round(waiting.key));
            self.end_with(waiting.key, waiting.timed_out(Deadline::Total));
        }
    }

    /// Ends them all, as the connection has ended.
    pub(super) fn close_rounds(&mut self, reason: &super::Closed) {
        for Paused { waiting, .. } in mem::take(&mut self.rounds.paused) {
            let reason = reason.clone();
            self.give_up_inputs(InputOwner::Round(waiting.key));
            self.end_with(waiting.key, CallError::Closed { method: waiting.method, reason });
        }
        self.rounds = Rounds::default();
    }

    fn resumed(&mut self, key: RequestKey) -> Option<Paused> {
        let at = self.rounds.place(key)?;
        Some(self.rounds.paused.remove(at))
    }

    #[inline(never)]
    fn fail_round(&mut self, waiting: Waiting, error: InputError) {
        self.give_up_inputs(InputOwner::Round(waiting.key));
        self.end_with(waiting.key, CallError::Input { method: waiting.method, error: Arc::new(error) });
    }

    /// Sends a request again, with what the server wanted.
    fn send_again(
        &mut self,
        waiting: Waiting,
        answers: Option<&[u8]>,
        state: Option<&Json>,
        now: Timestamp,
        out: &mut Vec<u8>,
    ) -> Result<(), (Waiting, InputError)> {
        if let Err(error) = self.check_open(out) {
            return Err((waiting, InputError::NotSent(error)));
        }
        let kept = waiting.kept.as_ref().map_or(&b"{}"[..], |kept| &kept.text);
        let (params, meta) = kept.split_at(waiting.kept.as_ref().map_or(kept.len(), |kept| kept.meta));
        let meta = core::str::from_utf8(meta).ok().filter(|meta| !meta.is_empty()).map(Json::trusted);
        let id = self.next_id;
        let params = |out: &mut Vec<u8>| {
            push_params(out, params, answers, state);
            Ok(())
        };
        let protocol = if waiting.tasks == Tasked::No { &self.meta } else { self.task_meta() };
        let meta = Meta { protocol, progress_token: waiting.wants_progress.then_some(id), caller: meta.as_ref() };
        // Text that was written once can be written again.
        let _ = write::request(out, id, &waiting.method, &params, meta);
        self.next_id += 1;
        let place = RequestKey(self.next_key);
        self.next_key += 1;
        self.in_flight.insert_again(id, place, waiting, now);
        Ok(())
    }
}

/// Appends parameters that were sent before, with what belongs to this round ("Client Requirements").
fn push_params(out: &mut Vec<u8>, params: &[u8], answers: Option<&[u8]>, state: Option<&Json>) {
    let of_a_round = |member: &scan::Member<'_>| member.is("inputResponses") || member.is("requestState");
    if scan::members(params).any(|member| of_a_round(&member)) {
        // The caller had begun a round of its own.
        let mut members = scan::members(params);
        let others = object(&mut || members.find(|member| !of_a_round(member)));
        push_raw(out, others.get().as_bytes());
    } else {
        push_raw(out, params);
    }
    out.pop();
    while let Some(b' ' | b'\t') = out.last() {
        out.pop();
    }
    let mut more = |name: &[u8], value: &[u8]| {
        if out.last() != Some(&b'{') {
            out.push(b',');
        }
        out.extend_from_slice(name);
        push_raw(out, value);
    };
    if let Some(answers) = answers {
        more(b"\"inputResponses\":", answers);
    }
    if let Some(state) = state {
        more(b"\"requestState\":", state.get().as_bytes());
    }
    out.push(b'}');
}
