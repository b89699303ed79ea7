//! The server's side of a pair: what it was sent, and how it speaks.

use core::time::Duration;

use serde_json::Value;

/// A message that the client sent.
#[derive(Clone, Debug)]
pub struct Sent {
    /// As it stood on the wire.
    pub text: String,
    /// As a value.
    pub message: Value,
}

impl Sent {
    /// Takes a line, which must be one message.
    pub(super) fn new(line: &[u8]) -> Sent {
        let text = str::from_utf8(line).expect("the client sends UTF-8").to_string();
        let message: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(message["jsonrpc"], "2.0", "{text}");
        Sent { text, message }
    }

    /// Its method; empty for an answer.
    pub fn method(&self) -> &str {
        self.message["method"].as_str().unwrap_or_default()
    }

    /// Its id, if it is a request of the client's.
    pub fn id(&self) -> Option<u64> {
        self.message["id"].as_u64()
    }

    /// Its parameters.
    pub fn params(&self) -> &Value {
        &self.message["params"]
    }

    /// Its `_meta`.
    pub fn meta(&self) -> &Value {
        &self.params()["_meta"]
    }
}

/// How a server speaks: it says lines, at once or later, in any order.
#[derive(Debug, Default)]
pub struct Peer {
    /// What is to be said after which time; `None` for the end of the stream.
    pub(super) said: Vec<(Duration, Option<Vec<u8>>)>,
}

impl Peer {
    /// Says a line.
    pub fn say(&mut self, line: impl AsRef<[u8]>) {
        self.say_after(Duration::ZERO, line);
    }

    /// Says a line when some time has passed.
    pub fn say_after(&mut self, delay: Duration, line: impl AsRef<[u8]>) {
        self.said.push((delay, Some([line.as_ref(), b"\n"].concat())));
    }

    /// Says bytes that are no line.
    pub fn say_raw(&mut self, bytes: impl AsRef<[u8]>) {
        self.said.push((Duration::ZERO, Some(bytes.as_ref().to_vec())));
    }

    /// Answers a request with a result, which is JSON text.
    pub fn answer(&mut self, request: &Sent, result: &str) {
        self.say(response(request, &format!("\"result\":{result}")));
    }

    /// Answers a request when some time has passed.
    pub fn answer_after(&mut self, delay: Duration, request: &Sent, result: &str) {
        self.say_after(delay, response(request, &format!("\"result\":{result}")));
    }

    /// Answers a request with an error.
    pub fn refuse(&mut self, request: &Sent, code: i64, message: &str) {
        self.say(response(request, &format!(r#""error":{{"code":{code},"message":{message:?}}}"#)));
    }

    /// Closes the stream.
    pub fn end(&mut self) {
        self.said.push((Duration::ZERO, None));
    }
}

/// A response to a request, of which `rest` is what follows the id.
pub(super) fn response(request: &Sent, rest: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},{rest}}}"#, request.message["id"])
}
