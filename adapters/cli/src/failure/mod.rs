//! [`Failure`]: why a command failed, as a message, an error object and an exit status.

mod client_error;
mod hub_error;

use std::io::{self, Write};
use std::path::Path;

use mcpwire_hub::redact::Redactor;
use owo_colors::OwoColorize;
use serde::Serialize;

pub(crate) use self::hub_error::hub_message;
use crate::text;

/// The tool reported an error; its result has been printed.
pub(crate) const TOOL_ERROR: u8 = 1;
/// The demo server could not read or write.
pub(crate) const SERVER_FAILED: u8 = 1;
const USAGE: u8 = 2;
/// A server could not be started or reached.
pub(crate) const NOT_CONNECTED: u8 = 3;
const CONNECTION_FAILED: u8 = 4;
const TIMED_OUT: u8 = 5;
/// 128 + SIGINT, as in shells.
pub(crate) const INTERRUPTED: u8 = 130;

/// Why a command failed.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: u8,
    code: Code,
    field: String,
    message: String,
    hint: Option<String>,
    mistake: Option<Mistake>,
}

/// What the user can change in a call that the server refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mistake {
    /// The server does not have the tool.
    Tool,
    /// The server does not accept the arguments.
    Arguments,
}

/// Exit status, code and field of a failure. The field names the part of the command line that caused it.
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
    /// Creates the failure of an invalid command line, or of an invalid file that it names.
    pub(crate) fn usage(field: &str, message: impl Into<String>) -> Self {
        Self::new((USAGE, Code::Validation, field), message)
    }

    /// Creates the failure of a command without a server.
    pub(crate) fn no_server() -> Self {
        Self::usage("command", "no server is given: use --server NAME, --url URL, -- COMMAND, or --demo")
    }

    /// Creates the failure of `--trace` with a file that cannot be written.
    pub(crate) fn no_trace(path: &Path, error: &io::Error) -> Self {
        Self::usage("trace", format!("could not create the file of --trace, {}: {error}", path.display()))
    }

    /// Creates the failure of `--save` with a directory that cannot be written to.
    pub(crate) fn not_saved(directory: &Path, error: &io::Error) -> Self {
        Self::usage("save", format!("could not save to {}: {error}", text::line(&directory.display().to_string())))
    }

    /// Creates the failure of `--save` for content that is not base64.
    pub(crate) fn not_base64(name: &str) -> Self {
        Self::new((CONNECTION_FAILED, Code::Unavailable, "server"), format!("could not save {name}: it is not base64"))
    }

    /// Creates the failure for a result that the server sent and that cannot be read.
    pub(crate) fn unreadable(what: &str, reason: &str) -> Self {
        let message = format!("{what} cannot be read: {}", text::line(reason));
        Self::new((CONNECTION_FAILED, Code::Unavailable, "server"), message)
    }

    /// Creates the failure of `--demo` if this program's own path is unknown.
    pub(crate) fn no_demo_server(error: &io::Error) -> Self {
        let message = format!("could not find this program to start it as the demo server: {error}");
        Self::new((NOT_CONNECTED, Code::NotFound, "command"), message)
    }

    /// Creates the failure for a tool that the server does not list, although the server answered the call.
    pub(crate) fn tool_not_found(tool: &str, answer: &str) -> Self {
        let message = format!("tool not found: {} (the server says: {})", text::line(tool), text::line(answer));
        Self { mistake: Some(Mistake::Tool), ..Self::new((CONNECTION_FAILED, Code::NotFound, "tool"), message) }
    }

    /// Creates the failure of a command that was interrupted by Ctrl-C.
    pub(crate) fn interrupted() -> Self {
        Self::new((INTERRUPTED, Code::Network, "connection"), "interrupted")
    }

    /// Creates the failure of a result that could not be written. A reader that closed the pipe early is no failure.
    pub(crate) fn output(error: &io::Error) -> Self {
        let exit = if error.kind() == io::ErrorKind::BrokenPipe { 0 } else { CONNECTION_FAILED };
        Self::new((exit, Code::Unavailable, "stdout"), format!("could not write the result: {error}"))
    }

    fn new((exit, code, field): Kind<'_>, message: impl Into<String>) -> Self {
        Self { exit, code, field: field.to_owned(), message: message.into(), hint: None, mistake: None }
    }

    /// Adds what to do. People see it below the message.
    pub(crate) fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Replaces secrets in the message and the hint.
    pub(crate) fn redacted(mut self, redactor: &Redactor) -> Self {
        if !redactor.is_empty() {
            self.message = redactor.redact(&self.message);
            self.hint = self.hint.map(|hint| redactor.redact(&hint));
        }
        self
    }

    /// Returns what the user can change in the call, if this is the failure of a call.
    pub(crate) fn mistake(&self) -> Option<Mistake> {
        self.mistake
    }

    pub(crate) fn exit(&self) -> u8 {
        self.exit
    }

    /// Writes the failure to stderr: text for people, or one JSON object for programs.
    pub(crate) fn report(&self, json: bool) {
        if self.exit == 0 {
            return;
        }
        // Stderr may be closed.
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

#[derive(Serialize)]
struct Contract<'a> {
    code: Code,
    message: &'a str,
    field: &'a str,
}
