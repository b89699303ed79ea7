//! [`ToolError`]: the error of the methods of [`ToolClient`](crate::ToolClient).

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use core::error::Error;
use core::time::Duration;

use mcpwire_types::{CallToolResult, ContentBlock, ErrorKind, RpcError, printable};

/// The error of listing tools, or of a tool call without a result.
///
/// The message contains the names of the server and the tool, and can be shown to a user or to the model. The client's error
/// is available as [`ToolError::client_error`]. It is not the [`Error::source`], because its text is already the message.
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
    /// Creates an error. `message` should contain the names of the server and the tool. Use [`ErrorKind::Other`] for a failure
    /// that no other kind describes.
    ///
    /// It is [retryable](Self::is_retryable) if its kind is [`ErrorKind::RateLimited`] or [`ErrorKind::Starting`]. Other kinds do
    /// not say whether the tool ran: see [`with_retryable`](Self::with_retryable).
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        ToolError {
            kind,
            message: message.into(),
            server: None,
            tool: None,
            // Only of these kinds does each error say both: the tool did not run, and time alone can help.
            is_retryable: matches!(kind, ErrorKind::RateLimited | ErrorKind::Starting),
            retry_after: None,
            rpc_error: None,
            client_error: None,
        }
    }

    /// Creates an error with the message of a client's error. [`is_retryable`](Self::is_retryable) is as for [`ToolError::new`].
    pub fn from_client(kind: ErrorKind, error: impl Error + Send + Sync + 'static) -> Self {
        let message = error.to_string();
        ToolError { client_error: Some(Box::new(error)), ..ToolError::new(kind, message) }
    }

    /// Creates the error of a call of the tool `tool` that has no client's error. The message is `reason`, after the name of the
    /// server if that is known.
    pub(crate) fn of_tool(kind: ErrorKind, server: Option<&str>, tool: &str, reason: &str) -> Self {
        let message = match server {
            Some(server) => format!("server `{}`: {reason}", printable(server)),
            None => reason.into(),
        };
        ToolError::new(kind, message).with_server(server).with_tool(tool)
    }

    /// Sets the name of the server. The message should contain it.
    #[must_use]
    pub fn with_server<'n>(mut self, name: impl Into<Option<&'n str>>) -> Self {
        self.server = name.into().map(Box::from);
        self
    }

    /// Sets the name of the tool whose call failed. The message should contain it.
    #[must_use]
    pub fn with_tool<'n>(mut self, name: impl Into<Option<&'n str>>) -> Self {
        self.tool = name.into().map(Box::from);
        self
    }

    /// Sets whether the call can be repeated: it may succeed later, and cannot take effect twice.
    #[must_use]
    pub fn with_retryable(mut self, is_retryable: bool) -> Self {
        self.is_retryable = is_retryable;
        self
    }

    /// Sets how long to wait before another attempt. An error with a delay is [retryable](Self::is_retryable), unless
    /// [`with_retryable`](Self::with_retryable) says otherwise afterwards. `None` does not change that.
    #[must_use]
    pub fn with_retry_after(mut self, after: Option<Duration>) -> Self {
        self.retry_after = after;
        self.is_retryable |= after.is_some();
        self
    }

    /// Sets the JSON-RPC error with which the server answered.
    #[must_use]
    pub fn with_rpc_error(mut self, error: Option<RpcError>) -> Self {
        self.rpc_error = error.map(Box::new);
        self
    }

    /// Returns the kind of the error, for programs that act on it. A client or hub reports the same kind for the same failure.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns the name of the server. `None` if the client does not know which server the error concerns.
    pub fn server(&self) -> Option<&str> {
        self.server.as_deref()
    }

    /// Returns the name of the tool whose call failed. `None` if no call failed.
    ///
    /// The clients and the hub return the name that the server uses, which is not the name of the call if a
    /// [`Renamed`](crate::Renamed) or the hub has given the tool another one.
    pub fn tool(&self) -> Option<&str> {
        self.tool.as_deref()
    }

    /// Returns whether the call can be repeated: it may succeed later, and cannot take effect twice.
    ///
    /// It has the same meaning as `Error::is_retryable` of the clients and `HubError::is_retryable`. A call that timed out or lost
    /// its connection is not retryable, because the tool may have run.
    pub fn is_retryable(&self) -> bool {
        self.is_retryable
    }

    /// Returns how long to wait before another attempt, or `None` if this is unknown.
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// Returns the JSON-RPC error with which the server answered: its code, message and data. `None` if the server answered with
    /// no error.
    pub fn rpc_error(&self) -> Option<&RpcError> {
        self.rpc_error.as_deref()
    }

    /// Converts the error to the result of a failed tool. Its text is the message, so that the model can react to the error.
    pub fn to_result(&self) -> CallToolResult {
        let mut result = CallToolResult::default();
        result.content.push(ContentBlock::from(&*self.message));
        result.is_error = true;
        result
    }

    /// Returns the client's error, for example to downcast it. `None` if there is none.
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
