//! What the server asks of the client, from the question to its answer.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::mem;

use serde::Serialize;

use super::engine::Session;
use super::error::{InputError, SendError};
use super::event::Event;
use super::prepared::send_error;
use super::server::Phase;
use super::ticket::RequestKey;
use crate::json::append::{push_raw, push_string};
use crate::json::{Json, scan};
use crate::rpc::write::{ParamsError, Push};
use crate::rpc::{RpcError, WireId, decode, write};
use crate::text::excerpt;
use crate::time::Timestamp;
use crate::types::{Era, InputRequest};

/// Names a request of the server's for as long as the session lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AskKey(u64);

/// Something that the server asks of the client, which waits for [`answer`](crate::stdio::Engine::answer) or
/// [`refuse`](crate::stdio::Engine::refuse). Only methods that are in [`Config::answers`](super::Config::answers) become
/// one; all others are refused at once.
///
/// Legacy servers ask with a request. Modern ones ask before they answer a request of the client's (2026-07-28,
/// basic/patterns/mrtr): once all that a server wants for it is answered, that request is sent again. If one of it is
/// refused, the request fails with [`CallError::Input`](super::CallError::Input), and the others are given up.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Ask {
    /// What its answer is given under.
    pub key: AskKey,
    /// What it asks for, such as `roots/list`.
    pub method: String,
    /// The details, as the server sent them.
    pub params: Option<Json>,
    /// The request that the server wants it for; `None` if the server did not say.
    pub during: Option<RequestKey>,
}

/// Where an answer goes.
#[derive(Debug)]
pub(super) enum Origin {
    /// To a request of the server's, of this id as JSON text. If that belongs to a task, its answer says so as well: which
    /// task (2025-11-25, basic/utilities/tasks, "Related Task Metadata").
    Request(String, Option<Json>),
    /// Among the inputs that the server wants, under this name.
    Input { of: InputOwner, name: String, method: String },
}

/// What inputs are collected for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InputOwner {
    /// The next round of a request.
    Round(RequestKey),
    /// A task, each of whose inputs is answered on its own. Which task, and which of its inputs.
    Task(RequestKey, u32),
}

/// What the server asked for and has no answer to yet.
#[derive(Debug, Default)]
pub(super) struct Asks {
    /// Few: [`Config::max_asks`](super::Config::max_asks).
    open: Vec<(AskKey, Origin)>,
    /// For each owner of inputs among them, what has been answered so far.
    collected: Vec<Collected>,
    next: u64,
}

/// Answers to the inputs that the server wants together.
#[derive(Debug)]
struct Collected {
    of: InputOwner,
    missing: usize,
    /// Members of an object.
    answers: Vec<u8>,
}

impl Asks {
    fn add(&mut self, origin: Origin) -> AskKey {
        let key = AskKey(self.next);
        self.next += 1;
        self.open.push((key, origin));
        key
    }

    fn take(&mut self, key: AskKey) -> Option<Origin> {
        let place = self.open.iter().position(|(open, _)| *open == key)?;
        Some(self.open.remove(place).1)
    }

    /// Takes an answer in. Once all inputs of an owner are there, gives them as an object.
    fn collect(&mut self, of: InputOwner, name: &str, answer: &[u8]) -> Option<Vec<u8>> {
        let place = self.collected.iter().position(|collected| collected.of == of)?;
        let collected = &mut self.collected[place];
        collected.answers.push(if collected.answers.is_empty() { b'{' } else { b',' });
        push_string(&mut collected.answers, name);
        collected.answers.push(b':');
        collected.answers.extend_from_slice(answer);
        collected.missing -= 1;
        if collected.missing > 0 {
            return None;
        }
        let mut answers = self.collected.remove(place).answers;
        answers.push(b'}');
        Some(answers)
    }

    fn holds_up_the_server(&self) -> bool {
        self.open.iter().any(|(_, origin)| matches!(origin, Origin::Request(..)))
    }
}

/// What the rest of a session calls of this. It is called through here, so that it is part of no program that answers
/// nothing.
#[derive(Debug)]
pub(super) struct Hooks {
    asked: fn(&mut Session, &str, &str, &[u8], Timestamp, &mut Vec<u8>),
    wanted: Wanted,
    refused: fn(&mut Session, AskKey, &Refusal<'_>, Timestamp, &mut Vec<u8>) -> bool,
    given_up: fn(&mut Session, InputOwner),
    cancelled: fn(&mut Session, &[u8], Timestamp),
    forgotten: fn(&mut Session),
}

/// Why the server does not get an answer.
enum Refusal<'a> {
    /// The handler refused with this error.
    Error(&'a RpcError),
    /// The handler panicked with this message.
    Panicked(&'a str),
}

type Wanted = fn(&mut Session, InputOwner, Option<RequestKey>, Vec<InputRequest>) -> Result<(), InputError>;

pub(super) static HOOKS: Hooks = Hooks {
    asked: Session::add_ask,
    wanted: Session::add_inputs,
    refused: Session::refuse_ask,
    given_up: Session::forget_inputs,
    cancelled: Session::cancel_ask,
    forgotten: Session::forget_all_asks,
};

/// What is there for a session that answers nothing: it refuses.
impl Session {
    /// Refuses what the server asked for. `false` as for [`Session::answer`].
    pub fn refuse(&mut self, key: AskKey, error: &RpcError, now: Timestamp, out: &mut Vec<u8>) -> bool {
        self.refuse_for(key, &Refusal::Error(error), now, out)
    }

    /// Refuses what the server asked for, because the program's handler panicked with this message. `false` as for
    /// [`Session::answer`].
    ///
    /// A legacy server is answered with an internal error that does not contain the message. In the modern era, the
    /// request that the server wanted the input for fails with [`InputError::Panicked`], and the server is not told.
    pub fn handler_panicked(&mut self, key: AskKey, message: &str, now: Timestamp, out: &mut Vec<u8>) -> bool {
        self.refuse_for(key, &Refusal::Panicked(message), now, out)
    }

    fn refuse_for(&mut self, key: AskKey, why: &Refusal<'_>, now: Timestamp, out: &mut Vec<u8>) -> bool {
        self.config.hooks.is_some_and(|hooks| (hooks.refused)(self, key, why, now, out))
    }

    /// Takes in a request of the server's.
    pub(super) fn ask(&mut self, id: WireId<'_>, method: &str, message: &[u8], now: Timestamp, out: &mut Vec<u8>) {
        let modern = self.era == Some(Era::Modern);
        // A server that asks and does not read must not make us hoard answers. A modern server may not ask at all, and
        // may not be answered (basic/transports/stdio, "Sending Messages").
        let echo = id.echo().filter(|_| !modern && out.len() <= self.config.max_transmit);
        let Some(id) = echo else { return self.refused(method) };
        if method == "ping" {
            return write::empty_result(out, id);
        }
        if let Some(hooks) = self.config.hooks.filter(|_| self.offers(method)) {
            (hooks.asked)(self, id, method, message, now, out);
        } else {
            write::error(out, id, RpcError::METHOD_NOT_FOUND, "Method not found", None);
            self.refused(method);
        }
    }

    /// Asks for inputs that the server wants together, of which there is at least one. All or none: on failure nobody is
    /// asked.
    pub(super) fn ask_inputs(
        &mut self,
        of: InputOwner,
        during: Option<RequestKey>,
        inputs: Vec<InputRequest>,
    ) -> Result<(), InputError> {
        if let Some(InputRequest { name, method, .. }) = inputs.iter().find(|input| !self.offers(&input.method)) {
            return Err(InputError::NotOffered { name: name.clone(), asked: method.clone() });
        }
        self.config.hooks.map_or(Ok(()), |hooks| (hooks.wanted)(self, of, during, inputs))
    }

    /// Nobody wants the inputs of an owner any more: those who are asked for them are told.
    pub(super) fn give_up_inputs(&mut self, owner: InputOwner) {
        if let Some(hooks) = self.config.hooks {
            (hooks.given_up)(self, owner);
        }
    }

    /// The server gives a request of its own up; it expects no answer any more (2025-11-25, basic/utilities/cancellation).
    pub(super) fn ask_cancelled(&mut self, message: &[u8], now: Timestamp) {
        match self.config.hooks {
            Some(hooks) => (hooks.cancelled)(self, message, now),
            None => self.stats.late += 1,
        }
    }

    /// The connection has ended: nobody waits for answers, and those who are asked for them are told.
    pub(super) fn forget_asks(&mut self) {
        if let Some(hooks) = self.config.hooks {
            (hooks.forgotten)(self);
        }
    }

    fn offers(&self, method: &str) -> bool {
        self.phase == Phase::Ready && self.config.answers().iter().any(|offered| offered == method)
    }

    fn refused(&mut self, method: &str) {
        self.stats.refused += 1;
        self.events.push_back(Event::Refused { method: excerpt(method.as_bytes()) });
    }
}

impl Session {
    /// Answers what the server asked for with an object. `false` if nobody waits for it any more: the server has given it
    /// up, the request that it was for has ended, or the connection has.
    ///
    /// # Errors
    /// If the result does not serialise as an object; the server still waits then.
    pub fn answer(
        &mut self,
        key: AskKey,
        result: &(impl Serialize + ?Sized),
        now: Timestamp,
        out: &mut Vec<u8>,
    ) -> Result<bool, SendError> {
        self.answer_with(key, &|out: &mut Vec<u8>| write::push_object(out, result), now, out)
    }

    fn answer_with(
        &mut self,
        key: AskKey,
        result: Push<'_>,
        now: Timestamp,
        out: &mut Vec<u8>,
    ) -> Result<bool, SendError> {
        let Some((_, origin)) = self.asks.open.iter().find(|(open, _)| *open == key) else { return Ok(false) };
        let mut input = Vec::new();
        let written = match origin {
            Origin::Request(id, None) => write::result(out, id, result),
            Origin::Request(id, Some(task)) => {
                write::result(out, id, &|out: &mut Vec<u8>| push_related(out, result, task))
            }
            Origin::Input { .. } => result.push(&mut input),
        };
        written.map_err(|error| send_error("an answer", error))?;
        match self.asks.take(key) {
            Some(Origin::Input { of, name, .. }) => {
                if let Some(answers) = self.asks.collect(of, &name, &input) {
                    self.inputs_answered(of, &answers, now, out);
                }
            }
            _ => self.watch_asks(now),
        }
        Ok(true)
    }

    fn refuse_ask(&mut self, key: AskKey, why: &Refusal<'_>, now: Timestamp, out: &mut Vec<u8>) -> bool {
        match self.asks.take(key) {
            Some(Origin::Request(id, _)) => {
                match why {
                    Refusal::Error(error) => {
                        write::error(out, &id, error.code, &error.message, error.data.as_ref());
                    }
                    // What a panic says of the program is not for the server.
                    Refusal::Panicked(_) => write::error(out, &id, RpcError::INTERNAL_ERROR, "Internal error", None),
                }
                self.watch_asks(now);
                true
            }
            Some(Origin::Input { of, name, method }) => {
                self.asks.collected.retain(|collected| collected.of != of || matches!(of, InputOwner::Round(_)));
                let error = match why {
                    Refusal::Error(error) => InputError::Refused { name, asked: method, error: (*error).clone() },
                    Refusal::Panicked(message) => {
                        InputError::Panicked { name, asked: method, message: (*message).to_string() }
                    }
                };
                self.inputs_refused(of, error, now, out);
                true
            }
            None => false,
        }
    }

    /// Asks for inputs that are all of methods that are answered.
    fn add_inputs(
        &mut self,
        of: InputOwner,
        during: Option<RequestKey>,
        inputs: Vec<InputRequest>,
    ) -> Result<(), InputError> {
        for InputRequest { name, method, params } in &inputs {
            if let Err(error) = self.config.allow(method, params.as_ref()) {
                return Err(InputError::Refused { name: name.clone(), asked: method.clone(), error });
            }
        }
        if inputs.len() > self.config.max_asks.saturating_sub(self.asks.open.len()) {
            return Err(InputError::TooManyInputs { limit: self.config.max_asks });
        }
        self.asks.collected.push(Collected { of, missing: inputs.len(), answers: Vec::new() });
        for InputRequest { name, method, params } in inputs {
            let key = self.asks.add(Origin::Input { of, name, method: method.clone() });
            self.events.push_back(Event::Ask(Ask { key, method, params, during }));
        }
        Ok(())
    }

    /// Whether the server may ask for one thing more.
    pub(super) fn has_room_for_asks(&self) -> bool {
        self.asks.open.len() < self.config.max_asks
    }

    fn forget_inputs(&mut self, owner: InputOwner) {
        let is_its = |origin: &Origin| matches!(origin, Origin::Input { of, .. } if *of == owner);
        let (its, others) = mem::take(&mut self.asks.open).into_iter().partition(|(_, origin)| is_its(origin));
        self.asks.open = others;
        self.asks.collected.retain(|collected| collected.of != owner);
        self.tell_given_up(its);
    }

    /// Tells those who are asked; who has not heard of the question yet does not hear of it at all.
    fn tell_given_up(&mut self, asks: Vec<(AskKey, Origin)>) {
        for (key, _) in asks {
            let untold = self.events.iter().position(|event| matches!(event, Event::Ask(ask) if ask.key == key));
            match untold {
                Some(place) => drop(self.events.remove(place)),
                None => self.events.push_back(Event::AskCancelled(key)),
            }
        }
    }

    /// All inputs of an owner are there: an object of the answers by their names, as text.
    fn inputs_answered(&mut self, of: InputOwner, answers: &[u8], now: Timestamp, out: &mut Vec<u8>) {
        match of {
            InputOwner::Round(key) => self.round_answered(key, answers, now, out),
            InputOwner::Task(key, _) => {
                if let Some(hooks) = self.tasks.hooks {
                    (hooks.input)(self, key, answers, now, out);
                }
            }
        }
    }

    /// An input of an owner is not to be had.
    fn inputs_refused(&mut self, of: InputOwner, error: InputError, now: Timestamp, out: &mut Vec<u8>) {
        match of {
            InputOwner::Round(key) => self.round_refused(key, error),
            InputOwner::Task(key, _) => {
                if let Some(hooks) = self.tasks.hooks {
                    (hooks.input_refused)(self, key, error, now, out);
                }
            }
        }
    }

    /// While a legacy server waits for an answer of ours, it is not at fault that it does not answer.
    fn watch_asks(&mut self, now: Timestamp) {
        self.in_flight.pause(self.asks.holds_up_the_server(), now);
    }

    /// Takes in a request of the server's of a method that is answered.
    fn add_ask(&mut self, id: &str, method: &str, message: &[u8], now: Timestamp, out: &mut Vec<u8>) {
        if self.asks.open.len() >= self.config.max_asks {
            write::error(out, id, RpcError::INTERNAL_ERROR, "Too many requests at once", None);
            return self.refused(method);
        }
        let Some(params) = decode::params::<Json>(message).map(Result::ok) else {
            write::error(out, id, RpcError::INVALID_PARAMS, "Invalid params", None);
            return self.refused(method);
        };
        if let Err(error) = self.config.allow(method, params.as_ref()) {
            write::error(out, id, error.code, &error.message, None);
            return self.refused(method);
        }
        let meta = params.as_ref().and_then(|params| params.member::<Json>("_meta"));
        let task = meta.and_then(|meta| meta.member(RELATED_TASK));
        let key = self.asks.add(Origin::Request(id.to_string(), task));
        self.watch_asks(now);
        self.events.push_back(Event::Ask(Ask { key, method: method.to_string(), params, during: None }));
    }

    fn cancel_ask(&mut self, message: &[u8], now: Timestamp) {
        let params = decode::params::<Json>(message).and_then(Result::ok);
        let id = params.as_ref().and_then(|params| {
            scan::members(params.get().as_bytes())
                .find(|member| member.is("requestId"))
                .map(|member| member.value.to_vec())
        });
        let is_it = |origin: &Origin, id: &[u8]| matches!(origin, Origin::Request(open, _) if open.as_bytes() == id);
        match id.and_then(|id| self.asks.open.iter().position(|(_, origin)| is_it(origin, &id))) {
            Some(place) => {
                let (key, _) = self.asks.open.remove(place);
                self.watch_asks(now);
                self.events.push_back(Event::AskCancelled(key));
            }
            None => self.stats.late += 1,
        }
    }

    fn forget_all_asks(&mut self) {
        let open = mem::take(&mut self.asks.open);
        self.tell_given_up(open);
        self.asks.collected = Vec::new();
    }
}

const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";

/// Appends an answer that belongs to a task, unless it has metadata of its own.
fn push_related(out: &mut Vec<u8>, answer: Push<'_>, task: &Json) -> Result<(), ParamsError> {
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
