//! Converts errors of the client library and of a hub to [`Failure`]s.

use std::borrow::Borrow;

use mcpwire_hub::{ErrorCode, ErrorKind, HubError};
use mcpwire_tokio::protocol::http::{HttpError, SettingsError};
use mcpwire_tokio::protocol::{CallError, ConnectError, SendError};
use mcpwire_tokio::{Cause, Error, HttpSetupError, SpawnError, SpawnErrorKind};

use super::{CONNECTION_FAILED, Code, Failure, Kind, LOGIN_REQUIRED, NOT_CONNECTED, TIMED_OUT, USAGE};
use crate::text;

/// The JSON-RPC error code for invalid parameters.
const INVALID_PARAMS: i64 = -32602;

/// The suggestion for a request that has timed out.
pub(crate) const MORE_TIME: &str = "Allow more time with --timeout, such as --timeout 2m";

impl Failure {
    /// Converts an error of the MCP client to the failure that a command reports. `hint` is the suggestion for the user, and `info`
    /// the command that says what the server offers. If `hide_stderr` is true, the message omits the output of the server on
    /// standard error.
    pub(crate) fn from_client(error: &Error, hint: Option<String>, info: &str, hide_stderr: bool) -> Self {
        let kind = match error.cause() {
            Cause::Spawn(error) => spawn_kind(error.kind()),
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
        // The library's message addresses programmers, not users of this tool.
        if let Cause::Send(SendError::NotOffered { requires, .. }) = error.cause() {
            return Self::not_offered(error.server(), &requires.to_string(), info);
        }
        let message = if hide_stderr { without_stderr(error) } else { error.to_string() };
        Self { hint, ..Self::new(kind, message) }
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

/// Returns whether the server rejected a request because credentials are missing or not sufficient.
fn needs_authorization(error: &Error) -> bool {
    matches!(http_error(error), Some(HttpError::Unauthorized { .. }))
}

pub(crate) fn http_error(error: &Error) -> Option<&HttpError> {
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
    /// Converts a hub error to the failure of a command. For errors of requests to servers, use
    /// [`Failure::from_hub_request`] instead.
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
            ErrorKind::Unauthorized => (code, NOT_CONNECTED),
            ErrorKind::LoginRequired => (Code::LoginRequired, LOGIN_REQUIRED),
            _ => (code, exit),
        };
        let scopes = error.scopes().to_vec();
        Self { scopes, ..Self::new((exit, code, error.field()), hub_message(error)) }
    }

    /// Converts the hub error of a tool call or another request to a server to the failure of a command.
    ///
    /// If the server was running, a failed connection has the exit status `CONNECTION_FAILED` instead of `NOT_CONNECTED`. The message
    /// begins with the name of the server: the message of the MCP client names only the request.
    pub(crate) fn from_hub_request(error: impl Borrow<HubError>) -> Self {
        let error = error.borrow();
        let mut failure = Self::from_hub(error);
        let is_unsent = matches!(error.kind(), ErrorKind::NotRunning | ErrorKind::Starting | ErrorKind::Start);
        if error.kind() == ErrorKind::ToolNotFound || failure.exit == NOT_CONNECTED && !is_unsent {
            failure.exit = CONNECTION_FAILED;
        }
        if error.server().is_some() && !matches!(error.kind(), ErrorKind::LoginRequired | ErrorKind::ToolNotFound) {
            failure.message = error.to_string();
            if error.kind() == ErrorKind::Timeout {
                return failure.with_hint(MORE_TIME);
            }
        }
        failure
    }

    /// Creates the failure of a request for something that the server does not declare, such as `resources`. `info` is the command
    /// line that shows what it declares.
    pub(crate) fn not_offered(server: &str, capability: &str, info: &str) -> Self {
        let message = format!("server `{server}` does not offer {capability}");
        Self::new((CONNECTION_FAILED, Code::ServiceUnavailable, "server"), message)
            .with_hint(format!("What it offers: {info}"))
    }

    /// Creates the failure of a command that needs a running hub (`mcpwire hub run`) but found none.
    pub(crate) fn no_hub() -> Self {
        Self::new((NOT_CONNECTED, Code::ServiceUnavailable, "hub"), "no hub is running").with_hint(
            "Start one, with all enabled servers: mcpwire hub start\n\
             Without a hub, commands such as mcpwire tools start the servers that they need, and end them afterwards.",
        )
    }
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
            assert_eq!(Failure::from_hub_request(HubError::new(kind, "")).exit(), exit, "{kind:?}");
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
