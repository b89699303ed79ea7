//! Determines the [`ErrorKind`] of an error from its cause.

#[cfg(feature = "http")]
use mcpwire_core::http::{Failure, FailureKind, HttpError};
use mcpwire_core::{CallError, ConnectError, ErrorKind, SendError, StructuredErrorKind, TaskError};

use super::Cause;

/// Returns the kind of error that an HTTP status means, or `None` if the status is below 400.
fn from_http_status(status: u16) -> Option<ErrorKind> {
    match status {
        401 | 403 | 407 => Some(ErrorKind::Unauthorized),
        404 | 405 | 410 => Some(ErrorKind::EndpointNotFound),
        429 => Some(ErrorKind::RateLimited),
        408 | 425 | 500..=599 => Some(ErrorKind::Unavailable),
        400.. => Some(ErrorKind::Server),
        _ => None,
    }
}

fn from_connect_error(error: &ConnectError) -> ErrorKind {
    #[cfg(feature = "http")]
    if let ConnectError::Http { error, .. } = error
        && let Some(kind) = from_authorizer(error)
    {
        return kind;
    }
    match error {
        ConnectError::Timeout { .. } => ErrorKind::Timeout,
        ConnectError::Cancelled => ErrorKind::Cancelled,
        error => match error.http_status().and_then(from_http_status) {
            Some(ErrorKind::Server) | None => ErrorKind::Connect,
            Some(kind) => kind,
        },
    }
}

/// Returns the kind of error with which a sent request failed.
pub(crate) fn from_call_error(error: &CallError) -> ErrorKind {
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
            TaskError::Lost { error } => from_call_error(error),
            TaskError::NoResult { .. } => ErrorKind::Protocol,
            _ => ErrorKind::Server,
        },
        error if error.is_network_error() => ErrorKind::Network,
        error => error.http_status().and_then(from_http_status).unwrap_or(ErrorKind::Protocol),
    }
}

/// Returns the kind of an error that the program's authorizer has reported, or `None` for other HTTP errors.
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
            Cause::Connect(error) => from_connect_error(error),
            Cause::Send(SendError::Closed) | Cause::Io(_) => ErrorKind::Closed,
            Cause::Send(SendError::TooManyInFlight { .. } | SendError::TransmitFull { .. }) => ErrorKind::RateLimited,
            Cause::Send(_) => ErrorKind::Usage,
            Cause::Call(error) => from_call_error(error),
        }
    }
}
