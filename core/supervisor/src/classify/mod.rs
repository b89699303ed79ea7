//! From the evidence of a failure to what a host shows of it, and to whether another attempt is worth it.

mod engine;
mod tables;
mod telling;

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use core::time::Duration;

use self::telling::telling;
use super::{ErrorCode, ErrorContract, Failure, PackageKind, Retry};
use mcpwire_core::RpcError;
use mcpwire_core::printable;

/// How much of what a server says an error quotes. A line of a log, and not its whole stack.
const QUOTED: usize = 300;

/// How far a server had come when it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// Its process was being started, or its address reached.
    Launch,
    /// The two sides were agreeing on a version.
    Negotiate,
    /// Its tools were asked for.
    List,
    /// It was running.
    Run,
    /// A tool was being called.
    Call,
}

impl Stage {
    const fn is_start(self) -> bool {
        matches!(self, Stage::Launch | Stage::Negotiate | Stage::List)
    }
}

/// Why a process could not be started.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpawnFault<'a> {
    /// There is no such program (`ENOENT`).
    NotFound,
    /// It may not be executed (`EACCES`).
    NotPermitted,
    /// It is nothing that can be executed (`ENOEXEC`).
    NotExecutable,
    /// Something else, in the system's words.
    Other(Cow<'a, str>),
}

/// What has happened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause<'a> {
    /// The process could not be started.
    Spawn(SpawnFault<'a>),
    /// The process has exited. A code, or the signal that ended it.
    Exit {
        /// The code.
        code: Option<i32>,
        /// The signal.
        signal: Option<i32>,
    },
    /// The connection has ended, and nothing is known of why.
    Closed,
    /// No answer came in this time.
    Timeout(Duration),
    /// An HTTP status that stands for a failure.
    Http {
        /// Which one.
        status: u16,
        /// When to come again, where the server says so.
        retry_after: Option<Duration>,
    },
    /// No connection, or it broke: the words of whatever failed.
    Network(Cow<'a, str>),
    /// The server answered with an error.
    Rpc {
        /// Its code.
        code: i64,
        /// What it says.
        message: Cow<'a, str>,
    },
    /// No version is spoken by both sides; those that the server speaks.
    NoCommonVersion(Cow<'a, str>),
    /// What the server says cannot be read.
    Unreadable(Cow<'a, str>),
    /// The tool ran and failed (`isError`): what it says.
    Tool(Cow<'a, str>),
    /// This side gave up.
    Cancelled,
}

/// All that is known of a failure.
///
/// ```
/// use mcpwire_supervisor::{Cause, ErrorCode, Evidence, PackageKind, Retry, Stage};
///
/// let failure = Evidence::new(PackageKind::Docker, Stage::Negotiate, Cause::Exit { code: Some(125), signal: None })
///     .stderr("docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?")
///     .classify();
/// assert_eq!(failure.error.code, ErrorCode::ServiceUnavailable);
/// assert!(failure.error.message.starts_with("Docker not running"));
/// assert_eq!(failure.retry, Retry::Backoff);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Evidence<'a> {
    /// What the server is started from.
    pub kind: PackageKind,
    /// How far it had come.
    pub stage: Stage,
    /// What has happened.
    pub cause: Cause<'a>,
    /// The end of what it wrote to standard error, without secrets.
    pub stderr: &'a str,
}

impl<'a> Evidence<'a> {
    /// Evidence without words of the server's.
    pub fn new(kind: PackageKind, stage: Stage, cause: Cause<'a>) -> Self {
        Evidence { kind, stage, cause, stderr: "" }
    }

    /// The same, with the end of what it wrote to standard error.
    pub fn stderr(mut self, stderr: &'a str) -> Self {
        self.stderr = stderr;
        self
    }

    /// What to show, and whether another attempt is worth it. The same evidence always gives the same answer.
    pub fn classify(&self) -> Failure {
        match &self.cause {
            Cause::Spawn(fault) => self.not_spawned(fault),
            Cause::Exit { .. } | Cause::Closed if self.stage.is_start() => self.said().unwrap_or_else(|| self.exited()),
            Cause::Exit { .. } | Cause::Closed => self.exited(),
            Cause::Timeout(after) => self.timed_out(*after),
            Cause::Http { status, retry_after } => http(*status, *retry_after),
            Cause::Network(text) => {
                let what = if self.stage.is_start() { "Connection failed" } else { "Connection lost" };
                Failure::new(ErrorContract::network("transport", format!("{what}: {}", quoted(text))), Retry::Backoff)
            }
            Cause::Rpc { code, message } => self.refused(*code, message),
            Cause::NoCommonVersion(versions) => {
                let text = format!("Unsupported protocol version (server: {})", quoted(versions));
                Failure::new(ErrorContract::unavailable(text).at("protocol_version"), Retry::Never)
            }
            Cause::Unreadable(text) => {
                let text = format!("the MCP server's answer cannot be read: {}", quoted(text));
                Failure::new(ErrorContract::unavailable(text), Retry::Backoff)
            }
            // A tool that failed is no matter of the server's.
            Cause::Tool(text) => {
                let text = if text.is_empty() { "the tool failed and says nothing".into() } else { quoted(text) };
                Failure::new(ErrorContract::unavailable(text), Retry::Never)
            }
            Cause::Cancelled => Failure::new(ErrorContract::conflict("", "it was cancelled"), Retry::Never),
        }
    }

    fn not_spawned(&self, fault: &SpawnFault<'_>) -> Failure {
        let field = if self.kind.runner().is_some() { "package.package_type" } else { "package.identifier" };
        let program = match self.kind.runner() {
            Some(runner) => format!("`{runner}`"),
            None => "the program".into(),
        };
        let error = match fault {
            SpawnFault::NotFound => {
                let what =
                    if self.kind.runner().is_some() { "is not installed, or not on the PATH" } else { "is not there" };
                ErrorContract::not_found(field, format!("Package not found: {program} {what}"))
            }
            SpawnFault::NotPermitted => {
                ErrorContract::validation(field, format!("{program} may not be executed: permission denied"))
            }
            SpawnFault::NotExecutable => {
                ErrorContract::validation(field, format!("{program} is nothing that can be executed"))
            }
            SpawnFault::Other(text) => {
                let text = format!("the MCP server could not be started: {}", quoted(text));
                return Failure::new(ErrorContract::unavailable(text), Retry::Backoff);
            }
        };
        Failure::new(error, Retry::Never)
    }

    /// What standard error says, if it is something that is known.
    fn said(&self) -> Option<Failure> {
        tables::look_up(self.kind, self.stderr).or_else(|| {
            let name = telling::missing_credential(self.stderr)?;
            Some(Failure::missing_credentials([name]))
        })
    }

    fn exited(&self) -> Failure {
        let what: Cow<'_, str> = match self.cause {
            Cause::Exit { code: Some(code), .. } => format!("MCP server exited (code {code})").into(),
            Cause::Exit { signal: Some(signal), .. } => format!("MCP server exited (signal {signal})").into(),
            Cause::Exit { .. } => "MCP server exited".into(),
            _ => "the MCP server closed the connection".into(),
        };
        let said = telling(self.stderr).map_or_else(|| "no stderr captured".into(), quoted);
        let text = format!("{what}: {said}");
        let (error, retry) = match self.cause {
            Cause::Exit { code: Some(127), .. } if self.stage.is_start() => {
                (ErrorContract::not_found("package.identifier", format!("Package not found: {text}")), Retry::Never)
            }
            Cause::Exit { code: Some(126), .. } if self.stage.is_start() => {
                (ErrorContract::validation("package.identifier", text), Retry::Never)
            }
            _ => (ErrorContract::unavailable(text), Retry::Backoff),
        };
        Failure::new(error, retry)
    }

    fn timed_out(&self, after: Duration) -> Failure {
        let what = match self.stage {
            Stage::Launch => "Start timed out",
            Stage::Negotiate => "Handshake timed out",
            Stage::List => "Listing tools timed out",
            Stage::Run => "No answer came",
            Stage::Call => "Tool call timed out",
        };
        let mut text = format!("{what} after {}s", after.as_secs_f32());
        // A package manager that waits for the network says so long before it gives up.
        if self.stage.is_start()
            && let Some(line) = telling(self.stderr)
        {
            text.push_str(": ");
            text.push_str(&quoted(line));
        }
        Failure::new(ErrorContract::network("timeout", text), Retry::Backoff)
    }

    fn refused(&self, code: i64, message: &str) -> Failure {
        let text =
            if message.is_empty() { format!("the MCP server answered with error {code}") } else { quoted(message) };
        let in_call = self.stage == Stage::Call;
        match code {
            UNSUPPORTED_VERSION => {
                let text = format!("Unsupported protocol version: {text}");
                Failure::new(ErrorContract::unavailable(text).at("protocol_version"), Retry::Never)
            }
            _ if in_call && code == RpcError::INVALID_PARAMS => {
                Failure::new(ErrorContract::validation("arguments", text), Retry::Never)
            }
            // A server that refuses today what opens every connection will refuse it tomorrow, unless something inside it broke.
            _ if !in_call && code != RpcError::INTERNAL_ERROR => {
                Failure::new(ErrorContract::unavailable(text), Retry::Never)
            }
            _ => Failure::new(ErrorContract::unavailable(text), Retry::Backoff),
        }
    }
}

/// 2026-07-28, basic/versioning.
const UNSUPPORTED_VERSION: i64 = -32_022;

fn http(status: u16, retry_after: Option<Duration>) -> Failure {
    let (error, retry) = match status {
        401 | 403 => {
            let text = format!("Missing required credentials: authorization required (HTTP {status})");
            (ErrorContract::validation("authorization", text), Retry::Login)
        }
        404 | 410 => {
            let text = format!("Package not found: nothing is at this address (HTTP {status})");
            (ErrorContract::not_found("package.identifier", text), Retry::Never)
        }
        407 => (ErrorContract::network("transport", "the proxy wants a login (HTTP 407)"), Retry::Never),
        408 | 425 | 429 | 500..=599 => {
            let text = format!("the MCP server is not available (HTTP {status})");
            (ErrorContract::unavailable(text), retry_after.map_or(Retry::Backoff, Retry::After))
        }
        _ => {
            let text = format!("the address does not take MCP (HTTP {status})");
            (ErrorContract::validation("transport", text), Retry::Never)
        }
    };
    Failure::new(error, retry)
}

/// Words of somebody else's, bounded and fit for a terminal.
fn quoted(text: &str) -> String {
    let mut out = String::new();
    for c in format!("{}", printable(text.trim())).chars() {
        if out.len() + c.len_utf8() > QUOTED {
            out.push('…');
            break;
        }
        out.push(if c == '\n' || c == '\t' { ' ' } else { c });
    }
    out
}

fn found(code: ErrorCode, field: &str, text: String, retry: Retry) -> Failure {
    Failure::new(ErrorContract::new(code, text).at(field), retry)
}
