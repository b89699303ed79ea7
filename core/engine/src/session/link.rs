//! [`Link`]: the state that all parts of a session work with. [`Stats`]: counters of ignored and refused messages.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::String;
use core::ops::Range;
use core::time::Duration;

use serde::{Deserialize, Serialize};

use super::config::Config;
use super::connection::Connection;
use super::error::{CallError, SendError};
use super::event::{ClientRequest, Event, SentRequest};
use super::outbox::{Outbox, RequestHead};
use super::prepared::send_error;
use super::request_options::RequestOptions;
use super::requests::{Owner, Requests};
use super::ticket::{Reply, RequestKey};
use crate::rpc::write::{Meta, ParamsWriter};
use crate::time::Timestamp;
use mcpwire_text::Seconds;
use mcpwire_text::json::{Json, JsonText, scan};

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

/// What a request contains beside its parameters, and what the transport may do with it.
#[derive(Clone, Copy, Default)]
pub(super) struct RequestExtras<'a> {
    /// Whether the request may become a task or polls one.
    pub(super) declares_tasks: bool,
    pub(super) wants_progress: bool,
    /// Whether the caller allows the server to execute the request twice.
    pub(super) is_repeatable: bool,
    /// The `_meta` of the caller.
    pub(super) meta: Option<&'a Json>,
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

    /// Writes a request into the outbox, with the JSON-RPC id that the next inserted request will have. The caller of this
    /// function then inserts the request into the table.
    ///
    /// Returns the range of the outbox that contains the parameters, without the `_meta` member and the closing brace.
    #[expect(clippy::ptr_arg, reason = "cloning a `Cow` does not copy the name of a known method")]
    pub(super) fn write(
        &mut self,
        method: &Cow<'static, str>,
        params: ParamsWriter<'_>,
        extras: RequestExtras<'_>,
    ) -> Result<Range<usize>, SendError> {
        let id = self.requests.next_id();
        let meta = Meta {
            protocol: self.connection.request_meta(extras.declares_tasks),
            progress_token: extras.wants_progress.then_some(id),
            caller: extras.meta,
        };
        let version = self.connection.modern_version();
        let head = RequestHead { id, method, version, is_repeatable: extras.is_repeatable };
        self.outbox.request(head, params, meta).map_err(|error| send_error(method, error))
    }

    /// Sends a request of the session itself. Returns its JSON-RPC id.
    pub(super) fn send(
        &mut self,
        method: &'static str,
        params: ParamsWriter<'_>,
        owner: Owner,
    ) -> Result<u64, SendError> {
        let declares_tasks = matches!(owner, Owner::Task { .. });
        self.write(&Cow::Borrowed(method), params, RequestExtras { declares_tasks, ..RequestExtras::default() })?;
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

    /// Reports a request of a caller that was written with the next JSON-RPC id. `options` is `None` if the request was sent
    /// before, and is sent again with input.
    #[cold]
    pub(super) fn report_sent(&mut self, request: ClientRequest, options: Option<&RequestOptions>) {
        let trace_parent =
            options.and_then(|options| scan::text(options.meta.as_ref()?.member_text("traceparent")?.as_bytes()));
        let tag = options.and_then(|options| options.tag.clone());
        let sent = SentRequest { request, id: self.requests.next_id(), tag, trace_parent };
        self.report(Event::RequestSent(Box::new(sent)));
    }

    /// Reports that the caller's request `key` ended with an error.
    #[cold]
    pub(super) fn fail(&mut self, key: RequestKey, error: CallError) {
        self.report(Event::Reply(Reply::failed(key, error)));
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
