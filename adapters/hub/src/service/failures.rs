//! Converts errors of the MCP client to errors for users: removes secrets, and finds the likely cause of each error.

use std::borrow::Cow;
use std::fmt::Display;

use mcpwire_authorization::LoginRequired;
use mcpwire_core::http::HttpError;
use mcpwire_core::{CallError, CloseReason, ConnectError, Json, RpcError, SendError, printable};
use mcpwire_driver::{Cause as ErrorCause, Error, ProcessReport, SpawnErrorKind};
use mcpwire_supervisor::{Cause, Evidence, Failure, PackageKind, Retry, SpawnFailure, Stage};

use crate::config::McpConfig;
use crate::logins::{RequiredLogin, find_login_error};
use crate::redact::Redactor;
use crate::tasks::Client;
use crate::{ErrorKind, HubError};

/// Converts an error to a failure for the supervisor. The error occurred while a server was started, or while its tools
/// were listed.
pub(super) fn of_start(error: &Error, stage: Stage, config: &McpConfig, redactor: &Redactor) -> Failure {
    let failure = of_login(error, redactor)
        .or_else(|| of_client(error, redactor).map(|error| Failure::new(error, Retry::Never)))
        .unwrap_or_else(|| classify(error, stage, config.package_kind(), redactor));
    let mut reported = with_details(failure.error, error, redactor);
    if let ErrorCause::Spawn(_) = error.cause() {
        reported = reported.with_message(text_of(error, redactor));
    }
    Failure::new(reported, failure.retry)
}

/// Returns the reason why the connection of `client` to its server has ended, as a failure for the supervisor.
pub(super) fn of_closed(client: &Client, config: &McpConfig, redactor: &Redactor) -> Failure {
    // After the connection has ended, sending a notification fails with the reason for the end.
    let kind = config.package_kind();
    match client.notify_raw("notifications/cancelled", None) {
        Err(error) => of_login(&error, redactor).unwrap_or_else(|| classify(&error, Stage::Run, kind, redactor)),
        Ok(()) => Evidence::new(kind, Stage::Run, Cause::Closed).classify(),
    }
}

/// Converts the error of a tool call that returned no result to an error for the user. It has the kind and the text of the
/// client's error, unless a login is needed: then the text says how the configuration has to change.
pub(super) fn of_call(error: &Error, tool: &str, config: &McpConfig, redactor: &Redactor) -> HubError {
    let reported = match of_login(error, redactor) {
        Some(failure) => failure.error,
        None => {
            of_failed_call(error, tool, config, redactor).with_kind(error.kind()).with_message(text_of(error, redactor))
        }
    };
    with_details(reported, error, redactor).with_tool(tool)
}

/// Returns an error with the code and the field of a failed tool call.
fn of_failed_call(error: &Error, tool: &str, config: &McpConfig, redactor: &Redactor) -> HubError {
    match error.cause() {
        ErrorCause::Call(CallError::ToolNotFound { .. }) => HubError::unknown_tool(tool),
        ErrorCause::Send(SendError::TooManyInFlight { .. } | SendError::TransmitFull { .. }) => {
            HubError::new(ErrorKind::RateLimited, "")
        }
        // The arguments are not a JSON object, or are too large.
        ErrorCause::Send(cause) if *cause != SendError::Closed => HubError::new(ErrorKind::Usage, "").at("arguments"),
        _ => classify(error, Stage::Call, config.package_kind(), redactor).error,
    }
}

/// Returns the text of the client's error without the name of the server and without secrets.
fn text_of(error: &Error, redactor: &Redactor) -> String {
    let text = error.to_string();
    let prefix = format!("server `{}`: ", printable(error.server()));
    redactor.redact(text.strip_prefix(&prefix).unwrap_or(&text))
}

/// Adds the server, the server's JSON-RPC error, whether the operation can be repeated, and the client's error to an error for the
/// user. Secrets are removed from the JSON-RPC error. A client's error that contains a secret is not added, because a program could print it.
fn with_details(reported: HubError, error: &Error, redactor: &Redactor) -> HubError {
    let rpc_error = error.rpc_error().map(|error| without_secrets(error, redactor));
    let retry_after = reported.retry_after().or(error.retry_after());
    let reported = reported.with_server(&redactor.redact(error.server()));
    let reported =
        reported.with_rpc_error(rpc_error).with_retry_after(retry_after).with_retryable(error.is_retryable());
    // `Debug` shows data in part.
    let data = error.rpc_error().and_then(|error| error.data.as_ref()).map(Json::get);
    let everything = format!("{error} {error:?} {:?} {}", error.cause(), data.unwrap_or_default());
    if redactor.redact(&everything) == everything { reported.with_client_error(error.clone()) } else { reported }
}

fn without_secrets(error: &RpcError, redactor: &Redactor) -> RpcError {
    let mut clean = RpcError::new(error.code, redactor.redact(&error.message));
    // If a number was a secret, its replacement is not valid JSON, and the data is removed.
    clean.data = error.data.as_ref().and_then(|data| Json::parse(redactor.redact(data.get())).ok());
    clean
}

/// Returns the failure of a request that needs a login, or whose login has failed for good. Returns `None` for all other errors.
pub(super) fn of_login(error: &Error, redactor: &Redactor) -> Option<Failure> {
    if error.kind() == ErrorKind::LoginRequired {
        let text = LoginRequired::find(error).map_or_else(|| error.to_string(), ToString::to_string);
        let message = redactor.redact(&text);
        let scopes = RequiredLogin::find(error).map(|required| required.redacted(redactor).scopes).unwrap_or_default();
        return Some(Failure::new(HubError::login_required(message).with_scopes(scopes), Retry::Login));
    }
    let error = find_login_error(error)?;
    let message = redactor.redact(error.message());
    let error = error.with_message(message);
    let retry = if error.kind() == ErrorKind::Unavailable { Retry::Backoff } else { Retry::Login };
    Some(Failure::new(error, retry))
}

/// Returns an error for the user if the configuration caused the error, for example a missing working directory.
/// Returns `None` if the server may have caused it.
fn of_client(error: &Error, redactor: &Redactor) -> Option<HubError> {
    let field = match error.cause() {
        ErrorCause::Http(_) => "transport",
        ErrorCause::Spawn(error) => match error.kind() {
            SpawnErrorKind::DirectoryNotFound => "cwd",
            SpawnErrorKind::Invalid => "package.identifier",
            _ => return None,
        },
        _ => return None,
    };
    Some(HubError::validation(field, text_of(error, redactor)).with_kind(error.kind()))
}

fn classify(error: &Error, stage: Stage, kind: PackageKind, redactor: &Redactor) -> Failure {
    let text = |text: &dyn Display| Cow::Owned(redactor.redact(&text.to_string()));
    let process = error.process();
    let cause = match error.cause() {
        ErrorCause::Spawn(error) => Cause::Spawn(match error.kind() {
            SpawnErrorKind::NotFound | SpawnErrorKind::InterpreterNotFound => SpawnFailure::NotFound,
            SpawnErrorKind::NotPermitted => SpawnFailure::NotPermitted,
            SpawnErrorKind::NotExecutable => SpawnFailure::NotExecutable,
            _ => SpawnFailure::Other(text(error)),
        }),
        ErrorCause::Connect(ConnectError::UnsupportedVersion { server, .. }) => {
            Cause::NoCommonVersion(text(&server.join(", ")))
        }
        ErrorCause::Connect(ConnectError::Refused { error, .. })
        | ErrorCause::Call(CallError::Server { error, .. }) => {
            Cause::Rpc { code: error.code, message: text(&error.message) }
        }
        ErrorCause::Connect(ConnectError::Timeout { after }) | ErrorCause::Call(CallError::Timeout { after, .. }) => {
            Cause::Timeout(*after)
        }
        ErrorCause::Connect(ConnectError::Cancelled) | ErrorCause::Call(CallError::Cancelled { .. }) => {
            Cause::Cancelled
        }
        ErrorCause::Connect(ConnectError::Http { error, .. }) | ErrorCause::Call(CallError::Http { error, .. }) => {
            match &**error {
                HttpError::Status { status, .. } | HttpError::Unauthorized { status, .. } => {
                    Cause::Http { status: *status, retry_after: error.retry_after() }
                }
                HttpError::Failed(_) | HttpError::SessionLost => Cause::Network(text(error)),
                _ => Cause::Unreadable(text(error)),
            }
        }
        cause @ (ErrorCause::Connect(ConnectError::Failed(_))
        | ErrorCause::Call(CallError::Closed { reason: CloseReason::Failed(_), .. })) => Cause::Network(text(cause)),
        ErrorCause::Connect(ConnectError::Closed)
        | ErrorCause::Call(CallError::Closed { .. })
        | ErrorCause::Send(_) => match process.and_then(ProcessReport::exit) {
            Some(exit) => Cause::Exit { code: exit.code, signal: exit.signal },
            None if kind == PackageKind::Http => Cause::Network("the server closed the connection".into()),
            None => Cause::Closed,
        },
        cause @ (ErrorCause::Connect(_) | ErrorCause::Call(_)) => Cause::Unreadable(text(cause)),
        _ => Cause::Network(text(error)),
    };
    let stderr = process.map(|process| redactor.redact(process.stderr_tail())).unwrap_or_default();
    Evidence::new(kind, stage, cause).stderr(&stderr).classify()
}
