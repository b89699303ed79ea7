//! [`Evidence`]: derives the error for the user, and whether a retry can help, from what is known about a failure.
//! [`Cause`] is the failure as the client observed it, and [`Stage`] the operation that failed.

mod known_messages;
mod stderr;

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use core::time::Duration;

use self::known_messages::IDENTIFIER;
use self::stderr::{error_line, quote};
use crate::{ErrorCode, ErrorKind, Failure, HubError, PackageKind, Retry};
use mcpwire_core::RpcError;
use mcpwire_text::Seconds;

/// Everything known about a failure of a server. [`classify`](Self::classify) derives the error for the user.
///
/// ```
/// # mod mcpwire { pub mod hub { pub use mcpwire_supervisor::ErrorCode; pub mod supervisor { pub use
/// # mcpwire_supervisor::{Cause, Evidence, PackageKind, Retry, Stage}; } } }
/// use mcpwire::hub::ErrorCode;
/// use mcpwire::hub::supervisor::{Cause, Evidence, PackageKind, Retry, Stage};
///
/// let failure = Evidence::new(PackageKind::Docker, Stage::Negotiate, Cause::Exit { code: Some(125), signal: None })
///     .stderr("docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?")
///     .classify();
/// assert_eq!(failure.error.code(), ErrorCode::ServiceUnavailable);
/// assert!(failure.error.message().starts_with("Docker not running"));
/// assert_eq!(failure.retry, Retry::Backoff);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Evidence<'a> {
    /// How the server is packaged. Determines for which known error messages [`stderr`](Self::stderr) is searched.
    pub kind: PackageKind,
    /// The operation during which the server failed.
    pub stage: Stage,
    /// The cause of the failure, as the client observed it.
    pub cause: Cause<'a>,
    /// The last lines that the server wrote to standard error, with secrets removed. Empty if there are none.
    pub stderr: &'a str,
}

impl<'a> Evidence<'a> {
    /// Creates the evidence of a failure. The standard error output is empty until [`stderr`](Self::stderr) is called.
    pub fn new(kind: PackageKind, stage: Stage, cause: Cause<'a>) -> Self {
        Evidence { kind, stage, cause, stderr: "" }
    }

    /// Sets the last lines that the server wrote to standard error. Remove secrets from `stderr` first.
    pub fn stderr(mut self, stderr: &'a str) -> Self {
        self.stderr = stderr;
        self
    }

    /// Derives the failure from this evidence: the error to show to the user, and the condition under which a retry can
    /// succeed.
    pub fn classify(&self) -> Failure {
        match &self.cause {
            Cause::Exit { .. } | Cause::Closed => self.exit_failure(),
            Cause::Timeout(after) => self.timeout_failure(*after),
            Cause::Http { status, retry_after } => self.http_failure(*status, *retry_after),
            Cause::Network(text) => {
                let what = if self.stage.is_start() { "Connection failed" } else { "Connection lost" };
                self.quoting(HubError::network("transport", ""), format!("{what}: {}", quote(text)))
            }
            Cause::Rpc { code, message } => self.rpc_failure(*code, message),
            Cause::NoCommonVersion(versions) => {
                self.version_failure(format!("Unsupported protocol version (server: {})", quote(versions)))
            }
            Cause::Unreadable(text) => {
                let text = format!("the MCP server sent an invalid message: {}", quote(text));
                self.quoting(HubError::new(ErrorKind::Protocol, ""), text)
            }
            Cause::Cancelled => {
                Failure::at_field(ErrorKind::Cancelled, "", "the operation was cancelled", Retry::Never)
            }
        }
    }

    /// Sets the kind to [`ErrorKind::Connect`] if the failure occurred while the connection was being opened, as the
    /// clients do.
    fn opening(&self, failure: Failure) -> Failure {
        let is_opening = matches!(self.stage, Stage::Launch | Stage::Negotiate);
        let kind = if is_opening { ErrorKind::Connect } else { failure.error.kind() };
        Failure { error: failure.error.with_kind(kind), ..failure }
    }

    /// Returns a failure whose message contains the text of the client's error. The client's error remains its source
    /// if the server wrote to standard error, because that error then contains more than the message.
    fn quoting(&self, error: HubError, message: String) -> Failure {
        let is_all = self.stderr.is_empty();
        let error = if is_all { error.with_client_message(message) } else { error.with_message(message) };
        self.opening(Failure::new(error, Retry::Backoff))
    }

    /// Returns the failure that the server's standard error explains, or `None` if it contains no known explanation.
    fn stderr_failure(&self) -> Option<Failure> {
        known_messages::find_failure(self.kind, self.stderr)
            .or_else(|| stderr::missing_credential(self.stderr).map(|name| Failure::missing_credentials([name])))
    }

    fn exit_failure(&self) -> Failure {
        if let Some(failure) = self.stage.is_start().then(|| self.stderr_failure()).flatten() {
            return failure;
        }
        let what = match self.cause {
            Cause::Exit { code: Some(code), .. } => format!("MCP server exited (code {code})"),
            Cause::Exit { signal: Some(signal), .. } => format!("MCP server exited (signal {signal})"),
            Cause::Exit { .. } => "MCP server exited".into(),
            _ => "the MCP server closed the connection".into(),
        };
        let output = error_line(self.stderr).map_or_else(|| "no stderr captured".into(), quote);
        let text = format!("{what}: {output}");
        match self.cause {
            // Shells exit with 127 if a program does not exist, and with 126 if it cannot be executed.
            Cause::Exit { code: Some(127), .. } if self.stage.is_start() => Failure::at_field(
                ErrorKind::PackageNotFound,
                IDENTIFIER,
                format!("Package not found: {text}"),
                Retry::Never,
            ),
            Cause::Exit { code: Some(126), .. } if self.stage.is_start() => {
                self.opening(Failure::at_field(ErrorKind::InvalidConfiguration, IDENTIFIER, text, Retry::Never))
            }
            _ => self.opening(Failure::at_field(ErrorKind::Closed, "", text, Retry::Backoff)),
        }
    }

    fn timeout_failure(&self, after: Duration) -> Failure {
        let what = match self.stage {
            Stage::Launch => "Start timed out",
            Stage::Negotiate => "Handshake timed out",
            Stage::List => "Listing tools timed out",
            Stage::Run => "No response",
            Stage::Call => "Tool call timed out",
        };
        let mut text = format!("{what} after {}", Seconds(after));
        // A package manager without network access writes an error to standard error long before it exits.
        if self.stage.is_start()
            && let Some(line) = error_line(self.stderr)
        {
            text = format!("{text}: {}", quote(line));
        }
        // A repeated start or tool list request has no further effect, but a repeated tool call may have one.
        Failure::new(HubError::timeout(text).with_retryable(self.stage.is_start()), Retry::Backoff)
    }

    fn version_failure(&self, text: String) -> Failure {
        self.opening(Failure::at_field(ErrorKind::Protocol, "protocol_version", text, Retry::Never))
    }

    fn rpc_failure(&self, code: i64, message: &str) -> Failure {
        let text =
            if message.is_empty() { format!("the MCP server answered with error {code}") } else { quote(message) };
        let in_call = self.stage == Stage::Call;
        match code {
            UNSUPPORTED_VERSION => self.version_failure(format!("Unsupported protocol version: {text}")),
            RpcError::INVALID_PARAMS if in_call => {
                Failure::at_field(ErrorKind::Server, "arguments", text, Retry::Never)
                    .with_code(ErrorCode::ValidationError)
            }
            // A server that rejects the opening request will reject it again, except after an internal error.
            _ if !in_call && code != RpcError::INTERNAL_ERROR => {
                self.opening(Failure::at_field(ErrorKind::Server, "", text, Retry::Never))
            }
            _ => self.opening(Failure::at_field(ErrorKind::Server, "", text, Retry::Backoff)),
        }
    }

    fn http_failure(&self, status: u16, retry_after: Option<Duration>) -> Failure {
        match status {
            401 | 403 => {
                let what = if status == 401 { "asks for authorization" } else { "does not allow it" };
                let text = format!("the server {what} (HTTP {status})");
                Failure::at_field(ErrorKind::Unauthorized, "authorization", text, Retry::Login)
            }
            404 | 410 => {
                let text = format!("there is no MCP server at this address (HTTP {status})");
                Failure::at_field(ErrorKind::EndpointNotFound, IDENTIFIER, text, Retry::Never)
            }
            407 => {
                let text = "the proxy requires a login (HTTP 407); set its user name and password";
                Failure::at_field(ErrorKind::Unauthorized, "transport", text, Retry::Never)
                    .with_code(ErrorCode::NetworkError)
            }
            408 | 425 | 429 | 500..=599 => {
                let when = retry_after.map(|wait| format!("; it asks to try again after {} s", wait.as_secs()));
                let text = format!("the MCP server is not available (HTTP {status}){}", when.unwrap_or_default());
                let kind = if status == 429 { ErrorKind::RateLimited } else { ErrorKind::Unavailable };
                // A response with these statuses or `Retry-After` means that the server did not process the request.
                let is_unprocessed = retry_after.is_some() || matches!(status, 408 | 425 | 429 | 503);
                let error = HubError::new(kind, text)
                    .with_retry_after(retry_after)
                    .with_retryable(is_unprocessed || self.stage.is_start());
                Failure::new(error, retry_after.map_or(Retry::Backoff, Retry::After))
            }
            _ => {
                let text = format!("the address is not an MCP endpoint (HTTP {status}); check the address");
                let kind = if status == 405 { ErrorKind::EndpointNotFound } else { ErrorKind::Server };
                let failure =
                    Failure::at_field(kind, "transport", text, Retry::Never).with_code(ErrorCode::ValidationError);
                if status == 405 { failure } else { self.opening(failure) }
            }
        }
    }
}

/// JSON-RPC error code for an unsupported protocol version (specification 2026-07-28: basic/versioning).
const UNSUPPORTED_VERSION: i64 = -32_022;

/// The operation during which a server failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// The process was being started, or the connection was being opened.
    Launch,
    /// The protocol version was being negotiated.
    Negotiate,
    /// The server was connected, and its tool list was being loaded.
    List,
    /// The server was running. If a tool call failed, the stage is [`Stage::Call`] instead.
    Run,
    /// A tool was being called.
    Call,
}

impl Stage {
    const fn is_start(self) -> bool {
        matches!(self, Stage::Launch | Stage::Negotiate | Stage::List)
    }
}

/// The cause of a server failure, as the client observed it.
///
/// Two errors are not server failures: a program that cannot be started, and a tool that reports an error in its
/// result.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause<'a> {
    /// The process of the server exited.
    Exit {
        /// The exit code, or `None` if a signal terminated the process.
        code: Option<i32>,
        /// The number of the signal that terminated the process. `None` if the process was not terminated by a signal.
        signal: Option<i32>,
    },
    /// The connection to the server ended without a known reason.
    Closed,
    /// The operation timed out. Contains the timeout.
    Timeout(Duration),
    /// The server responded with an HTTP error status.
    Http {
        /// The HTTP status code.
        status: u16,
        /// The delay that the server requested in the `Retry-After` header, or `None` without that header.
        retry_after: Option<Duration>,
    },
    /// The connection could not be opened, or was lost. Contains the error message.
    Network(Cow<'a, str>),
    /// The server responded with a JSON-RPC error.
    Rpc {
        /// The JSON-RPC error code.
        code: i64,
        /// The message of the JSON-RPC error.
        message: Cow<'a, str>,
    },
    /// Client and server support no common protocol version. Contains the versions of the server.
    NoCommonVersion(Cow<'a, str>),
    /// The server sent an invalid message. Contains a description of the error.
    Unreadable(Cow<'a, str>),
    /// The client cancelled the operation.
    Cancelled,
}
