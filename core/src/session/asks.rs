//! What the server asks of the client, from the question to its answer.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::Serialize;

use super::engine::Session;
use super::error::SendError;
use super::event::Event;
use super::prepared::send_error;
use super::server::Phase;
use crate::json::{Json, scan};
use crate::rpc::{RpcError, WireId, decode, write};
use crate::text::excerpt;
use crate::types::Era;

/// Names a request of the server's for as long as the session lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AskKey(u64);

/// A request of the server's, which waits for [`answer`](crate::stdio::Engine::answer) or
/// [`refuse`](crate::stdio::Engine::refuse). Only methods that are in [`Config::answers`](super::Config::answers) become
/// one; all others are refused at once.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Ask {
    /// What its answer is given under.
    pub key: AskKey,
    /// What it asks for, such as `roots/list`.
    pub method: String,
    /// The details, as the server sent them.
    pub params: Option<Json>,
}

/// The requests of the server's that wait for an answer, and their ids as JSON text.
#[derive(Debug, Default)]
pub(super) struct Asks {
    /// Few: [`Config::max_asks`](super::Config::max_asks).
    open: Vec<(AskKey, String)>,
    next: u64,
}

impl Asks {
    fn place(&self, key: AskKey) -> Option<usize> {
        self.open.iter().position(|(open, _)| *open == key)
    }
}

impl Session {
    /// Answers a request of the server's with an object. `false` if nobody waits for it any more: the server has given it
    /// up, or the connection has ended.
    ///
    /// # Errors
    /// If the result does not serialise as an object; the server still waits then.
    pub fn answer(
        &mut self,
        key: AskKey,
        result: &(impl Serialize + ?Sized),
        out: &mut Vec<u8>,
    ) -> Result<bool, SendError> {
        let Some(place) = self.asks.place(key) else { return Ok(false) };
        write::result(out, &self.asks.open[place].1, &|out| write::push_object(out, result))
            .map_err(|error| send_error("an answer", error))?;
        self.asks.open.remove(place);
        Ok(true)
    }

    /// Refuses a request of the server's. `false` as for [`Session::answer`].
    pub fn refuse(&mut self, key: AskKey, error: &RpcError, out: &mut Vec<u8>) -> bool {
        let Some(place) = self.asks.place(key) else { return false };
        let (_, id) = self.asks.open.remove(place);
        write::error(out, &id, error.code, &error.message, error.data.as_ref());
        true
    }

    /// Takes in a request of the server's.
    pub(super) fn ask(&mut self, id: WireId<'_>, method: &str, message: &[u8], out: &mut Vec<u8>) {
        let modern = self.era == Some(Era::Modern);
        // A server that asks and does not read must not make us hoard answers. A modern server may not ask at all, and
        // may not be answered (basic/transports/stdio, "Sending Messages").
        let echo = id.echo().filter(|_| !modern && out.len() <= self.config.max_transmit);
        let Some(id) = echo else { return self.refused(method) };
        if method == "ping" {
            return write::empty_result(out, id);
        }
        let offered = self.phase == Phase::Ready && self.config.answers.iter().any(|offered| offered == method);
        if !offered {
            write::error(out, id, RpcError::METHOD_NOT_FOUND, "Method not found", None);
            return self.refused(method);
        }
        if self.asks.open.len() >= self.config.max_asks {
            write::error(out, id, RpcError::INTERNAL_ERROR, "Too many requests at once", None);
            return self.refused(method);
        }
        let Some(params) = decode::params::<Json>(message).map(Result::ok) else {
            write::error(out, id, RpcError::INVALID_PARAMS, "Invalid params", None);
            return self.refused(method);
        };
        let key = AskKey(self.asks.next);
        self.asks.next += 1;
        self.asks.open.push((key, id.to_string()));
        self.events.push_back(Event::Ask(Ask { key, method: method.to_string(), params }));
    }

    /// The server gives a request of its own up; it expects no answer any more (2025-11-25, basic/utilities/cancellation).
    pub(super) fn ask_cancelled(&mut self, message: &[u8]) {
        let params = decode::params::<Json>(message).and_then(Result::ok);
        let id = params.as_ref().and_then(|params| {
            scan::members(params.get().as_bytes())
                .find(|member| member.is("requestId"))
                .map(|member| member.value.to_vec())
        });
        match id.and_then(|id| self.asks.open.iter().position(|(_, open)| open.as_bytes() == id)) {
            Some(place) => {
                let (key, _) = self.asks.open.remove(place);
                self.events.push_back(Event::AskCancelled(key));
            }
            None => self.stats.late += 1,
        }
    }

    /// The connection has ended: nobody waits for answers.
    pub(super) fn forget_asks(&mut self) {
        self.asks.open.clear();
    }

    fn refused(&mut self, method: &str) {
        self.stats.refused += 1;
        self.events.push_back(Event::Refused { method: excerpt(method.as_bytes()) });
    }
}
