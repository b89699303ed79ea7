//! [`Canned`]: an engine whose server is a few lines of text, for tests that count what the engine does on its own.

use mcpwire_core::stdio::Engine;
use mcpwire_core::{
    CallTool, CallToolParams, Config, Event, Method, Negotiate, Params, Reply, RequestOptions, Ticket, Timestamp,
};
use serde::Serialize;

/// The position of the id in a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyOrder {
    /// Before the result, as most servers write it.
    IdFirst,
    /// After the result, as those do that are built on the TypeScript SDK.
    ResultFirst,
}

impl KeyOrder {
    /// Returns the line that responds to a request.
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
    /// Opens a connection to a legacy server.
    ///
    /// # Panics
    ///
    /// If the connection does not open.
    pub fn open() -> Self {
        let server = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}"#;
        Self::open_by(Negotiate::Legacy, server)
    }

    /// Opens a connection to a modern server.
    ///
    /// # Panics
    ///
    /// If the connection does not open.
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
    /// If the engine does not send it.
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

    /// Passes a line to the engine, and returns its first event.
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

    /// Passes a response to the engine, and returns the reply.
    ///
    /// # Panics
    ///
    /// If the engine reports no reply.
    pub fn reply(&mut self, answer: &[u8]) -> Reply {
        match self.deliver(answer) {
            Some(Event::Reply(reply)) => reply,
            other => panic!("no reply: {other:?}"),
        }
    }

    /// Discards the bytes that the engine has written, like a pipe that is never full.
    fn write(&mut self) {
        let n = self.engine.transmit().len();
        self.engine.transmitted(n);
    }
}
