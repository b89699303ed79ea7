//! [`ToolError`]: why tools could not be listed, or a call has no result.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use core::error::Error;
use core::time::Duration;

use mcpwire_types::{CallToolResult, ContentBlock};

/// Why tools could not be listed, or why the call of a tool has no result.
///
/// The message is complete: it names the server and the tool, and can be shown to a person or to the model. The error of
/// the client is [`ToolError::client_error`] and not [`Error::source`], because the message is already its text.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    kind: ToolErrorKind,
    message: String,
    retry_after: Option<Duration>,
    client_error: Option<Box<dyn Error + Send + Sync>>,
}

/// Kind of a [`ToolError`], for programs that react to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ToolErrorKind {
    /// No server has a tool of this name.
    NotFound,
    /// The server rejected the call, for example because the arguments do not match the tool's schema.
    Rejected,
    /// The arguments are not a JSON object, or the call was used wrongly in another way.
    Usage,
    /// No result arrived in time. The tool may have run.
    Timeout,
    /// The call was cancelled.
    Cancelled,
    /// The server requires a login or rejected the credentials.
    Unauthorized,
    /// The server or a limit of the client allows no further call at the moment.
    RateLimited,
    /// The server is not running or cannot be reached. Another attempt may succeed later.
    Unavailable,
    /// Any other failure.
    Other,
}

impl ToolError {
    /// Creates an error with a complete message.
    pub fn new(kind: ToolErrorKind, message: impl Into<String>) -> Self {
        ToolError { kind, message: message.into(), retry_after: None, client_error: None }
    }

    /// Creates an error from that of a client. The message is the client's.
    pub fn from_client(kind: ToolErrorKind, error: impl Error + Send + Sync + 'static) -> Self {
        let message = error.to_string();
        ToolError { kind, message, retry_after: None, client_error: Some(Box::new(error)) }
    }

    /// Sets how long to wait before another attempt.
    pub fn with_retry_after(mut self, after: Option<Duration>) -> Self {
        self.retry_after = after;
        self
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> ToolErrorKind {
        self.kind
    }

    /// Returns how long to wait before another attempt. `None` if that is not known.
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// Returns a failed tool's result with the message as its text, to tell the model what went wrong.
    pub fn to_result(&self) -> CallToolResult {
        let mut result = CallToolResult::default();
        result.content.push(ContentBlock::from(&*self.message));
        result.is_error = true;
        result
    }

    /// Returns the error of the client, whose text is the message of this error.
    pub fn client_error(&self) -> Option<&(dyn Error + Send + Sync + 'static)> {
        self.client_error.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_reads_the_message() {
        let result = ToolError::new(ToolErrorKind::Timeout, "timed out after 30 s").to_result();
        assert!(result.is_error);
        assert_eq!(result.text().as_str(), "timed out after 30 s");
    }
}
