//! [`HubError`]: the error of a hub, with a message for users and a kind for programs.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::error::Error;
use core::fmt;
use core::time::Duration;

use mcpwire_core::{ErrorKind, RpcError, printable};

use crate::{ErrorCode, ServerId};

/// The error of a hub: its kind, a message for the user, and the configuration field that caused it.
///
/// `Display` shows the name of the server, if the error concerns one, and the message. Errors contain no secret values.
/// Clones are cheap, because they share the content. Programs decide by [`kind`](Self::kind).
///
/// The serialized form is `{"code", "message", "field"}`. All three members are always present, and each is a string.
/// The kind of a deserialized error is derived from its code and field, and it has no further details.
///
/// ```
/// # mod mcpwire { pub use mcpwire_core::ErrorKind; pub mod types { pub use mcpwire_core::Json; } pub mod hub { pub use
/// # mcpwire_supervisor::{ErrorCode, HubError}; } }
/// use mcpwire::ErrorKind;
/// use mcpwire::hub::{ErrorCode, HubError};
/// use mcpwire::types::Json;
///
/// let error = HubError::new(ErrorKind::InvalidConfiguration, "Name is required").at("name");
/// assert_eq!((error.code(), error.to_string().as_str()), (ErrorCode::ValidationError, "Name is required"));
/// assert_eq!(
///     Json::from_value(&error)?.get(),
///     r#"{"code":"VALIDATION_ERROR","message":"Name is required","field":"name"}"#
/// );
/// # Ok::<(), mcpwire_core::JsonError>(())
/// ```
#[derive(Clone)]
pub struct HubError(Arc<Content>);

#[derive(Clone)]
struct Content {
    kind: ErrorKind,
    code: ErrorCode,
    is_retryable: bool,
    message: String,
    /// Whether the message contains the text of the client's error. If so, the client's error is no source, to avoid
    /// repetition.
    has_client_text: bool,
    /// The path of the configuration field that caused the error. Empty if no field caused it.
    field: String,
    server: Option<Box<str>>,
    tool: Option<Box<str>>,
    rpc_error: Option<Box<RpcError>>,
    retry_after: Option<Duration>,
    scopes: Vec<String>,
    client_error: Option<Arc<dyn Error + Send + Sync>>,
}

impl HubError {
    /// Creates an error that no configuration field caused. Its [`field`](Self::field) is empty.
    ///
    /// The error is [retryable](Self::is_retryable) if its kind is [`ErrorKind::RateLimited`] or
    /// [`ErrorKind::Starting`]. For other kinds, set this with [`with_retryable`](Self::with_retryable), because the
    /// kind does not say whether the operation had an effect.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        HubError(Arc::new(Content {
            kind,
            code: kind.into(),
            // For these kinds, the operation never had an effect, and can succeed later without a change.
            is_retryable: matches!(kind, ErrorKind::RateLimited | ErrorKind::Starting),
            message: message.into(),
            has_client_text: false,
            field: String::new(),
            server: None,
            tool: None,
            rpc_error: None,
            retry_after: None,
            scopes: Vec::new(),
            client_error: None,
        }))
    }

    /// Returns the kind of the error, from which a program decides how to react. The clients use the same kinds.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the category of the error, which its JSON form contains as `code`.
    pub fn code(&self) -> ErrorCode {
        self.0.code
    }

    /// Returns the error message for the user, without the name of the server. It may have several lines.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the path of the configuration field that caused the error, such as `env_vars.GITHUB_TOKEN`. Empty if no field
    /// caused the error.
    pub fn field(&self) -> &str {
        &self.0.field
    }

    /// Returns the name of the server that the error concerns. `None` if it concerns no server, or if the error was
    /// deserialized.
    ///
    /// Some errors of a hub concern no server, for example an unknown tool or an unreadable file of the hub. The error
    /// of a client always concerns a server, so its method returns no `Option`.
    pub fn server(&self) -> Option<&str> {
        self.0.server.as_deref()
    }

    /// Returns the name of the tool whose call failed, as the server names it. `None` if no tool call failed.
    pub fn tool(&self) -> Option<&str> {
        self.0.tool.as_deref()
    }

    /// Returns the JSON-RPC error with which the server responded: its code, message and data, without secrets. `None`
    /// if the server sent no JSON-RPC error.
    pub fn rpc_error(&self) -> Option<&RpcError> {
        self.0.rpc_error.as_deref()
    }

    /// Returns the time to wait before the operation can succeed, or `None` if it is not known.
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// Returns the scopes that the server requires, to pass to a login after [`ErrorKind::LoginRequired`]. Empty if the
    /// server named no scopes.
    pub fn scopes(&self) -> &[String] {
        &self.0.scopes
    }

    /// Returns the client's error if a call or the start of a server failed, for example to downcast it to
    /// `mcpwire::Error`. If a call fails because the server [does not run](ErrorKind::NotRunning), this is the error of
    /// the start.
    ///
    /// `None` if no client failed, or if the client's error contains a secret. The client's error is also the
    /// [`source`](Error::source), unless the message already contains its text: see
    /// [`with_client_message`](Self::with_client_message).
    pub fn client_error(&self) -> Option<&(dyn Error + Send + Sync + 'static)> {
        self.0.client_error.as_deref()
    }

    /// Returns whether a program may repeat the operation: it may succeed later without an action of the user, and
    /// cannot take effect twice.
    ///
    /// `true` in these cases only:
    /// - The hub did not send the call, for a temporary reason: its rate limit, a server that is still starting or
    ///   waits for a restart, or too many calls that wait for a server.
    /// - A server did not start in time. Repeat the start, or the call that waited for the start.
    /// - The client's error is retryable. For example, the server cannot be reached, or its response has a
    ///   `Retry-After` header.
    /// - The token for the server cannot be obtained at the moment.
    ///
    /// A tool call is not retryable if it timed out, lost its connection or its server ended, because the tool may have
    /// run. A deserialized error is not retryable, because the JSON form does not contain this information.
    pub fn is_retryable(&self) -> bool {
        self.0.is_retryable
    }

    fn with(mut self, change: impl FnOnce(&mut Content)) -> Self {
        change(Arc::make_mut(&mut self.0));
        self
    }

    /// Sets the path of the configuration field that caused the error, such as `env_vars.GITHUB_TOKEN`.
    #[must_use]
    pub fn at(self, field: impl Into<String>) -> Self {
        self.with(|content| content.field = field.into())
    }

    /// Replaces the kind. [`code`](Self::code) and [`is_retryable`](Self::is_retryable) do not change.
    #[must_use]
    pub fn with_kind(self, kind: ErrorKind) -> Self {
        self.with(|content| content.kind = kind)
    }

    /// Replaces the code. By default, the code is derived from the kind.
    #[must_use]
    pub fn with_code(self, code: ErrorCode) -> Self {
        self.with(|content| content.code = code)
    }

    /// Replaces the message for the user. It must contain no secret values.
    #[must_use]
    pub fn with_message(self, message: impl Into<String>) -> Self {
        self.with(|content| content.message = message.into())
    }

    /// Replaces the message with one that contains the text of the client's error. The client's error is then not the
    /// [`source`](Error::source), so that programs that print all sources do not repeat the text. The message must
    /// contain no secret values.
    #[must_use]
    pub fn with_client_message(self, message: impl Into<String>) -> Self {
        self.with(|content| content.has_client_text = true).with_message(message)
    }

    /// Sets the name of the server that the error concerns, unless a name is already set. `Display` shows it before the
    /// message.
    #[must_use]
    pub fn with_server(self, name: &str) -> Self {
        if self.0.server.is_some() {
            return self;
        }
        self.with(|content| content.server = Some(name.into()))
    }

    /// Sets the name of the tool whose call failed. The message should contain the name.
    #[must_use]
    pub fn with_tool(self, name: &str) -> Self {
        self.with(|content| content.tool = Some(name.into()))
    }

    /// Sets the JSON-RPC error with which the server responded. It must contain no secret values.
    #[must_use]
    pub fn with_rpc_error(self, error: impl Into<Option<RpcError>>) -> Self {
        self.with(|content| content.rpc_error = error.into().map(Box::new))
    }

    /// Sets the time to wait before the operation can succeed. With a delay, the error becomes
    /// [retryable](Self::is_retryable). Call [`with_retryable`](Self::with_retryable) afterwards to change that. `None`
    /// leaves it as it is.
    #[must_use]
    pub fn with_retry_after(self, delay: impl Into<Option<Duration>>) -> Self {
        self.with(|content| {
            content.retry_after = delay.into();
            content.is_retryable |= content.retry_after.is_some();
        })
    }

    /// Sets whether a program may repeat the operation: it may succeed later, and cannot take effect twice.
    #[must_use]
    pub fn with_retryable(self, is_retryable: bool) -> Self {
        self.with(|content| content.is_retryable = is_retryable)
    }

    /// Sets the scopes that the server requires for a login.
    #[must_use]
    pub fn with_scopes(self, scopes: Vec<String>) -> Self {
        self.with(|content| content.scopes = scopes)
    }

    /// Sets the client's error that caused this error. It must contain no secret values, including its sources.
    #[must_use]
    pub fn with_client_error(self, error: impl Error + Send + Sync + 'static) -> Self {
        self.with(|content| content.client_error = Some(Arc::new(error)))
    }

    /// Creates an [`ErrorKind::NotFound`] error. `field` is the configuration field that caused the error, or empty if no field
    /// did.
    pub fn not_found(field: impl Into<String>, message: impl Into<String>) -> Self {
        HubError::new(ErrorKind::NotFound, message).at(field)
    }

    /// Creates an [`ErrorKind::InvalidConfiguration`] error. `field` is the configuration field that caused the error, or empty
    /// if no field did.
    pub fn validation(field: impl Into<String>, message: impl Into<String>) -> Self {
        HubError::new(ErrorKind::InvalidConfiguration, message).at(field)
    }

    /// Creates an [`ErrorKind::Conflict`] error. `field` is the configuration field that caused the error, or empty if no field
    /// did.
    pub fn conflict(field: impl Into<String>, message: impl Into<String>) -> Self {
        HubError::new(ErrorKind::Conflict, message).at(field)
    }

    /// Creates an [`ErrorKind::Unavailable`] error that no configuration field caused.
    pub fn unavailable(message: impl Into<String>) -> Self {
        HubError::new(ErrorKind::Unavailable, message)
    }

    /// Creates an [`ErrorKind::Network`] error. `field` is the configuration field that caused the error, or empty if no field
    /// did.
    pub fn network(field: impl Into<String>, message: impl Into<String>) -> Self {
        HubError::new(ErrorKind::Network, message).at(field)
    }

    /// Creates the error for an id that belongs to no configured server.
    pub fn unknown_server(id: ServerId) -> Self {
        HubError::new(ErrorKind::ServerNotFound, alloc::format!("MCP not found: {id}")).at("mcp_id")
    }

    /// Creates the error for a tool that no server offers, or that a [`Filter`](crate::Filter) excludes.
    pub fn unknown_tool(name: &str) -> Self {
        let message = alloc::format!("tool not found: `{}`", printable(name));
        HubError::new(ErrorKind::ToolNotFound, message).at("tool_name").with_tool(name)
    }

    /// Creates the error for an operation on a server to which the user must log in first.
    pub fn login_required(message: impl Into<String>) -> Self {
        HubError::new(ErrorKind::LoginRequired, message).at("login")
    }

    /// Creates the error for an operation on a disabled server.
    pub fn disabled() -> Self {
        HubError::new(ErrorKind::Disabled, "MCP is disabled").at("enabled")
    }

    /// Creates the error of a tool call that fails because this error keeps the server from running. The message is
    /// `what`, a colon and this message. The configuration field and the client's error stay the same.
    pub(crate) fn to_not_running(&self, what: &str) -> Self {
        let message = alloc::format!("{what}: {}", self.message());
        HubError::new(ErrorKind::NotRunning, message).at(self.field()).with(|content| {
            content.has_client_text = self.0.has_client_text;
            content.client_error.clone_from(&self.0.client_error);
        })
    }

    /// Creates the error for a request that was not answered in time.
    pub(crate) fn timeout(message: impl Into<String>) -> Self {
        HubError::new(ErrorKind::Timeout, message).at("timeout")
    }
}

impl fmt::Display for HubError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(server) = self.server() {
            write!(f, "server `{}`: ", printable(server))?;
        }
        printable(self.message()).fmt(f)
    }
}

impl fmt::Debug for HubError {
    /// Writes the message first, because a program prints `{:?}` if its `main` returns the error.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("HubError");
        fields
            .field("message", &format_args!("{self}"))
            .field("kind", &format_args!("{}", self.kind()))
            .field("code", &format_args!("{}", self.code()));
        if !self.field().is_empty() {
            fields.field("field", &self.field());
        }
        if let Some(tool) = self.tool() {
            fields.field("tool", &tool);
        }
        if let Some(delay) = self.retry_after() {
            fields.field("retry_after", &delay);
        }
        fields.finish_non_exhaustive()
    }
}

impl Error for HubError {
    /// Returns the client's error, unless the message already contains its text. [`HubError::client_error`] returns the
    /// client's error in both cases.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        if self.0.has_client_text { None } else { Some(self.0.client_error.as_deref()?) }
    }
}

impl PartialEq for HubError {
    /// Compares all parts except the client's error, which cannot be compared.
    fn eq(&self, other: &Self) -> bool {
        let parts = |error: &HubError| (error.kind(), error.code(), error.is_retryable(), error.retry_after());
        parts(self) == parts(other)
            && (self.message(), self.field()) == (other.message(), other.field())
            && (self.server(), self.tool()) == (other.server(), other.tool())
            && (self.rpc_error(), self.scopes()) == (other.rpc_error(), other.scopes())
    }
}

impl Eq for HubError {}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn an_operation_can_be_repeated_only_if_it_had_no_effect_and_time_alone_can_help() {
        let timeout = || HubError::new(ErrorKind::Timeout, "");
        for (error, expected) in [
            (HubError::new(ErrorKind::RateLimited, ""), true),
            (HubError::new(ErrorKind::Starting, ""), true),
            (timeout(), false),
            (timeout().with_retryable(true), true),
            (timeout().with_retry_after(None), false),
            (timeout().with_retry_after(Duration::ZERO).with_retryable(false), false),
            (HubError::new(ErrorKind::Closed, ""), false),
            (HubError::network("", ""), false),
            (HubError::unavailable(""), false),
            (HubError::new(ErrorKind::NotRunning, ""), false),
            (HubError::new(ErrorKind::NotRunning, "").with_retry_after(Duration::ZERO), true),
            (HubError::new(ErrorKind::Tool, ""), false),
            (HubError::new(ErrorKind::Cancelled, ""), false),
            (HubError::disabled(), false),
        ] {
            assert_eq!(error.is_retryable(), expected, "{error:?}");
        }
    }

    #[test]
    fn the_text_names_the_server_and_shows_neither_code_nor_field() {
        let error = HubError::timeout("no answer after 3 s").with_server("a\x07b").with_server("other");
        assert_eq!(error.to_string(), "server `a\u{fffd}b`: no answer after 3 s");
        assert_eq!(
            (error.message(), error.field(), error.server()),
            ("no answer after 3 s", "timeout", Some("a\x07b"))
        );
        assert_eq!(
            alloc::format!("{error:?}"),
            "HubError { message: server `a\u{fffd}b`: no answer after 3 s, kind: timeout, code: NETWORK_ERROR, \
             field: \"timeout\", .. }"
        );
    }

    #[test]
    fn the_error_of_a_start_is_told_by_a_call_once() {
        #[derive(Debug, thiserror::Error)]
        #[error("server `a`: command not found: `x`")]
        struct OfClient;

        let start = HubError::new(ErrorKind::Start, "").with_client_message("command not found: `x`");
        let start = start.at("package.identifier").with_server("a").with_client_error(OfClient);
        let call = start.to_not_running("it has failed").with_server("a");
        assert_eq!((call.kind(), call.field()), (ErrorKind::NotRunning, "package.identifier"));
        assert!(call.client_error().is_some_and(<dyn Error + Send + Sync>::is::<OfClient>) && call.source().is_none());
    }

    #[test]
    fn the_error_of_the_client_is_the_source_unless_the_message_is_its_text() {
        #[derive(Debug, thiserror::Error)]
        #[error("server `a`: no")]
        struct OfClient;

        let same = HubError::new(ErrorKind::Connect, "").with_client_message("no").with_server("a");
        let same = same.with_client_error(OfClient);
        let other =
            HubError::new(ErrorKind::Connect, "Docker not running").with_server("a").with_client_error(OfClient);
        assert!(
            same.source().is_none() && same.client_error().and_then(|error| error.downcast_ref::<OfClient>()).is_some()
        );
        assert!(other.source().and_then(|error| error.downcast_ref::<OfClient>()).is_some());
        assert_eq!(size_of::<HubError>(), size_of::<usize>());
    }
}
