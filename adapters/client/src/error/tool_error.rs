//! Converts an [`Error`] to a [`ToolError`].

use mcpwire_tool_client::ToolError;

use super::Error;

impl From<Error> for ToolError {
    fn from(error: Error) -> Self {
        ToolError::from_client(error.kind(), error.clone())
            .with_server(error.server())
            .with_tool(error.tool())
            .with_retry_after(error.retry_after())
            .with_retryable(error.is_retryable())
            .with_rpc_error(error.rpc_error().cloned())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use mcpwire_core::{CallError, Deadline, ErrorKind, SendError};

    use super::*;

    #[test]
    fn a_tool_error_contains_the_message_and_the_client_error() {
        let (method, after, deadline) = ("tools/call".into(), Duration::from_secs(30), Deadline::Idle);
        let timeout = CallError::Timeout { method, after, deadline };
        let error = Error::new("github", timeout).with_tool("search");
        let text = error.to_string();
        let error = ToolError::from(error);
        assert_eq!((error.kind(), error.to_string()), (ErrorKind::Timeout, text));
        assert_eq!((error.server(), error.tool(), error.is_retryable()), (Some("github"), Some("search"), false));
        assert!(error.to_string().contains("github") && error.to_string().contains("search"), "{error}");
        let client_error = error.client_error().and_then(|error| error.downcast_ref::<Error>());
        assert_eq!(client_error.map(Error::kind), Some(ErrorKind::Timeout));
    }

    #[test]
    fn a_limit_of_the_client_is_a_rate_limit() {
        let error = Error::new("github", SendError::TooManyInFlight { limit: 3 });
        let error = ToolError::from(error);
        assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::RateLimited, true));
        let error = Error::new("github", SendError::Closed);
        assert_eq!(ToolError::from(error).kind(), ErrorKind::Closed);
    }
}
