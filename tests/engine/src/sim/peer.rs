//! The server of a [`Pair`](super::Pair): the messages that it receives, the messages that it sends, and ready-made servers.

use core::time::Duration;

use mcpwire_core::Config;
use serde_json::Value;

/// A message that the client sent.
#[derive(Clone, Debug)]
pub struct Sent {
    /// The line as it was sent.
    pub text: String,
    /// The message as a value.
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

    /// Returns the method, or an empty text for a response.
    pub fn method(&self) -> &str {
        self.message["method"].as_str().unwrap_or_default()
    }

    /// Returns the id if the message is a request of the client.
    pub fn id(&self) -> Option<u64> {
        self.message["id"].as_u64()
    }

    /// Returns the parameters.
    pub fn params(&self) -> &Value {
        &self.message["params"]
    }

    /// Returns the member `_meta` of the parameters.
    pub fn meta(&self) -> &Value {
        &self.params()["_meta"]
    }
}

/// The messages with which a server reacts to one message of the client, at once or later.
#[derive(Debug, Default)]
pub struct Peer {
    /// The bytes to send, each after a delay. `None` is the end of the stream.
    pub(super) said: Vec<(Duration, Option<Vec<u8>>)>,
}

impl Peer {
    /// Sends a line now.
    pub fn say(&mut self, line: impl AsRef<[u8]>) {
        self.say_after(Duration::ZERO, line);
    }

    /// Sends a line after a delay.
    pub fn say_after(&mut self, delay: Duration, line: impl AsRef<[u8]>) {
        self.said.push((delay, Some([line.as_ref(), b"\n"].concat())));
    }

    /// Sends bytes without a line end.
    pub fn say_raw(&mut self, bytes: impl AsRef<[u8]>) {
        self.said.push((Duration::ZERO, Some(bytes.as_ref().to_vec())));
    }

    /// Responds to a request with a result, which is JSON text.
    pub fn answer(&mut self, request: &Sent, result: &str) {
        self.say(response(request, &format!("\"result\":{result}")));
    }

    /// Responds to a request with a result after a delay.
    pub fn answer_after(&mut self, delay: Duration, request: &Sent, result: &str) {
        self.say_after(delay, response(request, &format!("\"result\":{result}")));
    }

    /// Responds to a request with an error.
    pub fn refuse(&mut self, request: &Sent, code: i64, message: &str) {
        self.say(response(request, &format!(r#""error":{{"code":{code},"message":{message:?}}}"#)));
    }

    /// Closes the stream.
    pub fn end(&mut self) {
        self.said.push((Duration::ZERO, None));
    }
}

/// Returns a response to a request. `rest` is the text of its members after the id.
pub(super) fn response(request: &Sent, rest: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},{rest}}}"#, request.message["id"])
}

/// Returns the default configuration with a change.
pub fn configured<T>(change: impl FnOnce(&mut Config) -> T) -> Config {
    let mut config = Config::default();
    change(&mut config);
    config
}

/// Returns a legacy server (2025-11-25) that opens the connection. `rest` decides what it does with all other messages.
pub fn legacy(mut rest: impl FnMut(&Sent, &mut Peer) + 'static) -> impl FnMut(&Sent, &mut Peer) + 'static {
    move |sent, peer| {
        match sent.method() {
        "server/discover" => peer.refuse(sent, -32601, "Method not found"),
        "initialize" => peer.answer(
            sent,
            r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{"subscribe":true},"prompts":{},"completions":{},"logging":{}},"serverInfo":{"name":"sim","version":"1"}}"#,
        ),
        "notifications/initialized" => {}
        _ => rest(sent, peer),
    }
    }
}

/// Returns a modern server (2026-07-28) that opens the connection. `rest` decides what it does with all other messages.
pub fn modern(mut rest: impl FnMut(&Sent, &mut Peer) + 'static) -> impl FnMut(&Sent, &mut Peer) + 'static {
    move |sent, peer| match sent.method() {
        "server/discover" => {
            peer.answer(
                sent,
                r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"resources":{"subscribe":true},"prompts":{},"completions":{},"logging":{}}}"#,
            );
        }
        "initialize" => peer.refuse(sent, -32601, "Method not found"),
        _ => rest(sent, peer),
    }
}

/// A server that answers each method with the line beside it: what follows the id (`"result":{}`), or the whole line if
/// that begins with `{`; the end of the stream if it is `EOF`. All else it meets with silence.
pub fn table<'t>(rows: &[(&'t str, &'t str)]) -> impl FnMut(&Sent, &mut Peer) + 'static {
    let rows: Vec<(String, String)> = rows.iter().map(|(method, line)| ((*method).into(), (*line).into())).collect();
    move |sent, peer| {
        for (_, line) in rows.iter().filter(|(method, _)| method == sent.method()) {
            match line.as_str() {
                "EOF" => peer.end(),
                line if line.starts_with('{') => peer.say(line),
                rest => peer.say(response(sent, rest)),
            }
        }
    }
}
