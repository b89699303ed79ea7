//! [`Reply`] and [`Response`]: the replies of the endpoint to HTTP requests.

use ::http::header::{ALLOW, CONTENT_TYPE};
use ::http::{HeaderValue, StatusCode};
use serde_json::Value;

use crate::pending::Route;
use crate::rpc::{self, Failure};

/// An HTTP response with a complete body. It is boxed to keep `Result`s small, because many functions return it as error.
pub(super) type Response = Box<::http::Response<String>>;

/// The endpoint's reply to an HTTP request: a complete response, or a stream of events.
#[derive(Debug)]
pub(super) enum Reply {
    Whole(Response),
    Events(Reading),
}

/// A stream that a reader sends as the body of an HTTP response.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) route: Route,
    pub(super) reader: u64,
    /// An event to send before the events of the stream. `None` if there is none, or if it was sent.
    pub(super) first: Option<String>,
    /// Whether events have ids, so that a client can resume the stream after a lost connection.
    pub(super) is_resumable: bool,
}

pub(super) fn empty(status: StatusCode) -> Response {
    let mut response = Response::default();
    *response.status_mut() = status;
    response
}

pub(super) fn text(status: StatusCode, text: &str) -> Response {
    with_body(status, "text/plain; charset=utf-8", format!("{text}\n"))
}

pub(super) fn json(status: StatusCode, body: &Value) -> Response {
    with_body(status, "application/json", body.to_string())
}

/// Returns the response to a refused request: this HTTP status and a JSON-RPC error. `id` is the id of the JSON-RPC request, or
/// `null` if it is unknown.
pub(super) fn failed(status: StatusCode, id: &Value, failure: Failure) -> Response {
    json(status, &rpc::error(id, failure))
}

pub(super) fn method_not_allowed(text: &str, allowed: &'static str) -> Response {
    let mut response = self::text(StatusCode::METHOD_NOT_ALLOWED, text);
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    response
}

fn with_body(status: StatusCode, media_type: &'static str, body: String) -> Response {
    let mut response = empty(status);
    *response.body_mut() = body;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}
