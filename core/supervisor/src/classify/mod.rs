//! Classifies failures: derives the error for the user and the retry decision from the evidence.

mod core_errors;
mod failure;
mod known_messages;
mod stderr;

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use core::time::Duration;

use self::failure::quote;
use self::stderr::error_line;
use super::{ErrorCode, Failure, HubError, PackageKind, Retry};
use mcpwire_core::{ErrorKind, RpcError};

/// The operation during which a server failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// The process was being started, or the connection was being opened.
    Launch,
    /// The protocol version was being negotiated.
    Negotiate,
    /// The tool list was being loaded.
    List,
    /// The server was running. If a tool call failed, the stage is [`Stage::Call`] instead.
    Run,
    /// A tool was being called.
    Call,
}

impl Stage {
    const fn is_opening(self) -> bool {
        matches!(self, Stage::Launch | Stage::Negotiate)
    }

    const fn is_start(self) -> bool {
        matches!(self, Stage::Launch | Stage::Negotiate | Stage::List)
    }
}

/// The reason why a process could not be started.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpawnFailure<'a> {
    /// The program file does not exist (`ENOENT`).
    NotFound,
    /// The user has no permission to execute the program (`EACCES`).
    NotPermitted,
    /// The file has no executable format (`ENOEXEC`).
    NotExecutable,
    /// Any other error. Contains the error message of the operating system.
    Other(Cow<'a, str>),
}

/// The cause of a server failure, as the client observed it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause<'a> {
    /// The process of the server could not be started.
    Spawn(SpawnFailure<'a>),
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
    /// The connection could not be opened, or broke. Contains the error message.
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
    /// The tool reported an error (`isError`). Contains the text of the tool result.
    Tool(Cow<'a, str>),
    /// The client cancelled the operation.
    Cancelled,
}

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
            Cause::Spawn(failure) => self.spawn_failure(failure),
            Cause::Exit { .. } | Cause::Closed if self.stage.is_start() => {
                self.stderr_failure().unwrap_or_else(|| self.exit_failure())
            }
            Cause::Exit { .. } | Cause::Closed => self.exit_failure(),
            Cause::Timeout(after) => self.timeout_failure(*after),
            Cause::Http { status, retry_after } => self.http_failure(*status, *retry_after),
            Cause::Network(text) => {
                let what = if self.stage.is_start() { "Connection failed" } else { "Connection lost" };
                let error = HubError::network("transport", format!("{what}: {}", quote(text)));
                Failure::new(self.opening(error), Retry::Backoff)
            }
            Cause::Rpc { code, message } => self.rpc_failure(*code, message),
            Cause::NoCommonVersion(versions) => {
                let text = format!("Unsupported protocol version (server: {})", quote(versions));
                Failure::new(self.opening(protocol_error(text)).at("protocol_version"), Retry::Never)
            }
            Cause::Unreadable(text) => {
                let text = format!("the MCP server sent an invalid message: {}", quote(text));
                Failure::new(self.opening(protocol_error(text)), Retry::Backoff)
            }
            // A failed tool does not mean that the server is unhealthy.
            Cause::Tool(text) => {
                let text = if text.is_empty() { "the tool failed without a message".into() } else { quote(text) };
                Failure::new(HubError::new(ErrorKind::Tool, text), Retry::Never)
            }
            Cause::Cancelled => {
                Failure::new(HubError::new(ErrorKind::Cancelled, "the operation was cancelled"), Retry::Never)
            }
        }
    }

    /// Changes the kind of an error to that of the client, which reports that the connection could not be opened.
    fn opening(&self, error: HubError) -> HubError {
        if self.stage.is_opening() { error.with_kind(ErrorKind::Connect) } else { error }
    }

    fn spawn_failure(&self, failure: &SpawnFailure<'_>) -> Failure {
        let field = if self.kind.runner().is_some() { "package.package_type" } else { "package.identifier" };
        let program = match self.kind.runner() {
            Some(runner) => format!("`{runner}`"),
            None => "the program".into(),
        };
        let error = match failure {
            SpawnFailure::NotFound => {
                let what = match self.kind.runner() {
                    Some(_) => "is not installed, or not on the PATH; install it",
                    None => "does not exist; check its path",
                };
                HubError::not_found(field, format!("{program} {what}"))
            }
            SpawnFailure::NotPermitted => HubError::validation(
                field,
                format!("{program} cannot be executed: permission denied; make the file executable"),
            ),
            SpawnFailure::NotExecutable => HubError::validation(
                field,
                format!("{program} cannot be executed: the file has no executable format; check its path"),
            ),
            SpawnFailure::Other(text) => {
                let text = format!("the MCP server could not be started: {}", quote(text));
                return Failure::new(HubError::unavailable(text).with_kind(ErrorKind::Start), Retry::Backoff);
            }
        };
        Failure::new(error.with_kind(ErrorKind::Start), Retry::Never)
    }

    fn stderr_failure(&self) -> Option<Failure> {
        known_messages::find_failure(self.kind, self.stderr).or_else(|| {
            let name = stderr::missing_credential(self.stderr)?;
            Some(Failure::missing_credentials([name]))
        })
    }

    fn exit_failure(&self) -> Failure {
        let what: Cow<'_, str> = match self.cause {
            Cause::Exit { code: Some(code), .. } => format!("MCP server exited (code {code})").into(),
            Cause::Exit { signal: Some(signal), .. } => format!("MCP server exited (signal {signal})").into(),
            Cause::Exit { .. } => "MCP server exited".into(),
            _ => "the MCP server closed the connection".into(),
        };
        let output = error_line(self.stderr).map_or_else(|| "no stderr captured".into(), quote);
        let text = format!("{what}: {output}");
        let (error, retry) = match self.cause {
            Cause::Exit { code: Some(127), .. } if self.stage.is_start() => {
                (package_not_found(format!("Package not found: {text}")), Retry::Never)
            }
            Cause::Exit { code: Some(126), .. } if self.stage.is_start() => {
                (self.opening(HubError::validation("package.identifier", text)), Retry::Never)
            }
            _ => (self.opening(HubError::new(ErrorKind::Closed, text)), Retry::Backoff),
        };
        Failure::new(error, retry)
    }

    fn timeout_failure(&self, after: Duration) -> Failure {
        let what = match self.stage {
            Stage::Launch => "Start timed out",
            Stage::Negotiate => "Handshake timed out",
            Stage::List => "Listing tools timed out",
            Stage::Run => "No response",
            Stage::Call => "Tool call timed out",
        };
        let mut text = format!("{what} after {}s", after.as_secs_f32());
        // A package manager without network access reports the problem on standard error long before it exits.
        if self.stage.is_start()
            && let Some(line) = error_line(self.stderr)
        {
            text.push_str(": ");
            text.push_str(&quote(line));
        }
        // A start, or a request of the tool list, has no effect that a second one could repeat. A tool call may have one.
        Failure::new(HubError::timeout(text).with_retryable(self.stage.is_start()), Retry::Backoff)
    }

    fn rpc_failure(&self, code: i64, message: &str) -> Failure {
        let text =
            if message.is_empty() { format!("the MCP server answered with error {code}") } else { quote(message) };
        let in_call = self.stage == Stage::Call;
        match code {
            UNSUPPORTED_VERSION => {
                let text = format!("Unsupported protocol version: {text}");
                Failure::new(self.opening(protocol_error(text)).at("protocol_version"), Retry::Never)
            }
            _ if in_call && code == RpcError::INVALID_PARAMS => {
                let error = server_error(text).with_code(ErrorCode::ValidationError);
                Failure::new(error.at("arguments"), Retry::Never)
            }
            // A server that rejects the opening request will reject it again, except after an internal error.
            _ if !in_call && code != RpcError::INTERNAL_ERROR => {
                Failure::new(self.opening(server_error(text)), Retry::Never)
            }
            _ => Failure::new(self.opening(server_error(text)), Retry::Backoff),
        }
    }

    fn http_failure(&self, status: u16, retry_after: Option<Duration>) -> Failure {
        let (error, retry) = match status {
            401 | 403 => {
                let text = format!("Missing required credentials: authorization required (HTTP {status}); log in");
                (HubError::new(ErrorKind::Unauthorized, text).at("authorization"), Retry::Login)
            }
            404 | 410 => {
                let text =
                    format!("Package not found: no MCP server at this address (HTTP {status}); check the address");
                (HubError::new(ErrorKind::EndpointNotFound, text).at("package.identifier"), Retry::Never)
            }
            407 => {
                let text = "the proxy requires a login (HTTP 407); set its user name and password";
                (HubError::network("transport", text).with_kind(ErrorKind::Unauthorized), Retry::Never)
            }
            408 | 425 | 429 | 500..=599 => {
                let when = retry_after.map(|wait| format!("; it asks to try again after {} s", wait.as_secs()));
                let text = format!("the MCP server is not available (HTTP {status}){}", when.unwrap_or_default());
                let kind = if status == 429 { ErrorKind::RateLimited } else { ErrorKind::Unavailable };
                // The server did not process the request, except perhaps with another status from 500 to 599.
                let is_unprocessed = retry_after.is_some() || matches!(status, 408 | 425 | 429 | 503);
                let error = HubError::new(kind, text)
                    .with_retry_after(retry_after)
                    .with_retryable(is_unprocessed || self.stage.is_start());
                (error, retry_after.map_or(Retry::Backoff, Retry::After))
            }
            _ => {
                let text = format!("the address is not an MCP endpoint (HTTP {status}); check the address");
                let error = HubError::validation("transport", text);
                let kind = if status == 405 { ErrorKind::EndpointNotFound } else { ErrorKind::Server };
                let error = error.with_kind(kind);
                (if status == 405 { error } else { self.opening(error) }, Retry::Never)
            }
        };
        Failure::new(error, retry)
    }
}

/// JSON-RPC error code for an unsupported protocol version (specification 2026-07-28: basic/versioning).
const UNSUPPORTED_VERSION: i64 = -32_022;

fn server_error(text: String) -> HubError {
    HubError::new(ErrorKind::Server, text)
}

fn protocol_error(text: String) -> HubError {
    HubError::new(ErrorKind::Protocol, text)
}

fn package_not_found(text: String) -> HubError {
    HubError::new(ErrorKind::PackageNotFound, text).at("package.identifier")
}
