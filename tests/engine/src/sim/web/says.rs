//! What a server over HTTP is asked, and what it says to that.

use core::time::Duration;

use mcpwire_core::http::{Exchange, FailureKind};
use serde_json::Value;

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
    pub(super) parts: Vec<(Duration, Part)>,
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
    pub fn end(&mut self) {
        self.part(Part::End);
    }

    /// A failure.
    pub fn fail(&mut self, kind: FailureKind) {
        self.part(Part::Fail(kind));
    }

    /// A whole response in JSON.
    pub fn json(&mut self, status: u16, text: impl AsRef<str>) {
        self.head(status, &[("Content-Type", "application/json")]).body(text.as_ref()).end();
    }

    /// A whole response without a body.
    pub fn empty(&mut self, status: u16) {
        self.head(status, &[]).end();
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
