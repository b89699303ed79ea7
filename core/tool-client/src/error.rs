//! [`ToolError`]: the error of the methods of [`ToolClient`](crate::ToolClient).

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use core::error::Error;
use core::time::Duration;

use mcpwire_types::{CallToolResult, ContentBlock, ErrorKind, RpcError};

/// The error of listing tools, or of a tool call without a result.
///
/// The message contains the names of the server and the tool, and can be shown to a user or to the model. The client's error
/// is available as [`ToolError::client_error`]. It is not the [`Error::source`], because its text is already the message.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    kind: ErrorKind,
    message: String,
    retry_after: Option<Duration>,
    rpc_error: Option<Box<RpcError>>,
    client_error: Option<Box<dyn Error + Send + Sync>>,
}

impl ToolError {
    /// Creates an error. `message` should contain the names of the server and the tool. Use [`ErrorKind::Other`] for a failure
    /// that no other kind describes.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        ToolError { kind, message: message.into(), retry_after: None, rpc_error: None, client_error: None }
    }

    /// Creates an error with the message of a client's error.
    pub fn from_client(kind: ErrorKind, error: impl Error + Send + Sync + 'static) -> Self {
        let message = error.to_string();
        ToolError { kind, message, retry_after: None, rpc_error: None, client_error: Some(Box::new(error)) }
    }

    /// Sets how long to wait before another attempt.
    pub fn with_retry_after(mut self, after: Option<Duration>) -> Self {
        self.retry_after = after;
        self
    }

    /// Sets the JSON-RPC error with which the server answered.
    pub fn with_rpc_error(mut self, error: Option<RpcError>) -> Self {
        self.rpc_error = error.map(Box::new);
        self
    }

    /// Returns the kind of the error, for programs that act on it. A client or hub reports the same kind for the same failure.
    pub fn kind(&self) -> ErrorKind {
        self.kind
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
}
