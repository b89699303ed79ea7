//! [`HttpError`]: why an HTTP exchange did not deliver a JSON-RPC response.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::error::Error;
use core::fmt;
use core::time::Duration;

use mcpwire_text::{Seconds, excerpt, excerpt_up_to, printable};

/// The reason why an HTTP exchange failed, or ended without the expected JSON-RPC response.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// The adapter could not complete the HTTP exchange, for example because the connection was lost.
    #[error("{0}")]
    Failed(Failure),
    /// The server refused a message with an HTTP error status.
    #[error("the server answered with HTTP {}{}{}", named_status(*status), wait(*retry_after), detail(excerpt))]
    Status {
        /// The HTTP status code, such as 503.
        status: u16,
        /// The start of the response body without control characters, or the text of a JSON-RPC error in the body. May
        /// be empty.
        excerpt: String,
        /// How long the server asked the client to wait before the next attempt (header `Retry-After`).
        retry_after: Option<Duration>,
    },
    /// The server requires authorization (status 401) or denies access (status 403).
    #[error(
        "the server {} (HTTP {}){}{}{}",
        authorization(*status),
        named_status(*status),
        challenge(challenges),
        wait(*retry_after),
        detail(excerpt)
    )]
    Unauthorized {
        /// The HTTP status code: 401 or 403.
        status: u16,
        /// The values of the `WWW-Authenticate` headers of the response. May be empty.
        challenges: Vec<String>,
        /// The start of the response body, without control characters. May be empty.
        excerpt: String,
        /// How long the server asked the client to wait before the next attempt (header `Retry-After`). Some servers
        /// limit the rate of requests with status 403.
        retry_after: Option<Duration>,
    },
    /// The server answered with a success status, but with neither JSON nor an event stream. Usually the body is an
    /// HTML page.
    #[error(
        "the server answered HTTP {status} with {} instead of JSON or an event stream; check the address{}",
        content_type(found),
        detail(excerpt)
    )]
    ContentType {
        /// The HTTP status code, from 200 to 299.
        status: u16,
        /// The `Content-Type` of the response, followed by a note if the body has a `Content-Encoding`. May be empty.
        found: String,
        /// The start of the response body, without control characters. May be empty.
        excerpt: String,
    },
    /// The HTTP response ended before the JSON-RPC response to the request arrived.
    #[error("{}", no_answer(*status, *attempts))]
    NoAnswer {
        /// The HTTP status code of the response.
        status: u16,
        /// Number of consecutive attempts to resume the event stream of the request. 0 if the engine made none.
        attempts: u32,
    },
    /// The server ended the MCP session before it answered the request. It may have carried out the request.
    #[error("the server has ended the session; the request may have been carried out")]
    SessionLost,
    /// The server ended the MCP session, and its response to `initialize` opened no new one.
    #[error("the server has ended the session, and opened no new one: {reason}")]
    NotRenewed {
        /// What the server answered to `initialize` instead.
        reason: String,
    },
    /// An HTTP+SSE server (protocol revision 2024-11-05) sent a URL for messages that is invalid or has another origin.
    #[error("the server names an endpoint on another origin, which is not allowed: {}", printable(uri))]
    Endpoint {
        /// The start of the URL that the server sent, without control characters.
        uri: String,
    },
}

impl HttpError {
    /// Returns the HTTP status code, or `None` if the error has none.
    pub fn status(&self) -> Option<u16> {
        match self {
            HttpError::Status { status, .. }
            | HttpError::Unauthorized { status, .. }
            | HttpError::ContentType { status, .. }
            | HttpError::NoAnswer { status, .. } => Some(*status),
            HttpError::Failed(_)
            | HttpError::SessionLost
            | HttpError::NotRenewed { .. }
            | HttpError::Endpoint { .. } => None,
        }
    }

    /// Returns how long the server asked the client to wait before the next attempt (header `Retry-After`).
    ///
    /// `None` if the response has no such header, if the header is invalid, or if it contains a date but the response
    /// has no `Date` header to compare it with.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            HttpError::Status { retry_after, .. } | HttpError::Unauthorized { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// Returns whether the client gives up if `server/discover` fails with this error, because `initialize` would fail
    /// in the same way. 429 and 503 ask the client to wait, and say nothing about the server's era.
    pub(crate) fn is_final(&self) -> bool {
        match self {
            HttpError::Unauthorized { .. } => true,
            HttpError::Failed(failure) => failure.kind != FailureKind::Broken,
            HttpError::Status { status, .. } => matches!(status, 300..400 | 429 | 503),
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

fn wait(retry_after: Option<Duration>) -> String {
    retry_after.map(|wait| alloc::format!(", and asks to try again after {}", Seconds(wait))).unwrap_or_default()
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

fn detail(text: &str) -> String {
    if text.is_empty() { String::new() } else { alloc::format!(": {text}") }
}

/// Returns an HTTP status code, followed by its name if the status is common.
fn named_status(status: u16) -> String {
    let name = match status {
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
    alloc::format!("{status}{name}")
}

/// Maximum number of bytes of [`Failure::detail`] that `Display` shows: 1 KiB, because errors of authorization end with what to do.
const MAX_DETAIL: usize = 1024;

/// The error that an adapter reports when it cannot complete an HTTP exchange.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", describe_failure(*kind, &excerpt_up_to(detail.as_bytes(), MAX_DETAIL)))]
#[non_exhaustive]
pub struct Failure {
    /// How the exchange failed.
    pub kind: FailureKind,
    /// The error message of the HTTP client.
    pub detail: String,
    /// The error that caused the failure, for programs that look for its type. `detail` contains its text.
    pub cause: Option<FailureCause>,
}

/// The error of a program that made an HTTP exchange fail. Clones share the error, and are equal to it alone.
#[derive(Clone)]
pub struct FailureCause(Arc<dyn Error + Send + Sync>);

impl FailureCause {
    /// Returns the error.
    pub fn get(&self) -> &(dyn Error + Send + Sync + 'static) {
        &*self.0
    }
}

impl PartialEq for FailureCause {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for FailureCause {}

impl fmt::Debug for FailureCause {
    /// Formats the message of the error: its fields may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FailureCause({:?})", self.0.to_string())
    }
}

fn describe_failure(kind: FailureKind, text: &str) -> String {
    match kind {
        // The text of an authorizer says that a user must log in, and where.
        FailureKind::LoginRequired if !text.is_empty() => text.into(),
        kind => alloc::format!("{kind}{}", detail(text)),
    }
}

/// How an HTTP exchange failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FailureKind {
    /// No connection to the server could be opened. No part of the request was sent.
    #[error("the server cannot be reached")]
    Unreachable,
    /// The TLS handshake with the server failed, for example because its certificate is invalid.
    #[error("the TLS handshake with the server failed")]
    Tls,
    /// The connection was lost after at least a part of the request was sent.
    #[error("the connection to the server was lost")]
    Broken,
    /// The response is not valid HTTP, or exceeds a limit of the HTTP client.
    #[error("the server's response is not what HTTP allows")]
    Invalid,
    /// The server sent a redirect that the adapter must not follow, for example to another origin.
    #[error("the server sent a redirect that is not allowed")]
    Redirect,
    /// The request was not sent, for example because a callback of the program failed.
    #[error("the request was not made")]
    NotMade,
    /// The request was not sent, or was refused, and the client cannot get the access token that it needs.
    #[error("no access token")]
    Unauthorized,
    /// The request was not sent, or was refused, and a user must log in before the client can get an access token.
    #[error("a login is required")]
    LoginRequired,
    /// The request was not sent, or was refused, and the client cannot get an access token now. It may get one later.
    #[error("no access token can be had now")]
    TokenUnavailable,
}

impl Failure {
    /// Creates a failure of this kind. `detail` is the error message of the HTTP client.
    pub fn new(kind: FailureKind, detail: impl Into<String>) -> Self {
        Failure { kind, detail: detail.into(), cause: None }
    }

    /// Sets the error that caused the failure.
    pub fn with_cause(mut self, cause: Box<dyn Error + Send + Sync>) -> Self {
        self.cause = Some(FailureCause(cause.into()));
        self
    }
}
