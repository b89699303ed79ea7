//! What can go wrong with HTTP.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::text::{excerpt, printable};

/// Why an exchange brought no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// The exchange itself failed: the adapter says how.
    #[error("{0}")]
    Failed(Failure),
    /// The server refused, and not in the protocol's words.
    #[error("the server answered with HTTP {}{}", Status(*status), detail(excerpt))]
    Status {
        /// The status, such as 503.
        status: u16,
        /// The beginning of the body, printable; empty if there was none.
        excerpt: String,
    },
    /// The server wants to know who asks (401), or does not allow it (403).
    #[error("the server {} (HTTP {}){}{}", authorization(*status), Status(*status), challenge(challenges), detail(excerpt))]
    Unauthorized {
        /// 401 or 403.
        status: u16,
        /// The values of `WWW-Authenticate`, as they came.
        challenges: Vec<String>,
        /// The beginning of the body, printable.
        excerpt: String,
    },
    /// The answer is neither JSON nor a stream of events: a page for people, mostly.
    #[error(
        "the server answered HTTP {status} with {} instead of JSON or an event stream; check the address{}",
        content_type(found),
        detail(excerpt)
    )]
    ContentType {
        /// The status, which was one of success.
        status: u16,
        /// What it is instead.
        found: String,
        /// The beginning of the body, printable.
        excerpt: String,
    },
    /// The exchange ended well, and what it brought did not answer the request.
    #[error("{}", no_answer(*status, *attempts))]
    NoAnswer {
        /// The status.
        status: u16,
        /// How many times in a row the stream was taken up again in vain.
        attempts: u32,
    },
    /// The session that the request belonged to has ended on the server, and whether it was carried out is not known.
    #[error("the server has ended the session; the request may have been carried out")]
    SessionLost,
    /// The HTTP+SSE server names an endpoint that messages must not be sent to.
    #[error("the server names an endpoint on another origin, which is not allowed: {}", printable(uri))]
    Endpoint {
        /// What it names, printable and bounded.
        uri: String,
    },
}

impl HttpError {
    /// The status, where the server answered at all.
    pub fn status(&self) -> Option<u16> {
        match self {
            HttpError::Status { status, .. }
            | HttpError::Unauthorized { status, .. }
            | HttpError::ContentType { status, .. }
            | HttpError::NoAnswer { status, .. } => Some(*status),
            HttpError::Failed(_) | HttpError::SessionLost | HttpError::Endpoint { .. } => None,
        }
    }

    /// Whether another way of opening the connection would meet with the same.
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

/// A status with its usual name, where it is one that people meet.
struct Status(u16);

impl fmt::Display for Status {
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

/// How an exchange failed, as the adapter that carried it out tells.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}{}", self::detail(&excerpt(detail.as_bytes())))]
#[non_exhaustive]
pub struct Failure {
    /// In which way.
    pub kind: FailureKind,
    /// What the HTTP client says.
    pub detail: String,
}

/// The ways in which an exchange can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FailureKind {
    /// No connection came about: nothing of the request reached the server.
    #[error("the server cannot be reached")]
    Unreachable,
    /// The server's certificate, or what it says in the TLS handshake, is no good.
    #[error("the TLS handshake with the server failed")]
    Tls,
    /// The connection was lost after the request had been sent in part or whole.
    #[error("the connection to the server was lost")]
    Broken,
    /// What came is not HTTP, or more of it than the adapter takes.
    #[error("the server's response is not what HTTP allows")]
    Invalid,
    /// A redirect that must not be followed.
    #[error("the server sent a redirect that is not allowed")]
    Redirect,
    /// This side made no request of it: there is no token for it, or the like.
    #[error("the request was not made")]
    NotMade,
}

impl Failure {
    /// A failure, in the HTTP client's words.
    pub fn new(kind: FailureKind, detail: impl Into<String>) -> Self {
        Failure { kind, detail: detail.into() }
    }
}
