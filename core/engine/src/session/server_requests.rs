//! Requests of the server to the client, from their arrival to their answer.
//!
//! A legacy server (up to revision 2025-11-25) sends JSON-RPC requests. A modern server instead responds to a request
//! of the client with a list of inputs that it requires. This module reports these inputs like requests.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::error::{InputError, SendError};
use super::event::{ClientRequest, Event, ServerRequest};
use super::link::Link;
use super::prepared::send_error;
use super::ticket::{RequestKey, ServerRequestId};
use crate::input_requests::InputRequest;
use crate::rpc::write::{NO_PARAMS, ParamsError, ParamsWriter};
use crate::rpc::{RpcError, WireId, decode};
use mcpwire_text::excerpt;
use mcpwire_text::json::append::{push_raw, push_string};
use mcpwire_text::json::{Json, JsonText, scan};
use mcpwire_types::Era;

/// Requests of the server that the embedder has not answered yet: JSON-RPC requests, and inputs that the server
/// requires to continue a request or task of the client.
#[derive(Debug, Default)]
pub(super) struct ServerRequests {
    /// The unanswered requests of the server, oldest first. At most
    /// [`Config::max_server_requests`](super::Config::max_server_requests).
    pending: Vec<(ServerRequestId, Origin)>,
    next_key: u64,
}

/// Whether the server sent a JSON-RPC request, or requires an input to continue a request or task of the client.
#[derive(Debug)]
enum Origin {
    /// A JSON-RPC request. `id` is its id as JSON text.
    ///
    /// `task` identifies the task that the request belongs to, and is `None` if it belongs to no task. The answer must
    /// repeat the value (revision 2025-11-25: basic/utilities/tasks, "Related Task Metadata").
    Request { id: String, task: Option<Json> },
    /// An input that the server requires to continue the client's request `during`, or the task that this request waits
    /// for. `name` is the server's name for the input, and `method` the requested action, such as `elicitation/create`.
    Input { during: RequestKey, name: String, method: String },
}

/// What the session must do after the embedder has answered or refused a request of the server.
#[derive(Debug)]
pub(super) enum AnswerOutcome {
    /// No request of the server with this key is pending.
    Unknown,
    /// The session need not do more: the answer or error was written to the outbox.
    Done,
    /// The embedder answered an input that this request of the client needs. The bytes are the JSON text of one object
    /// member: the name of the input and the answer.
    Answered(RequestKey, Vec<u8>),
    /// The embedder refused an input that this request of the client needs. The request must therefore fail with the
    /// error.
    Refused(RequestKey, InputError),
}

/// Why the embedder refuses a request of the server.
pub(super) enum RefusalReason<'a> {
    Error(&'a RpcError),
    /// The program's handler for the request panicked with this message.
    Panicked(&'a str),
}

impl ServerRequests {
    /// Handles a JSON-RPC request of the server. Answers `ping`, reports requests with a method in
    /// [`Config::answers`](super::Config::answers) as events, and refuses all others.
    pub(super) fn receive(&mut self, id: WireId<'_>, method: &str, message: &[u8], link: &mut Link) {
        // A server that sends requests but does not read the answers must not make the transmit buffer grow without
        // limit. Modern servers must not send requests, and clients must not answer them (basic/transports/stdio,
        // "Sending Messages").
        let can_answer =
            !link.connection.is_era(Era::Modern) && !link.is_transmit_full() && link.outbox.takes_answers();
        let Some(id) = id.echo().filter(|_| can_answer) else { return report_refusal(method, link) };
        if method == "ping" {
            // An empty result cannot fail to serialize.
            let _ = link.outbox.answer(id, NO_PARAMS);
            return;
        }
        if let Err(error) = self.accept(id, method, message, link) {
            link.outbox.error(id, error.code, &error.message, None);
            report_refusal(method, link);
        }
    }

    fn accept(&mut self, id: &str, method: &str, message: &[u8], link: &mut Link) -> Result<(), RpcError> {
        if !offers(method, link) {
            return Err(RpcError::new(RpcError::METHOD_NOT_FOUND, "Method not found"));
        }
        if !self.has_room(link) {
            return Err(RpcError::new(RpcError::INTERNAL_ERROR, "Too many requests at once"));
        }
        let Some(params) = decode::params::<Json>(message).map(Result::ok) else {
            return Err(RpcError::new(RpcError::INVALID_PARAMS, "Invalid params"));
        };
        link.config.capabilities.allow(method, params.as_ref())?;
        let meta = params.as_ref().and_then(|params| params.member_text("_meta")).map(Json::trusted);
        let task = meta.and_then(|meta| meta.member_text(RELATED_TASK).map(Json::trusted));
        let key = self.add(Origin::Request { id: id.to_string(), task });
        self.update_pause(link);
        link.report(Event::ServerRequest(ServerRequest { key, method: method.to_string(), params, during: None }));
        Ok(())
    }

    /// Reports the inputs that the server requires to continue the client's request `during`, or its task, each in an
    /// [`Event::ServerRequest`]. If the client does not support one of the inputs, or if there are too many, reports
    /// none and returns an error.
    pub(super) fn request_inputs(
        &mut self,
        during: &ClientRequest,
        inputs: Vec<InputRequest>,
        link: &mut Link,
    ) -> Result<(), InputError> {
        if let Some(InputRequest { name, method, .. }) = inputs.iter().find(|input| !offers(&input.method, link)) {
            return Err(InputError::NotOffered { name: name.clone(), asked: method.clone() });
        }
        for InputRequest { name, method, params, .. } in &inputs {
            if let Err(error) = link.config.capabilities.allow(method, params.as_ref()) {
                return Err(InputError::Refused { name: name.clone(), asked: method.clone(), error });
            }
        }
        let limit = link.config.max_server_requests;
        if inputs.len() > limit.saturating_sub(self.pending.len()) {
            return Err(InputError::TooManyInputs { limit });
        }
        for InputRequest { name, method, params, .. } in inputs {
            let key = self.add(Origin::Input { during: during.key, name, method: method.clone() });
            let during = Some(Box::new(during.clone()));
            link.report(Event::ServerRequest(ServerRequest { key, method, params, during }));
        }
        Ok(())
    }

    pub(super) fn has_room(&self, link: &Link) -> bool {
        self.pending.len() < link.config.max_server_requests
    }

    /// Answers the server request with this key. `result` must write a JSON object; otherwise returns an error, and the
    /// server request remains unanswered.
    pub(super) fn answer(
        &mut self,
        key: ServerRequestId,
        result: ParamsWriter<'_>,
        link: &mut Link,
    ) -> Result<AnswerOutcome, SendError> {
        let Some((_, origin)) = self.pending.iter().find(|(pending, _)| *pending == key) else {
            return Ok(AnswerOutcome::Unknown);
        };
        let mut input = Vec::new();
        let written = match origin {
            Origin::Request { id, task: None } => link.outbox.answer(id, result),
            Origin::Request { id, task: Some(task) } => {
                link.outbox.answer(id, &|out: &mut Vec<u8>| push_with_task(out, result, task))
            }
            Origin::Input { name, .. } => {
                push_string(&mut input, name);
                input.push(b':');
                result(&mut input)
            }
        };
        written.map_err(|error| send_error("an answer", error))?;
        if let Some(Origin::Input { during, .. }) = self.take(key) {
            return Ok(AnswerOutcome::Answered(during, input));
        }
        self.update_pause(link);
        Ok(AnswerOutcome::Done)
    }

    /// Refuses the server request with this key. A JSON-RPC request gets an error response. For an input that a modern
    /// server requires, returns [`AnswerOutcome::Refused`], and the caller must fail the client's request.
    #[cold]
    pub(super) fn refuse(
        &mut self,
        key: ServerRequestId,
        refusal: &RefusalReason<'_>,
        link: &mut Link,
    ) -> AnswerOutcome {
        let Some(origin) = self.take(key) else { return AnswerOutcome::Unknown };
        match (origin, refusal) {
            (Origin::Request { id, .. }, RefusalReason::Error(error)) => {
                link.outbox.error(&id, error.code, &error.message, error.data.as_ref());
            }
            // The message of a panic may contain secrets.
            (Origin::Request { id, .. }, RefusalReason::Panicked(_)) => {
                link.outbox.error(&id, RpcError::INTERNAL_ERROR, "Internal error", None);
            }
            (Origin::Input { during, name, method }, RefusalReason::Error(error)) => {
                let error = (*error).clone();
                return AnswerOutcome::Refused(during, InputError::Refused { name, asked: method, error });
            }
            (Origin::Input { during, name, method }, RefusalReason::Panicked(message)) => {
                let message = (*message).to_string();
                return AnswerOutcome::Refused(during, InputError::Panicked { name, asked: method, message });
            }
        }
        self.update_pause(link);
        AnswerOutcome::Done
    }

    /// Handles `notifications/cancelled`, with which the server cancels a request that it sent to the client (revision
    /// 2025-11-25: basic/utilities/cancellation).
    pub(super) fn cancelled(&mut self, message: &[u8], link: &mut Link) {
        let params = decode::params::<Json>(message).and_then(Result::ok);
        let id = params.as_ref().and_then(|params| params.member_text("requestId"));
        let is_cancelled =
            |origin: &Origin, cancelled: &str| matches!(origin, Origin::Request { id, .. } if id == cancelled);
        match id.and_then(|id| self.pending.iter().position(|(_, origin)| is_cancelled(origin, id))) {
            Some(at) => {
                let (key, _) = self.pending.remove(at);
                self.update_pause(link);
                link.report(Event::ServerRequestCancelled(key));
            }
            None => link.stats.late += 1,
        }
    }

    /// Removes the unanswered inputs of the client's request `key`, and reports to the embedder that they need no answer
    /// any more.
    pub(super) fn withdraw(&mut self, key: RequestKey, link: &mut Link) {
        self.withdraw_except(&[], key, link);
    }

    /// Like [`Self::withdraw`], but keeps the inputs that the server still requires.
    pub(super) fn withdraw_except(&mut self, needed: &[InputRequest], key: RequestKey, link: &mut Link) {
        let is_withdrawn = |origin: &Origin| match origin {
            Origin::Input { during, name, .. } => *during == key && needed.iter().all(|input| input.name != *name),
            Origin::Request { .. } => false,
        };
        report_withdrawn(self.pending.extract_if(.., |(_, origin)| is_withdrawn(origin)), link);
    }

    pub(super) fn withdraw_all(&mut self, link: &mut Link) {
        report_withdrawn(self.pending.drain(..), link);
    }

    fn add(&mut self, origin: Origin) -> ServerRequestId {
        let key = ServerRequestId(self.next_key);
        self.next_key += 1;
        self.pending.push((key, origin));
        key
    }

    fn take(&mut self, key: ServerRequestId) -> Option<Origin> {
        let at = self.pending.iter().position(|(pending, _)| *pending == key)?;
        Some(self.pending.remove(at).1)
    }

    /// Pauses the idle timeouts of the client's requests while a JSON-RPC request of the server is unanswered, because
    /// the server may need the answer before it can respond.
    fn update_pause(&self, link: &mut Link) {
        let is_waiting = self.pending.iter().any(|(_, origin)| matches!(origin, Origin::Request { .. }));
        link.requests.pause(is_waiting, link.now);
    }
}

fn offers(method: &str, link: &Link) -> bool {
    link.connection.is_ready() && link.config.answers().iter().any(|offered| offered == method)
}

fn report_refusal(method: &str, link: &mut Link) {
    link.stats.refused += 1;
    link.report(Event::ServerRequestRefused { method: excerpt(method.as_bytes()) });
}

/// Reports to the embedder that these requests of the server need no answer any more. If the [`Event::ServerRequest`]
/// of a request is still queued, removes that event instead.
fn report_withdrawn(withdrawn: impl Iterator<Item = (ServerRequestId, Origin)>, link: &mut Link) {
    for (key, _) in withdrawn {
        let before = link.events.len();
        link.events.retain(|event| !matches!(event, Event::ServerRequest(request) if request.key == key));
        if link.events.len() == before {
            link.report(Event::ServerRequestCancelled(key));
        }
    }
}

/// Name of the `_meta` member that identifies the task to which a message belongs.
const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";

/// Appends the JSON object that `answer` writes to `out`, and adds a `_meta` member that contains `task`. Adds nothing
/// if the object already has a `_meta`.
fn push_with_task(out: &mut Vec<u8>, answer: ParamsWriter<'_>, task: &Json) -> Result<(), ParamsError> {
    let start = out.len();
    answer(out)?;
    let mut members = scan::members(&out[start..]).peekable();
    let is_empty = members.peek().is_none();
    if members.any(|member| member.is("_meta")) {
        return Ok(());
    }
    out.pop();
    if !is_empty {
        out.push(b',');
    }
    out.extend_from_slice(b"\"_meta\":{");
    push_string(out, RELATED_TASK);
    out.push(b':');
    push_raw(out, task.get().as_bytes());
    out.extend_from_slice(b"}}");
    Ok(())
}
