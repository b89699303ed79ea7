//! [`ToolError`]: the error of a tool list or tool call through a [`ToolClient`](crate::ToolClient).

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use core::error::Error;
use core::time::Duration;

use mcpwire_types::{CallToolResult, ContentBlock, ErrorKind, RpcError, printable};

/// The error of a tool list or tool call. A tool that ran and failed is not an error, but has a result.
///
/// The message contains the names of the server and the tool, and can be shown to a user or to the model.
/// [`ToolError::client_error`] returns the client's error. It is not the [`Error::source`], because its text is already
/// the message.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    kind: ErrorKind,
    message: String,
    server: Option<Box<str>>,
    tool: Option<Box<str>>,
    is_retryable: bool,
    retry_after: Option<Duration>,
    rpc_error: Option<Box<RpcError>>,
    client_error: Option<Box<dyn Error + Send + Sync>>,
}

impl ToolError {
    /// Creates an error for implementations of [`ToolClient`](crate::ToolClient). `message` should contain the names of
    /// the server and the tool. Use [`ErrorKind::Other`] if no other kind describes the failure.
    ///
    /// The error is [retryable](Self::is_retryable) if its kind is [`ErrorKind::RateLimited`] or
    /// [`ErrorKind::Starting`]. For other kinds, set this with [`with_retryable`](Self::with_retryable), because the
    /// kind does not say whether the tool ran.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        ToolError {
            kind,
            message: message.into(),
            server: None,
            tool: None,
            // For these kinds, the tool never ran, and the call can succeed later without a change.
            is_retryable: matches!(kind, ErrorKind::RateLimited | ErrorKind::Starting),
            retry_after: None,
            rpc_error: None,
            client_error: None,
        }
    }

    /// Converts the error of a client, and uses its text as the message. [`is_retryable`](Self::is_retryable) is as for
    /// [`ToolError::new`].
    pub fn from_client(kind: ErrorKind, error: impl Error + Send + Sync + 'static) -> Self {
        let message = error.to_string();
        ToolError { client_error: Some(Box::new(error)), ..ToolError::new(kind, message) }
    }

    /// Creates the error of a call of the tool `tool` that failed without an error of the client, for example because it was
    /// cancelled. The message is `reason`, preceded by the name of the server if it is known.
    pub(crate) fn of_tool(kind: ErrorKind, server: Option<&str>, tool: &str, reason: &str) -> Self {
        let message = match server {
            Some(server) => format!("server `{}`: {reason}", printable(server)),
            None => reason.into(),
        };
        ToolError::new(kind, message).with_server(server).with_tool(tool)
    }

    /// Sets the name of the server that the error concerns. The message should contain the name.
    #[must_use]
    pub fn with_server<'n>(mut self, name: impl Into<Option<&'n str>>) -> Self {
        self.server = name.into().map(Box::from);
        self
    }

    /// Sets the name of the tool whose call failed. The message should contain the name.
    #[must_use]
    pub fn with_tool<'n>(mut self, name: impl Into<Option<&'n str>>) -> Self {
        self.tool = name.into().map(Box::from);
        self
    }

    /// Sets whether a program may repeat the call: it may succeed later, and cannot take effect twice.
    #[must_use]
    pub fn with_retryable(mut self, is_retryable: bool) -> Self {
        self.is_retryable = is_retryable;
        self
    }

    /// Sets the time to wait before another attempt. With a delay, the error becomes [retryable](Self::is_retryable).
    /// Call [`with_retryable`](Self::with_retryable) afterwards to change that. `None` leaves it as it is.
    #[must_use]
    pub fn with_retry_after(mut self, after: Option<Duration>) -> Self {
        self.retry_after = after;
        self.is_retryable |= after.is_some();
        self
    }

    /// Sets the JSON-RPC error with which the server responded. `None` if the server sent no JSON-RPC error.
    #[must_use]
    pub fn with_rpc_error(mut self, error: Option<RpcError>) -> Self {
        self.rpc_error = error.map(Box::new);
        self
    }

    /// Returns the kind of the error, from which a program decides how to react. All clients and the hub use the same
    /// kinds.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns the name of the server that the error concerns, or `None` if the name is not known.
    pub fn server(&self) -> Option<&str> {
        self.server.as_deref()
    }

    /// Returns the name of the tool whose call failed. `None` if no tool call failed.
    ///
    /// The clients and the hub return the name that the server uses. This differs from the name in the call if a
    /// [`Renamed`](crate::Renamed) client or the hub has renamed the tool.
    pub fn tool(&self) -> Option<&str> {
        self.tool.as_deref()
    }

    /// Returns whether a program may repeat the call: it may succeed later, and cannot take effect twice.
    ///
    /// `Error::is_retryable` of the clients and `HubError::is_retryable` have the same meaning. A call that timed out
    /// or lost its connection is not retryable, because the tool may have run.
    pub fn is_retryable(&self) -> bool {
        self.is_retryable
    }

    /// Returns the time to wait before another attempt, or `None` if it is not known.
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// Returns the JSON-RPC error with which the server responded: its code, message and data. `None` if the server
    /// sent no JSON-RPC error.
    pub fn rpc_error(&self) -> Option<&RpcError> {
        self.rpc_error.as_deref()
    }

    /// Converts the error to the result of a failed tool, with the message as its text. Return the result to the model,
    /// so that the model can react to the error.
    pub fn to_result(&self) -> CallToolResult {
        let mut result = CallToolResult::default();
        result.content.push(ContentBlock::from(&*self.message));
        result.is_error = true;
        result
    }

    /// Returns the error of the client that made the call, for example to downcast it. `None` if no client failed.
    pub fn client_error(&self) -> Option<&(dyn Error + Send + Sync + 'static)> {
        self.client_error.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_result_for_the_model_contains_the_message() {
        let result = ToolError::new(ErrorKind::Timeout, "timed out after 30 s").to_result();
        assert!(result.is_error);
        assert_eq!(result.text().as_str(), "timed out after 30 s");
    }

    #[test]
    fn a_call_can_be_repeated_only_if_the_tool_did_not_run_and_time_alone_can_help() {
        let timeout = || ToolError::new(ErrorKind::Timeout, "");
        for (error, expected) in [
            (ToolError::new(ErrorKind::RateLimited, ""), true),
            (ToolError::new(ErrorKind::Starting, ""), true),
            (ToolError::new(ErrorKind::NotRunning, ""), false),
            (ToolError::new(ErrorKind::NotRunning, "").with_retry_after(Some(Duration::ZERO)), true),
            (timeout(), false),
            (timeout().with_retry_after(None), false),
            (timeout().with_retryable(true), true),
            (timeout().with_retry_after(Some(Duration::ZERO)).with_retryable(false), false),
        ] {
            assert_eq!(error.is_retryable(), expected, "{error:?}");
        }
    }
}
