//! The table of exchanges under way, and the commands to the embedder.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;
use core::mem;
use core::time::Duration;

use super::exchange::{Command, Exchange, ExchangeId, Verb};
use super::incoming::{BodyLimits, Expected, Head, Response};
use super::outgoing::Headers;
use super::refresh_tools::ToolRefresh;
use super::request::Request;
use crate::time::Timestamp;

/// How long a stream may stay open after its answer. 1 s: servers that end the stream do so at once, and closing it first would
/// cost the connection.
const CLOSE_AFTER: Duration = Duration::from_secs(1);

/// An exchange that is under way.
#[derive(Debug)]
pub(super) struct OpenExchange {
    pub(super) purpose: Purpose,
    pub(super) response: Response,
    /// The generation of the legacy session that its headers name.
    pub(super) session: Option<u32>,
    /// The length of its body, until the response begins.
    unsent: usize,
    /// Whether it has ended. What it brought may still have to be handled.
    is_over: bool,
    /// Whether its answer is there, and the server has a moment to end the stream.
    is_closing: bool,
}

/// What an exchange is for.
#[derive(Debug)]
pub(super) enum Purpose {
    /// Carries a request whose answer is in the response.
    Request(Request),
    /// Carries a request whose answer comes by the stream of events (HTTP+SSE).
    Delivery(Request),
    /// Carries a notification, with its method, or an answer.
    Message { method: Option<String> },
    /// The stream on which legacy servers send what belongs to no request.
    OwnStream,
    /// The stream on which HTTP+SSE servers send everything.
    SseStream,
    /// Opens a session in place of one that the server has ended, by the request with this id.
    Renewal { id: u64 },
    /// Lists tools, because the server did not agree with the headers of a call.
    RefreshTools(Box<ToolRefresh>),
    /// Ends a session.
    Delete,
}

impl Purpose {
    fn expects(&self) -> Expected {
        match self {
            Purpose::Request(_) | Purpose::Renewal { .. } | Purpose::RefreshTools(_) => Expected::Messages,
            Purpose::OwnStream | Purpose::SseStream => Expected::Events,
            Purpose::Delivery(_) | Purpose::Message { .. } | Purpose::Delete => Expected::Nothing,
        }
    }

    /// Whether the exchange stays open for as long as the server likes.
    fn is_long(&self) -> bool {
        match self {
            Purpose::OwnStream | Purpose::SseStream => true,
            Purpose::Request(request) => &*request.method == "subscriptions/listen",
            _ => false,
        }
    }
}

impl OpenExchange {
    /// Returns the id of the session's request that the exchange serves.
    pub(super) fn request(&self) -> Option<u64> {
        match &self.purpose {
            Purpose::Request(request) | Purpose::Delivery(request) => Some(request.id),
            Purpose::RefreshTools(refresh) => Some(refresh.call().id),
            _ => None,
        }
    }

    /// Returns the id of the transport's own request that the exchange carries.
    pub(super) fn own_request(&self) -> Option<u64> {
        match &self.purpose {
            Purpose::Renewal { id } => Some(*id),
            Purpose::RefreshTools(refresh) => Some(refresh.id()),
            _ => None,
        }
    }

    /// Whether no earlier exchange carried the request in the present session.
    fn is_first_attempt(&self) -> bool {
        match &self.purpose {
            Purpose::Request(request) | Purpose::Delivery(request) => request.is_first_attempt(),
            _ => false,
        }
    }

    /// Whether the exchange carries a message that may not have reached the server.
    fn is_delivering(&self) -> bool {
        matches!(self.purpose, Purpose::Message { .. }) && !self.response.has_begun() && !self.is_over
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
    /// The bytes of bodies of exchanges whose response has not begun.
    unsent: usize,
    /// The streams that have served their purpose, and when they are closed, in this order.
    closing: VecDeque<(Timestamp, ExchangeId)>,
    /// The exchanges that carry notifications and answers, and when each is given up, in this order.
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

    pub(super) fn start(
        &mut self,
        purpose: Purpose,
        verb: Verb,
        uri: String,
        headers: Headers,
        body: Vec<u8>,
        session: Option<u32>,
    ) -> ExchangeId {
        let id = ExchangeId(self.next_id);
        self.next_id += 1;
        let is_long = purpose.is_long();
        let is_request = !matches!(purpose, Purpose::Message { .. } | Purpose::Delete);
        let unsent = body.len();
        let open =
            OpenExchange { purpose, response: Response::new(), session, unsent, is_over: false, is_closing: false };
        if let Some(request) = open.request() {
            self.by_request.insert(request, id);
        }
        self.unsent += unsent;
        self.table.insert(id, open);
        self.commands.push_back(Command::Start(Exchange { id, verb, uri, headers, body, is_long, is_request }));
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

    /// Returns the bytes of bodies that may not have been sent.
    pub(super) fn unsent(&self) -> usize {
        self.unsent
    }

    pub(super) fn get(&self, id: ExchangeId) -> Option<&OpenExchange> {
        self.table.get(&id)
    }

    /// Returns an exchange that has not ended.
    pub(super) fn get_running(&mut self, id: ExchangeId) -> Option<&mut OpenExchange> {
        self.table.get_mut(&id).filter(|open| !open.is_over)
    }

    /// Returns the exchange that serves a request.
    pub(super) fn of_request(&self, request: u64) -> Option<ExchangeId> {
        self.by_request.get(&request).copied()
    }

    /// Returns the requests that exchanges serve.
    pub(super) fn requests(&self) -> Vec<u64> {
        self.by_request.keys().copied().collect()
    }

    /// Returns the exchanges that carry nothing that the server still has to learn.
    pub(super) fn dispensable(&self) -> Vec<ExchangeId> {
        self.table.iter().filter(|(_, open)| !open.is_delivering()).map(|(id, _)| *id).collect()
    }

    /// Handles the head of a response. Returns the exchange if the head counts: interim responses and second heads do not.
    pub(super) fn begin_response(&mut self, id: ExchangeId, head: &Head, limits: BodyLimits) -> Option<&OpenExchange> {
        let open = self.table.get_mut(&id).filter(|open| !open.is_over && !open.response.has_begun())?;
        if head.status < 200 {
            return None;
        }
        self.unsent -= mem::take(&mut open.unsent);
        let expected = open.purpose.expects();
        open.response.begin(head, expected, limits);
        Some(open)
    }

    /// Marks an exchange as ended.
    pub(super) fn end(&mut self, id: ExchangeId) -> Option<&mut OpenExchange> {
        let open = self.table.get_mut(&id).filter(|open| !open.is_over)?;
        open.is_over = true;
        self.unsent -= mem::take(&mut open.unsent);
        self.messages.retain(|(_, other)| *other != id);
        Some(open)
    }

    /// Removes an exchange that has ended, or that is given up with [`Self::tell_aborted`].
    pub(super) fn remove(&mut self, id: ExchangeId) -> Option<OpenExchange> {
        let open = self.table.remove(&id)?;
        self.unsent -= open.unsent;
        if open.is_closing {
            self.closing.retain(|(_, other)| *other != id);
        }
        self.messages.retain(|(_, other)| *other != id);
        if let Some(request) = open.request().filter(|request| self.by_request.get(request) == Some(&id)) {
            self.by_request.remove(&request);
        }
        Some(open)
    }

    /// Tells the embedder that a removed exchange is given up. Returns `true` if its request was never sent in the present
    /// session: the embedder has not heard of the exchange, and need not.
    pub(super) fn tell_aborted(&mut self, id: ExchangeId, open: &OpenExchange) -> bool {
        if open.is_over {
            return false;
        }
        let is_start = |command: &Command| matches!(command, Command::Start(exchange) if exchange.id == id);
        let Some(at) = self.commands.iter().position(is_start) else {
            self.commands.push_back(Command::Abort(id));
            return false;
        };
        self.commands.remove(at);
        open.is_first_attempt()
    }

    /// Leaves the server a moment to end a stream that has served its purpose, which keeps the connection usable.
    pub(super) fn close_later(&mut self, id: ExchangeId, now: Timestamp) {
        if let Some(open) = self.table.get_mut(&id).filter(|open| !open.is_over && !open.is_closing) {
            open.is_closing = true;
            self.closing.push_back((now + CLOSE_AFTER, id));
        }
    }

    /// Sets when the exchange of a message is given up. The deadlines of messages only grow.
    pub(super) fn give_up_message_at(&mut self, id: ExchangeId, deadline: Timestamp) {
        self.messages.push_back((deadline, id));
    }

    /// Returns the number of exchanges that carry notifications and answers.
    pub(super) fn messages(&self) -> usize {
        self.messages.len()
    }

    pub(super) fn poll_timeout(&self) -> Option<Timestamp> {
        [&self.closing, &self.messages].into_iter().filter_map(|queue| queue.front()).map(|(at, _)| *at).min()
    }

    /// Returns a stream that the server has not ended in the moment that it had.
    pub(super) fn overdue_stream(&self, now: Timestamp) -> Option<ExchangeId> {
        overdue(&self.closing, now)
    }

    /// Returns an exchange whose message takes too long.
    pub(super) fn overdue_message(&self, now: Timestamp) -> Option<ExchangeId> {
        overdue(&self.messages, now)
    }

    pub(super) fn release_buffers(&mut self) {
        self.commands.shrink_to_fit();
    }
}

fn overdue(queue: &VecDeque<(Timestamp, ExchangeId)>, now: Timestamp) -> Option<ExchangeId> {
    queue.front().filter(|(at, _)| *at <= now).map(|(_, id)| *id)
}
