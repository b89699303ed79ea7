//! HTTP requests that a simulated server has received ([`HttpRequest`]), and responses that a test scripts in place of the server's ([`HttpAnswer`]).

use std::io;
use std::sync::Mutex;
use std::time::Duration;

use mcpwire_driver::protocol::Json;
use mcpwire_driver::protocol::http::{Exchange, FailureKind, Verb};
use serde::Serialize;

use crate::{lock, wire};

/// An HTTP request that a simulated server has received from a client.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HttpRequest {
    /// The time of the request, by the clock of the client's runtime. In virtual time, this is the elapsed time.
    pub at: Duration,
    /// The HTTP method of the request, such as `POST`.
    pub verb: Verb,
    /// The full URL of the request.
    pub url: String,
    /// The names and values of the headers, in order.
    pub headers: Vec<(String, String)>,
    /// The body as text. Invalid UTF-8 is replaced.
    pub body: String,
    /// The body as JSON, which is usually a JSON-RPC message. `null` if the body is not JSON.
    pub message: Json,
}

impl HttpRequest {
    pub(crate) fn new(at: Duration, exchange: &Exchange) -> Self {
        let headers = exchange.headers.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
        let request = HttpRequest::post(&exchange.uri, String::from_utf8_lossy(&exchange.body));
        HttpRequest { at, verb: exchange.verb, headers, ..request }
    }

    /// Creates a `GET` request, for a test that passes requests to an
    #[cfg_attr(feature = "authorization", doc = "[`AuthorizationServer`](crate::authorization::AuthorizationServer).")]
    #[cfg_attr(not(feature = "authorization"), doc = "`AuthorizationServer`.")]
    pub fn get(url: impl Into<String>) -> Self {
        HttpRequest { verb: Verb::Get, ..HttpRequest::post(url, "") }
    }

    /// Creates a `POST` request with this URL and body.
    pub fn post(url: impl Into<String>, body: impl Into<String>) -> Self {
        let (url, body) = (url.into(), body.into());
        let message = Json::parse(body.clone()).unwrap_or_default();
        HttpRequest { at: Duration::ZERO, verb: Verb::Post, url, headers: Vec::new(), body, message }
    }

    /// Adds a header to the request.
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Returns the value of a header, or `None` if the request does not have it. The case of the name does not matter.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Returns the method of the JSON-RPC message in the body, such as `tools/call`. Empty if the body is a response or no
    /// message.
    pub fn method(&self) -> String {
        self.message.member("method").unwrap_or_default()
    }

    pub(super) fn has_id(&self) -> bool {
        self.message.member::<Option<Json>>("id").flatten().is_some()
    }
}

type Handler = dyn FnMut(&HttpRequest) -> Option<HttpAnswer> + Send;

/// The record of the requests to a simulated server, and the handler of the test that may answer them in place of the server.
///
/// The record and the handler have locks of their own, because the handler may use the server.
#[derive(Default)]
pub(crate) struct Requests {
    all: Mutex<Vec<HttpRequest>>,
    handler: Mutex<Option<Box<Handler>>>,
}

impl Requests {
    pub(crate) fn set_handler(&self, handler: impl FnMut(&HttpRequest) -> Option<HttpAnswer> + Send + 'static) {
        *lock(&self.handler) = Some(Box::new(handler));
    }

    /// Records a request. Returns the handler's response, or `None` if the server is to answer.
    pub(crate) fn receive(&self, request: &HttpRequest) -> Option<HttpAnswer> {
        lock(&self.all).push(request.clone());
        lock(&self.handler).as_mut()?(request)
    }

    pub(crate) fn all(&self) -> Vec<HttpRequest> {
        lock(&self.all).clone()
    }

    pub(crate) fn count(&self) -> usize {
        lock(&self.all).len()
    }
}

// Scripted responses.

/// A scripted HTTP response: its status, its headers, and its body part by part.
///
/// A `u16` converts to a response with this status. [`HttpAnswer::wait`] before the first part of the body delays the whole
/// response.
///
/// ```
/// # mod mcpwire { pub mod testkit { pub use mcpwire_testkit::HttpAnswer; } }
/// use std::time::Duration;
///
/// use mcpwire::testkit::HttpAnswer;
/// use serde_json::json;
///
/// let busy = HttpAnswer::status(429).header("Retry-After", "30");
/// let stream = HttpAnswer::events()
///     .wait(Duration::from_secs(1))
///     .event(json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}))
///     .cut();
/// # let _: [HttpAnswer; 3] = [busy, stream, 503.into()];
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use = "an answer is given by the function that returns it"]
pub struct HttpAnswer {
    pub(super) status: u16,
    pub(crate) headers: Vec<(String, Vec<u8>)>,
    /// The delay of the status and the headers.
    pub(crate) delay: Duration,
    /// The parts of the body, each with its delay after the headers.
    pub(super) parts: Vec<(Duration, Part)>,
    elapsed: Duration,
    /// The kind and the text of the error, if the request fails without a response. `None` if there is a response.
    pub(super) failure: Option<(FailureKind, String)>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    Bytes(Vec<u8>),
    Cut(io::ErrorKind),
}

impl HttpAnswer {
    /// Creates a response with this status code, without headers and body.
    pub fn status(status: u16) -> Self {
        HttpAnswer {
            status,
            headers: Vec::new(),
            delay: Duration::ZERO,
            parts: Vec::new(),
            elapsed: Duration::ZERO,
            failure: None,
        }
    }

    /// Creates a response with this status and a JSON body.
    ///
    /// # Panics
    ///
    /// If the value cannot be serialized as JSON.
    pub fn json(status: u16, value: impl Serialize) -> Self {
        let answer = HttpAnswer::status(status).header("Content-Type", "application/json");
        answer.body(wire::json(&value).get())
    }

    /// Creates a response with status 200 whose body is a stream of server-sent events. Add the events with
    /// [`HttpAnswer::event`].
    pub fn events() -> Self {
        HttpAnswer::status(200).header("Content-Type", "text/event-stream")
    }

    /// Makes the request fail without a response, for example because the server cannot be reached or the connection is lost.
    pub fn failure(kind: FailureKind, detail: impl Into<String>) -> Self {
        HttpAnswer { failure: Some((kind, detail.into())), ..HttpAnswer::status(0) }
    }

    /// Returns the HTTP status code of the response, or 0 if the request fails without a response.
    pub fn code(&self) -> u16 {
        self.status
    }

    /// Returns the value of a header, or `None` if the response does not have it. The case of the name does not matter.
    pub fn header_value(&self, name: &str) -> Option<String> {
        let found = self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
        found.map(|(_, value)| String::from_utf8_lossy(value).into_owned())
    }

    /// Returns all parts of the body as one text. Invalid UTF-8 is replaced.
    pub fn text(&self) -> String {
        let bytes = self.parts.iter().filter_map(|(_, part)| match part {
            Part::Bytes(bytes) => Some(bytes.as_slice()),
            Part::Cut(_) => None,
        });
        String::from_utf8_lossy(&bytes.collect::<Vec<_>>().concat()).into_owned()
    }

    /// Adds a header to the response. Earlier headers of the same name stay.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into().into_bytes()));
        self
    }

    /// Adds a pause before the next part of the body. A pause before the first part also delays the status and the headers,
    /// except for an event stream.
    pub fn wait(mut self, duration: Duration) -> Self {
        let is_stream = self.headers.iter().any(|(_, value)| value == b"text/event-stream");
        let waits = if self.parts.is_empty() && !is_stream { &mut self.delay } else { &mut self.elapsed };
        *waits += duration;
        self
    }

    /// Adds bytes to the end of the body.
    pub fn body(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.parts.push((self.elapsed, Part::Bytes(bytes.into())));
        self
    }

    /// Adds a server-sent event with this JSON-RPC message to the body.
    ///
    /// # Panics
    ///
    /// If the message cannot be serialized as JSON.
    pub fn event(self, message: impl Serialize) -> Self {
        self.body(format!("data: {}\n\n", wire::json(&message)))
    }

    /// Ends the body with a connection reset, as when the connection is lost.
    pub fn cut(mut self) -> Self {
        self.parts.push((self.elapsed, Part::Cut(io::ErrorKind::ConnectionReset)));
        self
    }
}

impl From<u16> for HttpAnswer {
    fn from(status: u16) -> Self {
        HttpAnswer::status(status)
    }
}
