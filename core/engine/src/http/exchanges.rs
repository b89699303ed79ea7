//! [`Exchanges`]: the HTTP exchanges under way, and the queued commands to the embedder.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::string::ToString;
use alloc::vec::Vec;
use core::mem;
use core::time::Duration;

use super::command::{Command, Exchange, ExchangeId};
use super::endpoint::{RequestHead, SessionGeneration};
use super::request::Purpose;
use super::response::{BodyLimits, Head, Response};
use crate::time::Timestamp;
use crate::transport_error::{Failure, HttpError};

/// How long the engine waits for a server to end an event stream that has delivered the JSON-RPC response: 1 s.
///
/// Most servers end the stream immediately. If the client aborted it instead, the HTTP/1.1 connection could not be
/// reused.
const CLOSE_DELAY: Duration = Duration::from_secs(1);

/// An HTTP exchange that has not ended, or whose end the engine has not handled yet.
pub(super) struct OpenExchange {
    pub(super) purpose: Purpose,
    pub(super) response: Response,
    /// The session that the `Mcp-Session-Id` header of the HTTP request names. `None` if the request has no such
    /// header.
    pub(super) session: Option<SessionGeneration>,
    /// Number of bytes in the request body that the server may not have read yet: the length of the whole body until
    /// the response begins or the exchange ends, then 0.
    unsent: usize,
    /// Whether the embedder has reported the end of the HTTP exchange. Messages from this exchange may still be in the
    /// inbox.
    has_ended: bool,
}

/// How an HTTP exchange ended.
pub(super) struct ExchangeEnd {
    pub(super) response: Response,
    /// The session that the `Mcp-Session-Id` header of the HTTP request names. `None` if the request has no such
    /// header.
    pub(super) session: Option<SessionGeneration>,
    /// Why the HTTP exchange failed. `None` if the response is complete.
    pub(super) failure: Option<Failure>,
}

impl ExchangeEnd {
    /// Returns whether the response is complete and has a status from 200 to 299.
    pub(super) fn is_success(&self) -> bool {
        self.failure.is_none() && self.response.is_success()
    }

    /// Converts the end of an HTTP exchange without the JSON-RPC response to an error for the request.
    pub(super) fn into_error(self) -> HttpError {
        match self.failure {
            Some(failure) => HttpError::Failed(failure),
            None => self.response.into_error(),
        }
    }

    /// Converts the end of an HTTP exchange to an error, because the server did not accept the message that the exchange
    /// carried.
    ///
    /// If the response body is a JSON-RPC error, the returned error contains the text of that error.
    pub(super) fn into_message_error(self) -> HttpError {
        match self.response.rpc_error(None) {
            Some((error, _)) if self.failure.is_none() => {
                let status = self.response.status.unwrap_or_default();
                HttpError::Status { status, excerpt: error.to_string(), retry_after: self.response.retry_after() }
            }
            _ => self.into_error(),
        }
    }
}

impl OpenExchange {
    pub(super) fn into_end(self, failure: Option<Failure>) -> (Purpose, ExchangeEnd) {
        (self.purpose, ExchangeEnd { response: self.response, session: self.session, failure })
    }

    /// Returns whether the exchange carries a notification or an answer to a server request that the server may not
    /// have received yet.
    fn is_delivering(&self) -> bool {
        matches!(self.purpose, Purpose::Message(_)) && !self.response.has_begun() && !self.has_ended
    }
}

/// The HTTP exchanges that have not ended, and the commands that the embedder has not polled yet.
#[derive(Default)]
pub(super) struct Exchanges {
    table: BTreeMap<ExchangeId, OpenExchange>,
    pub(super) commands: VecDeque<Command>,
    /// The number of the last exchange that was started, or 0. Later exchanges have greater ids.
    pub(super) last_id: u64,
    /// The sum of [`OpenExchange::unsent`] over all exchanges, in bytes.
    pub(super) unsent: usize,
    /// The times at which the engine aborts exchanges that have not ended: those of notifications and of answers to server
    /// requests, and event streams that have delivered the JSON-RPC response.
    deadlines: Vec<(Timestamp, ExchangeId)>,
}

impl Exchanges {
    /// Adds an exchange, queues the command to start it, and returns its id.
    pub(super) fn start(&mut self, purpose: Purpose, head: RequestHead, body: Vec<u8>) -> ExchangeId {
        self.last_id += 1;
        let id = ExchangeId(self.last_id);
        let RequestHead { verb, uri, headers, session } = head;
        let unsent = body.len();
        self.unsent += unsent;
        let exchange = Exchange {
            id,
            headers,
            body,
            is_long: purpose.is_long(),
            is_request: purpose.needs_response(),
            request_id: purpose.request(),
            attempt: purpose.attempt(),
            follow_redirects: true,
            ..Exchange::new(verb, uri)
        };
        self.commands.push_back(Command::Start(exchange));
        let response = Response::default();
        self.table.insert(id, OpenExchange { purpose, response, session, unsent, has_ended: false });
        id
    }

    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    pub(super) fn get(&self, id: ExchangeId) -> Option<&OpenExchange> {
        self.table.get(&id)
    }

    pub(super) fn get_running(&mut self, id: ExchangeId) -> Option<&mut OpenExchange> {
        self.table.get_mut(&id).filter(|exchange| !exchange.has_ended)
    }

    pub(super) fn of_request(&self, request: u64) -> Option<ExchangeId> {
        self.table.iter().find(|(_, exchange)| exchange.purpose.request() == Some(request)).map(|(id, _)| *id)
    }

    pub(super) fn requests(&self) -> BTreeSet<u64> {
        self.table.values().filter_map(|exchange| exchange.purpose.request()).collect()
    }

    /// Returns the HTTP exchanges to abort when the connection closes.
    ///
    /// The result contains no exchange whose notification or answer to a server request may not have arrived yet.
    pub(super) fn dispensable(&self) -> Vec<ExchangeId> {
        self.table.iter().filter(|(_, exchange)| !exchange.is_delivering()).map(|(id, _)| *id).collect()
    }

    /// Handles the head of an HTTP response, and returns the exchange to which it belongs.
    ///
    /// Returns `None` if the head is to be ignored: an interim response (1xx), a second head, or a head for an exchange
    /// that has ended or is unknown.
    pub(super) fn begin_response(&mut self, id: ExchangeId, head: Head, limits: BodyLimits) -> Option<&OpenExchange> {
        let exchange =
            self.table.get_mut(&id).filter(|exchange| !exchange.has_ended && !exchange.response.has_begun())?;
        if head.status < 200 {
            return None;
        }
        self.unsent -= mem::take(&mut exchange.unsent);
        exchange.response.begin(head, exchange.purpose.expected(), limits);
        Some(exchange)
    }

    /// Marks an HTTP exchange as ended, and returns it. Returns `None` if the id is unknown or the exchange has already
    /// ended.
    pub(super) fn end(&mut self, id: ExchangeId) -> Option<&mut OpenExchange> {
        let exchange = self.table.get_mut(&id).filter(|exchange| !exchange.has_ended)?;
        exchange.has_ended = true;
        self.unsent -= mem::take(&mut exchange.unsent);
        self.deadlines.retain(|(_, other)| *other != id);
        Some(exchange)
    }

    pub(super) fn remove(&mut self, id: ExchangeId) -> Option<OpenExchange> {
        let exchange = self.table.remove(&id)?;
        self.unsent -= exchange.unsent;
        self.deadlines.retain(|(_, other)| *other != id);
        Some(exchange)
    }

    /// Removes an HTTP exchange, and returns it. Returns `None` if the id is unknown.
    ///
    /// If the embedder has not polled the command to start the exchange, that command is removed too. Otherwise, a
    /// command to abort the exchange is queued, unless the exchange has ended.
    pub(super) fn abort(&mut self, id: ExchangeId) -> Option<OpenExchange> {
        let exchange = self.remove(id)?;
        if !exchange.has_ended {
            match self.position_of_start(id) {
                Some(at) => drop(self.commands.remove(at)),
                None => self.commands.push_back(Command::Abort(id)),
            }
        }
        Some(exchange)
    }

    /// Returns whether the exchange sends a JSON-RPC request and the embedder has not polled the command to start the
    /// exchange yet.
    pub(super) fn is_unsent_request(&self, id: ExchangeId) -> bool {
        let is_candidate =
            self.get(id).is_some_and(|exchange| exchange.purpose.is_first_attempt() && !exchange.has_ended);
        is_candidate && self.position_of_start(id).is_some()
    }

    /// Returns the index in `commands` of the command to start this exchange, or `None` if the embedder has polled that
    /// command.
    fn position_of_start(&self, id: ExchangeId) -> Option<usize> {
        self.commands.iter().position(|command| matches!(command, Command::Start(exchange) if exchange.id == id))
    }

    /// Schedules the abort of an event stream that has delivered the JSON-RPC response. The engine aborts the stream
    /// [`CLOSE_DELAY`] after `now`.
    pub(super) fn close_later(&mut self, id: ExchangeId, now: Timestamp) {
        let is_closing = self.deadlines.iter().any(|(_, other)| *other == id);
        if !is_closing && self.get(id).is_some_and(|exchange| !exchange.has_ended) {
            self.deadlines.push((now + CLOSE_DELAY, id));
        }
    }

    /// Sets the time at which the engine aborts an HTTP exchange that carries a notification or an answer to a server
    /// request.
    pub(super) fn set_message_deadline(&mut self, id: ExchangeId, deadline: Timestamp) {
        self.deadlines.push((deadline, id));
    }

    /// Returns the number of exchanges of notifications and of answers to server requests that have not ended.
    pub(super) fn messages(&self) -> usize {
        self.deadlines.iter().filter(|(_, id)| self.is_message(*id)).count()
    }

    fn is_message(&self, id: ExchangeId) -> bool {
        self.get(id).is_some_and(|exchange| matches!(exchange.purpose, Purpose::Message(_)))
    }

    pub(super) fn poll_timeout(&self) -> Option<Timestamp> {
        self.deadlines.iter().map(|(at, _)| *at).min()
    }

    /// Returns an exchange whose deadline is `now` or earlier. Event streams come first, then the earliest deadline.
    pub(super) fn overdue(&self, now: Timestamp) -> Option<ExchangeId> {
        let overdue = self.deadlines.iter().filter(|(at, _)| *at <= now);
        overdue.min_by_key(|(at, id)| (self.is_message(*id), *at)).map(|(_, id)| *id)
    }
}
