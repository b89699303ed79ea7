//! What a caller knows of an engine without looking into it, and what must be so.

use core::time::Duration;
use std::collections::BTreeMap;

use mcpwire_core::revisions;
use mcpwire_core::stdio::Engine;
use mcpwire_core::{
    AskKey, CallError, CallTool, Config, Deadline, Era, Event, Json, ListTools, Negotiate, Notification, Phase, Ping,
    Raw, Reply, RequestKey, RequestOptions, RpcError, SendError, Ticket, Timestamp,
};

use super::wire::{self, Wire};

const MAX_MESSAGE: usize = 1000;
const MAX_TRANSMIT: usize = 1500;
const MAX_IN_FLIGHT: usize = 12;
const MAX_ASKS: usize = 5;
const MAX_ROUNDS: u32 = 3;
const MAX_KEPT: usize = 600;

/// A ticket of any of the methods that are used here.
#[derive(Clone, Copy)]
pub(super) enum AnyTicket {
    Call(Ticket<CallTool>),
    List(Ticket<ListTools>),
    Ping(Ticket<Ping>),
    Raw(Ticket<Raw>),
}

impl AnyTicket {
    fn key(&self) -> RequestKey {
        match self {
            AnyTicket::Call(ticket) => ticket.key(),
            AnyTicket::List(ticket) => ticket.key(),
            AnyTicket::Ping(ticket) => ticket.key(),
            AnyTicket::Raw(ticket) => ticket.key(),
        }
    }

    fn decode(self, reply: Reply) -> Result<(), CallError> {
        match self {
            AnyTicket::Call(ticket) => ticket.decode(reply).map(drop),
            AnyTicket::List(ticket) => ticket.decode(reply).map(drop),
            AnyTicket::Ping(ticket) => ticket.decode(reply).map(drop),
            AnyTicket::Raw(ticket) => ticket.decode(reply).map(drop),
        }
    }
}

macro_rules! into_any_ticket {
    ($($Method:ident => $Variant:ident),*) => { $(
        impl From<Ticket<$Method>> for AnyTicket {
            fn from(ticket: Ticket<$Method>) -> Self {
                AnyTicket::$Variant(ticket)
            }
        }
    )* };
}
into_any_ticket!(CallTool => Call, ListTools => List, Ping => Ping, Raw => Raw);

/// A request that waits, as its caller knows it.
struct Waiting {
    ticket: AnyTicket,
    id: u64,
    progress: bool,
    timeout: Duration,
    idle: Timestamp,
    total: Timestamp,
    cancelled: bool,
    /// What names it in its parameters, whatever id it has.
    mark: Option<u64>,
    rounds: u32,
    /// An input of its was refused.
    refused: bool,
}

pub(super) struct Model {
    engine: Engine,
    now: Timestamp,
    waiting: BTreeMap<RequestKey, Waiting>,
    /// Ids of requests that have ended.
    ended: Vec<u64>,
    /// What the server asks for, and the request that it is for.
    asks: BTreeMap<AskKey, Option<RequestKey>>,
    dead_ask: Option<AskKey>,
    marks: u64,
    wire: Wire,
    connected: bool,
    /// The last event has been seen.
    over: bool,
    /// Bytes that may still become events.
    received: usize,
}

impl Model {
    pub(super) fn open(setup: u8) -> Model {
        let mut config = Config::new("fuzz", "1");
        config.max_message = MAX_MESSAGE;
        config.max_transmit = MAX_TRANSMIT;
        config.max_in_flight = MAX_IN_FLIGHT;
        config.max_asks = MAX_ASKS;
        config.max_rounds = MAX_ROUNDS;
        config.max_kept = MAX_KEPT;
        config.answer("roots/list");
        config.request_timeout = Duration::from_millis(500);
        config.total_timeout = Duration::from_secs(5);
        let answer = match setup % 4 {
            0 => r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}}"#,
            1 => r#"{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"]}}"#,
            _ => "",
        };
        config.negotiate = match setup % 8 {
            0 | 4 => Negotiate::Legacy,
            1 | 5 => Negotiate::Modern,
            _ => Negotiate::Auto,
        };
        let mut model = Model {
            engine: Engine::new(config),
            now: Timestamp::ORIGIN,
            waiting: BTreeMap::new(),
            ended: Vec::new(),
            asks: BTreeMap::new(),
            dead_ask: None,
            marks: 0,
            wire: Wire::default(),
            connected: false,
            over: false,
            received: 0,
        };
        model.engine.initialize(model.now).expect("it is new");
        assert!(model.engine.initialize(model.now).is_err(), "opened twice");
        if !answer.is_empty() {
            model.receive(&[answer.as_bytes(), b"\n"].concat());
        }
        model.check();
        model
    }

    /// Ids of requests that wait.
    pub(super) fn ids(&self) -> Vec<u64> {
        self.waiting.values().map(|waiting| waiting.id).collect()
    }

    /// Ids of requests that have ended.
    pub(super) fn ended_ids(&self) -> &[u64] {
        &self.ended
    }

    pub(super) fn send(
        &mut self,
        options: &RequestOptions,
        request: impl FnOnce(&mut Engine, &RequestOptions, Timestamp) -> Result<AnyTicket, SendError>,
    ) {
        let before = self.engine.transmit().len();
        match request(&mut self.engine, options, self.now) {
            Ok(ticket) => {
                assert_eq!(self.engine.phase(), Phase::Ready);
                assert!(self.waiting.len() < MAX_IN_FLIGHT, "one too many");
                assert!(before <= MAX_TRANSMIT, "sent although the buffer is full");
                let sent = &self.engine.transmit()[before..];
                let id = self.wire.id_of_last_request(sent);
                let mark = wire::marked(sent).map(|(_, mark)| mark);
                let config = self.engine.config();
                let timeout = options.timeout.unwrap_or(config.request_timeout);
                let total = options.total_timeout.unwrap_or(config.total_timeout.max(timeout));
                let waiting = Waiting {
                    ticket,
                    id,
                    progress: options.wants_progress(),
                    timeout,
                    idle: self.now + timeout,
                    total: self.now + total,
                    cancelled: false,
                    mark,
                    rounds: 0,
                    refused: false,
                };
                assert!(self.waiting.insert(ticket.key(), waiting).is_none(), "a key used twice");
            }
            Err(error) => {
                assert_eq!(self.engine.transmit().len(), before, "refused, and bytes left behind");
                let right = match error {
                    SendError::NotInitialized => matches!(self.engine.phase(), Phase::New | Phase::Connecting),
                    SendError::Closed => self.engine.phase() == Phase::Closed,
                    SendError::TooManyInFlight { .. } => self.waiting.len() == MAX_IN_FLIGHT,
                    // What was sent already may count until the buffer is moved up.
                    SendError::TransmitFull { .. } => before > MAX_TRANSMIT / 2,
                    SendError::NotAnObject { .. } => true,
                    SendError::NotInRevision { method, version, .. } => {
                        let entry = revisions::find(revisions::Kind::Request, method);
                        let spoken = self.engine.server().map(|server| server.protocol_version);
                        spoken == Some(version) && entry.is_some_and(|entry| !entry.is_in(version))
                    }
                    SendError::NotOffered { needs, .. } => self
                        .engine
                        .server()
                        .is_some_and(|server| !needs.is_met(server.capabilities.as_ref(), server.protocol_version)),
                    _ => false,
                };
                assert!(right, "refused with {error:?}");
            }
        }
    }

    /// Cancels one of those that wait, or one that does not any more.
    pub(super) fn cancel(&mut self, which: usize) {
        if let Some(key) = self.waiting.keys().nth(which % 16).copied() {
            assert!(self.engine.cancel(key, (which & 16 != 0).then_some("\"why\"\n")), "it waits");
            self.waiting.get_mut(&key).expect("it waits").cancelled = true;
            assert!(!self.engine.cancel(key, None), "cancelled twice");
        } else if let Some(dead) = self.wire.dead_key {
            assert!(!self.engine.cancel(dead, None), "it has ended");
        }
    }

    /// A number that no request was marked with.
    pub(super) fn next_mark(&mut self) -> u64 {
        self.marks += 1;
        self.marks
    }

    pub(super) fn answer(&mut self, which: usize, answer: &Json) {
        let Some((key, during)) = self.ask(which) else {
            let gone = self.dead_ask.map(|dead| self.engine.answer(dead, answer, self.now));
            return assert!(gone.is_none_or(|answered| answered != Ok(true)), "nobody waits for it");
        };
        match self.engine.answer(key, answer, self.now) {
            Ok(answered) => {
                assert!(answered, "it is waited for");
                self.asked_no_more(key, during);
            }
            Err(error) => assert!(matches!(error, SendError::NotAnObject { .. }), "{error:?}"),
        }
        self.drain();
    }

    pub(super) fn refuse(&mut self, which: usize) {
        let error = RpcError::new(-1, "no");
        let Some((key, during)) = self.ask(which) else {
            let gone = self.dead_ask.is_some_and(|dead| self.engine.refuse(dead, &error, self.now));
            return assert!(!gone, "nobody waits for it");
        };
        if let Some(waiting) = during.and_then(|key| self.waiting.get_mut(&key)) {
            waiting.refused = true;
        }
        assert!(self.engine.refuse(key, &error, self.now), "it is waited for");
        self.asked_no_more(key, during);
        self.drain();
        assert!(during.is_none_or(|key| !self.waiting.contains_key(&key)), "refused, and its request goes on");
    }

    fn ask(&self, which: usize) -> Option<(AskKey, Option<RequestKey>)> {
        self.asks.iter().nth(which % 8).map(|(key, during)| (*key, *during))
    }

    fn asked_no_more(&mut self, key: AskKey, during: Option<RequestKey>) {
        assert!(self.asks.remove(&key).is_some(), "it was asked");
        self.dead_ask = Some(key);
        if during.is_none() && !self.holds_up_the_server() {
            // A legacy server can go on.
            for waiting in self.waiting.values_mut() {
                waiting.idle = waiting.idle.max(self.now + waiting.timeout);
            }
        }
    }

    fn holds_up_the_server(&self) -> bool {
        self.asks.values().any(Option::is_none)
    }

    fn deadline(&self, waiting: &Waiting) -> Timestamp {
        if self.holds_up_the_server() { waiting.total } else { waiting.idle.min(waiting.total) }
    }

    /// Looks for requests that were sent again.
    fn look_for_rounds(&mut self) {
        for (id, mark) in self.wire.whole_lines(self.engine.transmit()).filter_map(wire::marked) {
            let Some(waiting) = self.waiting.values_mut().find(|waiting| waiting.mark == Some(mark)) else { continue };
            if id > waiting.id {
                self.ended.push(waiting.id);
                waiting.id = id;
                waiting.rounds += 1;
                assert!(waiting.rounds <= MAX_ROUNDS, "one round too many");
                waiting.idle = self.now + waiting.timeout;
            }
        }
    }

    pub(super) fn notify(&mut self, which: u8) {
        let text = if which & 1 == 0 { "{\"a\":\n1}" } else { "[1]" };
        let params = Json::parse(text).expect("it is JSON");
        let before = self.engine.transmit().len();
        if self.engine.notify_raw("notifications/x", (which & 2 == 0).then_some(&params)).is_err() {
            assert_eq!(self.engine.transmit().len(), before, "refused, and bytes left behind");
        }
    }

    pub(super) fn receive(&mut self, mut bytes: &[u8]) {
        self.received += bytes.len();
        while !bytes.is_empty() {
            let taken = self.engine.receive(bytes, self.now);
            assert!(taken > 0, "no room although every event was taken");
            bytes = &bytes[taken..];
            self.drain();
            self.look_for_rounds();
        }
    }

    pub(super) fn pass(&mut self, time: Duration) {
        self.now = self.now + time;
        self.engine.handle_timeout(self.now);
        self.drain();
        for waiting in self.waiting.values() {
            assert!(self.deadline(waiting) > self.now, "a deadline passed, and the request still waits");
        }
        if let Some(next) = self.engine.poll_timeout() {
            assert!(next > self.now, "the next deadline lies in the past");
        }
    }

    pub(super) fn pass_to_deadline(&mut self) {
        if let Some(next) = self.engine.poll_timeout() {
            let far = Duration::from_secs(1 << 32);
            self.pass(next.duration_since(self.now).min(far));
        }
    }

    pub(super) fn transmit(&mut self, n: usize) {
        let pending = self.engine.transmit();
        let n = n.min(pending.len());
        self.wire.take(&pending[..n]);
        self.engine.transmitted(n);
    }

    pub(super) fn end(&mut self) {
        self.engine.receive_eof(self.now);
        self.drain();
        assert!(self.over && self.engine.phase() == Phase::Closed, "the stream has ended, and the session has not");
    }

    pub(super) fn close(&mut self) {
        self.engine.close();
        assert!(self.engine.transmit().is_empty(), "closed, and something is to be sent");
        self.wire.cut_off();
        self.drain();
        assert!(self.over && self.engine.phase() == Phase::Closed, "closed, and the session has not ended");
    }

    /// What must be so after each step.
    pub(super) fn check(&mut self) {
        self.drain();
        self.look_for_rounds();
        assert!(self.asks.len() <= MAX_ASKS, "one question too many");
        assert_eq!(self.engine.in_flight(), self.waiting.len());
        assert!(self.waiting.keys().all(|key| self.engine.is_waiting(*key)));
        let first = self.waiting.values().map(|waiting| self.deadline(waiting)).min();
        match (self.engine.phase(), self.engine.poll_timeout(), first) {
            (Phase::Connecting, next, None) => assert!(next.is_some(), "an opening without an end"),
            (_, Some(next), Some(first)) => assert!(next <= first, "the engine would sleep through a deadline"),
            (_, None, None) => {}
            (phase, next, first) => panic!("{phase:?}: a timer at {next:?} for a deadline at {first:?}"),
        }
        if self.engine.is_idle() {
            assert!(self.engine.space().len() <= 64 << 10, "an idle engine keeps much");
        }
        assert!(self.engine.space().len() <= 256 << 10, "the buffer has no bound");
    }

    /// Sends all that is left: it ends with a whole line.
    pub(super) fn finish(&mut self) {
        self.transmit(usize::MAX);
        self.wire.finish();
    }

    fn drain(&mut self) {
        let mut bound = 16 + self.waiting.len() + self.received / 2;
        while let Some(event) = self.engine.poll_event() {
            bound = bound.checked_sub(1).expect("events without end");
            assert!(!self.over, "an event after the end: {event:?}");
            self.event(event);
        }
        self.received = 0;
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Connected => {
                assert!(!core::mem::replace(&mut self.connected, true), "connected twice");
                let server = self.engine.server().expect("the connection is open");
                self.wire.open(server.era, self.engine.transmit().len());
            }
            Event::Reply(reply) => self.reply(reply),
            Event::Notification(Notification::Progress { key, .. }) => {
                // The reply to it may be on its way in the same batch of events, never before it.
                let waiting = self.waiting.get_mut(&key).expect("progress of a request that has ended");
                assert!(waiting.progress, "progress that nobody asked for");
                waiting.idle = self.now + waiting.timeout;
            }
            Event::Ask(ask) => {
                assert!(self.asks.insert(ask.key, ask.during).is_none(), "a key used twice");
                if let Some(key) = ask.during {
                    let waiting = self.waiting.get_mut(&key).expect("a question for a request that has ended");
                    // In the pause only the total deadline runs.
                    waiting.idle = waiting.total;
                }
            }
            Event::AskCancelled(key) => {
                let during = *self.asks.get(&key).expect("nobody was asked that");
                self.asked_no_more(key, during);
            }
            Event::Restart => {
                assert!(!self.connected, "a restart of an open connection");
                self.over = true;
            }
            Event::Closed(how) => {
                assert!(self.waiting.is_empty(), "the end came before the replies");
                assert!(self.asks.is_empty(), "a question outlives the connection");
                assert!(how.to_string().len() < 2000, "errors are short");
                self.over = true;
            }
            Event::Noise { excerpt } | Event::Refused { method: excerpt } => {
                assert!(excerpt.len() < 1000 && !excerpt.chars().any(char::is_control), "{excerpt:?}");
            }
            _ => {}
        }
    }

    fn reply(&mut self, reply: Reply) {
        let key = reply.key();
        let waiting = self.waiting.remove(&key).expect("a second reply, or one to nobody");
        assert!(self.asks.values().all(|during| *during != Some(key)), "a question for what has ended");
        self.ended.push(waiting.id);
        self.wire.dead_key = Some(key);
        assert!(!self.engine.is_waiting(key));
        let answered = reply.message().is_some();
        match reply.error() {
            None => assert!(answered),
            Some(CallError::Timeout { deadline, after, .. }) => {
                let (at, due) = match deadline {
                    Deadline::Idle => (waiting.timeout, waiting.idle),
                    Deadline::Total => (Duration::MAX, waiting.total),
                };
                assert!(due <= self.now, "timed out before its time");
                assert!(*deadline == Deadline::Total || *after == at, "another time than was asked for");
            }
            Some(CallError::Cancelled { .. }) => assert!(waiting.cancelled, "cancelled by nobody"),
            Some(CallError::Closed { .. }) => assert_eq!(self.engine.phase(), Phase::Closed),
            Some(CallError::Invalid { .. }) => {}
            Some(CallError::Input { .. }) => {
                assert_eq!(self.wire.era(), Some(Era::Modern), "a legacy server wants no input");
            }
            Some(error) => panic!("{error:?}"),
        }
        if let Err(error) = waiting.ticket.decode(reply) {
            assert!(error.to_string().len() < 3000, "errors are short");
            assert!(!matches!(error, CallError::WrongTicket { .. }));
        }
    }
}
