//! The transports over which the messages of an exchange reach the engine.

use mcpwire_core::http::{Command, Engine, Exchange, ExchangeId, Verb};
use mcpwire_core::{Calls, Event, Timestamp, stdio};
use serde_json::Value;

use crate::fuzz::bytes::Bytes;
use crate::fuzz::describe;
use crate::fuzz::trace::Trace;

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
