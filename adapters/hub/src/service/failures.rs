//! What went wrong with a connection, as hosts show it: evidence for the classifier, without secrets.

use std::borrow::Cow;

use mcpwire_core::http::HttpError;
use mcpwire_core::{CallError, CloseReason, ConnectError, SendError};
use mcpwire_driver::{Cause as ErrorCause, Error, ProcessReport, SpawnErrorKind};
use mcpwire_supervisor::{Cause, Evidence, Failure, HubError, PackageKind, Retry, SpawnFailure, Stage};

use super::plan;
use crate::config::McpConfig;
use crate::redact::Redactor;
use crate::tasks::Client;

/// A failure to start a server, or to list its tools.
pub(super) fn of(error: &Error, stage: Stage, config: &McpConfig, redactor: &Redactor) -> Failure {
    if let Some(error) = of_this_side(error, redactor) {
        return Failure::new(error, Retry::Never);
    }
    classify(error, stage, plan::kind(config.package.package_type), redactor)
}

/// The end of a connection that nobody asked for.
pub(super) fn of_closed(client: &Client, config: &McpConfig, redactor: &Redactor) -> Failure {
    // What cannot be sent any more says why.
    let kind = plan::kind(config.package.package_type);
    match client.notify_raw("notifications/cancelled", None) {
        Err(error) => classify(&error, Stage::Run, kind, redactor),
        Ok(()) => Evidence::new(kind, Stage::Run, Cause::Closed).classify(),
    }
}

/// A call that has no result.
pub(super) fn of_call(error: &Error, tool: &str, config: &McpConfig, redactor: &Redactor) -> HubError {
    match error.cause() {
        ErrorCause::Call(CallError::ToolNotFound { .. }) => return HubError::unknown_tool(tool),
        // Too large, or no object.
        ErrorCause::Send(SendError::Closed) => {}
        ErrorCause::Send(error) => return HubError::validation("arguments", redactor.redact(&error.to_string())),
        _ => {}
    }
    classify(error, Stage::Call, plan::kind(config.package.package_type), redactor).error
}

/// What no server has to do with.
fn of_this_side(error: &Error, redactor: &Redactor) -> Option<HubError> {
    let text = || redactor.redact(&error.to_string());
    match error.cause() {
        ErrorCause::Http(_) => Some(HubError::validation("transport", text())),
        ErrorCause::Spawn(error) => match error.kind {
            SpawnErrorKind::DirectoryNotFound => Some(HubError::validation("cwd", text())),
            SpawnErrorKind::Invalid => Some(HubError::validation("package.identifier", text())),
            _ => None,
        },
        _ => None,
    }
}

fn classify(error: &Error, stage: Stage, kind: PackageKind, redactor: &Redactor) -> Failure {
    let words = |text: String| Cow::Owned(redactor.redact(&text));
    let process = error.process();
    let cause = match error.cause() {
        ErrorCause::Spawn(error) => Cause::Spawn(match error.kind {
            SpawnErrorKind::NotFound | SpawnErrorKind::InterpreterNotFound => SpawnFailure::NotFound,
            SpawnErrorKind::NotPermitted => SpawnFailure::NotPermitted,
            SpawnErrorKind::NotExecutable => SpawnFailure::NotExecutable,
            _ => SpawnFailure::Other(words(error.to_string())),
        }),
        ErrorCause::Connect(error) => match error {
            ConnectError::UnsupportedVersion { server, .. } => Cause::NoCommonVersion(words(server.join(", "))),
            ConnectError::Refused { error, .. } => {
                Cause::Rpc { code: error.code, message: words(error.message.clone()) }
            }
            ConnectError::Timeout { after } => Cause::Timeout(*after),
            ConnectError::Closed => closed(process, kind),
            ConnectError::Cancelled => Cause::Cancelled,
            ConnectError::Failed(_) => Cause::Network(words(error.to_string())),
            ConnectError::Http { error, .. } => http(error, words),
            other => Cause::Unreadable(words(other.to_string())),
        },
        ErrorCause::Send(_) => closed(process, kind),
        ErrorCause::Call(error) => match error {
            CallError::Server { error, .. } => Cause::Rpc { code: error.code, message: words(error.message.clone()) },
            CallError::Timeout { after, .. } => Cause::Timeout(*after),
            CallError::Closed { reason: CloseReason::Failed(_), .. } => Cause::Network(words(error.to_string())),
            CallError::Closed { .. } => closed(process, kind),
            CallError::Cancelled { .. } => Cause::Cancelled,
            CallError::Http { error, .. } => http(error, words),
            other => Cause::Unreadable(words(other.to_string())),
        },
        _ => Cause::Network(words(error.to_string())),
    };
    let stderr = process.map(|process| redactor.redact(&process.stderr_tail)).unwrap_or_default();
    Evidence::new(kind, stage, cause).stderr(&stderr).classify()
}

fn closed<'a>(process: Option<&ProcessReport>, kind: PackageKind) -> Cause<'a> {
    match process.and_then(|process| process.exit) {
        Some(exit) => Cause::Exit { code: exit.code, signal: exit.signal },
        None if kind == PackageKind::Http => Cause::Network("the server closed the connection".into()),
        None => Cause::Closed,
    }
}

fn http<'a>(error: &HttpError, words: impl Fn(String) -> Cow<'a, str>) -> Cause<'a> {
    match error {
        HttpError::Status { status, .. } | HttpError::Unauthorized { status, .. } => {
            Cause::Http { status: *status, retry_after: error.retry_after() }
        }
        HttpError::Failed(_) | HttpError::SessionLost => Cause::Network(words(error.to_string())),
        other => Cause::Unreadable(words(other.to_string())),
    }
}
