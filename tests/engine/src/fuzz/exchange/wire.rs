//! Writes a JSON value in one of the many layouts that RFC 8259 allows: order of members, whitespace, escapes.
//!
//! Some JSON has no [`Value`] of its own. It is drawn with these signs, which this module writes as what they stand for.

use std::borrow::Cow;

use mcpwire_core::http::{Command, Engine, Exchange, ExchangeId, Verb};
use mcpwire_core::{Calls, Event, Timestamp, stdio};
use serde_json::{Map, Value, json};

use crate::fuzz::describe;
use crate::fuzz::trace::{Bytes, Trace};

/// In a text: half of a surrogate pair. It has the value of the character itself, U+FFFD.
pub(super) const LONE_SURROGATE: char = '\u{fffd}';

/// At the start of a text: the rest of the text is a number, in a form that no [`Value`] keeps.
pub(super) const NUMERAL: char = '\u{e000}';

/// A member with this name is another member once more. Its value is the name of the other.
pub(super) const ONCE_MORE: &str = "\u{e001}";

/// How [`LONE_SURROGATE`] is written. The reference never has this text for anything else.
pub(super) const LONE_SURROGATE_TEXT: &str = "\\udbff";

/// A layout, drawn for one message.
#[expect(clippy::struct_excessive_bools, reason = "each is a freedom of its own")]
pub(super) struct Layout {
    random: u32,
    /// Names of the objects around the current value.
    path: Vec<String>,
    /// Whether an object may have a member twice. Only the last counts.
    repeats: bool,
    ends_with_return: bool,
    has_spaces: bool,
    escapes_keys: bool,
    escapes_texts: bool,
}

impl Layout {
    pub(super) fn draw(input: &mut Bytes<'_>) -> Self {
        let (style, seed) = (input.byte(), input.byte());
        Layout {
            random: u32::from(seed) << 8 | u32::from(style) | 0x10000,
            path: Vec::new(),
            repeats: style % 8 == 4,
            ends_with_return: style % 32 > 23,
            has_spaces: style % 4 == 1,
            escapes_keys: style % 8 == 2,
            escapes_texts: style % 8 == 3,
        }
    }

    /// Writes a message, without the line feed at its end.
    pub(super) fn write(&mut self, value: &Value) -> String {
        let mut out = String::new();
        self.value(value, &mut out);
        if self.ends_with_return {
            out.push('\r');
        }
        out
    }

    fn value(&mut self, value: &Value, out: &mut String) {
        self.space(out);
        match value {
            Value::Object(members) => {
                let members = self.in_any_order(members);
                self.list('{', '}', members, out, |layout, (key, value), out| {
                    layout.space(out);
                    layout.text(key, layout.escapes_keys, out);
                    layout.space(out);
                    out.push(':');
                    layout.path.push(key.to_owned());
                    layout.value(&value, out);
                    layout.path.pop();
                });
            }
            Value::Array(items) => self.list('[', ']', items, out, Layout::value),
            Value::String(text) => match text.strip_prefix(NUMERAL) {
                Some(number) => out.push_str(number),
                None => self.text(text, self.escapes_texts, out),
            },
            scalar => out.push_str(&scalar.to_string()),
        }
        self.space(out);
    }

    /// Returns the members of an object in the order in which they are written, with those that are repeated.
    fn in_any_order<'m>(&mut self, object: &'m Map<String, Value>) -> Vec<(&'m str, Cow<'m, Value>)> {
        let mut members: Vec<_> = object
            .iter()
            .map(|(key, value)| match value.as_str() {
                Some(other) if key == ONCE_MORE => (other, Cow::Borrowed(&object[other])),
                _ => (key.as_str(), Cow::Borrowed(value)),
            })
            .collect();
        for at in 1..members.len() {
            let other = self.below(at + 1);
            members.swap(at, other);
        }
        for at in (0..members.len()).rev() {
            let key = members[at].0;
            if self.repeats && self.below(3) == 0 && self.may_repeat(key) {
                let first = match self.below(6) {
                    0 => Value::Null,
                    1 => json!(1),
                    2 => json!("complete"),
                    3 => json!([{ "resultType": "input_required" }]),
                    4 => json!({ "resultType": "task", "id": 2 }),
                    _ => members[at].1.clone().into_owned(),
                };
                let before = self.below(at + 1);
                members.insert(before, (key, Cow::Owned(first)));
            }
        }
        members
    }

    /// Returns whether the last of several members with this name counts. If not, the message is invalid.
    fn may_repeat(&self, key: &str) -> bool {
        match &self.path[..] {
            [] => !matches!(key, "id" | "result" | "error"),
            [result, inputs] => result != "result" || inputs != "inputRequests",
            _ => true,
        }
    }

    fn list<T>(
        &mut self,
        open: char,
        close: char,
        items: impl IntoIterator<Item = T>,
        out: &mut String,
        mut write: impl FnMut(&mut Self, T, &mut String),
    ) {
        out.push(open);
        for (at, item) in items.into_iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            write(self, item, out);
        }
        out.push(close);
    }

    fn text(&mut self, text: &str, escapes: bool, out: &mut String) {
        if !escapes {
            return out.push_str(&Value::from(text).to_string().replace(LONE_SURROGATE, LONE_SURROGATE_TEXT));
        }
        out.push('"');
        let mut units = [0; 2];
        for c in text.chars() {
            let must = c.is_control() || matches!(c, '"' | '\\');
            match self.below(5) {
                _ if c == LONE_SURROGATE => out.push_str(LONE_SURROGATE_TEXT),
                0 if matches!(c, '/' | '"' | '\\') => out.extend(['\\', c]),
                2.. if !must => out.push(c),
                style => {
                    for unit in c.encode_utf16(&mut units) {
                        let unit = if style < 3 { format!("\\u{unit:04x}") } else { format!("\\u{unit:04X}") };
                        out.push_str(&unit);
                    }
                }
            }
        }
        out.push('"');
    }

    fn space(&mut self, out: &mut String) {
        if self.has_spaces {
            // No line breaks, which end a message of the stdio transport.
            out.push_str(["", "", " ", "\t", "\r"][self.below(5)]);
        }
    }

    /// Returns a number below `n`.
    fn below(&mut self, n: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 17;
        self.random ^= self.random << 5;
        (self.random >> 7) as usize % n
    }
}

/// A client's engine, and the server's end of its transport.
pub(super) enum Transport {
    Stdio { engine: Box<stdio::Engine>, now: Timestamp },
    Http(Box<Http>),
}

/// The bytes of a message, and where they arrive.
pub(super) struct Delivery {
    pub(super) bytes: Vec<u8>,
    /// The HTTP exchange. `None` on stdio.
    exchange: Option<ExchangeId>,
    /// Whether the server ends its response after this message.
    is_last: bool,
}

impl Transport {
    pub(super) fn calls(&mut self) -> Calls<'_> {
        match self {
            Transport::Stdio { engine, .. } => engine.calls(),
            Transport::Http(http) => http.engine.calls(),
        }
    }

    pub(super) fn poll_event(&mut self) -> Option<Event> {
        match self {
            Transport::Stdio { engine, .. } => engine.poll_event(),
            Transport::Http(http) => http.engine.poll_event(),
        }
    }

    pub(super) fn handle_timeout(&mut self, now: Timestamp) {
        match self {
            Transport::Stdio { engine, now: at } => {
                *at = now;
                engine.handle_timeout(now);
            }
            Transport::Http(http) => {
                http.now = now;
                http.engine.handle_timeout(now);
            }
        }
    }

    /// Returns the messages that the client has sent since the last call.
    pub(super) fn take_sent(&mut self, trace: &Trace) -> Vec<String> {
        match self {
            Transport::Stdio { engine, .. } => {
                let sent = str::from_utf8(engine.transmit()).expect("UTF-8").to_owned();
                engine.transmitted(usize::MAX);
                sent.lines().for_each(|line| trace.line(format_args!("sent {line}")));
                sent.lines().map(str::to_owned).collect()
            }
            Transport::Http(http) => {
                http.exchange(trace);
                std::mem::take(&mut http.sent)
            }
        }
    }

    /// Describes the state of the engine.
    pub(super) fn state(&mut self) -> String {
        let (session, wake) = match self {
            Transport::Stdio { engine, .. } => (engine.session(), engine.poll_timeout()),
            Transport::Http(http) => (http.engine.session(), http.engine.poll_timeout()),
        };
        let (phase, stats) = (describe::phase(session.phase()), describe::stats(session.stats()));
        format!("{phase}, {} in flight, wake {wake:?}, {stats}", session.in_flight())
    }

    /// Decides how the server sends a message whose text is `text`. `answers` is the id of the open request that the message
    /// responds to. Returns `None` if the server cannot send it, because the client has no response open.
    pub(super) fn deliver(&mut self, text: &str, answers: Option<u64>, input: &mut Bytes<'_>) -> Option<Delivery> {
        match self {
            Transport::Stdio { .. } => {
                Some(Delivery { bytes: format!("{text}\n").into_bytes(), exchange: None, is_last: false })
            }
            Transport::Http(http) => http.deliver(text, answers, input),
        }
    }

    /// Passes the next bytes of a message to the engine.
    pub(super) fn receive(&mut self, delivery: &Delivery, piece: &[u8]) {
        match (self, delivery.exchange) {
            (Transport::Http(http), Some(exchange)) => http.engine.body(exchange, piece, http.now),
            (Transport::Stdio { engine, now }, _) => {
                assert_eq!(engine.receive(piece, *now), piece.len(), "every event was taken");
            }
            (Transport::Http(_), None) => unreachable!("it was not delivered over stdio"),
        }
    }

    /// Ends the response that contained the message, if the server does so.
    pub(super) fn finish(&mut self, delivery: &Delivery) {
        if let (Transport::Http(http), Some(exchange)) = (self, delivery.exchange.filter(|_| delivery.is_last)) {
            http.end(exchange);
        }
    }
}

/// An engine for HTTP, and the exchanges whose responses have not ended.
pub(super) struct Http {
    engine: Engine,
    now: Timestamp,
    open: Vec<OpenExchange>,
    /// Messages that the client has sent.
    sent: Vec<String>,
}

struct OpenExchange {
    id: ExchangeId,
    /// The JSON-RPC id of the request in its body. `None` for the stream of messages that belong to no request.
    request: Option<u64>,
    /// Whether the response has begun. It is then an event stream.
    has_begun: bool,
}

impl Http {
    pub(super) fn new(engine: Engine) -> Self {
        Http { engine, now: Timestamp::ORIGIN, open: Vec::new(), sent: Vec::new() }
    }

    /// Takes the HTTP requests of the client. The server accepts notifications and answers at once.
    fn exchange(&mut self, trace: &Trace) {
        while let Some(command) = self.engine.poll_exchange(self.now) {
            match command {
                Command::Start(exchange) => {
                    describe::exchange(&exchange, trace);
                    self.start(&exchange);
                }
                Command::Abort(id) => {
                    trace.line(format_args!("abort {}", id.get()));
                    self.end(id);
                }
                other => panic!("{other:?}"),
            }
        }
    }

    fn start(&mut self, exchange: &Exchange) {
        if exchange.verb == Verb::Post {
            let message = str::from_utf8(&exchange.body).expect("UTF-8");
            assert!(!message.contains('\n'), "{message}");
            self.sent.push(message.to_owned());
        }
        if exchange.is_request || exchange.verb == Verb::Get {
            let request = serde_json::from_slice(&exchange.body).ok().and_then(|message: Value| message["id"].as_u64());
            self.open.push(OpenExchange { id: exchange.id, request, has_begun: false });
        } else {
            self.engine.response(exchange.id, 202, [], self.now);
            self.engine.ended(exchange.id, self.now);
        }
        if exchange.verb == Verb::Get {
            self.begin_stream(self.open.len() - 1);
        }
    }

    fn begin_stream(&mut self, at: usize) {
        let exchange = &mut self.open[at];
        if !std::mem::replace(&mut exchange.has_begun, true) {
            self.engine.response(exchange.id, 200, [("Content-Type", &b"text/event-stream"[..])], self.now);
        }
    }

    fn end(&mut self, id: ExchangeId) {
        self.open.retain(|exchange| exchange.id != id);
        self.engine.ended(id, self.now);
    }

    /// Uses the response to the request that the message answers, but not always. Any other message is sent in some open response.
    fn deliver(&mut self, text: &str, answers: Option<u64>, input: &mut Bytes<'_>) -> Option<Delivery> {
        let style = input.byte();
        let has_other = style >> 5 == 7;
        let own = self.open.iter().position(|exchange| answers.is_some() && exchange.request == answers && !has_other);
        let at = own.or_else(|| usize::from(style >> 4).checked_rem(self.open.len()))?;
        let exchange = Some(self.open[at].id);
        if own.is_some() && !self.open[at].has_begun && style & 1 == 1 {
            self.engine.response(self.open[at].id, 200, [("content-type", &b"application/json"[..])], self.now);
            return Some(Delivery { bytes: text.as_bytes().to_vec(), exchange, is_last: true });
        }
        self.begin_stream(at);
        let before = ["", ": comment\n\n", "id: 7\ndata:\n\n", "event: message\n"][usize::from(style >> 1 & 3)];
        let (end, space) = (if style & 8 == 0 { "\n" } else { "\r\n" }, if style & 1 == 0 { " " } else { "" });
        // A carriage return ends a line of the event.
        let text = text.replace('\r', "\rdata:");
        let event = format!("{before}data:{space}{text}{end}{end}");
        // The server may end the stream after the response.
        Some(Delivery { bytes: event.into_bytes(), exchange, is_last: own.is_some() && style & 16 == 16 })
    }
}
