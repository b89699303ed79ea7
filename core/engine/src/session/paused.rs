//! [`PausedRequests`]: the requests that wait for input from the embedder.

use alloc::vec::Vec;
use core::mem;

use super::link::Link;
use super::requests::{CallerRequest, RetryParams};
use super::ticket::RequestKey;
use crate::time::Timestamp;
use mcpwire_text::json::Json;

/// Requests of the client to which the server has responded with `input_required`, and that wait for the embedder's
/// answers (from revision 2026-07-28, basic/patterns/mrtr).
#[derive(Debug, Default)]
pub(super) struct PausedRequests {
    /// The waiting requests, oldest first. At most [`Config::max_server_requests`](super::Config::max_server_requests),
    /// because each waits for at least one input.
    requests: Vec<PausedRequest>,
}

#[derive(Debug)]
pub(super) struct PausedRequest {
    pub(super) caller: CallerRequest,
    /// The opaque `requestState` that the server sent, for the client to send back unchanged. `None` if the server sent
    /// none.
    pub(super) state: Option<Json>,
    /// Number of inputs that the embedder has not answered yet. At least 1.
    missing: usize,
    /// The answers so far, as the members of a JSON object, without its closing brace.
    answers: Vec<u8>,
}

impl PausedRequests {
    /// Returns the number of requests that are waiting for input from the embedder.
    pub(super) fn len(&self) -> usize {
        self.requests.len()
    }

    /// Returns whether the request with this key is waiting for input from the embedder.
    pub(super) fn is_paused(&self, key: RequestKey) -> bool {
        self.position(key).is_some()
    }

    pub(super) fn poll_timeout(&self) -> Option<Timestamp> {
        self.requests.iter().map(|paused| paused.caller.deadlines.total).min()
    }

    pub(super) fn release_buffers(&mut self) {
        self.requests.shrink_to_fit();
    }

    /// Copies the parameters of a request and the `_meta` that the caller passed, so that the session can send the
    /// request again with input. `params` is a JSON object without its closing brace.
    ///
    /// Returns `None` if the copy would exceed [`Config::max_retry_bytes`](super::Config::max_retry_bytes).
    pub(super) fn retry_params(&self, params: &[u8], meta: Option<&Json>, link: &Link) -> Option<RetryParams> {
        let meta_len = meta.map_or(0, |meta| meta.get().len());
        self.has_room(params.len() + 1 + meta_len, link)
            .then(|| RetryParams { params: [params, b"}"].concat(), meta: meta.cloned() })
    }

    /// Returns whether `more` bytes may be stored to send requests again.
    pub(super) fn has_room(&self, more: usize, link: &Link) -> bool {
        let state_len = |paused: &PausedRequest| paused.state.as_ref().map_or(0, |state| state.get().len());
        let paused =
            |paused: &PausedRequest| paused.caller.retry.as_ref().map_or(0, RetryParams::len) + state_len(paused);
        let kept = link.requests.retry_bytes() + self.requests.iter().map(paused).sum::<usize>();
        kept + more <= link.config.max_retry_bytes
    }

    fn position(&self, key: RequestKey) -> Option<usize> {
        self.requests.iter().position(|paused| paused.caller.key == key)
    }

    pub(super) fn add(&mut self, caller: CallerRequest, state: Option<Json>, missing: usize) {
        self.requests.push(PausedRequest { caller, state, missing, answers: Vec::new() });
    }

    /// Stores the answer to an input of the request `key`. `member` is the JSON text of one object member: the name of the
    /// input and the answer. After the answer to its last input, removes the request, and returns it with its answers as a
    /// JSON object.
    pub(super) fn answered(&mut self, key: RequestKey, member: &[u8]) -> Option<(PausedRequest, Vec<u8>)> {
        let at = self.position(key)?;
        let PausedRequest { missing, answers, .. } = &mut self.requests[at];
        answers.push(if answers.is_empty() { b'{' } else { b',' });
        answers.extend_from_slice(member);
        *missing -= 1;
        if *missing > 0 {
            return None;
        }
        let mut paused = self.requests.remove(at);
        let mut answers = mem::take(&mut paused.answers);
        answers.push(b'}');
        Some((paused, answers))
    }

    /// Removes and returns a request whose total deadline has expired by `now`.
    pub(super) fn expire(&mut self, now: Timestamp) -> Option<CallerRequest> {
        let at = self.requests.iter().position(|paused| paused.caller.deadlines.total <= now)?;
        Some(self.requests.remove(at).caller)
    }

    /// Removes and returns all requests.
    pub(super) fn take(&mut self) -> Vec<PausedRequest> {
        mem::take(self).requests
    }

    pub(super) fn resume(&mut self, key: RequestKey) -> Option<PausedRequest> {
        let at = self.position(key)?;
        Some(self.requests.remove(at))
    }
}
