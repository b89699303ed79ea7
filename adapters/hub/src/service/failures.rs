//! Converts errors of MCP clients to errors for the user of a hub: finds the likely cause of each error, and removes secrets.

use std::borrow::Cow;
use std::fmt::Display;

use mcpwire_authorization::LoginRequired;
use mcpwire_core::http::HttpError;
use mcpwire_core::{CallError, CloseReason, ConnectError, Json, RpcError, SendError};
use mcpwire_driver::{Cause as ErrorCause, Error, ProcessReport, SpawnErrorKind};
use mcpwire_supervisor::{Cause, Evidence, Failure, PackageKind, Retry, Stage};

use crate::config::McpConfig;
use crate::logins::{RequiredLogin, find_login_error};
use crate::redact::Redactor;
use crate::tasks::Client;
use crate::{ErrorCode, ErrorKind, HubError};

/// Converts the error of a server's start, or of its first tool list, to a failure for the supervisor. `stage` says in which step
/// of the start the error occurred.
pub(super) fn of_start(error: &Error, stage: Stage, config: &McpConfig, redactor: &Redactor) -> Failure {
    let kind = config.package_kind();
    let failure = of_login(error, redactor)
        .or_else(|| of_client(error, kind, redactor))
        .unwrap_or_else(|| classify(error, stage, kind, redactor));
    let mut reported = failure.error;
    if let Some(invalid) = error.invalid_messages() {
        let message = format!("{}{}", reported.message(), redactor.redact(&invalid.to_string()));
        reported = reported.with_message(message);
    }
    Failure::new(with_details(reported, error, redactor), failure.retry)
}

/// Returns why the connection of `client` has ended, as a failure for the supervisor.
pub(super) fn of_closed(client: &Client, config: &McpConfig, redactor: &Redactor) -> Failure {
    // After the connection has ended, sending any notification fails with the reason for the end.
    let kind = config.package_kind();
    match client.notify_raw("notifications/cancelled", None) {
        Err(error) => of_login(&error, redactor).unwrap_or_else(|| classify(&error, Stage::Run, kind, redactor)),
        Ok(()) => Evidence::new(kind, Stage::Run, Cause::Closed).classify(),
    }
}

/// Converts the error of a tool call to an error for the user.
pub(super) fn of_call(error: &Error, tool: &str, config: &McpConfig, redactor: &Redactor) -> HubError {
    reported(error, redactor, || of_failed_call(error, tool, config, redactor)).with_tool(tool)
}

/// Converts the error of a request other than a tool call to an error for the user.
pub(super) fn of_request(error: &Error, config: &McpConfig, redactor: &Redactor) -> HubError {
    reported(error, redactor, || classify(error, Stage::Run, config.package_kind(), redactor).error)
}

/// Returns the error for the user with the kind and the text of the client's error, and with the code and the field of the error
/// that `classified` returns. But if a login is needed, the text says how to log in or which setting to change.
fn reported(error: &Error, redactor: &Redactor, classified: impl FnOnce() -> HubError) -> HubError {
    let reported = match of_login(error, redactor) {
        Some(failure) => failure.error,
        None => classified().with_kind(error.kind()).with_client_message(text_of(error, redactor)),
    };
    with_details(reported, error, redactor)
}

/// Returns an error with the code and the field that fit a failed tool call, without the final text.
fn of_failed_call(error: &Error, tool: &str, config: &McpConfig, redactor: &Redactor) -> HubError {
    match error.cause() {
        ErrorCause::Call(CallError::ToolNotFound { .. }) => HubError::unknown_tool(tool),
        ErrorCause::Send(SendError::TooManyInFlight { .. } | SendError::TransmitFull { .. }) => {
            HubError::new(ErrorKind::RateLimited, "")
        }
        // The arguments are not a JSON object, or the request is too large.
        ErrorCause::Send(cause) if *cause != SendError::Closed => HubError::new(ErrorKind::Usage, "").at("arguments"),
        _ => classify(error, Stage::Call, config.package_kind(), redactor).error,
    }
}

/// Returns the text of the client's error, without the name of the server and without secrets.
fn text_of(error: &Error, redactor: &Redactor) -> String {
    redactor.redact(&error.without_server().to_string())
}

/// Adds details of the client's error to an error for the user: the server, the JSON-RPC error of the server, and whether a retry
/// is useful. Removes secrets from them. Also adds the client's error itself, unless it contains a secret that a program could
/// print.
fn with_details(reported: HubError, error: &Error, redactor: &Redactor) -> HubError {
    let rpc_error = error.rpc_error().map(|error| without_secrets(error, redactor));
    let retry_after = reported.retry_after().or(error.retry_after());
    let reported = reported.with_server(&redactor.redact(error.server()));
    let reported =
        reported.with_rpc_error(rpc_error).with_retry_after(retry_after).with_retryable(error.is_retryable());
    // The `Debug` output contains only a part of the data, so the data is added.
    let data = error.rpc_error().and_then(|error| error.data.as_ref()).map(Json::get);
    let everything = format!("{error} {error:?} {:?} {}", error.cause(), data.unwrap_or_default());
    if redactor.redact(&everything) == everything { reported.with_client_error(error.clone()) } else { reported }
}

fn without_secrets(error: &RpcError, redactor: &Redactor) -> RpcError {
    let mut clean = RpcError::new(error.code, redactor.redact(&error.message));
    // If a number was a secret, its replacement is not valid JSON. The data is then removed.
    clean.data = error.data.as_ref().and_then(|data| Json::parse(redactor.redact(data.get())).ok());
    clean
}

/// Returns the failure of a request that needs a login, or whose login has failed. Returns `None` if `error` is not about a
/// login.
pub(super) fn of_login(error: &Error, redactor: &Redactor) -> Option<Failure> {
    if error.kind() == ErrorKind::LoginRequired {
        let reported = match LoginRequired::find(error) {
            Some(required) => HubError::login_required(redactor.redact(&required.to_string())),
            None => HubError::login_required("").with_client_message(text_of(error, redactor)),
        };
        let scopes = RequiredLogin::find(error).map(|required| required.redacted(redactor).scopes).unwrap_or_default();
        return Some(Failure::new(reported.with_scopes(scopes), Retry::Login));
    }
    let error = find_login_error(error)?;
    let message = redactor.redact(error.message());
    let error = error.with_message(message);
    let retry = if error.kind() == ErrorKind::Unavailable { Retry::Backoff } else { Retry::Login };
    Some(Failure::new(error, retry))
}

/// Returns the failure of a start that the client could not carry out, for example because the program or the working directory
/// does not exist. The message is the client's message. Returns `None` if the server may have caused the error.
fn of_client(error: &Error, kind: PackageKind, redactor: &Redactor) -> Option<Failure> {
    // A package of a fetched kind, such as npm, is started by another program. The field of the error names the setting that
    // chooses that program.
    let program = if kind.is_fetched() { "package.package_type" } else { "package.identifier" };
    let (code, field) = match error.cause() {
        ErrorCause::Http(_) => (ErrorCode::ValidationError, "transport"),
        ErrorCause::Spawn(error) => match error.kind() {
            SpawnErrorKind::NotFound | SpawnErrorKind::InterpreterNotFound => (ErrorCode::NotFound, program),
            SpawnErrorKind::NotPermitted | SpawnErrorKind::NotExecutable => (ErrorCode::ValidationError, program),
            SpawnErrorKind::DirectoryNotFound => (ErrorCode::ValidationError, "cwd"),
            SpawnErrorKind::Invalid => (ErrorCode::ValidationError, "package.identifier"),
            _ => (ErrorCode::ServiceUnavailable, ""),
        },
        _ => return None,
    };
    let reported = HubError::new(error.kind(), "").with_code(code).at(field);
    // Only failures of the operating system, such as too many processes, may disappear without a change of the configuration.
    let retry = if field.is_empty() { Retry::Backoff } else { Retry::Never };
    Some(Failure::new(reported.with_client_message(text_of(error, redactor)), retry))
}

fn classify(error: &Error, stage: Stage, kind: PackageKind, redactor: &Redactor) -> Failure {
    let text = |text: &dyn Display| Cow::Owned(redactor.redact(&text.to_string()));
    let process = error.process();
    let cause = match error.cause() {
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
        cause => Cause::Network(text(cause)),
    };
    let stderr = process.map(|process| redactor.redact(process.stderr_tail())).unwrap_or_default();
    Evidence::new(kind, stage, cause).stderr(&stderr).classify()
}

#[cfg(test)]
mod tests {
    use std::error::Error as StdError;
    use std::sync::Arc;
    use std::time::Duration;

    use mcpwire_client::{McpServerDef, SpawnError};
    use mcpwire_core::http::{Failure as HttpFailure, FailureKind};

    use super::*;

    fn of_list(cause: impl Into<ErrorCause>) -> Failure {
        let config = McpConfig::http("a", "https://a.example/mcp");
        of_start(&Error::new("a", cause), Stage::List, &config, &Redactor::default())
    }

    fn http(error: HttpError) -> CallError {
        CallError::Http { method: "tools/list".into(), error: Arc::new(error) }
    }

    #[test]
    fn each_error_of_the_engine_has_one_class() {
        use ErrorCode::{NetworkError, NotFound, ServiceUnavailable};
        use ErrorKind::{EndpointNotFound, Network, Protocol, Server};
        use Retry::{Backoff, Never};

        let excerpt = || "<html>".to_owned();
        let closed = |reason| CallError::Closed { method: "tools/list".into(), reason };
        let refused =
            |code| CallError::Server { method: "tools/list".into(), error: Arc::new(RpcError::new(code, "no")) };
        let no_answer = HttpError::NoAnswer { status: 200, attempts: 0 };
        let not_renewed = HttpError::NotRenewed { reason: "HTTP 404".into() };
        let endpoint = HttpError::Endpoint { uri: "https://b.example".into() };
        let of_html = HttpError::ContentType { status: 200, found: "text/html".into(), excerpt: excerpt() };
        let broken = HttpError::Failed(HttpFailure::new(FailureKind::Broken, "broken pipe"));
        let not_found = HttpError::Status { status: 404, excerpt: excerpt(), retry_after: None };
        let invalid = |text: &str| format!("the MCP server sent an invalid message: {text}");
        let protocol = |error, text| (http(error), Protocol, ServiceUnavailable, Backoff, invalid(text));
        let network = |error, text: &str| (error, Network, NetworkError, Backoff, format!("Connection failed: {text}"));
        let no_server = "there is no MCP server at this address (HTTP 404)".to_owned();
        for (error, kind, code, retry, text) in [
            protocol(no_answer, "the server's response (HTTP 200) ended without an answer"),
            protocol(not_renewed, "the server has ended the session, and opened no new one: HTTP 404"),
            protocol(endpoint, "the server names an endpoint on another origin"),
            protocol(of_html, "the server answered HTTP 200 with"),
            network(http(HttpError::SessionLost), "the server has ended the session"),
            network(http(broken), ""),
            network(closed(CloseReason::ByServer), "the server closed the connection"),
            network(closed(CloseReason::Failed("broken pipe".into())), ""),
            (http(not_found), EndpointNotFound, NotFound, Never, no_server),
            (refused(-32603), Server, ServiceUnavailable, Backoff, "no".to_owned()),
            (refused(-32601), Server, ServiceUnavailable, Never, "no".to_owned()),
        ] {
            let Failure { error, retry: found } = of_list(error);
            assert_eq!((error.kind(), error.code(), found), (kind, code, retry), "{error}");
            assert!(error.message().starts_with(&text), "{error}");
        }
        let version = ConnectError::UnsupportedVersion { server: vec!["2030-01-01".into()], client: Vec::new() };
        let error = of_list(version).error;
        assert_eq!(error.message(), "Unsupported protocol version (server: 2030-01-01)");
    }

    #[test]
    fn a_message_that_is_the_text_of_the_client_has_no_source_and_names_no_server() {
        let broken = || std::io::Error::other("broken pipe");
        for (cause, message) in [
            (ErrorCause::from(broken()), "Connection failed: the connection failed: broken pipe"),
            (ConnectError::Failed("it broke".into()).into(), "Connection failed: the connection failed: it broke"),
        ] {
            let error = of_list(cause).error;
            assert_eq!((error.server(), error.message()), (Some("a"), message));
            assert!(
                error.source().is_none() && error.client_error().is_some_and(<dyn StdError + Send + Sync>::is::<Error>)
            );
        }
        let error = of_list(ConnectError::Timeout { after: Duration::from_secs(3) }).error;
        assert!(error.source().is_some(), "the message has another text: {error}");
    }

    #[test]
    fn a_program_that_cannot_be_started() {
        use ErrorCode::{NotFound, ServiceUnavailable, ValidationError};

        let (npm, binary) = (McpConfig::npm("a", "a"), McpConfig::binary("a", "a"));
        let docker = McpConfig::docker("a", "a");
        for (config, kind, code, field, retry) in [
            (&npm, SpawnErrorKind::NotFound, NotFound, "package.package_type", Retry::Never),
            (&docker, SpawnErrorKind::NotFound, NotFound, "package.package_type", Retry::Never),
            (&binary, SpawnErrorKind::NotFound, NotFound, "package.identifier", Retry::Never),
            (&binary, SpawnErrorKind::InterpreterNotFound, NotFound, "package.identifier", Retry::Never),
            (&binary, SpawnErrorKind::NotPermitted, ValidationError, "package.identifier", Retry::Never),
            (&binary, SpawnErrorKind::NotExecutable, ValidationError, "package.identifier", Retry::Never),
            (&npm, SpawnErrorKind::Invalid, ValidationError, "package.identifier", Retry::Never),
            (&npm, SpawnErrorKind::DirectoryNotFound, ValidationError, "cwd", Retry::Never),
            (&npm, SpawnErrorKind::Other, ServiceUnavailable, "", Retry::Backoff),
        ] {
            let reason = SpawnError::new(&McpServerDef::new("run"), kind, std::io::Error::other("why"));
            let client = Error::new("a", reason);
            let Failure { error, retry: found } = of_start(&client, Stage::Launch, config, &Redactor::default());
            assert_eq!((error.kind(), error.code(), error.field(), found), (ErrorKind::Start, code, field, retry));
            assert_eq!((error.to_string(), error.source().is_none()), (client.to_string(), true));
        }
    }

    #[test]
    fn a_call_of_an_unknown_tool_names_the_tool_and_no_server_has_failed() {
        let config = McpConfig::binary("a", "a");
        let error = CallError::ToolNotFound { tool: "x".into(), error: Some(Arc::new(RpcError::new(-32602, "no"))) };
        let error = of_call(&Error::new("a", error), "x", &config, &Redactor::default());
        assert_eq!((error.kind(), error.code()), (ErrorKind::ToolNotFound, ErrorCode::NotFound));
        assert_eq!((error.field(), error.tool()), ("tool_name", Some("x")));
    }
}
