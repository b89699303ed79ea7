//! Converts errors of a hub to [`Failure`]s.

use std::borrow::Borrow;

use mcpwire_hub::{ErrorCode, ErrorKind, HubError};

use super::{CONNECTION_FAILED, Code, Failure, LOGIN_REQUIRED, NOT_CONNECTED, TIMED_OUT, USAGE};
use crate::text;

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
        Self::new((exit, code, error.field()), hub_message(error))
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

    /// Creates the failure of a command that needs a running hub (`mcpwire hub run`) but found none.
    pub(crate) fn no_hub() -> Self {
        let message = "no hub is running; start one with `mcpwire hub run`";
        Self::new((NOT_CONNECTED, Code::ServiceUnavailable, "hub"), message)
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
