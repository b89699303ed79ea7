//! [`HttpError`]: why an HTTP exchange brought no answer.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::text::{excerpt, printable};

/// The error of an HTTP exchange that brought no answer to its request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// The adapter could not complete the exchange.
    #[error("{0}")]
    Failed(Failure),
    /// The server answered with an HTTP error and without a JSON-RPC error.
    #[error("the server answered with HTTP {}{}", NamedStatus(*status), detail(excerpt))]
    Status {
        /// The HTTP status, such as 503.
        status: u16,
        /// The start of the body, without control characters; may be empty.
        excerpt: String,
    },
    /// The server requires authorization (401) or denies access (403).
    #[error("the server {} (HTTP {}){}{}", authorization(*status), NamedStatus(*status), challenge(challenges), detail(excerpt))]
    Unauthorized {
        /// The HTTP status, 401 or 403.
        status: u16,
        /// The values of the `WWW-Authenticate` headers, as received.
        challenges: Vec<String>,
        /// The start of the body, without control characters.
        excerpt: String,
    },
    /// The response is neither JSON nor an event stream. It is usually an HTML page.
    #[error(
        "the server answered HTTP {status} with {} instead of JSON or an event stream; check the address{}",
        content_type(found),
        detail(excerpt)
    )]
    ContentType {
        /// The HTTP status, from 200 to 299.
        status: u16,
        /// The `Content-Type` of the response; may be empty.
        found: String,
        /// The start of the body, without control characters.
        excerpt: String,
    },
    /// The response was complete but did not contain an answer to the request.
    #[error("{}", no_answer(*status, *attempts))]
    NoAnswer {
        /// The HTTP status.
        status: u16,
        /// Number of consecutive attempts to resume the stream, all of which failed.
        attempts: u32,
    },
    /// The server ended the session of the request. Whether it performed the request is unknown.
    #[error("the server has ended the session; the request may have been carried out")]
    SessionLost,
    /// The HTTP+SSE server (2024-11-05) named a message endpoint on another origin.
    #[error("the server names an endpoint on another origin, which is not allowed: {}", printable(uri))]
    Endpoint {
        /// The URI that the server sent: the start of it, without control characters.
        uri: String,
    },
}

impl HttpError {
    /// Returns the HTTP status, if the server responded.
    pub fn status(&self) -> Option<u16> {
        match self {
            HttpError::Status { status, .. }
            | HttpError::Unauthorized { status, .. }
            | HttpError::ContentType { status, .. }
            | HttpError::NoAnswer { status, .. } => Some(*status),
            HttpError::Failed(_) | HttpError::SessionLost | HttpError::Endpoint { .. } => None,
        }
    }

    /// Returns whether any other way of opening the connection would fail too.
    pub(crate) fn is_final(&self) -> bool {
        match self {
            HttpError::Unauthorized { .. } => true,
            HttpError::Failed(failure) => failure.kind != FailureKind::Broken,
            HttpError::Status { status, .. } => (300..400).contains(status),
            _ => false,
        }
    }
}

fn authorization(status: u16) -> &'static str {
    if status == 401 { "asks for authorization" } else { "does not allow it" }
}

fn challenge(challenges: &[String]) -> String {
    challenges.first().map(|challenge| alloc::format!(", {}", excerpt(challenge.as_bytes()))).unwrap_or_default()
}

fn content_type(found: &str) -> impl fmt::Display {
    printable(if found.is_empty() { "a body without a type" } else { found })
}

fn no_answer(status: u16, attempts: u32) -> String {
    match attempts {
        0 => alloc::format!("the server's response (HTTP {status}) ended without an answer"),
        _ => alloc::format!("the server's stream ended without an answer, and {attempts} attempts to resume it failed"),
    }
}

/// Returns a detail with a colon before it, if there is one.
fn detail(text: &str) -> String {
    if text.is_empty() { String::new() } else { alloc::format!(": {text}") }
}

/// Displays an HTTP status with its name, if it is a frequent one.
struct NamedStatus(u16);

impl fmt::Display for NamedStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.0 {
            400 => " Bad Request",
            401 => " Unauthorized",
            403 => " Forbidden",
            404 => " Not Found",
            405 => " Method Not Allowed",
            406 => " Not Acceptable",
            413 => " Content Too Large",
            415 => " Unsupported Media Type",
            429 => " Too Many Requests",
            500 => " Internal Server Error",
            502 => " Bad Gateway",
            503 => " Service Unavailable",
            504 => " Gateway Timeout",
            _ => "",
        };
        write!(f, "{}{name}", self.0)
    }
}

/// The error of an HTTP exchange that the adapter could not complete.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}{}", self::detail(&excerpt(detail.as_bytes())))]
#[non_exhaustive]
pub struct Failure {
    /// What failed.
    pub kind: FailureKind,
    /// The message of the HTTP client.
    pub detail: String,
}

/// The stage at which an HTTP exchange failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FailureKind {
    /// No connection could be opened. Nothing of the request reached the server.
    #[error("the server cannot be reached")]
    Unreachable,
    /// The TLS handshake failed, for example because of an invalid certificate.
    #[error("the TLS handshake with the server failed")]
    Tls,
    /// The connection was lost after at least a part of the request was sent.
    #[error("the connection to the server was lost")]
    Broken,
    /// The response is not valid HTTP, or exceeds a limit of the adapter.
    #[error("the server's response is not what HTTP allows")]
    Invalid,
    /// The server sent a redirect that the adapter must not follow.
    #[error("the server sent a redirect that is not allowed")]
    Redirect,
    /// The adapter did not send the request, for example because no token is available.
    #[error("the request was not made")]
    NotMade,
}

impl Failure {
    /// Creates a failure with the message of the HTTP client.
    pub fn new(kind: FailureKind, detail: impl Into<String>) -> Self {
        Failure { kind, detail: detail.into() }
    }
}
