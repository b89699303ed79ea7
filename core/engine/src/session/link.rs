//! [`Link`]: the state that all parts of a session work with. [`Stats`]: counters of ignored and refused messages.

use alloc::borrow::Cow;
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use serde::{Deserialize, Serialize};

use super::config::Config;
use super::connection::Connection;
use super::error::{CallError, SendError};
use super::event::Event;
use super::outbox::{Outbox, RequestHead};
use super::request_keys::RequestKey;
use super::requests::{Owner, Requests};
use super::ticket::Reply;
use crate::rpc::Response;
use crate::rpc::write::{Meta, ParamsError, ParamsWriter};
use crate::time::Timestamp;
use mcpwire_text::Seconds;

pub(super) fn timed_out(after: Duration) -> String {
    alloc::format!("timed out after {}", Seconds(after))
}

/// What links a session to its server and its embedder: the messages to send, the pending requests, the events to report,
/// and the time. All parts of the session work with it.
#[derive(Debug)]
pub(super) struct Link {
    /// The latest time that the embedder has passed to the engine.
    pub(super) now: Timestamp,
    pub(super) outbox: Outbox,
    pub(super) events: VecDeque<Event>,
    pub(super) requests: Requests,
    pub(super) stats: Stats,
    pub(super) connection: Connection,
    pub(super) config: Config,
}

impl Link {
    pub(super) fn new(config: Config, outbox: Outbox) -> Self {
        Link {
            now: Timestamp::ORIGIN,
            outbox,
            events: VecDeque::new(),
            requests: Requests::default(),
            stats: Stats::default(),
            connection: Connection::New,
            config,
        }
    }

    /// Returns an error if the connection is not open, or if more bytes than [`Config::max_transmit`] wait to be sent.
    pub(super) fn check_open(&self) -> Result<(), SendError> {
        match self.connection {
            Connection::Ready(_) if self.is_transmit_full() => {
                Err(SendError::TransmitFull { limit: self.config.max_transmit })
            }
            Connection::Ready(_) => Ok(()),
            Connection::New | Connection::Opening(_) => Err(SendError::NotInitialized),
            Connection::Closed => Err(SendError::Closed),
        }
    }

    pub(super) fn is_transmit_full(&self) -> bool {
        self.outbox.len() > self.config.max_transmit
    }

    /// Returns whether an answer to a request of the server may be sent. A server may send requests without reading the
    /// answers.
    pub(super) fn has_room_for_answer(&self) -> bool {
        !self.is_transmit_full() && self.outbox.takes_answers()
    }

    /// Declares the tasks extension in later requests that may become a task or poll one.
    pub(super) fn declare_tasks(&mut self) {
        self.connection.declare_tasks(&self.config);
    }

    /// Sends a request of the session itself. Returns its JSON-RPC id.
    pub(super) fn send(
        &mut self,
        method: &'static str,
        params: ParamsWriter<'_>,
        owner: Owner,
    ) -> Result<u64, ParamsError> {
        let protocol = match owner {
            Owner::Task { .. } => self.connection.task_meta(),
            _ => self.connection.request_meta(),
        };
        let head = RequestHead {
            id: self.requests.next_id(),
            method: &Cow::Borrowed(method),
            version: self.connection.modern_version(),
            is_repeatable: false,
        };
        self.outbox.request(head, params, Meta { protocol, ..Meta::default() })?;
        Ok(self.requests.insert(owner))
    }

    /// Removes the pending request with this JSON-RPC id, because nobody needs its response any more. Returns the owner
    /// of the request, or `None` if no such request is pending.
    pub(super) fn abandon(&mut self, id: u64) -> Option<Owner> {
        let owner = self.requests.remove(id)?;
        self.outbox.abandoned(id);
        Some(owner)
    }

    /// Sends `notifications/cancelled` for the request with JSON-RPC id `id`. Does nothing if the outbox is full.
    ///
    /// Specification: basic/patterns/cancellation.
    pub(super) fn send_cancelled(&mut self, id: u64, reason: Option<&str>) {
        if !self.is_transmit_full() {
            self.outbox.cancelled(id, reason);
        }
    }

    /// Appends an event to the queue that the embedder polls.
    pub(super) fn report(&mut self, event: Event) {
        self.events.push_back(event);
    }

    /// Reports that the caller's request `key` ended with an error.
    #[cold]
    pub(super) fn fail(&mut self, key: RequestKey, error: CallError) {
        self.report(Event::Reply(Reply::failed(key, error)));
    }

    pub(super) fn reply(&mut self, key: RequestKey, method: Cow<'static, str>, message: Vec<u8>, response: Response) {
        self.report(Event::Reply(Reply::answered(key, method, message, response)));
    }
}

/// Counters of the messages that a session has ignored or refused, and of the requests answered from the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Stats {
    /// Number of received messages that are not JSON-RPC or cannot be decoded. The session ignored them.
    pub invalid: u64,
    /// Number of responses from the server that arrived after the client's request had ended.
    ///
    /// Also counts progress notifications and cancellations from the server that match no pending request.
    pub late: u64,
    /// Number of responses with a JSON-RPC id that this client has not used in any request.
    pub unmatched: u64,
    /// Number of requests that were answered from the cache and not sent.
    pub cached: u64,
    /// Number of requests of the server that the session refused or ignored without asking the embedder, for example
    /// because the embedder does not answer the method.
    pub refused: u64,
}
