//! [`Web`]: an engine over HTTP, a server that is a function of what it is asked, and the time.

mod says;

use core::fmt;
use core::time::Duration;
use std::collections::BTreeSet;

use mcpwire_core::http::{Command, Engine, ExchangeId, Failure, HttpError, Settings, Verb};
use mcpwire_core::{
    CallError, CallTool, CallToolParams, Config, Event, Json, Method, Phase, Raw, RequestOptions, SendError, Ticket,
    Timestamp,
};
use serde_json::Value;

use super::course::{self, Course, Replies, Saying};

pub use says::{Asked, Part, Says, answer_roots, legacy, modern, patient, said};

/// The address of the server.
pub const URI: &str = "http://server.test/mcp";

type Server = dyn FnMut(&Asked, &mut Says);

/// An engine over HTTP and a server, in simulated time.
pub struct Web {
    /// The client's side.
    pub engine: Engine,
    /// Every request that the client made.
    pub asked: Vec<Asked>,
    /// The exchanges that the client gave up, and when.
    pub aborted: Vec<(Duration, ExchangeId)>,
    /// All events except replies, and when each occurred.
    pub events: Vec<(Duration, Event)>,
    server: Box<Server>,
    /// The simulated time, for calls of the engine.
    pub now: Timestamp,
    saying: Saying<(ExchangeId, Part)>,
    over: BTreeSet<ExchangeId>,
    replies: Replies,
    chunk: usize,
}

impl fmt::Debug for Web {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Web").field("now", &self.now).field("engine", &self.engine).finish_non_exhaustive()
    }
}

impl Web {
    /// Creates a client and a server whose connection is not opened yet.
    pub fn new(config: Config, settings: Settings, server: impl FnMut(&Asked, &mut Says) + 'static) -> Web {
        Web {
            engine: Engine::new(config, settings),
            asked: Vec::new(),
            aborted: Vec::new(),
            events: Vec::new(),
            server: Box::new(server),
            now: Timestamp::ORIGIN,
            saying: Saying::new(),
            over: BTreeSet::new(),
            replies: Replies::default(),
            chunk: usize::MAX,
        }
    }

    /// Opens a connection with the default settings, as far as this is possible without a change of the time.
    pub fn opening(config: Config, server: impl FnMut(&Asked, &mut Says) + 'static) -> Web {
        let mut web = Web::new(config, Settings::new(URI).expect("an address"), server);
        web.open();
        web
    }

    /// Opens a connection, and clears the events and requests of its opening.
    pub fn ready(config: Config, server: impl FnMut(&Asked, &mut Says) + 'static) -> Web {
        let mut web = Web::opening(config, server);
        assert_eq!(web.engine.session().phase(), Phase::Ready, "{:?}", web.events);
        web.events.clear();
        web.asked.clear();
        web
    }

    /// Opens a connection to a modern server, whose later responses `rest` decides, as [`Web::ready`] does.
    pub fn modern(rest: impl FnMut(&Asked, &mut Says) + 'static) -> Web {
        Web::modern_with(Config::default(), rest)
    }

    /// As [`Web::modern`], with this configuration.
    pub fn modern_with(config: Config, rest: impl FnMut(&Asked, &mut Says) + 'static) -> Web {
        Web::ready(config, modern(rest))
    }

    /// Opens a connection of a [`patient`] client to a legacy server, whose later responses `rest` decides.
    pub fn legacy(version: &'static str, rest: impl FnMut(&Asked, &mut Says) + 'static) -> Web {
        Web::legacy_with(patient(), version, rest)
    }

    /// As [`Web::legacy`], with this configuration.
    pub fn legacy_with(config: Config, version: &'static str, rest: impl FnMut(&Asked, &mut Says) + 'static) -> Web {
        Web::opening(config, legacy(version, rest))
    }

    /// Opens the connection, as far as this is possible without a change of the time.
    pub fn open(&mut self) {
        self.engine.calls().initialize(self.now).expect("a new engine can be opened");
        self.drive();
    }

    /// Delivers the bodies of responses in pieces of `size` bytes.
    #[must_use]
    pub fn in_pieces_of(mut self, size: usize) -> Web {
        self.chunk = size;
        self
    }

    /// Returns the simulated time since the creation.
    pub fn elapsed(&self) -> Duration {
        self.now.since_origin()
    }

    /// Sends a `tools/call`.
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
        self.engine.calls().request::<CallTool>(&params, options, self.now)
    }

    /// Calls the tool `echo` without arguments, and runs both sides until nothing more happens.
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
        self.engine.calls().request_raw(method, params.as_ref(), &RequestOptions::new(), self.now)
    }

    /// Removes and decodes the reply to a request. Returns `None` if the request has not ended.
    pub fn take<M: Method>(&mut self, ticket: Ticket<M>) -> Option<Result<M::Result, CallError>> {
        self.replies.take(ticket)
    }

    /// Returns the text of the result of a call, which must have succeeded.
    pub fn text(&mut self, ticket: Ticket<CallTool>) -> String {
        self.replies.text(ticket)
    }

    /// Returns the error of a request, which must have failed.
    pub fn error<M: Method<Result: fmt::Debug>>(&mut self, ticket: Ticket<M>) -> CallError {
        self.replies.error(ticket)
    }

    /// Returns the HTTP error of a request, which must have failed with one.
    pub fn http_error<M: Method<Result: fmt::Debug>>(&mut self, ticket: Ticket<M>) -> HttpError {
        let CallError::Http { error, .. } = self.error(ticket) else { panic!("no error of HTTP") };
        (*error).clone()
    }

    /// Returns when a request ended, or `None` if it has not ended or its reply was taken.
    pub fn ended_at<M: Method>(&self, ticket: Ticket<M>) -> Option<Duration> {
        self.replies.ended_at(ticket)
    }

    /// Returns the HTTP requests so far, each as [`Asked::line`].
    pub fn lines(&self) -> Vec<String> {
        self.asked.iter().map(Asked::line).collect()
    }

    /// Returns when each HTTP request was sent whose [`Asked::line`] is `line`.
    pub fn times(&self, line: &str) -> Vec<Duration> {
        self.asked.iter().filter(|asked| asked.line() == line).map(|asked| asked.at).collect()
    }

    /// Returns the last HTTP request whose [`Asked::line`] is `line`.
    pub fn last(&self, line: &str) -> &Asked {
        let found = self.asked.iter().rev().find(|asked| asked.line() == line);
        found.unwrap_or_else(|| panic!("no `{line}` among {:?}", self.lines()))
    }

    /// Returns the events so far, without their times.
    pub fn happened(&self) -> Vec<&Event> {
        self.events.iter().map(|(_, event)| event).collect()
    }

    /// Lets the server continue a response, and runs both sides until nothing more happens.
    pub fn say(&mut self, id: ExchangeId, says: impl FnOnce(&mut Says)) {
        let mut more = Says::default();
        says(&mut more);
        self.plan(id, more);
        self.drive();
    }

    /// Runs both sides until neither does anything more at this time.
    pub fn drive(&mut self) {
        course::drive(self);
    }

    /// Advances the time by `time`, in steps: each timeout and each part of a response occurs at its own time.
    pub fn pass(&mut self, time: Duration) {
        course::pass(self, time);
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
            self.saying.add(self.now + delay, (id, part));
        }
    }

    /// Passes the parts of responses that the server sends now to the client, also those of aborted exchanges.
    fn deliver(&mut self) -> bool {
        let Some((id, part)) = self.saying.take(self.now) else { return false };
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
                Event::Reply(reply) => self.replies.add(self.elapsed(), reply),
                event => self.events.push((self.elapsed(), event)),
            }
        }
        happened
    }
}

impl Course for Web {
    fn clock(&mut self) -> &mut Timestamp {
        &mut self.now
    }

    fn turn(&mut self) -> bool {
        let happened = self.poll();
        let asked = self.exchange();
        let heard = self.deliver();
        asked || heard || happened
    }

    fn next_said(&self) -> Option<Timestamp> {
        self.saying.next()
    }

    fn deadline(&self) -> Option<Timestamp> {
        self.engine.poll_timeout()
    }

    fn tell_time(&mut self) {
        self.engine.handle_timeout(self.now);
    }
}
