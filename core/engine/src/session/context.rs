//! What each part of the session works with besides its own state.

use alloc::borrow::Cow;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::config::Config;
use super::connection::Connection;
use super::error::{CallError, SendError};
use super::event::Event;
use super::keys::RequestKey;
use super::requests::{Deadlines, Owner, Requests};
use super::server::Stats;
use super::ticket::Reply;
use crate::json::append::{push, push_number, push_string};
use crate::rpc::write::{self, Meta, ParamsError, Push};
use crate::time::Timestamp;

/// The time, what goes out, and the state that several parts share.
pub(super) struct Context<'a> {
    pub(super) now: Timestamp,
    /// The messages to send, one a line.
    pub(super) out: &'a mut Vec<u8>,
    pub(super) events: &'a mut VecDeque<Event>,
    pub(super) requests: &'a mut Requests,
    pub(super) stats: &'a mut Stats,
    /// The length of `out` from which on requests of the server get no answer.
    pub(super) answer_limit: usize,
    pub(super) connection: &'a Connection,
    pub(super) config: &'a Config,
}

impl Context<'_> {
    /// Fails if the connection is not open, or if more waits to be sent than the limit.
    pub(super) fn check_open(&self) -> Result<(), SendError> {
        self.connection.check_open(self.out, self.config)
    }

    /// Whether more waits to be sent than the limit: the server does not read.
    pub(super) fn is_transmit_full(&self) -> bool {
        self.out.len() > self.config.max_transmit
    }

    /// Whether a request of the server may be answered: not while too much waits to be sent.
    pub(super) fn has_room_for_answer(&self) -> bool {
        !self.is_transmit_full() && self.out.len() < self.answer_limit
    }

    /// Writes a request of the session's own, and adds it to the table. Returns its id.
    pub(super) fn send(&mut self, method: &str, params: Push<'_>, owner: Owner) -> Result<u64, ParamsError> {
        let meta = Meta { protocol: self.connection.request_meta(), ..Meta::default() };
        write::request(self.out, self.requests.next_id(), method, params, meta)?;
        Ok(self.requests.insert(owner, None))
    }

    /// Like [`Self::send`], for a request about a task, which has deadlines.
    pub(super) fn send_about_task(
        &mut self,
        method: &str,
        params: Push<'_>,
        owner: Owner,
        deadlines: Deadlines,
    ) -> u64 {
        let meta = Meta { protocol: self.connection.task_meta(), ..Meta::default() };
        // The parameters are written by this crate and cannot fail to serialise.
        let _ = write::request(self.out, self.requests.next_id(), method, params, meta);
        self.requests.insert(owner, Some(deadlines))
    }

    /// Tells the server that a request is cancelled, unless too much waits to be sent.
    pub(super) fn send_cancelled(&mut self, id: u64, reason: &str) {
        if self.is_transmit_full() {
            return;
        }
        let params = |out: &mut Vec<u8>| {
            push(out, b"{\"requestId\":");
            push_number(out, id);
            push(out, b",\"reason\":");
            push_string(out, reason);
            push(out, b"}");
            Ok(())
        };
        // These parameters cannot fail to serialise.
        let _ = write::notification(self.out, "notifications/cancelled", &params);
    }

    /// Adds an event. Not inlined: the code that makes room for an event is compiled once.
    #[inline(never)]
    pub(super) fn report(&mut self, event: Event) {
        self.events.push_back(event);
    }

    /// Ends a caller's request with an error.
    #[cold]
    #[inline(never)]
    pub(super) fn fail(&mut self, key: RequestKey, error: CallError) {
        self.report(Event::Reply(Reply::failed(key, error)));
    }

    /// Ends a caller's request with a message of the server's.
    pub(super) fn reply(&mut self, key: RequestKey, method: Cow<'static, str>, message: Vec<u8>, id: u64) {
        self.report(Event::Reply(Reply::answered(key, method, message, id)));
    }
}
