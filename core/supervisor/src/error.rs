//! Errors for users: a code, a message and the configuration field that caused the error.

use alloc::borrow::Cow;
use alloc::string::String;
use core::fmt;
use core::time::Duration;

use serde::{Deserialize, Serialize};

use super::id::ServerId;
use mcpwire_core::printable;

/// The category of an error. In JSON, a category is written in upper case, for example `NOT_FOUND`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ErrorCode {
    /// The server, tool, package or program does not exist.
    NotFound,
    /// The user's input is missing or invalid, or the user has to log in.
    ValidationError,
    /// The operation conflicts with the current state. For example, the server is disabled, the name is in use or the
    /// configuration has changed.
    Conflict,
    /// The server, or a service that the server requires, is temporarily not available.
    ServiceUnavailable,
    /// The connection to the server failed or timed out.
    NetworkError,
}

impl ErrorCode {
    /// All error categories.
    pub const ALL: [ErrorCode; 5] = [
        ErrorCode::NotFound,
        ErrorCode::ValidationError,
        ErrorCode::Conflict,
        ErrorCode::ServiceUnavailable,
        ErrorCode::NetworkError,
    ];

    /// Returns the category as it is spelled in JSON, such as `NOT_FOUND`.
    pub const fn as_str(self) -> &'static str {
        match self {
            ErrorCode::NotFound => "NOT_FOUND",
            ErrorCode::ValidationError => "VALIDATION_ERROR",
            ErrorCode::Conflict => "CONFLICT",
            ErrorCode::ServiceUnavailable => "SERVICE_UNAVAILABLE",
            ErrorCode::NetworkError => "NETWORK_ERROR",
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An error to show to the user, serialized as `{"code", "message", "field"}`.
///
/// All three members are always present, and each is a string.
///
/// ```
/// use mcpwire_core::Json;
/// use mcpwire_supervisor::HubError;
///
/// let error = HubError::validation("name", "Name is required");
/// assert_eq!(
///     Json::from_value(&error)?.get(),
///     r#"{"code":"VALIDATION_ERROR","message":"Name is required","field":"name"}"#
/// );
/// # Ok::<(), mcpwire_core::JsonError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{code}: {}{}", printable(message), in_parentheses(field))]
pub struct HubError {
    /// The category of the error.
    pub code: ErrorCode,
    /// The error message for the user. It contains no secret values.
    pub message: String,
    /// The path of the configuration field that caused the error, such as `env_vars.GITHUB_TOKEN`. Empty if no field
    /// caused the error.
    #[serde(default)]
    pub field: String,
}

impl HubError {
    /// Creates an error that no configuration field caused. Its [`field`](Self::field) is empty.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        HubError { code, message: message.into(), field: String::new() }
    }

    /// Sets the path of the configuration field that caused the error, such as `env_vars.GITHUB_TOKEN`.
    pub fn at(mut self, field: impl Into<String>) -> Self {
        self.field = field.into();
        self
    }

    /// Creates an [`ErrorCode::NotFound`] error. `field` is the configuration field that caused the error, or empty if
    /// no field did.
    pub fn not_found(field: impl Into<String>, message: impl Into<String>) -> Self {
        HubError::new(ErrorCode::NotFound, message).at(field)
    }

    /// Creates an [`ErrorCode::ValidationError`] error. `field` is the configuration field that caused the error, or
    /// empty if no field did.
    pub fn validation(field: impl Into<String>, message: impl Into<String>) -> Self {
        HubError::new(ErrorCode::ValidationError, message).at(field)
    }

    /// Creates an [`ErrorCode::Conflict`] error. `field` is the configuration field that caused the error, or empty if
    /// no field did.
    pub fn conflict(field: impl Into<String>, message: impl Into<String>) -> Self {
        HubError::new(ErrorCode::Conflict, message).at(field)
    }

    /// Creates an [`ErrorCode::ServiceUnavailable`] error that no configuration field caused.
    pub fn unavailable(message: impl Into<String>) -> Self {
        HubError::new(ErrorCode::ServiceUnavailable, message)
    }

    /// Creates an [`ErrorCode::NetworkError`] error. `field` is the configuration field that caused the error, or empty
    /// if no field did.
    pub fn network(field: impl Into<String>, message: impl Into<String>) -> Self {
        HubError::new(ErrorCode::NetworkError, message).at(field)
    }

    /// Creates the error for an id that belongs to no configured server.
    pub fn unknown_server(id: ServerId) -> Self {
        HubError::not_found("mcp_id", alloc::format!("MCP not found: {id}"))
    }

    /// Creates the error for a tool that no server offers, or that a [`Filter`](crate::Filter) excludes.
    pub fn unknown_tool(name: &str) -> Self {
        HubError::not_found("tool_name", alloc::format!("Tool not found: {name}"))
    }

    /// Creates the error for an operation on a disabled server.
    pub fn disabled() -> Self {
        HubError::conflict("enabled", "MCP is disabled")
    }
}

fn in_parentheses(field: &str) -> String {
    if field.is_empty() { String::new() } else { alloc::format!(" ({})", printable(field)) }
}

/// The condition under which a failed server can be started again, or a failed tool call can be repeated, with success.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Retry {
    /// No retry can succeed until the configuration or the machine changes. For example, the package does not exist.
    Never,
    /// A retry can succeed after a delay that the client chooses.
    Backoff,
    /// A retry can succeed after the delay that the server requested.
    After(Duration),
    /// A retry can succeed after the user has logged in.
    Login,
    /// A retry can succeed after the user has supplied a missing value, such as a secret or variable.
    Input,
}

impl Retry {
    /// Returns whether a retry can succeed after a delay, without an action of the user.
    pub const fn is_automatic(self) -> bool {
        matches!(self, Retry::Backoff | Retry::After(_))
    }
}

/// A failure of a server: the error for the user, and the condition under which a retry can succeed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct Failure {
    /// The error to show to the user.
    pub error: HubError,
    /// The condition under which a retry can succeed.
    pub retry: Retry,
}

impl Failure {
    /// Creates a failure from the error for the user and the condition under which a retry can succeed.
    pub fn new(error: HubError, retry: Retry) -> Self {
        Failure { error, retry }
    }

    /// Creates the failure of a server that requires missing configuration values, such as API keys.
    ///
    /// `names` contains the names of the environment variables, never their values.
    pub fn missing_credentials<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut message = Cow::Borrowed("Missing required credentials");
        let mut field = String::new();
        for name in names {
            if field.is_empty() {
                field = alloc::format!("env_vars.{name}");
            }
            let text = message.to_mut();
            text.push_str(if text.contains(':') { ", " } else { ": " });
            text.push_str(name);
        }
        Failure::new(HubError::validation(field, message), Retry::Input)
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn codes_are_spelled_as_required() {
        for code in ErrorCode::ALL {
            let json = serde_json::to_string(&code).expect("it is a string");
            assert_eq!(json, alloc::format!("\"{code}\""));
            assert_eq!(serde_json::from_str::<ErrorCode>(&json).expect("it is read"), code);
        }
        assert!(serde_json::from_str::<ErrorCode>("\"not_found\"").is_err());
    }

    #[test]
    fn missing_credentials_are_named() {
        let failure = Failure::missing_credentials(["A_TOKEN", "B_KEY"]);
        assert_eq!(failure.error.field, "env_vars.A_TOKEN");
        assert_eq!(failure.error.message, "Missing required credentials: A_TOKEN, B_KEY");
        assert_eq!(failure.retry, Retry::Input);
        assert_eq!(
            failure.to_string(),
            "VALIDATION_ERROR: Missing required credentials: A_TOKEN, B_KEY (env_vars.A_TOKEN)"
        );
    }
}
