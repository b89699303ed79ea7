//! Converts errors of the client library and of a hub to [`Failure`]s.

use std::borrow::Borrow;

use mcpwire_hub::{ErrorCode, ErrorKind, HubError};
use mcpwire_tokio::protocol::http::{FailureKind, HttpError, SettingsError};
use mcpwire_tokio::protocol::{CallError, ConnectError, SendError};
use mcpwire_tokio::{Cause, Error, HttpSetupError, SpawnError, SpawnErrorKind};

use super::{CONNECTION_FAILED, Code, Failure, Kind, LOGIN_REQUIRED, NOT_CONNECTED, TIMED_OUT, USAGE};
use crate::text;

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
            Cause::Send(SendError::NotOffered { requires, .. }) => not_offered(error.server(), &requires.to_string()),
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

impl Failure {
    /// Converts the error of a server process that could not be started.
    pub(crate) fn from_spawn(error: &SpawnError) -> Self {
        Self::new(spawn_kind(error.kind()), error.to_string())
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

/// Returns the message of a hub error on one line. The message begins in lower case, as all messages of this tool do.
pub(crate) fn hub_message(error: &HubError) -> String {
    uncapitalized(text::line(error.message()))
}

/// Changes the first letter of an error message to lower case, unless the first word is a name or an acronym.
fn uncapitalized(mut message: String) -> String {
    const NAMES: [&str; 3] = ["Docker", "Node.js", "Python"];
    let word = message.split(' ').next().unwrap_or_default();
    let is_name = NAMES.contains(&word) || word.chars().skip(1).any(char::is_uppercase);
    if !is_name && let Some(first) = message.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    message
}

impl From<HubError> for Failure {
    fn from(error: HubError) -> Self {
        Self::from_hub(error)
    }
}

impl Failure {
    /// Converts a hub error to the failure of a command. For errors of tool calls, use [`Failure::from_hub_call`] instead.
    pub(crate) fn from_hub(error: impl Borrow<HubError>) -> Self {
        let error = error.borrow();
        let (code, exit) = match error.code() {
            ErrorCode::NotFound => (Code::NotFound, USAGE),
            ErrorCode::ValidationError => (Code::ValidationError, USAGE),
            ErrorCode::Conflict => (Code::Conflict, USAGE),
            ErrorCode::ServiceUnavailable => (Code::ServiceUnavailable, NOT_CONNECTED),
            ErrorCode::NetworkError => (Code::NetworkError, NOT_CONNECTED),
        };
        let (code, exit) = match error.kind() {
            ErrorKind::Timeout => (code, TIMED_OUT),
            // The program, package or endpoint of the server is missing. This is no usage error.
            ErrorKind::PackageNotFound | ErrorKind::EndpointNotFound | ErrorKind::Start if code == Code::NotFound => {
                (code, NOT_CONNECTED)
            }
            ErrorKind::LoginRequired => (Code::LoginRequired, LOGIN_REQUIRED),
            _ => (code, exit),
        };
        let scopes = error.scopes().to_vec();
        Self { scopes, ..Self::new((exit, code, error.field()), hub_message(error)) }
    }

    /// Converts the hub error of a tool call to the failure of a command.
    ///
    /// If the server was running, a failed connection has the exit status `CONNECTION_FAILED` instead of `NOT_CONNECTED`.
    pub(crate) fn from_hub_call(tool: &str, error: &HubError) -> Self {
        let mut failure = Self::from_hub(error);
        let is_unsent = matches!(error.kind(), ErrorKind::NotRunning | ErrorKind::Starting);
        if error.kind() == ErrorKind::ToolNotFound || failure.exit == NOT_CONNECTED && !is_unsent {
            failure.exit = CONNECTION_FAILED;
        }
        match error.kind() {
            // The message of this kind contains the name of the tool already.
            ErrorKind::ToolNotFound => {}
            // The message is the text of the MCP client. This text names the failed request, so the name of the tool is not
            // added.
            kind if kind != ErrorKind::LoginRequired && error.server().is_some() && error.tool().is_some() => {
                failure.message = error.to_string();
            }
            _ => failure.message = format!("`{}`: {}", text::line(tool), failure.message),
        }
        failure
    }

    /// Converts the hub error of a request other than a tool call to the failure of a command. The exit status is as that of
    /// [`Failure::from_hub_call`].
    pub(crate) fn from_hub_request(error: impl Borrow<HubError>) -> Self {
        let error = error.borrow();
        let mut failure = Self::from_hub(error);
        if failure.exit == NOT_CONNECTED
            && !matches!(error.kind(), ErrorKind::NotRunning | ErrorKind::Starting | ErrorKind::Start)
        {
            failure.exit = CONNECTION_FAILED;
        }
        if error.server().is_some() && error.kind() != ErrorKind::LoginRequired {
            failure.message = error.to_string();
        }
        failure
    }

    /// Creates the failure of a request for something that the server does not declare, such as `resources`.
    pub(crate) fn not_offered(server: &str, capability: &str) -> Self {
        Self::new((CONNECTION_FAILED, Code::ServiceUnavailable, "server"), not_offered(server, capability))
    }

    /// Creates the failure of a command that needs a running hub (`mcpwire hub run`) but found none.
    pub(crate) fn no_hub() -> Self {
        let message = "no hub is running; start one with `mcpwire hub start`";
        Self::new((NOT_CONNECTED, Code::ServiceUnavailable, "hub"), message)
    }
}

fn not_offered(server: &str, capability: &str) -> String {
    format!("server `{server}` does not offer {capability}; see mcpwire info")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_fails_with_the_status_of_the_connection_only_if_it_was_sent() {
        for (kind, exit) in [
            (ErrorKind::NotRunning, NOT_CONNECTED),
            (ErrorKind::Starting, NOT_CONNECTED),
            (ErrorKind::ToolNotFound, CONNECTION_FAILED),
            (ErrorKind::Closed, CONNECTION_FAILED),
            (ErrorKind::Network, CONNECTION_FAILED),
            (ErrorKind::Timeout, TIMED_OUT),
            (ErrorKind::Disabled, USAGE),
            (ErrorKind::LoginRequired, LOGIN_REQUIRED),
        ] {
            assert_eq!(Failure::from_hub_call("tool", &HubError::new(kind, "")).exit(), exit, "{kind:?}");
        }
        // A server that cannot be reached at its start was never reached.
        assert_eq!(Failure::from_hub(HubError::network("", "")).exit(), NOT_CONNECTED);
    }

    #[test]
    fn messages_of_the_hub_begin_in_lower_case_like_those_of_the_tool() {
        for (message, shown) in [
            ("Package not found: x", "package not found: x"),
            ("A name is one line of text", "a name is one line of text"),
            ("MCP server exited", "MCP server exited"),
            ("Docker not running; start Docker", "Docker not running; start Docker"),
            ("`npx` is not installed", "`npx` is not installed"),
            ("Änderung", "Änderung"),
            ("", ""),
        ] {
            assert_eq!(hub_message(&HubError::unavailable(message)), shown);
        }
    }
}
