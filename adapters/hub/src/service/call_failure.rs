//! [`CallFailure`]: why a call of a tool has no result.

use std::time::Duration;

use mcpwire_driver::Error;
use mcpwire_supervisor::CallRejection;
use mcpwire_tool_client::{ToolError, ToolErrorKind};

use crate::{ErrorCode, HubError};

/// Why a call of a tool has no result: the error for the user, and what an agent needs to react to it.
#[derive(Debug)]
pub(super) struct CallFailure {
    pub(super) error: HubError,
    kind: ToolErrorKind,
    retry_after: Option<Duration>,
}

impl CallFailure {
    /// Creates the failure of a call that was sent. `error` is the error for the user, without secrets.
    pub(super) fn of_client(cause: &Error, error: HubError) -> Self {
        CallFailure { error, kind: cause.tool_error_kind(), retry_after: cause.retry_after() }
    }
}

impl From<HubError> for CallFailure {
    fn from(error: HubError) -> Self {
        let kind = match (error.code, error.field.as_str()) {
            (ErrorCode::NotFound, "tool_name" | "mcp_id") => ToolErrorKind::NotFound,
            (ErrorCode::ValidationError, "arguments") => ToolErrorKind::Usage,
            (ErrorCode::ValidationError, "authorization") => ToolErrorKind::Unauthorized,
            (ErrorCode::NetworkError, "timeout") => ToolErrorKind::Timeout,
            _ => ToolErrorKind::Unavailable,
        };
        CallFailure { error, kind, retry_after: None }
    }
}

impl From<CallRejection> for CallFailure {
    fn from(rejection: CallRejection) -> Self {
        let error = rejection.to_hub_error();
        match rejection {
            CallRejection::TooManyCalls(limit) => {
                CallFailure { error, kind: ToolErrorKind::RateLimited, retry_after: Some(limit.retry_after) }
            }
            _ => error.into(),
        }
    }
}

impl From<CallFailure> for ToolError {
    fn from(failure: CallFailure) -> Self {
        ToolError::from_client(failure.kind, failure.error).with_retry_after(failure.retry_after)
    }
}
