//! What went wrong, for people and for programs, and the exit status that says so.

use std::io::{self, Write};
use std::path::Path;

use mcpwire_blocking::protocol::{CallError, ConnectError, SendError};
use mcpwire_blocking::{Cause, Error, HttpSetupError, SpawnErrorKind};
use owo_colors::OwoColorize;
use serde::Serialize;

use crate::args::Stderr;
use crate::{remote, text};
use mcpwire_hub::{ErrorCode, HubError};

/// The tool itself reported an error; its result has been printed.
pub(crate) const TOOL_ERROR: u8 = 1;
/// The demo server, as a server, could not read or write.
pub(crate) const SERVER_FAILED: u8 = 1;
const USAGE: u8 = 2;
const NOT_CONNECTED: u8 = 3;
const CONNECTION_FAILED: u8 = 4;
const TIMED_OUT: u8 = 5;
/// 128 + SIGINT, as shells have it.
pub(crate) const INTERRUPTED: u8 = 130;

/// The field of a hub's error that says that a server does not run, so nothing was sent to it.
pub(crate) const NOT_RUNNING: &str = "server";

/// The code of JSON-RPC for parameters that the server does not take.
const INVALID_PARAMS: i64 = -32602;

/// Why the command did not come to a result.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: u8,
    code: Code,
    field: String,
    message: String,
    hint: Option<String>,
}

/// What a failure is: its exit status, its code, and the part of the command line that it is about.
type Kind<'a> = (u8, Code, &'a str);

/// The codes of the error contract `{code, message, field}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) enum Code {
    #[serde(rename = "NOT_FOUND")]
    NotFound,
    #[serde(rename = "VALIDATION_ERROR")]
    Validation,
    #[serde(rename = "CONFLICT")]
    Conflict,
    #[serde(rename = "SERVICE_UNAVAILABLE")]
    Unavailable,
    #[serde(rename = "NETWORK_ERROR")]
    Network,
}

impl Failure {
    /// The command line was wrong, or what it points at.
    pub(crate) fn usage(field: &str, message: impl Into<String>) -> Self {
        Self::new((USAGE, Code::Validation, field), message)
    }

    /// No command was given. The command line asks for one, so this is its last resort.
    pub(crate) fn no_server() -> Self {
        Self::usage("command", "no server was named: give its command after --, its address with --url, or --demo")
    }

    /// `--trace` names a file that cannot be written.
    pub(crate) fn no_trace(path: &Path, error: &io::Error) -> Self {
        Self::usage("trace", format!("could not create {}: {error}", path.display()))
    }

    /// `--save` names a directory that cannot be written to.
    pub(crate) fn not_saved(directory: &Path, error: &io::Error) -> Self {
        Self::usage("save", format!("could not save to {}: {error}", directory.display()))
    }

    /// What is to be saved is not what the protocol says.
    pub(crate) fn not_base64(name: &str) -> Self {
        Self::new((CONNECTION_FAILED, Code::Unavailable, "server"), format!("could not save {name}: it is not base64"))
    }

    /// The demo's server is this very program, which the system would not show us.
    pub(crate) fn no_demo_server(error: &io::Error) -> Self {
        let message = format!("could not find this program to start it as the demo server: {error}");
        Self::new((NOT_CONNECTED, Code::NotFound, "command"), message)
    }

    /// What the library says went wrong.
    pub(crate) fn of(error: &Error, stderr: Stderr) -> Self {
        let kind = match error.cause() {
            Cause::Spawn(error) => not_started(error.kind),
            Cause::Http(HttpSetupError::Client(_)) => (NOT_CONNECTED, Code::Unavailable, "connection"),
            Cause::Http(error) => (USAGE, Code::Validation, remote::culprit(error)),
            Cause::Connect(_) if remote::wants_authorization(error) => {
                (NOT_CONNECTED, Code::Unavailable, "authorization")
            }
            Cause::Call(_) if remote::wants_authorization(error) => {
                (CONNECTION_FAILED, Code::Unavailable, "authorization")
            }
            Cause::Connect(error) => match error {
                ConnectError::Timeout { .. } => (TIMED_OUT, Code::Network, "timeout"),
                ConnectError::Cancelled => return Self::interrupted(),
                ConnectError::UnsupportedVersion { .. } => (NOT_CONNECTED, Code::Conflict, "protocol"),
                _ => (NOT_CONNECTED, Code::Unavailable, "connection"),
            },
            Cause::Call(CallError::Cancelled { .. }) => return Self::interrupted(),
            Cause::Call(cause) => not_called(cause, error.process().is_some()),
            Cause::Send(SendError::Closed) => (CONNECTION_FAILED, Code::Unavailable, "connection"),
            Cause::Send(SendError::NotOffered { .. } | SendError::NotInRevision { .. }) => {
                (CONNECTION_FAILED, Code::Unavailable, "server")
            }
            Cause::Send(_) => (CONNECTION_FAILED, Code::Validation, "arguments"),
            _ => (CONNECTION_FAILED, Code::Network, "connection"),
        };
        let mut message = if stderr == Stderr::Hide { without_stderr(error) } else { error.to_string() };
        let advice = if kind.0 == TIMED_OUT { Some("allow more time with --timeout") } else { remote::advice(error) };
        if let Some(advice) = advice {
            message.push_str("; ");
            message.push_str(advice);
        }
        Self::new(kind, message)
    }

    /// The server answered for a tool that its list does not have.
    pub(crate) fn tool_not_found(tool: &str, said: &str) -> Self {
        let message = format!("tool not found: {} (the server says: {})", text::line(tool), text::line(said));
        Self::new((CONNECTION_FAILED, Code::NotFound, "tool"), message)
    }

    /// Somebody pressed Ctrl-C.
    pub(crate) fn interrupted() -> Self {
        Self::new((INTERRUPTED, Code::Network, "connection"), "interrupted")
    }

    /// The result could not be written. Whoever closes our output has seen enough: that is no failure to speak of.
    pub(crate) fn output(error: &io::Error) -> Self {
        let exit = if error.kind() == io::ErrorKind::BrokenPipe { 0 } else { CONNECTION_FAILED };
        Self::new((exit, Code::Unavailable, "stdout"), format!("could not write the result: {error}"))
    }

    /// What a hub says went wrong.
    pub(crate) fn of_contract(error: &HubError) -> Self {
        let (code, exit) = match error.code {
            ErrorCode::NotFound => (Code::NotFound, if error.field == "tool_name" { CONNECTION_FAILED } else { USAGE }),
            ErrorCode::ValidationError => (Code::Validation, USAGE),
            ErrorCode::Conflict => (Code::Conflict, USAGE),
            ErrorCode::ServiceUnavailable => (Code::Unavailable, NOT_CONNECTED),
            ErrorCode::NetworkError => (Code::Network, CONNECTION_FAILED),
        };
        let exit = match error.field.as_str() {
            "timeout" => TIMED_OUT,
            field if field.starts_with("package.") && error.code != ErrorCode::ValidationError => NOT_CONNECTED,
            _ => exit,
        };
        Self::new((exit, code, &error.field), text::line(&error.message))
    }

    /// What a hub says went wrong with a call; before it the server was there, unless the error says otherwise.
    pub(crate) fn of_call(tool: &str, error: &HubError) -> Self {
        let mut failure = Self::of_contract(error);
        if failure.exit == NOT_CONNECTED && error.field != NOT_RUNNING {
            failure.exit = CONNECTION_FAILED;
        }
        if !failure.message.contains(tool) {
            failure.message = format!("`{}`: {}", text::line(tool), failure.message);
        }
        failure
    }

    /// What only a running hub can do was asked for, and none runs.
    pub(crate) fn no_hub() -> Self {
        Self::new((NOT_CONNECTED, Code::Unavailable, "hub"), "no hub runs, so servers do not go on after a command")
    }

    fn new((exit, code, field): Kind<'_>, message: impl Into<String>) -> Self {
        Self { exit, code, field: field.to_owned(), message: message.into(), hint: None }
    }

    /// What to do about it; people see it below the message.
    pub(crate) fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    pub(crate) fn is_tool_not_found(&self) -> bool {
        self.code == Code::NotFound && self.field == "tool"
    }

    /// Whether the server refused the arguments of a tool that it has.
    pub(crate) fn is_of_arguments(&self) -> bool {
        self.field == "arguments"
    }

    pub(crate) fn exit(&self) -> u8 {
        self.exit
    }

    /// Says what happened on standard error: a line or more for people, one JSON object for programs.
    pub(crate) fn report(&self, json: bool) {
        if self.exit == 0 {
            return;
        }
        // Standard error may be closed; then there is nobody left to tell.
        let _ = if json { self.write_json(io::stderr().lock()) } else { self.write_text(anstream::stderr().lock()) };
    }

    fn write_json(&self, mut out: impl Write) -> io::Result<()> {
        let contract = Contract { code: self.code, message: &self.message, field: &self.field };
        let json = serde_json::to_string(&contract)?;
        writeln!(out, "{}", text::json_for_terminals(&json))
    }

    fn write_text(&self, mut out: impl Write) -> io::Result<()> {
        writeln!(out, "{} {}", "error:".red().bold(), self.message)?;
        if let Some(hint) = &self.hint {
            writeln!(out, "\n{hint}")?;
        }
        Ok(())
    }

    #[cfg(test)]
    pub(crate) fn field(&self) -> &str {
        &self.field
    }
}

fn not_started(kind: SpawnErrorKind) -> Kind<'static> {
    let (code, field) = match kind {
        SpawnErrorKind::NotFound | SpawnErrorKind::InterpreterNotFound => (Code::NotFound, "command"),
        SpawnErrorKind::DirectoryNotFound => (Code::NotFound, "cwd"),
        SpawnErrorKind::NotExecutable | SpawnErrorKind::Invalid => (Code::Validation, "command"),
        _ => (Code::Unavailable, "command"),
    };
    (NOT_CONNECTED, code, field)
}

fn not_called(error: &CallError, ended: bool) -> Kind<'static> {
    match error {
        CallError::Timeout { .. } => (TIMED_OUT, Code::Network, "timeout"),
        CallError::ToolNotFound { .. } => (CONNECTION_FAILED, Code::NotFound, "tool"),
        CallError::Server { error, .. } if error.code == INVALID_PARAMS => {
            (CONNECTION_FAILED, Code::Validation, "arguments")
        }
        CallError::Server { .. } | CallError::Invalid { .. } | CallError::Input { .. } => {
            (CONNECTION_FAILED, Code::Unavailable, "server")
        }
        // A process that has ended is more than a connection that is lost.
        _ if ended => (CONNECTION_FAILED, Code::Unavailable, "server"),
        _ => (CONNECTION_FAILED, Code::Network, "connection"),
    }
}

/// The error as it displays itself, but for what the server wrote on its standard error.
fn without_stderr(error: &Error) -> String {
    let exit = error.process().and_then(|process| process.exit);
    let exit = exit.map(|exit| format!("; its process {exit}")).unwrap_or_default();
    format!("{}{exit}", error.message())
}

#[derive(Serialize)]
struct Contract<'a> {
    code: Code,
    message: &'a str,
    field: &'a str,
}
