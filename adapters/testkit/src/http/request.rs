//! [`HttpRequest`]: an HTTP request that a simulated server has received.

use std::sync::Mutex;
use std::time::Duration;

use mcpwire_driver::protocol::Json;
use mcpwire_driver::protocol::http::{Exchange, Verb};

use super::answer::HttpAnswer;
use crate::lock;

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
