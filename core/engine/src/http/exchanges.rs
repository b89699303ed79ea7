//! [`Exchanges`]: the exchanges under way, and the commands to the embedder.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::ToString;
use alloc::vec::Vec;
use core::mem;
use core::time::Duration;

use super::command::{Command, Exchange, ExchangeId};
use super::endpoint::{RequestHead, SessionGeneration};
use super::purpose::Purpose;
use super::response::{BodyLimits, Response};
use super::response_head::Head;
use crate::time::Timestamp;
use crate::transport_error::{Failure, HttpError};

/// How long a server may keep a stream open after the answer to its request. 1 s: servers that end such streams do so at once,
/// and a stream that the client closes first costs the connection.
const CLOSE_DELAY: Duration = Duration::from_secs(1);

/// An exchange that is under way, or whose end has not been handled.
#[derive(Debug)]
pub(super) struct OpenExchange {
    pub(super) purpose: Purpose,
    pub(super) response: Response,
    /// The legacy session that the headers of the exchange name.
    pub(super) session: Option<SessionGeneration>,
    /// The length of the body; 0 once the response begins, because the server has read the body then.
    unsent: usize,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Running,
    /// The request has its answer. The server may end the stream before the engine aborts it.
    Closing,
    /// The embedder has reported the end. Received messages may still wait in the inbox.
    Ended,
}

/// How an exchange ended.
#[derive(Debug)]
pub(super) struct ExchangeEnd {
    pub(super) response: Response,
    /// The legacy session that the headers of the exchange named.
    pub(super) session: Option<SessionGeneration>,
    /// Why the exchange failed, unless its response is complete.
    pub(super) failure: Option<Failure>,
}

impl ExchangeEnd {
    /// Returns whether the server accepted the message of the exchange.
    pub(super) fn is_success(&self) -> bool {
        self.failure.is_none() && self.response.is_success()
    }

    /// Returns the status, if a head has arrived.
    pub(super) fn status(&self) -> Option<u16> {
        self.response.status()
    }

    /// Returns the error of a request that got no answer.
    pub(super) fn into_error(self) -> HttpError {
        match self.failure {
            Some(failure) => HttpError::Failed(failure),
            None => self.response.into_error(),
        }
    }

    /// Returns the error of a notification or an answer that the server did not accept.
    pub(super) fn into_message_error(self) -> HttpError {
        match self.response.rpc_error(None) {
            Some((error, _)) if self.failure.is_none() => {
                let status = self.status().unwrap_or_default();
                HttpError::Status { status, excerpt: error.to_string() }
            }
            _ => self.into_error(),
        }
    }
}

impl OpenExchange {
    /// Splits an exchange that has ended into its purpose and its end.
    pub(super) fn into_end(self, failure: Option<Failure>) -> (Purpose, ExchangeEnd) {
        (self.purpose, ExchangeEnd { response: self.response, session: self.session, failure })
    }

    fn has_ended(&self) -> bool {
        self.stage == Stage::Ended
    }

    /// Returns whether the exchange carries a message that may not have reached the server.
    fn is_delivering(&self) -> bool {
        matches!(self.purpose, Purpose::Message(_)) && !self.response.has_begun() && !self.has_ended()
    }
}

/// The exchanges under way.
#[derive(Debug)]
pub(super) struct Exchanges {
    table: BTreeMap<ExchangeId, OpenExchange>,
    /// The exchange that serves each request.
    by_request: BTreeMap<u64, ExchangeId>,
    commands: VecDeque<Command>,
    next_id: u64,
    /// The sum of [`OpenExchange::unsent`].
    unsent: usize,
    /// The exchanges in [`Stage::Closing`] and when each is aborted, the earliest first.
    closing: VecDeque<(Timestamp, ExchangeId)>,
    /// The exchanges of notifications and answers and when each is aborted, the earliest first.
    messages: VecDeque<(Timestamp, ExchangeId)>,
}

impl Exchanges {
    pub(super) fn new() -> Self {
        Exchanges {
            table: BTreeMap::new(),
            by_request: BTreeMap::new(),
            commands: VecDeque::new(),
            next_id: 1,
            unsent: 0,
            closing: VecDeque::new(),
            messages: VecDeque::new(),
        }
    }

    /// Adds an exchange, and tells the embedder to start it.
    pub(super) fn start(&mut self, purpose: Purpose, head: RequestHead, body: Vec<u8>) -> ExchangeId {
        let id = ExchangeId(self.next_id);
        self.next_id += 1;
        if let Some(request) = purpose.request() {
            self.by_request.insert(request, id);
        }
        let RequestHead { verb, uri, headers, session } = head;
        let (is_long, is_request) = (purpose.is_long(), purpose.needs_response());
        let unsent = body.len();
        self.unsent += unsent;
        self.commands.push_back(Command::Start(Exchange { id, verb, uri, headers, body, is_long, is_request }));
        let response = Response::default();
        self.table.insert(id, OpenExchange { purpose, response, session, unsent, stage: Stage::Running });
        id
    }

    /// Returns the next command to the embedder.
    pub(super) fn poll(&mut self) -> Option<Command> {
        self.commands.pop_front()
    }

    pub(super) fn has_commands(&self) -> bool {
        !self.commands.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    /// Returns the number of body bytes that the server may not have read.
    pub(super) fn unsent(&self) -> usize {
        self.unsent
    }

    pub(super) fn get(&self, id: ExchangeId) -> Option<&OpenExchange> {
        self.table.get(&id)
    }

    /// Returns an exchange whose end the embedder has not reported.
    pub(super) fn get_running(&mut self, id: ExchangeId) -> Option<&mut OpenExchange> {
        self.table.get_mut(&id).filter(|exchange| !exchange.has_ended())
    }

    /// Returns the exchange that serves a request.
    pub(super) fn of_request(&self, request: u64) -> Option<ExchangeId> {
        self.by_request.get(&request).copied()
    }

    /// Returns the ids of all requests that exchanges serve.
    pub(super) fn requests(&self) -> Vec<u64> {
        self.by_request.keys().copied().collect()
    }

    /// Returns the exchanges to abort when the connection ends: all but those that still deliver a message.
    pub(super) fn dispensable(&self) -> Vec<ExchangeId> {
        self.table.iter().filter(|(_, exchange)| !exchange.is_delivering()).map(|(id, _)| *id).collect()
    }

    /// Handles the head of a response. Returns `None` if the head is ignored: an interim response, or a second head.
    pub(super) fn begin_response(&mut self, id: ExchangeId, head: &Head, limits: BodyLimits) -> Option<&OpenExchange> {
        let exchange =
            self.table.get_mut(&id).filter(|exchange| !exchange.has_ended() && !exchange.response.has_begun())?;
        if head.status < 200 {
            return None;
        }
        self.unsent -= mem::take(&mut exchange.unsent);
        exchange.response.begin(head, exchange.purpose.expected(), limits);
        Some(exchange)
    }

    /// Marks an exchange as ended. Returns `None` if the exchange has ended before.
    pub(super) fn end(&mut self, id: ExchangeId) -> Option<&mut OpenExchange> {
        let exchange = self.table.get_mut(&id).filter(|exchange| !exchange.has_ended())?;
        if exchange.stage == Stage::Closing {
            self.closing.retain(|(_, other)| *other != id);
        }
        exchange.stage = Stage::Ended;
        self.unsent -= mem::take(&mut exchange.unsent);
        self.messages.retain(|(_, other)| *other != id);
        Some(exchange)
    }

    /// Removes an exchange that has ended.
    pub(super) fn remove(&mut self, id: ExchangeId) -> Option<OpenExchange> {
        let exchange = self.table.remove(&id)?;
        self.unsent -= exchange.unsent;
        if exchange.stage == Stage::Closing {
            self.closing.retain(|(_, other)| *other != id);
        }
        self.messages.retain(|(_, other)| *other != id);
        if let Some(request) = exchange.purpose.request()
            && self.of_request(request) == Some(id)
        {
            self.by_request.remove(&request);
        }
        Some(exchange)
    }

    /// Removes an exchange. Unless the exchange has ended, the embedder gets a command to abort it, or no longer the command
    /// to start it.
    pub(super) fn abort(&mut self, id: ExchangeId) -> Option<OpenExchange> {
        let exchange = self.remove(id)?;
        if !exchange.has_ended() {
            match self.position_of_start(id) {
                Some(at) => drop(self.commands.remove(at)),
                None => self.commands.push_back(Command::Abort(id)),
            }
        }
        Some(exchange)
    }

    /// Returns whether the exchange carries a request that the server cannot know of.
    pub(super) fn is_unsent_request(&self, id: ExchangeId) -> bool {
        let is_candidate =
            self.get(id).is_some_and(|exchange| exchange.purpose.is_first_attempt() && !exchange.has_ended());
        is_candidate && self.position_of_start(id).is_some()
    }

    /// Returns where the command to start an exchange waits, if the embedder has not taken it.
    fn position_of_start(&self, id: ExchangeId) -> Option<usize> {
        self.commands.iter().position(|command| matches!(command, Command::Start(exchange) if exchange.id == id))
    }

    /// Aborts an answered stream after [`CLOSE_DELAY`]. A stream that the server ends first leaves the connection usable.
    pub(super) fn close_later(&mut self, id: ExchangeId, now: Timestamp) {
        if let Some(exchange) = self.table.get_mut(&id).filter(|exchange| exchange.stage == Stage::Running) {
            exchange.stage = Stage::Closing;
            self.closing.push_back((now + CLOSE_DELAY, id));
        }
    }

    /// Sets when the exchange of a notification or an answer is aborted. Deadlines must be added in ascending order.
    pub(super) fn set_message_deadline(&mut self, id: ExchangeId, deadline: Timestamp) {
        self.messages.push_back((deadline, id));
    }

    /// Returns the number of exchanges that carry notifications and answers.
    pub(super) fn messages(&self) -> usize {
        self.messages.len()
    }

    pub(super) fn poll_timeout(&self) -> Option<Timestamp> {
        [&self.closing, &self.messages].into_iter().filter_map(|queue| queue.front()).map(|(at, _)| *at).min()
    }

    /// Returns an answered stream that the server has not ended within [`CLOSE_DELAY`].
    pub(super) fn overdue_stream(&self, now: Timestamp) -> Option<ExchangeId> {
        overdue(&self.closing, now)
    }

    /// Returns the exchange of a notification or an answer whose deadline has passed.
    pub(super) fn overdue_message(&self, now: Timestamp) -> Option<ExchangeId> {
        overdue(&self.messages, now)
    }

    pub(super) fn release_buffers(&mut self) {
        self.commands.shrink_to_fit();
    }
}

/// Returns the first exchange of a queue if its time has passed.
fn overdue(queue: &VecDeque<(Timestamp, ExchangeId)>, now: Timestamp) -> Option<ExchangeId> {
    queue.front().filter(|(at, _)| *at <= now).map(|(_, id)| *id)
}
