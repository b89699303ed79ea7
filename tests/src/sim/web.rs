//! [`Web`]: an engine over HTTP, a server that is a function of what it is asked, and the time.

use core::fmt;
use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

use mcpwire_core::http::{Command, Engine, Exchange, ExchangeId, Failure, FailureKind, Settings, Verb};
use mcpwire_core::{
    CallError, CallTool, CallToolParams, Config, Event, Json, Method, Phase, Raw, Reply, RequestKey, RequestOptions,
    SendError, Ticket, Timestamp,
};
use serde_json::Value;

/// Rounds without time passing after which the two are thought to run in circles.
const LIVELOCK: usize = 100_000;

/// The address of the server.
pub const URI: &str = "http://server.test/mcp";

/// A request that the client made.
#[derive(Clone, Debug)]
pub struct Asked {
    /// When.
    pub at: Duration,
    /// The exchange, as the engine gave it.
    pub exchange: Exchange,
    /// Its body as a value; `null` where there is none.
    pub message: Value,
}

impl Asked {
    /// The first line of the request, as far as a test wants to see it: `POST tools/call`, `GET`, `DELETE`; `POST` and nothing
    /// more for an answer.
    pub fn line(&self) -> String {
        let method = self.message["method"].as_str().unwrap_or_default();
        format!("{} {method}", self.exchange.verb.as_str()).trim_end().into()
    }

    /// The method of the message.
    pub fn method(&self) -> &str {
        self.message["method"].as_str().unwrap_or_default()
    }

    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.exchange.headers.iter().filter(|(other, _)| other.eq_ignore_ascii_case(name));
        let first = found.next().map(|(_, value)| value.as_str());
        assert!(found.next().is_none(), "`{name}` stands there twice");
        first
    }

    /// A response with this member in it.
    pub fn response(&self, rest: &str) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":{},{rest}}}"#, self.message["id"])
    }

    /// A response with this result.
    pub fn result(&self, result: &str) -> String {
        self.response(&format!(r#""result":{result}"#))
    }
}

/// A part of a response.
#[derive(Clone, Debug)]
pub enum Part {
    /// The head.
    Head(u16, Vec<(String, String)>),
    /// Some of the body.
    Body(Vec<u8>),
    /// The end.
    End,
    /// It fails.
    Fail(FailureKind),
}

/// What the server says to a request, and when.
#[derive(Debug, Default)]
pub struct Says {
    delay: Duration,
    parts: Vec<(Duration, Part)>,
}

impl Says {
    /// What comes next comes that much later.
    pub fn later(&mut self, by: Duration) -> &mut Self {
        self.delay += by;
        self
    }

    /// A part.
    pub fn part(&mut self, part: Part) -> &mut Self {
        self.parts.push((self.delay, part));
        self
    }

    /// The head of a response.
    pub fn head(&mut self, status: u16, headers: &[(&str, &str)]) -> &mut Self {
        let headers = headers.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        self.part(Part::Head(status, headers))
    }

    /// Some of the body.
    pub fn body(&mut self, body: impl AsRef<[u8]>) -> &mut Self {
        self.part(Part::Body(body.as_ref().to_vec()))
    }

    /// The end of the response.
    pub fn end(&mut self) -> &mut Self {
        self.part(Part::End)
    }

    /// A failure.
    pub fn fail(&mut self, kind: FailureKind) -> &mut Self {
        self.part(Part::Fail(kind))
    }

    /// A whole response in JSON.
    pub fn json(&mut self, status: u16, text: impl AsRef<str>) -> &mut Self {
        self.head(status, &[("Content-Type", "application/json")]).body(text.as_ref()).end()
    }

    /// A whole response without a body.
    pub fn empty(&mut self, status: u16) -> &mut Self {
        self.head(status, &[]).end()
    }

    /// The head of a stream of events.
    pub fn stream(&mut self) -> &mut Self {
        self.head(200, &[("content-type", "text/event-stream")])
    }

    /// An event that carries a message.
    pub fn event(&mut self, message: impl AsRef<str>) -> &mut Self {
        self.body(format!("data: {}\n\n", message.as_ref()))
    }
}

type Server = dyn FnMut(&Asked, &mut Says);

/// An engine over HTTP and a server, in simulated time.
pub struct Web {
    /// The client's side.
    pub engine: Engine,
    /// Every request that the client made.
    pub asked: Vec<Asked>,
    /// The exchanges that the client gave up, and when.
    pub aborted: Vec<(Duration, ExchangeId)>,
    /// Everything that happened, replies aside, and when.
    pub events: Vec<(Duration, Event)>,
    server: Box<Server>,
    now: Timestamp,
    saying: BTreeMap<(Timestamp, u64), (ExchangeId, Part)>,
    said: u64,
    over: BTreeSet<ExchangeId>,
    replies: BTreeMap<RequestKey, (Duration, Reply)>,
    chunk: usize,
}

impl fmt::Debug for Web {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Web").field("now", &self.now).field("engine", &self.engine).finish_non_exhaustive()
    }
}

impl Web {
    /// A client and a server of which neither has said a word.
    pub fn new(config: Config, settings: Settings, server: impl FnMut(&Asked, &mut Says) + 'static) -> Web {
        Web {
            engine: Engine::new(config, settings),
            asked: Vec::new(),
            aborted: Vec::new(),
            events: Vec::new(),
            server: Box::new(server),
            now: Timestamp::ORIGIN,
            saying: BTreeMap::new(),
            said: 0,
            over: BTreeSet::new(),
            replies: BTreeMap::new(),
            chunk: usize::MAX,
        }
    }

    /// A connection that has been opened, as far as it goes without time passing, with the default settings.
    pub fn opening(config: Config, server: impl FnMut(&Asked, &mut Says) + 'static) -> Web {
        let mut web = Web::new(config, Settings::new(URI).expect("an address"), server);
        web.open();
        web
    }

    /// A connection that is open, with nothing of the opening left to see.
    pub fn ready(config: Config, server: impl FnMut(&Asked, &mut Says) + 'static) -> Web {
        let mut web = Web::opening(config, server);
        assert_eq!(web.engine.phase(), Phase::Ready, "{:?}", web.events);
        web.events.clear();
        web.asked.clear();
        web
    }

    /// Begins to open the connection, and drives it.
    pub fn open(&mut self) {
        self.engine.initialize(self.now).expect("a new engine can be opened");
        self.drive();
    }

    /// Cuts bodies into pieces of `size` bytes.
    #[must_use]
    pub fn in_pieces_of(mut self, size: usize) -> Web {
        self.chunk = size;
        self
    }

    /// The time since the beginning.
    pub fn elapsed(&self) -> Duration {
        self.now.since_origin()
    }

    /// The moment, for calls to the engine.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Sends a call of a tool.
    ///
    /// # Errors
    /// If the engine does not send it.
    pub fn call(
        &mut self,
        tool: &str,
        arguments: &str,
        options: &RequestOptions,
    ) -> Result<Ticket<CallTool>, SendError> {
        let arguments = Json::parse(arguments).expect("the test gives JSON");
        let params = CallToolParams { name: tool, arguments: &arguments };
        self.engine.request::<CallTool>(&params, options, self.now)
    }

    /// Sends a call of a tool without arguments, and drives it.
    pub fn echo(&mut self) -> Ticket<CallTool> {
        let ticket = self.call("echo", "{}", &RequestOptions::new()).expect("it is open");
        self.drive();
        ticket
    }

    /// Sends a request of any method.
    ///
    /// # Errors
    /// If the engine does not send it.
    pub fn raw(&mut self, method: &str, params: Option<&str>) -> Result<Ticket<Raw>, SendError> {
        let params = params.map(|text| Json::parse(text).expect("the test gives JSON"));
        self.engine.request_raw(method, params.as_ref(), &RequestOptions::new(), self.now)
    }

    /// What came of a request, decoded, once there is something.
    pub fn take<M: Method>(&mut self, ticket: Ticket<M>) -> Option<Result<M::Result, CallError>> {
        let (_, reply) = self.replies.remove(&ticket.key())?;
        Some(ticket.decode(reply))
    }

    /// The text of the answer to a call.
    pub fn text(&mut self, ticket: Ticket<CallTool>) -> String {
        self.take(ticket).expect("it has ended").expect("it went well").text().into_string()
    }

    /// What ended a request without a result.
    pub fn error<M: Method<Result: fmt::Debug>>(&mut self, ticket: Ticket<M>) -> CallError {
        self.take(ticket).expect("it has ended").expect_err("it did not go well")
    }

    /// When a request ended, if it has.
    pub fn ended_at<M: Method>(&self, ticket: Ticket<M>) -> Option<Duration> {
        self.replies.get(&ticket.key()).map(|(at, _)| *at)
    }

    /// The requests so far, each in a line.
    pub fn lines(&self) -> Vec<String> {
        self.asked.iter().map(Asked::line).collect()
    }

    /// The last request of this line.
    pub fn last(&self, line: &str) -> &Asked {
        let found = self.asked.iter().rev().find(|asked| asked.line() == line);
        found.unwrap_or_else(|| panic!("no `{line}` among {:?}", self.lines()))
    }

    /// The events so far, without their times.
    pub fn happened(&self) -> Vec<&Event> {
        self.events.iter().map(|(_, event)| event).collect()
    }

    /// Lets the server go on with a response.
    pub fn say(&mut self, id: ExchangeId, says: impl FnOnce(&mut Says)) {
        let mut more = Says::default();
        says(&mut more);
        self.plan(id, more);
        self.drive();
    }

    /// Lets both talk until neither has anything to say without time passing.
    pub fn drive(&mut self) {
        for _ in 0..LIVELOCK {
            let happened = self.poll();
            let asked = self.exchange();
            let heard = self.deliver();
            if !(asked || heard || happened) {
                return;
            }
        }
        panic!("the two run in circles");
    }

    /// Lets time pass, and everything happen at its time.
    pub fn pass(&mut self, time: Duration) {
        let until = self.now + time;
        self.drive();
        while let Some(next) = self.next_moment().filter(|next| *next <= until) {
            self.now = self.now.max(next);
            self.engine.handle_timeout(self.now);
            self.drive();
            let deadline = self.engine.poll_timeout();
            assert!(deadline.is_none_or(|at| at > self.now), "a deadline in the past: {deadline:?} at {:?}", self.now);
        }
        self.now = until;
        self.engine.handle_timeout(self.now);
        self.drive();
    }

    fn next_moment(&self) -> Option<Timestamp> {
        let spoken = self.saying.keys().next().map(|(at, _)| *at);
        [spoken, self.engine.poll_timeout()].into_iter().flatten().min()
    }

    fn exchange(&mut self) -> bool {
        let Some(command) = self.engine.poll_exchange(self.now) else { return false };
        match command {
            Command::Start(exchange) => {
                let id = exchange.id;
                assert!(self.asked.iter().all(|asked| asked.exchange.id != id), "an exchange started twice");
                assert_eq!(exchange.body.is_empty(), exchange.verb != Verb::Post, "{exchange:?}");
                let message = if exchange.body.is_empty() {
                    Value::Null
                } else {
                    serde_json::from_slice(&exchange.body).expect("the client sends JSON")
                };
                let asked = Asked { at: self.now.since_origin(), exchange, message };
                let mut says = Says::default();
                (self.server)(&asked, &mut says);
                self.asked.push(asked);
                self.plan(id, says);
            }
            Command::Abort(id) => {
                assert!(!self.over.contains(&id), "given up although it was over");
                self.aborted.push((self.now.since_origin(), id));
            }
            command => panic!("{command:?}"),
        }
        true
    }

    fn plan(&mut self, id: ExchangeId, says: Says) {
        for (delay, part) in says.parts {
            self.said += 1;
            self.saying.insert((self.now + delay, self.said), (id, part));
        }
    }

    /// Hands to the client what the server says now; also what it says on exchanges that were given up.
    fn deliver(&mut self) -> bool {
        let Some(first) = self.saying.first_entry().filter(|entry| entry.key().0 <= self.now) else { return false };
        let (id, part) = first.remove();
        match part {
            Part::Head(status, headers) => {
                let headers = headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
                self.engine.response(id, status, headers, self.now);
            }
            Part::Body(body) => {
                for piece in body.chunks(self.chunk) {
                    self.engine.body(id, piece, self.now);
                    self.poll();
                }
            }
            Part::End => {
                self.over.insert(id);
                self.engine.ended(id, self.now);
            }
            Part::Fail(kind) => {
                self.over.insert(id);
                self.engine.failed(id, Failure::new(kind, "as the test wants it"), self.now);
            }
        }
        true
    }

    fn poll(&mut self) -> bool {
        let mut happened = false;
        while let Some(event) = self.engine.poll_event() {
            happened = true;
            match event {
                Event::Reply(reply) => {
                    let before = self.replies.insert(reply.key(), (self.now.since_origin(), reply));
                    assert!(before.is_none(), "two replies to one request");
                }
                event => self.events.push((self.now.since_origin(), event)),
            }
        }
        happened
    }
}

/// A modern server: discovers, and hands everything else to `rest`.
pub fn modern(mut rest: impl FnMut(&Asked, &mut Says) + 'static) -> impl FnMut(&Asked, &mut Says) + 'static {
    move |asked, says| match asked.method() {
        "server/discover" => {
            says.json(200, asked.result(r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#));
        }
        _ => rest(asked, says),
    }
}

/// A legacy server with sessions: `s1`, and `s2` once it has forgotten that; it has no stream of its own. Hands everything but
/// the opening to `rest`.
pub fn legacy(
    version: &'static str,
    mut rest: impl FnMut(&Asked, &mut Says) + 'static,
) -> impl FnMut(&Asked, &mut Says) + 'static {
    let mut sessions = 0;
    move |asked, says| match asked.line().as_str() {
        "POST server/discover" => {
            says.json(400, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request"}}"#);
        }
        "POST initialize" => {
            sessions += 1;
            let session = format!("s{sessions}");
            let result = format!(r#"{{"protocolVersion":"{version}","capabilities":{{"tools":{{}}}}}}"#);
            says.head(200, &[("content-type", "application/json"), ("Mcp-Session-Id", &session)])
                .body(asked.result(&result))
                .end();
        }
        "POST notifications/initialized" => {
            says.empty(202);
        }
        _ => rest(asked, says),
    }
}

/// The answer of a tool that says something.
pub fn said(text: &str) -> String {
    format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#)
}
