//! What a caller and an HTTP client know of an engine without looking into it, and what must be so.

mod events;

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

use mcpwire_core::http::{Engine, Exchange, ExchangeId, Failure, FailureKind, Flavour, Settings, Verb};
use mcpwire_core::{
    CallTool, CallToolParams, ClientCapabilities, Config, Json, Negotiate, Phase, Raw, RequestKey, RequestOptions,
    SendError, ServerRequestId, SubscriptionKey, TaskMode, Ticket, Timestamp,
};

use crate::fuzz::describe::{self, Names};
use crate::fuzz::trace::{Bytes, Shown, Trace};

const MAX_IN_FLIGHT: usize = 12;
const MAX_MESSAGE: usize = 600;
const MAX_TRANSMIT: usize = 20_000;
const MAX_SUBSCRIPTIONS: usize = 3;

/// What a legacy server says of itself.
const LEGACY: &str = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{"subscribe":true},"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}}}"#;

/// A call that has become a task, in each form; and how that stands.
const TASK: &str = r#"{"resultType":"task","taskId":"t","status":"working","pollIntervalMs":200}"#;
const LEGACY_TASK: &str = r#"{"task":{"taskId":"t","status":"working","pollInterval":200}}"#;
const WORKING: &str = r#"{"taskId":"t","status":"working"}"#;

/// The task when it is done.
const DONE: &str = r#"{"resultType":"complete","taskId":"t","status":"completed","result":{"content":[]}}"#;

#[derive(Clone, Copy)]
enum AnyTicket {
    Call(Ticket<CallTool>),
    Raw(Ticket<Raw>),
}

impl AnyTicket {
    fn key(&self) -> RequestKey {
        match self {
            AnyTicket::Call(ticket) => ticket.key(),
            AnyTicket::Raw(ticket) => ticket.key(),
        }
    }
}

pub(super) struct Model {
    engine: Engine,
    now: Timestamp,
    /// Requests that wait, by the numbers that [`Names`] has given them.
    waiting: BTreeMap<usize, AnyTicket>,
    /// Exchanges under way, in the order in which they were started.
    open: Vec<Exchange>,
    started: BTreeSet<ExchangeId>,
    asks: Vec<ServerRequestId>,
    subscriptions: Vec<SubscriptionKey>,
    connected: bool,
    over: bool,
    /// Notifications and answers that were sent, which may all be under way.
    messages: usize,
    /// Bytes that may still become events.
    received: usize,
    /// Number of events, and of exchanges that the engine has started or given up.
    happened: usize,
    names: Names,
    trace: Trace,
    /// What was last traced of how the engine stands.
    stood: String,
}

impl Model {
    pub(super) fn open(setup: u8, trace: &Trace) -> Model {
        let mut config = Config::new("fuzz", "1");
        config.max_message = MAX_MESSAGE;
        config.max_transmit = MAX_TRANSMIT;
        config.max_in_flight = MAX_IN_FLIGHT;
        config.max_subscriptions = MAX_SUBSCRIPTIONS;
        config.request_timeout = Duration::from_secs(20);
        config.total_timeout = Duration::from_secs(60);
        config.answer("roots/list");
        config.capabilities = ClientCapabilities::default().with_roots(false);
        config.negotiate = match setup & 3 {
            0 => Negotiate::Legacy,
            1 => Negotiate::Modern,
            _ => Negotiate::Auto,
        };
        let mut settings = Settings::new("http://server.test/mcp").expect("an address");
        settings.seed = u64::from(setup);
        settings.max_refusal = 200;
        settings.listen = setup & 4 != 0;
        if setup & 32 != 0 {
            config.declare_tasks();
        }
        settings.flavour = match setup >> 3 & 3 {
            0 => Some(Flavour::Sse),
            1 => Some(Flavour::Streamable),
            _ => None,
        };
        let mut model = Model {
            engine: Engine::new(config, settings),
            now: Timestamp::ORIGIN,
            waiting: BTreeMap::new(),
            open: Vec::new(),
            started: BTreeSet::new(),
            asks: Vec::new(),
            subscriptions: Vec::new(),
            connected: false,
            over: false,
            messages: 0,
            received: 0,
            happened: 0,
            names: Names::default(),
            trace: trace.clone(),
            stood: String::new(),
        };
        model.engine.calls().initialize(model.now).expect("it is new");
        model.check();
        model
    }

    /// One of the exchanges that are under way.
    pub(super) fn exchange(&self, which: u8) -> Option<Exchange> {
        self.open.get(usize::from(which) % self.open.len().max(1)).cloned()
    }

    pub(super) fn call(&mut self, bits: u8) {
        let options = RequestOptions::new();
        let mut options = if bits & 1 == 0 { options } else { options.progress() };
        options.repeatable = bits & 2 != 0;
        if bits & 32 != 0 {
            options = options.task(TaskMode::Follow);
        }
        let arguments = ["{}", r#"{"a":"x\ny"}"#, r#"{"a":1}"#, r#"{"a":null,"b":[1]}"#][usize::from(bits >> 2 & 3)];
        let arguments = Json::parse(arguments).expect("it is JSON");
        let call = CallToolParams { name: if bits & 16 == 0 { "echo" } else { "b\n" }, arguments: &arguments };
        self.trace.line(format_args!("> call {bits}"));
        let sent = self.engine.calls().request::<CallTool>(&call, &options, self.now);
        self.sent(sent.map(AnyTicket::Call));
    }

    pub(super) fn raw(&mut self, input: &mut Bytes<'_>) {
        let method = input.pick(&["tools/list", "resources/read", "subscriptions/listen", "x", "ä\n", "tools/call"]);
        let params = Json::parse(input.pick(&["{}", r#"{"uri":"ä"}"#, r#"{"name":5}"#, r#"{"name":"echo"}"#]))
            .expect("it is JSON");
        self.trace.line(format_args!("> {method} {params}"));
        let sent = self.engine.calls().request_raw(method, Some(&params), &RequestOptions::new(), self.now);
        self.sent(sent.map(AnyTicket::Raw));
    }

    fn sent(&mut self, sent: Result<AnyTicket, SendError>) {
        match sent {
            Ok(ticket) => {
                assert_eq!(self.engine.session().phase(), Phase::Ready);
                assert!(self.waiting.len() < MAX_IN_FLIGHT, "one too many");
                let number = self.names.request(ticket.key());
                self.trace.line(format_args!("request r{number}"));
                assert!(self.waiting.insert(number, ticket).is_none(), "a key used twice");
            }
            Err(error) => {
                describe::not_sent(&error, &self.trace);
                let right = match error {
                    SendError::NotInitialized => {
                        matches!(self.engine.session().phase(), Phase::New | Phase::Connecting)
                    }
                    SendError::Closed => self.engine.session().phase() == Phase::Closed,
                    SendError::TooManyInFlight { .. } => self.waiting.len() == MAX_IN_FLIGHT,
                    SendError::NotOffered { .. } => self.engine.session().phase() == Phase::Ready,
                    SendError::TransmitFull { .. } => self.engine.session().phase() == Phase::Ready,
                    _ => false,
                };
                assert!(right, "refused with {error:?}");
            }
        }
    }

    pub(super) fn cancel(&mut self, which: usize) {
        if let Some((number, ticket)) = self.waiting.iter().nth(which % 16) {
            let key = ticket.key();
            self.trace.line(format_args!("> cancel r{number}"));
            assert!(self.engine.calls().cancel(key, None, self.now), "it waits");
            assert!(!self.engine.calls().cancel(key, None, self.now), "cancelled twice");
        }
    }

    pub(super) fn notify(&mut self) {
        self.trace.line(format_args!("> notify"));
        match self.engine.calls().notify_raw("notifications/x", None, self.now) {
            Ok(()) => self.messages += 1,
            Err(error) => describe::not_sent(&error, &self.trace),
        }
    }

    pub(super) fn answer(&mut self) {
        if let Some(key) = self.asks.pop() {
            let roots = Json::parse(r#"{"roots":[]}"#).expect("it is JSON");
            let answered = self.engine.calls().answer(key, &roots, self.now).expect("an object");
            self.trace.line(format_args!("> answer a{}: {answered}", self.names.ask(key)));
        }
    }

    pub(super) fn head(&mut self, which: u8, status: u16, headers: &[(&str, &str)]) {
        if let Some(Exchange { id, .. }) = self.exchange(which) {
            self.trace.line(format_args!("> {} is answered with {status} {headers:?}", id.get()));
            let headers = headers.iter().map(|(name, value)| (*name, value.as_bytes()));
            self.engine.response(id, status, headers, self.now);
        }
    }

    pub(super) fn body(&mut self, which: u8, bytes: &[u8]) {
        if let Some(Exchange { id, .. }) = self.exchange(which) {
            self.trace.line(format_args!("> {} brings {}", id.get(), Shown(bytes)));
            self.received += bytes.len();
            self.engine.body(id, bytes, self.now);
        }
    }

    pub(super) fn end(&mut self, which: u8) {
        if let Some(Exchange { id, .. }) = self.exchange(which) {
            self.trace.line(format_args!("> {} ends", id.get()));
            self.open.retain(|exchange| exchange.id != id);
            self.engine.ended(id, self.now);
            // Nothing that is told of it now counts.
            self.engine.body(id, b"data: {}\n\n", self.now);
            self.engine.ended(id, self.now);
        }
    }

    pub(super) fn fail(&mut self, which: u8, kind: FailureKind) {
        if let Some(Exchange { id, .. }) = self.exchange(which) {
            self.trace.line(format_args!("> {} fails", id.get()));
            self.open.retain(|exchange| exchange.id != id);
            self.engine.failed(id, Failure::new(kind, "\u{1b}fuzz"), self.now);
        }
    }

    /// Answers one exchange as a good server would: a long way for an input to find by itself.
    pub(super) fn respond(&mut self, which: u8) {
        let Some(exchange) = self.exchange(which) else { return };
        let message: serde_json::Value = serde_json::from_slice(&exchange.body).unwrap_or_default();
        let id = &message["id"];
        let result = match message["method"].as_str() {
            Some("server/discover") => {
                r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"resources":{"subscribe":true}}}"#
            }
            Some("initialize") => LEGACY,
            Some(_) if id.is_null() => "",
            Some("tools/call") if which >= 128 && message["params"]["task"].is_object() => LEGACY_TASK,
            Some("tools/call") if which >= 128 => TASK,
            Some("subscriptions/listen") => return self.respond_to_listen(&exchange, &message, which),
            Some("tasks/get") if which >= 64 => DONE,
            Some("tasks/get") => WORKING,
            Some(_) => r#"{"content":[],"tools":[]}"#,
            None => "",
        };
        if result.is_empty() {
            self.head(which, if exchange.verb == Verb::Get { 405 } else { 202 }, &[]);
        } else {
            self.head(which, 200, &[("content-type", "application/json"), ("mcp-session-id", "s")]);
            self.body(which, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#).as_bytes());
        }
        self.end(which);
    }

    pub(super) fn pass(&mut self, time: Duration) {
        self.check();
        self.now = self.now + time;
        self.trace.line(format_args!("> it is {:?}", self.now));
        self.engine.handle_timeout(self.now);
        self.check();
        if let Some(next) = self.engine.poll_timeout() {
            assert!(next > self.now, "the next deadline lies in the past");
        }
    }

    /// Time passes until something happens. An engine may wake up without a reason, and two builds at other times.
    pub(super) fn pass_to_deadline(&mut self) {
        self.check();
        let before = self.happened;
        for _ in 0..4096 {
            let Some(next) = self.engine.poll_timeout() else { return };
            let far = Duration::from_secs(1 << 32);
            self.pass(next.duration_since(self.now).min(far));
            if self.happened > before {
                return;
            }
        }
    }

    /// Gives idle buffers back. Nobody may see a difference.
    pub(super) fn shrink(&mut self) {
        self.trace.line(format_args!("> shrink"));
        let (in_flight, is_idle) = (self.engine.session().in_flight(), self.engine.is_idle());
        self.engine.shrink();
        assert_eq!(
            (self.engine.session().in_flight(), self.engine.is_idle()),
            (in_flight, is_idle),
            "shrink changes something"
        );
    }

    pub(super) fn close(&mut self) {
        self.trace.line(format_args!("> close"));
        self.engine.close();
        self.check();
        assert!(self.over && self.engine.session().phase() == Phase::Closed, "closed, and the session has not ended");
    }

    /// What must be so after each step.
    pub(super) fn check(&mut self) {
        self.drain();
        self.trace_stand();
        assert_eq!(
            self.engine.session().in_flight(),
            self.waiting.len(),
            "requests in flight that are not those that wait"
        );
        assert!(self.waiting.values().all(|ticket| self.engine.session().is_waiting(ticket.key())));
        assert_eq!(self.engine.session().subscriptions(), self.subscriptions.len());
        assert_eq!(self.engine.exchanges(), self.open.len(), "an exchange that one side knows alone");
        // Two to open the connection, one or two streams, one to renew the session.
        let answers = self.open.iter().filter(|exchange| exchange.verb == Verb::Post).count();
        assert!(answers <= 2 * MAX_IN_FLIGHT + 8 + self.messages + self.received / 8 + 64, "exchanges without a bound");
        // Four at a time, and for each session the message that it is initialized, which nothing waits behind for long.
        let messages = self.open.iter().filter(|exchange| exchange.verb == Verb::Post && !exchange.is_request).count();
        assert!(messages <= 4 + 4, "{messages} messages at once");
        match self.engine.session().phase() {
            Phase::Connecting => assert!(self.engine.poll_timeout().is_some(), "an opening without an end"),
            Phase::Closed => {
                assert_eq!(self.engine.poll_timeout(), None);
                assert!(self.waiting.is_empty());
                // What the server is told, and at last that its session has ended.
                let tells = |exchange: &Exchange| exchange.verb != Verb::Get && !exchange.is_request;
                assert!(self.open.iter().all(tells), "{:?}", self.open);
                assert!(self.open.len() == 1 || self.open.iter().all(|exchange| exchange.verb == Verb::Post));
            }
            Phase::Ready if !self.waiting.is_empty() => {
                assert!(self.engine.poll_timeout().is_some(), "a request without a deadline");
            }
            _ => {}
        }
    }

    /// Everything that is under way comes to its end, and then nothing is left to wait for.
    pub(super) fn finish(&mut self) {
        while !self.subscriptions.is_empty() {
            self.unsubscribe(0);
        }
        self.check();
        for _ in 0..10_000 {
            if !self.open.is_empty() {
                self.head(0, 405, &[]);
                self.end(0);
                self.check();
            } else if self.engine.poll_timeout().is_some() {
                self.pass_to_deadline();
            } else {
                break;
            }
        }
        assert_eq!(self.engine.poll_timeout(), None, "a timer without a reason");
        assert!(self.waiting.is_empty(), "a request without an end");
        assert!(self.engine.is_idle());
        self.close();
        for _ in 0..self.open.len() {
            self.end(0);
        }
        assert_eq!(self.engine.exchanges(), 0);
    }
}
