//! Failures of a hub: what its error means for the user.

use std::borrow::Borrow;

use mcpwire_hub::{ErrorCode, HubError, HubErrorKind};

use super::{CONNECTION_FAILED, Code, Failure, NOT_CONNECTED, TIMED_OUT, USAGE};
use crate::text;

impl Failure {
    /// Creates the failure for an error of a hub, other than that of a call.
    pub(crate) fn from_hub(error: impl Borrow<HubError>) -> Self {
        let error = error.borrow();
        let (code, exit) = match error.code() {
            ErrorCode::NotFound => (Code::NotFound, USAGE),
            ErrorCode::ValidationError => (Code::Validation, USAGE),
            ErrorCode::Conflict => (Code::Conflict, USAGE),
            ErrorCode::ServiceUnavailable => (Code::Unavailable, NOT_CONNECTED),
            ErrorCode::NetworkError => (Code::Network, NOT_CONNECTED),
        };
        let exit = match error.kind {
            HubErrorKind::Timeout => TIMED_OUT,
            HubErrorKind::PackageNotFound | HubErrorKind::RunnerNotFound => NOT_CONNECTED,
            _ => exit,
        };
        Self::new((exit, code, &error.field), text::line(&error.message))
    }

    /// Creates the failure of a call. The server was reached before, unless the error says otherwise.
    pub(crate) fn from_hub_call(tool: &str, error: &HubError) -> Self {
        let mut failure = Self::from_hub(error);
        if error.kind == HubErrorKind::UnknownTool
            || failure.exit == NOT_CONNECTED && error.kind != HubErrorKind::NotRunning
        {
            failure.exit = CONNECTION_FAILED;
        }
        // This message names the tool.
        if error.kind != HubErrorKind::UnknownTool {
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
