//! What can go wrong with HTTP.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::printable;

/// Why an exchange brought no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HttpError {
    /// The exchange itself failed: the adapter says how.
    Failed(Failure),
    /// The server refused, and not in the protocol's words.
    Status {
        /// The status, such as 503.
        status: u16,
        /// The beginning of the body, printable; empty if there was none.
        excerpt: String,
    },
    /// The server wants to know who asks (401), or does not allow it (403).
    Unauthorized {
        /// 401 or 403.
        status: u16,
        /// The values of `WWW-Authenticate`, as they came.
        challenges: Vec<String>,
        /// The beginning of the body, printable.
        excerpt: String,
    },
    /// The answer is neither JSON nor a stream of events: a page for people, mostly.
    ContentType {
        /// The status, which was one of success.
        status: u16,
        /// What it is instead.
        found: String,
        /// The beginning of the body, printable.
        excerpt: String,
    },
    /// The exchange ended well, and what it brought did not answer the request.
    NoAnswer {
        /// The status.
        status: u16,
        /// How many times in a row the stream was taken up again in vain.
        attempts: u32,
    },
    /// The session that the request belonged to has ended on the server, and whether it was carried out is not known.
    SessionLost,
    /// The HTTP+SSE server names an endpoint that messages must not be sent to.
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

impl fmt::Display for HttpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quote = |f: &mut fmt::Formatter<'_>, excerpt: &str| match excerpt {
            "" => Ok(()),
            excerpt => write!(f, ": {excerpt}"),
        };
        match self {
            HttpError::Failed(failure) => failure.fmt(f),
            HttpError::Status { status, excerpt } => {
                write!(f, "the server answered with HTTP {}", Status(*status))?;
                quote(f, excerpt)
            }
            HttpError::Unauthorized { status, challenges, excerpt } => {
                let what = if *status == 401 { "asks for authorization" } else { "does not allow it" };
                write!(f, "the server {what} (HTTP {})", Status(*status))?;
                if let Some(challenge) = challenges.first() {
                    write!(f, ", {}", crate::text::excerpt(challenge.as_bytes()))?;
                }
                quote(f, excerpt)
            }
            HttpError::ContentType { status, found, excerpt } => {
                let found = if found.is_empty() { "a body without a type" } else { found };
                write!(
                    f,
                    "the server answered HTTP {status} with {} in place of JSON or an event stream; is the address right?",
                    printable(found)
                )?;
                quote(f, excerpt)
            }
            HttpError::NoAnswer { status, attempts: 0 } => {
                write!(f, "the server's response (HTTP {status}) ended without an answer")
            }
            HttpError::NoAnswer { attempts, .. } => {
                write!(
                    f,
                    "the server's stream ended without an answer, and was taken up again {attempts} times in vain"
                )
            }
            HttpError::SessionLost => {
                f.write_str("the server has ended the session; the request may have been carried out")
            }
            HttpError::Endpoint { uri } => {
                write!(f, "the server names an endpoint that is not on the same origin: {}", printable(uri))
            }
        }
    }
}

impl core::error::Error for HttpError {}

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
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// In which way.
    pub kind: FailureKind,
    /// What the HTTP client says.
    pub detail: String,
}

/// The ways in which an exchange can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailureKind {
    /// No connection came about: nothing of the request reached the server.
    Unreachable,
    /// The server's certificate, or what it says in the TLS handshake, is no good.
    Tls,
    /// The connection was lost after the request had been sent in part or whole.
    Broken,
    /// What came is not HTTP, or more of it than the adapter takes.
    Invalid,
    /// A redirect that must not be followed.
    Redirect,
    /// This side made no request of it: there is no token for it, or the like.
    NotMade,
}

impl Failure {
    /// A failure, in the HTTP client's words.
    pub fn new(kind: FailureKind, detail: impl Into<String>) -> Self {
        Failure { kind, detail: detail.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            FailureKind::Unreachable => "the server cannot be reached",
            FailureKind::Tls => "no secure connection to the server came about",
            FailureKind::Broken => "the connection to the server was lost",
            FailureKind::Invalid => "the server's response is not what HTTP allows",
            FailureKind::NotMade => "the request was not made",
            FailureKind::Redirect => "the server redirects to where requests must not go",
        })?;
        match self.detail.as_str() {
            "" => Ok(()),
            detail => write!(f, ": {}", crate::text::excerpt(detail.as_bytes())),
        }
    }
}

impl core::error::Error for Failure {}
