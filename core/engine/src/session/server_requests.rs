//! What the server asks of the client, from the request to its answer.
//!
//! Legacy servers send a request. Modern servers want inputs before they answer a request of ours: those inputs are collected
//! here, and handed up once all of them are answered.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::mem;

use super::context::Context;
use super::error::{InputError, SendError};
use super::event::{Ask, Event};
use super::keys::{AskKey, RequestKey};
use super::prepared::send_error;
use crate::json::append::{push_raw, push_string};
use crate::json::{Json, scan};
use crate::rpc::write::{ParamsError, Push};
use crate::rpc::{RpcError, WireId, decode, write};
use crate::text::excerpt;
use crate::types::{Era, InputRequest};

/// The requests of the server that have no answer yet.
#[derive(Debug, Default)]
pub(super) struct ServerRequests {
    /// At most [`Config::max_asks`](super::Config::max_asks).
    pending: Vec<(AskKey, Origin)>,
    /// For each owner of pending inputs, the answers so far.
    collected: Vec<CollectedInputs>,
    next: u64,
}

/// Where an answer goes.
#[derive(Debug)]
enum Origin {
    /// To a request of the server, with this id as JSON text. If that request belongs to a task, the answer names the task too
    /// (2025-11-25, basic/utilities/tasks, "Related Task Metadata").
    Request { id: String, task: Option<Json> },
    /// Among the inputs that the server wants, under this name.
    Input { owner: InputOwner, name: String, method: String },
}

/// What inputs are collected for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InputOwner {
    /// A caller's request, which is sent again once all of its inputs are answered.
    Request(RequestKey),
    /// A task of a call. Each input is answered on its own: this is the number of the input.
    Task(RequestKey, u32),
}

#[derive(Debug)]
struct CollectedInputs {
    owner: InputOwner,
    missing: usize,
    /// The members of a JSON object, from its opening brace on.
    answers: Vec<u8>,
}

/// What an answer leads to.
#[derive(Debug)]
pub(super) enum Answered {
    /// Nobody waits for it any more.
    Unknown,
    /// It was sent, or more inputs are missing.
    Done,
    /// All inputs of the owner are answered: a JSON object of the answers by name.
    Complete(InputOwner, Vec<u8>),
    /// An input was refused.
    Refused(InputOwner, InputError),
}

/// Why a request gets no answer.
pub(super) enum Refusal<'a> {
    /// The handler refused it with this error.
    Error(&'a RpcError),
    /// The handler panicked with this message.
    Panicked(&'a str),
}

impl ServerRequests {
    /// Handles a request of the server: answers a ping, refuses what is not offered, and reports everything else.
    pub(super) fn receive(&mut self, id: WireId<'_>, method: &str, message: &[u8], context: &mut Context<'_>) {
        // A server that asks and does not read must not make us hoard answers. A modern server may not ask at all, and may
        // not be answered (basic/transports/stdio, "Sending Messages").
        let may_answer = !context.connection.is_era(Era::Modern) && context.has_room_for_answer();
        let Some(id) = id.echo().filter(|_| may_answer) else { return report_refusal(method, context) };
        if method == "ping" {
            return write::empty_result(context.out, id);
        }
        match self.accept(id, method, message, context) {
            Ok(()) => {}
            Err(error) => {
                write::error(context.out, id, error.code, &error.message, None);
                report_refusal(method, context);
            }
        }
    }

    fn accept(&mut self, id: &str, method: &str, message: &[u8], context: &mut Context<'_>) -> Result<(), RpcError> {
        if !offers(method, context) {
            return Err(RpcError::new(RpcError::METHOD_NOT_FOUND, "Method not found"));
        }
        if !self.has_room(context) {
            return Err(RpcError::new(RpcError::INTERNAL_ERROR, "Too many requests at once"));
        }
        let Some(params) = decode::params::<Json>(message).map(Result::ok) else {
            return Err(RpcError::new(RpcError::INVALID_PARAMS, "Invalid params"));
        };
        context.config.capabilities.allow(method, params.as_ref())?;
        let meta = params.as_ref().and_then(|params| params.member::<Json>("_meta"));
        let task = meta.and_then(|meta| meta.member(RELATED_TASK));
        let key = self.add(Origin::Request { id: id.to_string(), task });
        self.update_pause(context);
        context.report(Event::Ask(Ask { key, method: method.to_string(), params, during: None }));
        Ok(())
    }

    /// Reports the inputs that the server wants together, of which there is at least one. On failure none is reported.
    pub(super) fn request_inputs(
        &mut self,
        owner: InputOwner,
        during: Option<RequestKey>,
        inputs: Vec<InputRequest>,
        context: &mut Context<'_>,
    ) -> Result<(), InputError> {
        if let Some(InputRequest { name, method, .. }) = inputs.iter().find(|input| !offers(&input.method, context)) {
            return Err(InputError::NotOffered { name: name.clone(), asked: method.clone() });
        }
        for InputRequest { name, method, params } in &inputs {
            if let Err(error) = context.config.capabilities.allow(method, params.as_ref()) {
                return Err(InputError::Refused { name: name.clone(), asked: method.clone(), error });
            }
        }
        let limit = context.config.max_asks;
        if inputs.len() > limit.saturating_sub(self.pending.len()) {
            return Err(InputError::TooManyInputs { limit });
        }
        self.collected.push(CollectedInputs { owner, missing: inputs.len(), answers: Vec::new() });
        for InputRequest { name, method, params } in inputs {
            let key = self.add(Origin::Input { owner, name, method: method.clone() });
            context.report(Event::Ask(Ask { key, method, params, during }));
        }
        Ok(())
    }

    /// Whether the server may ask for one more thing.
    pub(super) fn has_room(&self, context: &Context<'_>) -> bool {
        self.pending.len() < context.config.max_asks
    }

    /// Answers a request with an object.
    ///
    /// # Errors
    /// If the result does not serialise as an object; the server still waits then.
    pub(super) fn answer(
        &mut self,
        key: AskKey,
        result: Push<'_>,
        context: &mut Context<'_>,
    ) -> Result<Answered, SendError> {
        let Some((_, origin)) = self.pending.iter().find(|(pending, _)| *pending == key) else {
            return Ok(Answered::Unknown);
        };
        let mut input = Vec::new();
        let written = match origin {
            Origin::Request { id, task: None } => write::result(context.out, id, result),
            Origin::Request { id, task: Some(task) } => {
                write::result(context.out, id, &|out: &mut Vec<u8>| push_with_task(out, result, task))
            }
            Origin::Input { .. } => result.push(&mut input),
        };
        written.map_err(|error| send_error("an answer", error))?;
        let Some(Origin::Input { owner, name, .. }) = self.take(key) else {
            self.update_pause(context);
            return Ok(Answered::Done);
        };
        Ok(match self.collect(owner, &name, &input) {
            Some(answers) => Answered::Complete(owner, answers),
            None => Answered::Done,
        })
    }

    /// Refuses a request.
    pub(super) fn refuse(&mut self, key: AskKey, refusal: &Refusal<'_>, context: &mut Context<'_>) -> Answered {
        match self.take(key) {
            Some(Origin::Request { id, .. }) => {
                match refusal {
                    Refusal::Error(error) => {
                        write::error(context.out, &id, error.code, &error.message, error.data.as_ref());
                    }
                    // The message of a panic is not for the server.
                    Refusal::Panicked(_) => {
                        write::error(context.out, &id, RpcError::INTERNAL_ERROR, "Internal error", None);
                    }
                }
                self.update_pause(context);
                Answered::Done
            }
            Some(Origin::Input { owner, name, method }) => {
                if matches!(owner, InputOwner::Task(..)) {
                    self.collected.retain(|collected| collected.owner != owner);
                }
                let error = match refusal {
                    Refusal::Error(error) => InputError::Refused { name, asked: method, error: (*error).clone() },
                    Refusal::Panicked(message) => {
                        InputError::Panicked { name, asked: method, message: (*message).to_string() }
                    }
                };
                Answered::Refused(owner, error)
            }
            None => Answered::Unknown,
        }
    }

    /// Handles `notifications/cancelled`: the server gives up a request of its own and expects no answer to it
    /// (2025-11-25, basic/utilities/cancellation).
    pub(super) fn cancelled(&mut self, message: &[u8], context: &mut Context<'_>) {
        let params = decode::params::<Json>(message).and_then(Result::ok);
        let id = params.as_ref().and_then(|params| {
            scan::members(params.get().as_bytes())
                .find(|member| member.is("requestId"))
                .map(|member| member.value.to_vec())
        });
        let is_cancelled = |origin: &Origin, cancelled: &[u8]| matches!(origin, Origin::Request { id, .. } if id.as_bytes() == cancelled);
        match id.and_then(|id| self.pending.iter().position(|(_, origin)| is_cancelled(origin, &id))) {
            Some(at) => {
                let (key, _) = self.pending.remove(at);
                self.update_pause(context);
                context.report(Event::AskCancelled(key));
            }
            None => context.stats.late += 1,
        }
    }

    /// Withdraws the inputs of an owner that has ended.
    pub(super) fn withdraw(&mut self, owner: InputOwner, context: &mut Context<'_>) {
        let is_withdrawn = |origin: &Origin| matches!(origin, Origin::Input { owner: of, .. } if *of == owner);
        let (withdrawn, others) =
            mem::take(&mut self.pending).into_iter().partition(|(_, origin)| is_withdrawn(origin));
        self.pending = others;
        self.collected.retain(|collected| collected.owner != owner);
        report_withdrawn(withdrawn, context);
    }

    /// Withdraws everything: the server's session has ended, and nobody waits for answers.
    pub(super) fn withdraw_all(&mut self, context: &mut Context<'_>) {
        let pending = mem::take(&mut self.pending);
        report_withdrawn(pending, context);
        self.collected = Vec::new();
    }

    fn add(&mut self, origin: Origin) -> AskKey {
        let key = AskKey(self.next);
        self.next += 1;
        self.pending.push((key, origin));
        key
    }

    fn take(&mut self, key: AskKey) -> Option<Origin> {
        let at = self.pending.iter().position(|(pending, _)| *pending == key)?;
        Some(self.pending.remove(at).1)
    }

    /// Adds the answer to one input. Returns the object of all answers once none is missing.
    fn collect(&mut self, owner: InputOwner, name: &str, answer: &[u8]) -> Option<Vec<u8>> {
        let at = self.collected.iter().position(|collected| collected.owner == owner)?;
        let collected = &mut self.collected[at];
        collected.answers.push(if collected.answers.is_empty() { b'{' } else { b',' });
        push_string(&mut collected.answers, name);
        collected.answers.push(b':');
        collected.answers.extend_from_slice(answer);
        collected.missing -= 1;
        if collected.missing > 0 {
            return None;
        }
        let mut answers = self.collected.remove(at).answers;
        answers.push(b'}');
        Some(answers)
    }

    /// Pauses the idle timeouts while a legacy server waits for an answer of ours: its silence is not its fault.
    fn update_pause(&self, context: &mut Context<'_>) {
        let is_waiting = self.pending.iter().any(|(_, origin)| matches!(origin, Origin::Request { .. }));
        context.requests.pause(is_waiting, context.now);
    }
}

fn offers(method: &str, context: &Context<'_>) -> bool {
    context.connection.is_ready() && context.config.answers().iter().any(|offered| offered == method)
}

fn report_refusal(method: &str, context: &mut Context<'_>) {
    context.stats.refused += 1;
    context.report(Event::Refused { method: excerpt(method.as_bytes()) });
}

/// Reports that requests are withdrawn. A request that was not polled yet is removed from the events instead.
fn report_withdrawn(withdrawn: Vec<(AskKey, Origin)>, context: &mut Context<'_>) {
    for (key, _) in withdrawn {
        let unpolled = context.events.iter().position(|event| matches!(event, Event::Ask(ask) if ask.key == key));
        match unpolled {
            Some(at) => drop(context.events.remove(at)),
            None => context.report(Event::AskCancelled(key)),
        }
    }
}

const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";

/// Appends an answer that belongs to a task, unless the answer has metadata of its own.
fn push_with_task(out: &mut Vec<u8>, answer: Push<'_>, task: &Json) -> Result<(), ParamsError> {
    let start = out.len();
    answer.push(out)?;
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
