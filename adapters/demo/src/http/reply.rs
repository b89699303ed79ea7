//! [`Reply`] and [`Response`]: what the endpoint replies to HTTP requests.

use ::http::header::{ALLOW, CONTENT_TYPE};
use ::http::{HeaderName, HeaderValue, StatusCode};
use serde_json::Value;

use crate::pending::Route;
use crate::rpc::{self, Failure};

/// A response with a complete body.
#[derive(Debug)]
pub(super) struct Response {
    pub(super) status: StatusCode,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    pub(super) body: String,
}

/// The reply to an HTTP request.
#[derive(Debug)]
pub(super) enum Reply {
    Whole(Response),
    Events(Reading),
}

/// A stream to send as the body of a response.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) route: Route,
    pub(super) reader: u64,
    /// An event to send before those of the stream.
    pub(super) first: Option<String>,
    /// Whether events have ids, so that a client can resume the stream after a lost connection.
    pub(super) is_resumable: bool,
}

impl Response {
    pub(super) fn empty(status: StatusCode) -> Self {
        Self { status, headers: Vec::new(), body: String::new() }
    }

    pub(super) fn text(status: StatusCode, text: &str) -> Self {
        Self::empty(status).with_body("text/plain; charset=utf-8", format!("{text}\n"))
    }

    pub(super) fn json(status: StatusCode, body: &Value) -> Self {
        Self::empty(status).with_body("application/json", body.to_string())
    }

    pub(super) fn failed(status: StatusCode, id: &Value, failure: Failure) -> Self {
        Self::json(status, &rpc::error(id, failure))
    }

    pub(super) fn method_not_allowed(text: &str, allowed: &'static str) -> Self {
        Self::text(StatusCode::METHOD_NOT_ALLOWED, text).with_header(ALLOW, HeaderValue::from_static(allowed))
    }

    pub(super) fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    fn with_body(self, media_type: &'static str, body: String) -> Self {
        Self { body, ..self }.with_header(CONTENT_TYPE, HeaderValue::from_static(media_type))
    }
}
