//! Failures of a hub: what its error means for the user.

use std::borrow::Borrow;

use mcpwire_hub::{ErrorCode, HubError};

use super::{CONNECTION_FAILED, Code, Failure, NOT_CONNECTED, TIMED_OUT, USAGE};
use crate::text;

/// The field of a hub's error for a server that does not run, so that nothing was sent to it.
pub(crate) const NOT_RUNNING: &str = "server";

impl Failure {
    /// Creates the failure for an error of a hub.
    pub(crate) fn from_hub(error: impl Borrow<HubError>) -> Self {
        let error = error.borrow();
        let (code, exit) = match error.code() {
            ErrorCode::NotFound => (Code::NotFound, if error.field == "tool_name" { CONNECTION_FAILED } else { USAGE }),
            ErrorCode::ValidationError => (Code::Validation, USAGE),
            ErrorCode::Conflict => (Code::Conflict, USAGE),
            ErrorCode::ServiceUnavailable => (Code::Unavailable, NOT_CONNECTED),
            ErrorCode::NetworkError => (Code::Network, CONNECTION_FAILED),
        };
        let exit = match error.field.as_str() {
            "timeout" => TIMED_OUT,
            field if field.starts_with("package.") && error.code() != ErrorCode::ValidationError => NOT_CONNECTED,
            _ => exit,
        };
        Self::new((exit, code, &error.field), text::line(&error.message))
    }

    /// Creates the failure of a call. The server was there before, unless the error says otherwise.
    pub(crate) fn from_hub_call(tool: &str, error: &HubError) -> Self {
        let mut failure = Self::from_hub(error);
        if failure.exit == NOT_CONNECTED && error.field != NOT_RUNNING {
            failure.exit = CONNECTION_FAILED;
        }
        if !failure.message.contains(tool) {
            failure.message = format!("`{}`: {}", text::line(tool), failure.message);
        }
        failure
    }

    /// Creates the failure of a command that needs a running hub.
    pub(crate) fn no_hub() -> Self {
        let message = "no hub is running; start one with `mcpwire hub run`";
        Self::new((NOT_CONNECTED, Code::Unavailable, "hub"), message)
    }
}
