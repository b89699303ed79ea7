//! [`Context`]: the state that all components of a session share.

use alloc::borrow::Cow;
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use super::config::Config;
use super::connection::Connection;
use super::error::{CallError, SendError};
use super::event::Event;
use super::request_keys::RequestKey;
use super::requests::{Owner, Requests};
use super::stats::Stats;
use super::ticket::Reply;
use crate::rpc::Response;
use crate::rpc::write::{self, Meta, ParamsError, ParamsWriter};
use crate::time::Timestamp;
use mcpwire_types::json::append::{push, push_number, push_string};
use mcpwire_types::text::Seconds;

pub(super) fn timed_out(after: Duration) -> String {
    alloc::format!("timed out after {}", Seconds(after))
}

/// The current time, the transmit buffer, and the state that all components of a session share.
pub(super) struct Context<'a> {
    pub(super) now: Timestamp,
    /// Messages to send, one per line.
    pub(super) out: &'a mut Vec<u8>,
    pub(super) events: &'a mut VecDeque<Event>,
    pub(super) requests: &'a mut Requests,
    pub(super) stats: &'a mut Stats,
    /// While `out` contains this many bytes or more, the session does not answer requests of the server, because the
    /// server may send requests without reading the answers.
    pub(super) answer_limit: usize,
    pub(super) connection: &'a Connection,
    pub(super) config: &'a Config,
}

impl Context<'_> {
    /// Returns an error if the connection is not open, or if the transmit buffer exceeds its limit.
    pub(super) fn check_open(&self) -> Result<(), SendError> {
        self.connection.check_open(self.out, self.config)
    }

    pub(super) fn is_transmit_full(&self) -> bool {
        self.out.len() > self.config.max_transmit
    }

    /// Returns whether an answer to a request of the server may be added to the transmit buffer.
    pub(super) fn has_room_for_answer(&self) -> bool {
        !self.is_transmit_full() && self.out.len() < self.answer_limit
    }

    pub(super) fn send(&mut self, method: &str, params: ParamsWriter<'_>, owner: Owner) -> Result<u64, ParamsError> {
        let meta = Meta { protocol: self.connection.request_meta(), ..Meta::default() };
        write::request(self.out, self.requests.next_id(), method, params, meta)?;
        Ok(self.requests.insert(owner))
    }

    pub(super) fn send_about_task(&mut self, method: &str, params: ParamsWriter<'_>, owner: Owner) -> u64 {
        let meta = Meta { protocol: self.connection.task_meta(), ..Meta::default() };
        // These parameters cannot fail to serialize.
        let _ = write::request(self.out, self.requests.next_id(), method, params, meta);
        self.requests.insert(owner)
    }

    /// Sends `notifications/cancelled` for the request with JSON-RPC id `id`. Does nothing if the transmit buffer
    /// exceeds its limit.
    ///
    /// Specification: basic/patterns/cancellation.
    pub(super) fn send_cancelled(&mut self, id: u64, reason: Option<&str>) {
        if self.is_transmit_full() {
            return;
        }
        let params = |out: &mut Vec<u8>| {
            push(out, b"{\"requestId\":");
            push_number(out, id);
            if let Some(reason) = reason {
                push(out, b",\"reason\":");
                push_string(out, reason);
            }
            push(out, b"}");
            Ok(())
        };
        // These parameters cannot fail to serialize.
        let _ = write::notification(self.out, "notifications/cancelled", &params);
    }

    /// Appends an event to the queue that the embedder polls.
    #[inline(never)]
    pub(super) fn report(&mut self, event: Event) {
        self.events.push_back(event);
    }

    /// Reports that the caller's request `key` ended with an error.
    #[cold]
    #[inline(never)]
    pub(super) fn fail(&mut self, key: RequestKey, error: CallError) {
        self.report(Event::Reply(Reply::failed(key, error)));
    }

    pub(super) fn reply(&mut self, key: RequestKey, method: Cow<'static, str>, message: Vec<u8>, response: Response) {
        self.report(Event::Reply(Reply::answered(key, method, message, response)));
    }
}
