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
    /// The message in the body, or `null` without a body.
    pub message: Json,
}

impl HttpRequest {
    pub(super) fn new(at: Duration, exchange: &Exchange) -> Self {
        let headers = exchange.headers.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
        let body = String::from_utf8_lossy(&exchange.body);
        let message = Json::parse(body).unwrap_or_default();
        HttpRequest { at, verb: exchange.verb, url: exchange.uri.clone(), headers, message }
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
