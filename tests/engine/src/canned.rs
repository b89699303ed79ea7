//! [`Canned`]: an engine whose server is a few lines of text, for tests that count what the engine does on its own.

use mcpwire_core::stdio::Engine;
use mcpwire_core::{
    CallTool, CallToolParams, Config, Event, Method, Negotiate, Params, Reply, RequestOptions, Ticket, Timestamp,
};
use serde::Serialize;

/// Where an answer has its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyOrder {
    /// Before the result, as most servers write it.
    IdFirst,
    /// After the result, as those do that are built on the TypeScript SDK.
    ResultFirst,
}

impl KeyOrder {
    /// The line that answers a request.
    pub fn answer(self, id: u64, result: &str) -> Vec<u8> {
        let line = match self {
            Self::IdFirst => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n"),
            Self::ResultFirst => format!("{{\"result\":{result},\"jsonrpc\":\"2.0\",\"id\":{id}}}\n"),
        };
        line.into_bytes()
    }
}

/// An open connection without a stream.
#[derive(Debug)]
pub struct Canned {
    /// The engine.
    pub engine: Engine,
    /// The id of the last request.
    pub last_id: u64,
}

#[derive(Serialize)]
struct Arguments {
    message: &'static str,
}

impl Canned {
    /// A connection that is open.
    ///
    /// # Panics
    ///
    /// When it does not open.
    pub fn open() -> Self {
        let server = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}"#;
        Self::open_by(Negotiate::Legacy, server)
    }

    /// As [`Canned::open`], to a modern server.
    ///
    /// # Panics
    ///
    /// When it does not open.
    pub fn open_modern() -> Self {
        let server = r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"canned","version":"1"},"ttlMs":0,"cacheScope":"private"}"#;
        Self::open_by(Negotiate::Modern, server)
    }

    fn open_by(negotiate: Negotiate, server: &str) -> Self {
        let mut config = Config::new("counting", "1.0");
        config.negotiate = negotiate;
        let mut canned = Self { engine: Engine::new(config), last_id: 1 };
        canned.engine.calls().initialize(Timestamp::ORIGIN).expect("it begins to open");
        let answer = KeyOrder::IdFirst.answer(1, server);
        assert_eq!(canned.deliver(&answer), Some(Event::Connected));
        canned.write();
        canned
    }

    /// Sends a request.
    ///
    /// # Panics
    ///
    /// When it cannot be sent.
    pub fn send<M: Method>(&mut self, params: &impl Params<M>) -> Ticket<M> {
        let ticket =
            self.engine.calls().request(params, &RequestOptions::new(), Timestamp::ORIGIN).expect("it is sent");
        self.last_id += 1;
        self.write();
        ticket
    }

    /// Sends a call of `echo`.
    pub fn call(&mut self) -> Ticket<CallTool> {
        self.send(&CallToolParams { name: "echo", arguments: &Arguments { message: "hello" } })
    }

    /// Hands the engine a line as a reader would, and tells what it makes of it.
    pub fn deliver(&mut self, mut line: &[u8]) -> Option<Event> {
        loop {
            let taken = self.engine.receive(line, Timestamp::ORIGIN);
            line = &line[taken..];
            let event = self.engine.poll_event();
            if event.is_some() || line.is_empty() {
                return event;
            }
        }
    }

    /// Hands the engine an answer, and gives the reply that it makes of it.
    ///
    /// # Panics
    ///
    /// When it is none.
    pub fn reply(&mut self, answer: &[u8]) -> Reply {
        match self.deliver(answer) {
            Some(Event::Reply(reply)) => reply,
            other => panic!("no reply: {other:?}"),
        }
    }

    /// Takes what is to be written, as a pipe that is never full.
    fn write(&mut self) {
        let n = self.engine.transmit().len();
        self.engine.transmitted(n);
    }
}
