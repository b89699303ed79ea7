//! [`HttpRequest`]: an HTTP request that a client made.

use std::time::Duration;

use mcpwire_driver::protocol::Json;
use mcpwire_driver::protocol::http::{Exchange, Verb};

/// An HTTP request that a client made.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HttpRequest {
    /// The time of the request, by the clock of the client's runtime. In virtual time, this is the elapsed time.
    pub at: Duration,
    /// The HTTP method.
    pub verb: Verb,
    /// The URL.
    pub url: String,
    /// The names and values of the headers.
    pub headers: Vec<(String, String)>,
    /// The body. Invalid UTF-8 is replaced.
    pub body: String,
    /// The message in the body, or `null` if the body is none.
    pub message: Json,
}

impl HttpRequest {
    pub(crate) fn new(at: Duration, exchange: &Exchange) -> Self {
        let headers = exchange.headers.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
        let body = String::from_utf8_lossy(&exchange.body).into_owned();
        let message = Json::parse(body.clone()).unwrap_or_default();
        HttpRequest { at, verb: exchange.verb, url: exchange.uri.clone(), headers, body, message }
    }

    /// Creates a `GET` request, for a test that passes requests to an
    #[cfg_attr(feature = "authorization", doc = "[`AuthorizationServer`](crate::authorization::AuthorizationServer).")]
    #[cfg_attr(not(feature = "authorization"), doc = "`AuthorizationServer`.")]
    pub fn get(url: impl Into<String>) -> Self {
        let (url, headers, body) = (url.into(), Vec::new(), String::new());
        HttpRequest { at: Duration::ZERO, verb: Verb::Get, url, headers, body, message: Json::default() }
    }

    /// Creates a `POST` request with this body.
    pub fn post(url: impl Into<String>, body: impl Into<String>) -> Self {
        let body = body.into();
        let message = Json::parse(body.clone()).unwrap_or_default();
        HttpRequest { verb: Verb::Post, body, message, ..HttpRequest::get(url) }
    }

    /// Adds a header.
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Returns the value of a header. Upper and lower case of the name are equal.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Returns the method of the message in the body. It is empty for responses, and without a message.
    pub fn method(&self) -> String {
        self.message.member("method").unwrap_or_default()
    }

    pub(super) fn has_id(&self) -> bool {
        self.message.member::<Option<Json>>("id").flatten().is_some()
    }
}
