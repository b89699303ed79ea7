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

/// Exit status if the tool reported an error. Its result was printed.
pub(crate) const TOOL_ERROR: u8 = 1;
/// Exit status if the demo server could not read or write.
pub(crate) const SERVER_FAILED: u8 = 1;
/// Exit status for an invalid command line or configuration.
const USAGE: u8 = 2;
/// Exit status if a server could not be started or reached.
pub(crate) const NOT_CONNECTED: u8 = 3;
/// Exit status if the connection or the protocol failed after the server was reached.
const CONNECTION_FAILED: u8 = 4;
const TIMED_OUT: u8 = 5;
/// Exit status after Ctrl-C: 128 + SIGINT, as in shells.
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

/// The part of a tool call that the server rejected, so that the tool can suggest another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mistake {
    /// The server does not have the tool.
    Tool,
    /// The server does not accept the arguments.
    Arguments,
}

/// Exit status, code and field of a failure. The field is the option, argument or configuration field that caused it.
type Kind<'a> = (u8, Code, &'a str);

/// The codes in the JSON of an error, `{code, message, field}`.
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
    /// Creates the failure for an invalid command line, or for an invalid file that the command line names.
    pub(crate) fn usage(field: &str, message: impl Into<String>) -> Self {
        Self::new((USAGE, Code::Validation, field), message)
    }

    /// Creates the failure for a command line that names no server.
    pub(crate) fn no_server() -> Self {
        Self::usage("command", "no server is given: use --server NAME, --url URL, -- COMMAND, or --demo")
    }

    /// Creates the failure for a file of `--trace` that cannot be created.
    pub(crate) fn no_trace(path: &Path, error: &io::Error) -> Self {
        Self::usage("trace", format!("could not create the file of --trace, {}: {error}", path.display()))
    }

    /// Creates the failure for a directory of `--save` that cannot be written to.
    pub(crate) fn not_saved(directory: &Path, error: &io::Error) -> Self {
        Self::usage(
            "save",
            format!("could not save to the directory {}: {error}", text::line(&directory.display().to_string())),
        )
    }

    /// Creates the failure for content that `--save` cannot write, because it is not base64.
    pub(crate) fn not_base64(name: &str) -> Self {
        Self::new(
            (CONNECTION_FAILED, Code::Unavailable, "server"),
            format!("could not save {name}: the server sent invalid base64"),
        )
    }

    /// Creates the failure for an invalid result of the server.
    pub(crate) fn unreadable(what: &str, reason: &str) -> Self {
        let message = format!("{what} cannot be read: {}", text::line(reason));
        Self::new((CONNECTION_FAILED, Code::Unavailable, "server"), message)
    }

    /// Creates the failure for `--demo` if the path of this program is unknown, so that the demo server cannot be started.
    pub(crate) fn no_demo_server(error: &io::Error) -> Self {
        let message = format!("could not find this program to start it as the demo server: {error}");
        Self::new((NOT_CONNECTED, Code::NotFound, "command"), message)
    }

    /// Creates the failure for a tool that the server does not list, but whose call the server answered with an error result.
    pub(crate) fn tool_not_found(tool: &str, answer: &str) -> Self {
        let message = format!("tool not found: {} (the server says: {})", text::line(tool), text::line(answer));
        Self { mistake: Some(Mistake::Tool), ..Self::new((CONNECTION_FAILED, Code::NotFound, "tool"), message) }
    }

    /// Creates the failure for a command that Ctrl-C interrupted.
    pub(crate) fn interrupted() -> Self {
        Self::new((INTERRUPTED, Code::Network, "connection"), "interrupted")
    }

    /// Creates the failure for an error of standard output. If the reader has closed the pipe, the exit status is 0.
    pub(crate) fn output(error: &io::Error) -> Self {
        let exit = if error.kind() == io::ErrorKind::BrokenPipe { 0 } else { CONNECTION_FAILED };
        Self::new((exit, Code::Unavailable, "stdout"), format!("could not write the result: {error}"))
    }

    fn new((exit, code, field): Kind<'_>, message: impl Into<String>) -> Self {
        Self { exit, code, field: field.to_owned(), message: message.into(), hint: None, mistake: None }
    }

    /// Adds a suggestion, which is printed below the message, and not with `--json`.
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

    /// Returns the part of a tool call that the server rejected. `None` for other failures.
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
        // Errors are ignored: standard error may be closed.
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
