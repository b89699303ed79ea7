//! Errors for users: what went wrong, a message, and the configuration field that caused the error.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

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

/// What went wrong, for programs that react to an error. Each kind belongs to one [`ErrorCode`]. In JSON, a kind is
/// written in snake case, for example `unknown_tool`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum HubErrorKind {
    /// No server has this id.
    UnknownServer,
    /// No server offers this tool, or a [`Filter`](crate::Filter) excludes the tool.
    UnknownTool,
    /// The package, program or address of a server does not exist.
    PackageNotFound,
    /// The program that runs the package of a server is not installed, for example `npx`, `uvx` or `docker`.
    RunnerNotFound,
    /// Something else does not exist, such as a file.
    NotFound,
    /// A configuration, or another input of the user, is invalid.
    InvalidConfiguration,
    /// A value that the server requires is missing, such as an API key.
    MissingValue,
    /// The arguments of a tool call are not a JSON object, or are too large to be sent.
    InvalidArguments,
    /// The server rejected the arguments of a tool call.
    RejectedArguments,
    /// The server rejected the credentials, or requires credentials that the client cannot get by a login.
    Unauthorized,
    /// The user must log in to the server.
    LoginRequired,
    /// The server is disabled.
    Disabled,
    /// The user has not agreed to what the server starts.
    NeedsConsent,
    /// The program, or the person that it asked, did not allow the tool call.
    Denied,
    /// The operation was cancelled. For a start, the server was stopped or deleted meanwhile.
    Cancelled,
    /// The operation conflicts with the current state. For example, the name is in use, or the configuration has changed.
    Conflict,
    /// The tool ran and reported an error.
    ToolFailed,
    /// A limit allows no further call at the moment.
    RateLimited,
    /// The server does not run. It was stopped, has failed, or restarts later.
    NotRunning,
    /// The server is still starting.
    Starting,
    /// The server ended, and its calls with it.
    Exited,
    /// The server answered with an error.
    ServerError,
    /// The server sent an invalid message, or supports no protocol version of the client.
    ProtocolError,
    /// The hub is shutting down, or has ended.
    ShuttingDown,
    /// This service does not support the operation.
    Unsupported,
    /// Something that the operation requires is temporarily not available, such as Docker or a file.
    Unavailable,
    /// No response arrived in time. A tool may have run.
    Timeout,
    /// The connection could not be opened, or was lost.
    Network,
}

impl HubErrorKind {
    /// Returns the category of the kind.
    pub const fn code(self) -> ErrorCode {
        use HubErrorKind as Kind;
        match self {
            Kind::UnknownServer | Kind::UnknownTool | Kind::PackageNotFound | Kind::RunnerNotFound | Kind::NotFound => {
                ErrorCode::NotFound
            }
            Kind::InvalidConfiguration
            | Kind::MissingValue
            | Kind::InvalidArguments
            | Kind::RejectedArguments
            | Kind::Unauthorized
            | Kind::LoginRequired => ErrorCode::ValidationError,
            Kind::Disabled | Kind::NeedsConsent | Kind::Denied | Kind::Cancelled | Kind::Conflict => {
                ErrorCode::Conflict
            }
            Kind::ToolFailed
            | Kind::RateLimited
            | Kind::NotRunning
            | Kind::Starting
            | Kind::Exited
            | Kind::ServerError
            | Kind::ProtocolError
            | Kind::ShuttingDown
            | Kind::Unsupported
            | Kind::Unavailable => ErrorCode::ServiceUnavailable,
            Kind::Timeout | Kind::Network => ErrorCode::NetworkError,
        }
    }

    /// Derives the kind from the members `code` and `field` of a serialized error, which do not distinguish all kinds.
    fn from_contract(code: ErrorCode, field: &str) -> Self {
        match (code, field) {
            (ErrorCode::NotFound, "mcp_id") => HubErrorKind::UnknownServer,
            (ErrorCode::NotFound, "tool_name") => HubErrorKind::UnknownTool,
            (ErrorCode::NotFound, "package.identifier") => HubErrorKind::PackageNotFound,
            (ErrorCode::NotFound, "package.package_type") => HubErrorKind::RunnerNotFound,
            (ErrorCode::NotFound, _) => HubErrorKind::NotFound,
            (ErrorCode::ValidationError, "arguments") => HubErrorKind::RejectedArguments,
            (ErrorCode::ValidationError, "authorization") => HubErrorKind::Unauthorized,
            (ErrorCode::ValidationError, "login") => HubErrorKind::LoginRequired,
            (ErrorCode::ValidationError, _) => HubErrorKind::InvalidConfiguration,
            (ErrorCode::Conflict, "enabled") => HubErrorKind::Disabled,
            (ErrorCode::Conflict, "consent") => HubErrorKind::NeedsConsent,
            (ErrorCode::Conflict, _) => HubErrorKind::Conflict,
            (ErrorCode::ServiceUnavailable, _) => HubErrorKind::Unavailable,
            (ErrorCode::NetworkError, "timeout") => HubErrorKind::Timeout,
            (ErrorCode::NetworkError, _) => HubErrorKind::Network,
        }
    }
}

/// An error to show to the user, serialized as `{"code", "message", "field"}`.
///
/// All three members are always present, and each is a string. The [`kind`](Self::kind) and the
/// [`retry_after`](Self::retry_after) are not serialized. An error that was deserialized has a kind that is derived from its
/// code and field, and no delay.
///
/// ```
/// use mcpwire_core::Json;
/// use mcpwire_supervisor::{ErrorCode, HubError, HubErrorKind};
///
/// let error = HubError::new(HubErrorKind::InvalidConfiguration, "Name is required").at("name");
/// assert_eq!(error.code(), ErrorCode::ValidationError);
/// assert_eq!(
///     Json::from_value(&error)?.get(),
///     r#"{"code":"VALIDATION_ERROR","message":"Name is required","field":"name"}"#
/// );
/// # Ok::<(), mcpwire_core::JsonError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {}{}", kind.code(), printable(message), in_parentheses(field))]
pub struct HubError {
    /// What went wrong.
    pub kind: HubErrorKind,
    /// The error message for the user. It contains no secret values.
    pub message: String,
    /// The path of the configuration field that caused the error, such as `env_vars.GITHUB_TOKEN`. Empty if no field
    /// caused the error.
    pub field: String,
    /// The delay after which the operation may succeed. `None` if it is not known.
    pub retry_after: Option<Duration>,
    /// The scopes that the server wants a login with, for [`HubErrorKind::LoginRequired`]. Empty if it named none. Not serialized.
    pub scopes: Vec<String>,
}

/// The serialized form of a [`HubError`].
#[derive(Serialize, Deserialize)]
struct Contract<'a> {
    code: ErrorCode,
    message: Cow<'a, str>,
    #[serde(default)]
    field: Cow<'a, str>,
}

impl Serialize for HubError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (message, field) = (Cow::Borrowed(&*self.message), Cow::Borrowed(&*self.field));
        Contract { code: self.code(), message, field }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for HubError {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Contract { code, message, field } = Contract::deserialize(deserializer)?;
        let kind = HubErrorKind::from_contract(code, &field);
        Ok(HubError::new(kind, message).at(field))
    }
}

impl HubError {
    /// Creates an error that no configuration field caused. Its [`field`](Self::field) is empty.
    pub fn new(kind: HubErrorKind, message: impl Into<String>) -> Self {
        HubError { kind, message: message.into(), field: String::new(), retry_after: None, scopes: Vec::new() }
    }

    /// Sets the path of the configuration field that caused the error, such as `env_vars.GITHUB_TOKEN`.
    pub fn at(mut self, field: impl Into<String>) -> Self {
        self.field = field.into();
        self
    }

    /// Sets the delay after which the operation may succeed.
    pub fn with_retry_after(mut self, delay: impl Into<Option<Duration>>) -> Self {
        self.retry_after = delay.into();
        self
    }

    /// Sets the scopes that the server wants a login with.
    pub fn with_scopes(mut self, scopes: Vec<String>) -> Self {
        self.scopes = scopes;
        self
    }

    /// Returns the category of the error.
    pub fn code(&self) -> ErrorCode {
        self.kind.code()
    }

    /// Returns the delay after which the operation may succeed, or `None` if it is not known.
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// Returns whether the same operation may succeed later, without an action of the user.
    ///
    /// A tool may have run before a call failed with [`HubErrorKind::Timeout`], [`HubErrorKind::Exited`] or
    /// [`HubErrorKind::Network`]. Repeat such a call only if the tool may run twice.
    pub fn is_retryable(&self) -> bool {
        use HubErrorKind as Kind;
        self.retry_after.is_some()
            || matches!(
                self.kind,
                Kind::RateLimited | Kind::Starting | Kind::Exited | Kind::Unavailable | Kind::Timeout | Kind::Network
            )
    }

    /// Creates a [`HubErrorKind::NotFound`] error. `field` is the configuration field that caused the error, or empty if
    /// no field did.
    pub fn not_found(field: impl Into<String>, message: impl Into<String>) -> Self {
        HubError::new(HubErrorKind::NotFound, message).at(field)
    }

    /// Creates a [`HubErrorKind::InvalidConfiguration`] error. `field` is the configuration field that caused the error,
    /// or empty if no field did.
    pub fn validation(field: impl Into<String>, message: impl Into<String>) -> Self {
        HubError::new(HubErrorKind::InvalidConfiguration, message).at(field)
    }

    /// Creates a [`HubErrorKind::Conflict`] error. `field` is the configuration field that caused the error, or empty if
    /// no field did.
    pub fn conflict(field: impl Into<String>, message: impl Into<String>) -> Self {
        HubError::new(HubErrorKind::Conflict, message).at(field)
    }

    /// Creates a [`HubErrorKind::Unavailable`] error that no configuration field caused.
    pub fn unavailable(message: impl Into<String>) -> Self {
        HubError::new(HubErrorKind::Unavailable, message)
    }

    /// Creates a [`HubErrorKind::Network`] error. `field` is the configuration field that caused the error, or empty if
    /// no field did.
    pub fn network(field: impl Into<String>, message: impl Into<String>) -> Self {
        HubError::new(HubErrorKind::Network, message).at(field)
    }

    /// Creates the error for an id that belongs to no configured server.
    pub fn unknown_server(id: ServerId) -> Self {
        HubError::new(HubErrorKind::UnknownServer, alloc::format!("MCP not found: {id}")).at("mcp_id")
    }

    /// Creates the error for a tool that no server offers, or that a [`Filter`](crate::Filter) excludes.
    pub fn unknown_tool(name: &str) -> Self {
        HubError::new(HubErrorKind::UnknownTool, alloc::format!("Tool not found: {name}")).at("tool_name")
    }

    /// Creates the error for an operation on a server to which the user must log in first.
    pub fn login_required(message: impl Into<String>) -> Self {
        HubError::new(HubErrorKind::LoginRequired, message).at("login")
    }

    /// Creates the error for an operation on a disabled server.
    pub fn disabled() -> Self {
        HubError::new(HubErrorKind::Disabled, "MCP is disabled").at("enabled")
    }

    /// Creates the error for a request that did not get its answer in time.
    pub(crate) fn timeout(message: impl Into<String>) -> Self {
        HubError::new(HubErrorKind::Timeout, message).at("timeout")
    }
}

fn in_parentheses(field: &str) -> String {
    if field.is_empty() { String::new() } else { alloc::format!(" ({})", printable(field)) }
}

#[cfg(test)]
mod tests {
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
    fn a_serialized_error_has_three_strings_and_is_read_as_its_code_and_field_tell() {
        let error = HubError::new(HubErrorKind::RateLimited, "later").with_retry_after(Duration::from_secs(3));
        let json = serde_json::to_string(&error).expect("it is written");
        assert_eq!(json, r#"{"code":"SERVICE_UNAVAILABLE","message":"later","field":""}"#);
        assert_eq!(serde_json::from_str::<HubError>(&json).expect("it is read"), HubError::unavailable("later"));
        let id = ServerId::from_random(1);
        for error in [HubError::unknown_server(id), HubError::unknown_tool("x"), HubError::disabled()] {
            let json = serde_json::to_string(&error).expect("it is written");
            assert_eq!(serde_json::from_str::<HubError>(&json).expect("it is read"), error);
        }
    }

    #[test]
    fn an_operation_may_succeed_later_if_time_alone_can_help() {
        for (error, expected) in [
            (HubError::new(HubErrorKind::RateLimited, ""), true),
            (HubError::new(HubErrorKind::Starting, ""), true),
            (HubError::new(HubErrorKind::NotRunning, ""), false),
            (HubError::new(HubErrorKind::NotRunning, "").with_retry_after(Duration::ZERO), true),
            (HubError::new(HubErrorKind::ToolFailed, ""), false),
            (HubError::new(HubErrorKind::Cancelled, ""), false),
            (HubError::disabled(), false),
        ] {
            assert_eq!(error.is_retryable(), expected, "{error:?}");
        }
    }
}
