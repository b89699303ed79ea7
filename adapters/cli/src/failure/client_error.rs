//! Converts errors of the client library to [`Failure`]s.

use mcpwire_tokio::protocol::http::{FailureKind, HttpError, SettingsError};
use mcpwire_tokio::protocol::{CallError, ConnectError, SendError};
use mcpwire_tokio::{Cause, Error, HttpSetupError, SpawnErrorKind};

use super::{CONNECTION_FAILED, Code, Failure, Kind, NOT_CONNECTED, TIMED_OUT, USAGE};

/// The JSON-RPC error code for invalid parameters.
const INVALID_PARAMS: i64 = -32602;

impl Failure {
    /// Converts an error of the MCP client to the failure that a command reports. If `hide_stderr` is true, the message omits the
    /// output of the server on standard error.
    pub(crate) fn from_client(error: &Error, hide_stderr: bool) -> Self {
        let kind = match error.cause() {
            Cause::Spawn(error) => spawn_kind(error.kind()),
            Cause::Http(HttpSetupError::Client(_)) => (NOT_CONNECTED, Code::ServiceUnavailable, "connection"),
            Cause::Http(HttpSetupError::Settings(
                SettingsError::HeaderName { .. } | SettingsError::HeaderValue { .. },
            )) => (USAGE, Code::ValidationError, "header"),
            Cause::Http(_) => (USAGE, Code::ValidationError, "url"),
            Cause::Connect(_) if needs_authorization(error) => {
                (NOT_CONNECTED, Code::ServiceUnavailable, "authorization")
            }
            Cause::Call(_) if needs_authorization(error) => {
                (CONNECTION_FAILED, Code::ServiceUnavailable, "authorization")
            }
            Cause::Connect(error) => match error {
                ConnectError::Timeout { .. } => (TIMED_OUT, Code::NetworkError, "timeout"),
                ConnectError::Cancelled => return Self::interrupted(),
                ConnectError::UnsupportedVersion { .. } => (NOT_CONNECTED, Code::Conflict, "protocol"),
                _ => (NOT_CONNECTED, Code::ServiceUnavailable, "connection"),
            },
            Cause::Call(CallError::Cancelled { .. }) => return Self::interrupted(),
            Cause::Call(cause) => call_kind(cause, error.process().is_some()),
            Cause::Send(SendError::Closed) => (CONNECTION_FAILED, Code::ServiceUnavailable, "connection"),
            Cause::Send(SendError::NotOffered { .. } | SendError::NotInRevision { .. } | SendError::NoLogging) => {
                (CONNECTION_FAILED, Code::ServiceUnavailable, "server")
            }
            Cause::Send(_) => (CONNECTION_FAILED, Code::ValidationError, "arguments"),
            _ => (CONNECTION_FAILED, Code::NetworkError, "connection"),
        };
        let mut message = match error.cause() {
            // The library's message addresses programmers, not users of this tool.
            Cause::Send(SendError::NotOffered { requires, .. }) => {
                format!("server `{}` does not offer {requires}; see mcpwire info", error.server())
            }
            _ if hide_stderr => without_stderr(error),
            _ => error.to_string(),
        };
        let advice = if kind.0 == TIMED_OUT { Some("allow more time with --timeout") } else { http_advice(error) };
        if let Some(advice) = advice {
            message.push_str("; ");
            message.push_str(advice);
        }
        Self::new(kind, message)
    }
}

fn spawn_kind(kind: SpawnErrorKind) -> Kind<'static> {
    let (code, field) = match kind {
        SpawnErrorKind::NotFound | SpawnErrorKind::InterpreterNotFound => (Code::NotFound, "command"),
        SpawnErrorKind::DirectoryNotFound => (Code::NotFound, "cwd"),
        SpawnErrorKind::NotExecutable | SpawnErrorKind::Invalid => (Code::ValidationError, "command"),
        _ => (Code::ServiceUnavailable, "command"),
    };
    (NOT_CONNECTED, code, field)
}

fn call_kind(error: &CallError, process_ended: bool) -> Kind<'static> {
    match error {
        CallError::Timeout { .. } => (TIMED_OUT, Code::NetworkError, "timeout"),
        CallError::ToolNotFound { .. } => (CONNECTION_FAILED, Code::NotFound, "tool"),
        CallError::Server { error, .. } if error.code == INVALID_PARAMS => {
            (CONNECTION_FAILED, Code::ValidationError, "arguments")
        }
        CallError::Server { .. } | CallError::Invalid { .. } | CallError::Input { .. } => {
            (CONNECTION_FAILED, Code::ServiceUnavailable, "server")
        }
        // The server process has ended, so the server failed, not only the connection.
        _ if process_ended => (CONNECTION_FAILED, Code::ServiceUnavailable, "server"),
        _ => (CONNECTION_FAILED, Code::NetworkError, "connection"),
    }
}

/// Formats an error for `--stderr hide`: its message and the exit status of the server process, without the server's stderr.
fn without_stderr(error: &Error) -> String {
    let exit = error.process().and_then(mcpwire_tokio::ProcessReport::exit);
    let exit = exit.map(|exit| format!("; its process {exit}")).unwrap_or_default();
    format!("{}{exit}", error.message())
}

/// Returns a suggestion for how the user can solve an HTTP error. Returns `None` if there is no suggestion, or if `error` is
/// not an HTTP error.
fn http_advice(error: &Error) -> Option<&'static str> {
    Some(match http_error(error)? {
        HttpError::Unauthorized { status: 401, .. } => {
            "authorization is needed: give a token with --bearer-env NAME, or other credentials with --header"
        }
        HttpError::Unauthorized { .. } => {
            "authorization is needed: the token or header that was sent, if any, is not enough"
        }
        HttpError::Failed(failure) => match failure.kind {
            FailureKind::Unreachable => "check that the server is running, and that the URL is right",
            FailureKind::Tls => {
                "check the URL; for a private certificate authority, name its certificate with --ca FILE"
            }
            FailureKind::Redirect => "if you trust the address it redirects to, give that to --url",
            FailureKind::Broken | FailureKind::Invalid => "check that an MCP server listens at this URL",
            _ => return None,
        },
        HttpError::Status { status: 404 | 405, .. } => {
            "check the path of the URL: most servers are at /mcp, older ones at /sse"
        }
        HttpError::Status { status: 500.., .. } => "the server or a proxy has a problem: try again later",
        _ => return None,
    })
}

/// Returns whether the server rejected a request because credentials are missing or not sufficient.
fn needs_authorization(error: &Error) -> bool {
    matches!(http_error(error), Some(HttpError::Unauthorized { .. }))
}

fn http_error(error: &Error) -> Option<&HttpError> {
    match error.cause() {
        Cause::Connect(ConnectError::Http { error, .. }) | Cause::Call(CallError::Http { error, .. }) => Some(error),
        _ => None,
    }
}
