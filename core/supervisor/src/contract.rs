//! What a host shows of a failure: a code, a message and the field at fault.

use alloc::borrow::Cow;
use alloc::string::String;
use core::fmt;
use core::time::Duration;

use serde::{Deserialize, Serialize};

use super::id::ServerId;

/// What kind of failure it is. There are these five and no others; on the wire they are in upper case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ErrorCode {
    /// There is no such server, tool, package or program.
    NotFound,
    /// Something that the user gave is missing or wrong, a login included.
    ValidationError,
    /// It cannot be done in this state: the server is disabled, the name is taken, the configuration has changed.
    Conflict,
    /// The server, or something it needs, does not work at the moment.
    ServiceUnavailable,
    /// No connection, or no answer in time.
    NetworkError,
}

impl ErrorCode {
    /// All of them.
    pub const ALL: [ErrorCode; 5] = [
        ErrorCode::NotFound,
        ErrorCode::ValidationError,
        ErrorCode::Conflict,
        ErrorCode::ServiceUnavailable,
        ErrorCode::NetworkError,
    ];

    /// As it is written on the wire: `NOT_FOUND`.
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

/// The error that a host shows: exactly `{"code", "message", "field"}`, all of them strings, all of them always there.
///
/// ```
/// use mcpwire_core::Json;
/// use mcpwire_supervisor::ErrorContract;
///
/// let error = ErrorContract::validation("name", "Name is required");
/// assert_eq!(
///     Json::from_value(&error)?.get(),
///     r#"{"code":"VALIDATION_ERROR","message":"Name is required","field":"name"}"#
/// );
/// # Ok::<(), mcpwire_core::JsonError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorContract {
    /// What kind of failure it is.
    pub code: ErrorCode,
    /// What happened, for a person. Never a secret value.
    pub message: String,
    /// The field at fault, as a path (`env_vars.GITHUB_TOKEN`); empty where it is no field's fault.
    #[serde(default)]
    pub field: String,
}

impl ErrorContract {
    /// An error that is no field's fault.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        ErrorContract { code, message: message.into(), field: String::new() }
    }

    /// The same, with the field at fault.
    pub fn at(mut self, field: impl Into<String>) -> Self {
        self.field = field.into();
        self
    }

    /// [`ErrorCode::NotFound`].
    pub fn not_found(field: impl Into<String>, message: impl Into<String>) -> Self {
        ErrorContract::new(ErrorCode::NotFound, message).at(field)
    }

    /// [`ErrorCode::ValidationError`].
    pub fn validation(field: impl Into<String>, message: impl Into<String>) -> Self {
        ErrorContract::new(ErrorCode::ValidationError, message).at(field)
    }

    /// [`ErrorCode::Conflict`].
    pub fn conflict(field: impl Into<String>, message: impl Into<String>) -> Self {
        ErrorContract::new(ErrorCode::Conflict, message).at(field)
    }

    /// [`ErrorCode::ServiceUnavailable`], no field's fault.
    pub fn unavailable(message: impl Into<String>) -> Self {
        ErrorContract::new(ErrorCode::ServiceUnavailable, message)
    }

    /// [`ErrorCode::NetworkError`].
    pub fn network(field: impl Into<String>, message: impl Into<String>) -> Self {
        ErrorContract::new(ErrorCode::NetworkError, message).at(field)
    }

    /// No server has this id.
    pub fn unknown_server(id: ServerId) -> Self {
        ErrorContract::not_found("mcp_id", alloc::format!("MCP not found: {id}"))
    }

    /// No server offers this tool, or it may not be called.
    pub fn unknown_tool(name: &str) -> Self {
        ErrorContract::not_found("tool_name", alloc::format!("Tool not found: {name}"))
    }

    /// The server is disabled.
    pub fn disabled() -> Self {
        ErrorContract::conflict("enabled", "MCP is disabled")
    }
}

impl fmt::Display for ErrorContract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, mcpwire_core::printable(&self.message))?;
        if self.field.is_empty() { Ok(()) } else { write!(f, " ({})", mcpwire_core::printable(&self.field)) }
    }
}

impl core::error::Error for ErrorContract {}

/// What makes another attempt worth it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Retry {
    /// Nothing does, until the configuration or the machine is another: there is no such package, no common version.
    Never,
    /// Time: it may work in a moment.
    Backoff,
    /// Time, and the other side says how much.
    After(Duration),
    /// A login.
    Login,
    /// A value that the user has to give: a secret, a variable.
    Input,
}

impl Retry {
    /// Whether trying again without anybody's help makes sense.
    pub const fn is_automatic(self) -> bool {
        matches!(self, Retry::Backoff | Retry::After(_))
    }
}

/// A failure, and what may be done about it: what `classify` makes of the evidence, and what a server is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What a host shows.
    pub error: ErrorContract,
    /// What makes another attempt worth it.
    pub retry: Retry,
}

impl Failure {
    /// A failure.
    pub fn new(error: ErrorContract, retry: Retry) -> Self {
        Failure { error, retry }
    }

    /// Values are missing that the configuration requires. `names` are their names; values are never named.
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
        Failure::new(ErrorContract::validation(field, message), Retry::Input)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl core::error::Error for Failure {}

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
    fn what_is_missing_is_named() {
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
