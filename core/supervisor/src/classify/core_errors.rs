//! Conversions from the errors of `mcpwire-core` to a [`Cause`].

use alloc::borrow::Cow;
use alloc::format;

use super::Cause;
use mcpwire_core::{CallError, CloseReason, ConnectError};

#[cfg(feature = "http")]
use mcpwire_core::http::HttpError;

impl<'a> From<&'a ConnectError> for Cause<'a> {
    fn from(error: &'a ConnectError) -> Self {
        match error {
            ConnectError::UnsupportedVersion { server, .. } => Cause::NoCommonVersion(server.join(", ").into()),
            ConnectError::Refused { error, .. } => {
                Cause::Rpc { code: error.code, message: Cow::Borrowed(&error.message) }
            }
            ConnectError::Invalid { error, .. } => Cause::Unreadable(format!("{error}").into()),
            ConnectError::Timeout { after } => Cause::Timeout(*after),
            ConnectError::Closed => Cause::Closed,
            ConnectError::Cancelled => Cause::Cancelled,
            ConnectError::Failed(_) => Cause::Network(format!("{error}").into()),
            #[cfg(feature = "http")]
            ConnectError::Http { error, .. } => Cause::from(&**error),
            other => Cause::Unreadable(format!("{other}").into()),
        }
    }
}

impl<'a> From<&'a CallError> for Cause<'a> {
    /// Returns the cause of a failed tool call.
    ///
    /// For a tool that no server offers, use [`HubError::unknown_tool`](crate::HubError::unknown_tool) instead, because
    /// no server has failed.
    fn from(error: &'a CallError) -> Self {
        match error {
            CallError::Server { error, .. } | CallError::ToolNotFound { error: Some(error), .. } => {
                Cause::Rpc { code: error.code, message: Cow::Borrowed(&error.message) }
            }
            CallError::Timeout { after, .. } => Cause::Timeout(*after),
            CallError::Cancelled { .. } => Cause::Cancelled,
            CallError::Closed { reason: CloseReason::NotOpened(error), .. } => Cause::from(&**error),
            CallError::Closed { reason: CloseReason::ByClient, .. } => Cause::Cancelled,
            CallError::Closed { reason: CloseReason::ByServer, .. } => Cause::Closed,
            CallError::Closed { reason: reason @ CloseReason::Failed(_), .. } => {
                Cause::Network(format!("{reason}").into())
            }
            #[cfg(feature = "http")]
            CallError::Http { error, .. } => Cause::from(&**error),
            other => Cause::Unreadable(format!("{other}").into()),
        }
    }
}

#[cfg(feature = "http")]
impl<'a> From<&'a HttpError> for Cause<'a> {
    fn from(error: &'a HttpError) -> Self {
        match error {
            // The response is a web page or empty, so the address is not an MCP endpoint.
            HttpError::ContentType { .. } => Cause::Unreadable(format!("{error}").into()),
            HttpError::NoAnswer { .. } => Cause::Network(format!("{error}").into()),
            error => match error.status() {
                Some(status) => Cause::Http { status, retry_after: error.retry_after() },
                None => Cause::Network(format!("{error}").into()),
            },
        }
    }
}
