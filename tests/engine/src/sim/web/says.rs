//! The server of a [`Web`](super::Web): the requests that it receives, its responses, and ready-made servers.

use core::time::Duration;

use mcpwire_core::http::{Exchange, FailureKind};
use mcpwire_core::{ClientCapabilities, Config, Negotiate};
use serde_json::Value;

/// A request that the client made.
#[derive(Clone, Debug)]
pub struct Asked {
    /// When the client made the request.
    pub at: Duration,
    /// The exchange, as the engine gave it.
    pub exchange: Exchange,
    /// The message in the body; `null` if the request has no body.
    pub message: Value,
}

impl Asked {
    /// Returns the verb and the method of the message: `POST tools/call`, `GET`, `DELETE`, or `POST` for the answer to a request
    /// of the server.
    pub fn line(&self) -> String {
        let method = self.message["method"].as_str().unwrap_or_default();
        format!("{} {method}", self.exchange.verb.as_str()).trim_end().into()
    }

    /// Returns the method of the message, or an empty text if it has none.
    pub fn method(&self) -> &str {
        self.message["method"].as_str().unwrap_or_default()
    }

    /// Returns the value of a header, which must not occur twice.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.exchange.headers.iter().filter(|(other, _)| other.eq_ignore_ascii_case(name));
        let first = found.next().map(|(_, value)| value.as_str());
        assert!(found.next().is_none(), "`{name}` stands there twice");
        first
    }

    /// Returns a JSON-RPC response to the message. `rest` is the text of its members after the id.
    pub fn response(&self, rest: &str) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":{},{rest}}}"#, self.message["id"])
    }

    /// Returns a JSON-RPC response with this result.
    pub fn result(&self, result: &str) -> String {
        self.response(&format!(r#""result":{result}"#))
    }
}

/// A part of an HTTP response.
#[derive(Clone, Debug)]
pub enum Part {
    /// The status and the headers.
    Head(u16, Vec<(String, String)>),
    /// A piece of the body.
    Body(Vec<u8>),
    /// The end of the response.
    End,
    /// The exchange fails.
    Fail(FailureKind),
}

/// The parts of the server's response to a request, and when it sends them.
#[derive(Debug, Default)]
pub struct Says {
    delay: Duration,
    pub(super) parts: Vec<(Duration, Part)>,
}

impl Says {
    /// Delays all parts that are added after this call.
    pub fn later(&mut self, by: Duration) -> &mut Self {
        self.delay += by;
        self
    }

    /// Adds a part.
    pub fn part(&mut self, part: Part) -> &mut Self {
        self.parts.push((self.delay, part));
        self
    }

    /// Adds the status and the headers.
    pub fn head(&mut self, status: u16, headers: &[(&str, &str)]) -> &mut Self {
        let headers = headers.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        self.part(Part::Head(status, headers))
    }

    /// Adds a piece of the body.
    pub fn body(&mut self, body: impl AsRef<[u8]>) -> &mut Self {
        self.part(Part::Body(body.as_ref().to_vec()))
    }

    /// Ends the response.
    pub fn end(&mut self) {
        self.part(Part::End);
    }

    /// Lets the exchange fail.
    pub fn fail(&mut self, kind: FailureKind) {
        self.part(Part::Fail(kind));
    }

    /// Adds a whole response in JSON.
    pub fn json(&mut self, status: u16, text: impl AsRef<str>) {
        self.head(status, &[("Content-Type", "application/json")]).body(text.as_ref()).end();
    }

    /// Adds a whole response in JSON that opens the session of this name.
    pub fn session(&mut self, name: &str, text: impl AsRef<str>) {
        let headers = [("content-type", "application/json"), ("Mcp-Session-Id", name)];
        self.head(200, &headers).body(text.as_ref()).end();
    }

    /// Adds a whole response without a body.
    pub fn empty(&mut self, status: u16) {
        self.head(status, &[]).end();
    }

    /// Begins an event stream with the status 200.
    pub fn stream(&mut self) -> &mut Self {
        self.head(200, &[("content-type", "text/event-stream")])
    }

    /// Adds an event with a message.
    pub fn event(&mut self, message: impl AsRef<str>) -> &mut Self {
        self.body(format!("data: {}\n\n", message.as_ref()))
    }
}

/// Returns a modern server (2026-07-28) that opens the connection. `rest` decides what it does with all other requests.
pub fn modern(mut rest: impl FnMut(&Asked, &mut Says) + 'static) -> impl FnMut(&Asked, &mut Says) + 'static {
    move |asked, says| match asked.method() {
        "server/discover" => {
            says.json(200, asked.result(r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#));
        }
        _ => rest(asked, says),
    }
}

/// Returns a legacy server that opens sessions named `s1`, `s2`, and so on. `rest` decides what it does with all other requests.
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
            let result = format!(r#"{{"protocolVersion":"{version}","capabilities":{{"tools":{{}}}}}}"#);
            says.session(&format!("s{sessions}"), asked.result(&result));
        }
        "POST notifications/initialized" => says.empty(202),
        _ => rest(asked, says),
    }
}

/// Returns the result of a tool call with this text.
pub fn said(text: &str) -> String {
    format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#)
}

/// Returns a configuration for the legacy era only, with a timeout of an hour for each request.
pub fn patient() -> Config {
    let mut config = Config::default();
    config.negotiate = Negotiate::Legacy;
    config.request_timeout = Duration::from_secs(3600);
    config.total_timeout = Duration::from_secs(3600);
    config
}

/// Lets a client answer `roots/list`.
pub fn answer_roots(config: &mut Config) {
    config.answer("roots/list");
    config.capabilities = ClientCapabilities::default().with_roots(false);
}
