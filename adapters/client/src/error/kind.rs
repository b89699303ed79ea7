//! [`ErrorKind`]: the kinds of errors, for programs that act on them.

use std::fmt;

#[cfg(feature = "http")]
use mcpwire_core::http::{Failure, FailureKind, HttpError};
use mcpwire_core::{CallError, ConnectError, SendError, StructuredErrorKind, TaskError};
use serde::{Serialize, Serializer};

use super::Cause;

/// The kinds of errors, for programs that act on them.
///
/// `Display` and `Serialize` write the kind's name in snake case, such as `tool_not_found`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The process of the server could not be started.
    Start,
    /// The connection could not be opened.
    Connect,
    /// No response arrived in time. [`Error::is_connecting`](crate::Error::is_connecting) returns whether the opening of the
    /// connection timed out.
    Timeout,
    /// The caller cancelled the request, or the opening of the connection.
    Cancelled,
    /// The server does not have the tool.
    ToolNotFound,
    /// The tool failed, and the caller requested its structured content. The message contains the tool's text.
    Tool,
    /// The server responded with an error.
    Server,
    /// The server requires an access token, or rejected the token of the request (HTTP status 401, 403 or 407). Or the program
    /// provided no token.
    Unauthorized,
    /// A user must log in to the server before the request can succeed.
    LoginRequired,
    /// The client sends too many requests (HTTP status 429). [`Error::retry_after`](crate::Error::retry_after) returns how long
    /// to wait, if the response contains a `Retry-After` header.
    RateLimited,
    /// The server cannot handle the request now (HTTP status 408, 425 or 500 to 599), or its authorization server issues no access
    /// token now.
    Unavailable,
    /// No MCP server is at this URL (HTTP status 404, 405 or 410).
    EndpointNotFound,
    /// The server required input for the request, and a handler did not provide it.
    Input,
    /// The server's response is invalid.
    Protocol,
    /// The connection has ended.
    Closed,
    /// The HTTP request could not be made, or its network connection was lost. Other requests may succeed.
    Network,
    /// The program used the client incorrectly: the call is invalid in this state of the connection, its parameters are
    /// invalid, a limit of the client is reached, or the client lacks a setting that the server needs.
    Usage,
}

impl ErrorKind {
    /// Returns the name of the kind in snake case.
    pub const fn as_str(self) -> &'static str {
        match self {
            ErrorKind::Start => "start",
            ErrorKind::Connect => "connect",
            ErrorKind::Timeout => "timeout",
            ErrorKind::Cancelled => "cancelled",
            ErrorKind::ToolNotFound => "tool_not_found",
            ErrorKind::Tool => "tool",
            ErrorKind::Server => "server",
            ErrorKind::Unauthorized => "unauthorized",
            ErrorKind::LoginRequired => "login_required",
            ErrorKind::RateLimited => "rate_limited",
            ErrorKind::Unavailable => "unavailable",
            ErrorKind::EndpointNotFound => "endpoint_not_found",
            ErrorKind::Input => "input",
            ErrorKind::Protocol => "protocol",
            ErrorKind::Closed => "closed",
            ErrorKind::Network => "network",
            ErrorKind::Usage => "usage",
        }
    }

    /// Returns the kind of an HTTP error response, or `None` if the status is below 400.
    fn from_http_status(status: u16) -> Option<Self> {
        match status {
            401 | 403 | 407 => Some(ErrorKind::Unauthorized),
            404 | 405 | 410 => Some(ErrorKind::EndpointNotFound),
            429 => Some(ErrorKind::RateLimited),
            408 | 425 | 500..=599 => Some(ErrorKind::Unavailable),
            400.. => Some(ErrorKind::Server),
            _ => None,
        }
    }

    fn from_connect_error(error: &ConnectError) -> Self {
        #[cfg(feature = "http")]
        if let ConnectError::Http { error, .. } = error
            && let Some(kind) = from_authorizer(error)
        {
            return kind;
        }
        match error {
            ConnectError::Timeout { .. } => ErrorKind::Timeout,
            ConnectError::Cancelled => ErrorKind::Cancelled,
            error => match error.http_status().and_then(Self::from_http_status) {
                Some(ErrorKind::Server) | None => ErrorKind::Connect,
                Some(kind) => kind,
            },
        }
    }

    pub(crate) fn from_call_error(error: &CallError) -> Self {
        #[cfg(feature = "http")]
        if let CallError::Http { error, .. } = error
            && let Some(kind) = from_authorizer(error)
        {
            return kind;
        }
        match error {
            CallError::Server { .. } => ErrorKind::Server,
            CallError::ToolNotFound { .. } => ErrorKind::ToolNotFound,
            CallError::Structured { error } => match error.kind {
                StructuredErrorKind::ToolFailed { .. } => ErrorKind::Tool,
                _ => ErrorKind::Protocol,
            },
            CallError::Timeout { .. } => ErrorKind::Timeout,
            CallError::Cancelled { .. } => ErrorKind::Cancelled,
            CallError::Closed { .. } => ErrorKind::Closed,
            CallError::Input { .. } => ErrorKind::Input,
            CallError::WrongTicket { .. } => ErrorKind::Usage,
            CallError::Task { fault, .. } => match fault {
                TaskError::TooMany { .. } => ErrorKind::Usage,
                TaskError::Lost { error } => Self::from_call_error(error),
                TaskError::NoResult { .. } => ErrorKind::Protocol,
                _ => ErrorKind::Server,
            },
            error if error.is_network_error() => ErrorKind::Network,
            error => error.http_status().and_then(Self::from_http_status).unwrap_or(ErrorKind::Protocol),
        }
    }
}

/// Returns the kind of the error of an authorizer, or `None` for other errors.
#[cfg(feature = "http")]
fn from_authorizer(error: &HttpError) -> Option<ErrorKind> {
    let HttpError::Failed(Failure { kind, .. }) = error else { return None };
    match kind {
        FailureKind::Unauthorized => Some(ErrorKind::Unauthorized),
        FailureKind::LoginRequired => Some(ErrorKind::LoginRequired),
        FailureKind::TokenUnavailable => Some(ErrorKind::Unavailable),
        _ => None,
    }
}

impl Cause {
    pub(super) fn kind(&self) -> ErrorKind {
        match self {
            Cause::Spawn(_) => ErrorKind::Start,
            Cause::Http(_) => ErrorKind::Usage,
            Cause::Connect(error) => ErrorKind::from_connect_error(error),
            Cause::Send(SendError::Closed) | Cause::Io(_) => ErrorKind::Closed,
            Cause::Send(_) => ErrorKind::Usage,
            Cause::Call(error) => ErrorKind::from_call_error(error),
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for ErrorKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
