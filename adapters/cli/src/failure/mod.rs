//! [`Failure`]: why a command failed, as a message for users, a JSON object for programs, and an exit status.

mod converted_errors;

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use mcpwire_authorization::{LoginErrorKind, StoreFailed};
use mcpwire_hub::redact::Redactor;
use owo_colors::OwoColorize;
use serde::Serialize;

pub(crate) use self::converted_errors::{MORE_TIME, http_error, hub_message};
use crate::text;

/// Exit status if a tool returned an error result (`isError`). The command has printed the result.
pub(crate) const TOOL_ERROR: u8 = 1;
/// Exit status of `mcpwire test` if it has found failures.
pub(crate) const FINDINGS: u8 = 1;
/// Exit status of `mcpwire demo-server` if the server cannot listen, read or write.
pub(crate) const SERVER_FAILED: u8 = 1;
/// Exit status for an invalid command line or configuration.
const USAGE: u8 = 2;
/// Exit status if a server could not be started or reached.
pub(crate) const NOT_CONNECTED: u8 = 3;
/// Exit status if the connection or the protocol failed after the server was reached.
const CONNECTION_FAILED: u8 = 4;
const TIMED_OUT: u8 = 5;
/// Exit status if the user must log in first.
pub(crate) const LOGIN_REQUIRED: u8 = 6;
/// Exit status after Ctrl-C: 128 + SIGINT, as in shells.
pub(crate) const INTERRUPTED: u8 = 130;

/// The failure of a command: a message for users, an error code for programs, and the exit status of the process.
///
/// The serialized value is the JSON object of an error: `{code, message, field, hint?}`.
#[derive(Debug, Serialize)]
pub(crate) struct Failure {
    #[serde(skip)]
    exit: u8,
    code: Code,
    message: String,
    field: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    /// The OAuth scopes that the user must log in with. Empty if they are not known, or if no login is needed.
    #[serde(skip)]
    scopes: Vec<String>,
}

/// The part of a tool call that is wrong. It determines the suggestion: a similar tool, or the parameters of the tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mistake {
    /// The server has no tool of this name.
    Tool,
    /// The arguments do not fit the parameters of the tool.
    Arguments,
}

/// The exit status and the code of a failure, and the name of the option, argument or configuration field that caused the
/// failure.
type Kind<'a> = (u8, Code, &'a str);

/// The `code` in the JSON object of an error: `{code, message, field, hint?}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum Code {
    NotFound,
    ValidationError,
    Conflict,
    ServiceUnavailable,
    NetworkError,
    LoginRequired,
}

impl Failure {
    /// Creates the failure for an invalid option or argument, or for an invalid file that the command line names. `field` is
    /// the name of the option or argument.
    pub(crate) fn usage(field: &str, message: impl Into<String>) -> Self {
        Self::new((USAGE, Code::ValidationError, field), message)
    }

    /// Creates the failure for a command line that does not select a server.
    pub(crate) fn no_server() -> Self {
        Self::usage("command", "no server is given: use --server NAME, --url URL, -- COMMAND, or --demo")
    }

    /// Returns an error for a URL without `http://` or `https://`. Suggests the corrected URL without its query, unless the URL may
    /// contain a password.
    pub(crate) fn check_url(url: &str) -> Result<(), Self> {
        let (scheme, url) = url.split_once("://").unwrap_or(("", url));
        if ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
            return Ok(());
        }
        let host = url.split(['/', ':', '?']).next().unwrap_or_default();
        let scheme = if matches!(host, "localhost" | "127.0.0.1") { "http" } else { "https" };
        // A URL with `@` may contain a password, so it is not shown.
        let is_plain = !host.is_empty() && !url.contains('@') && url.chars().all(|c| c.is_ascii_graphic());
        let path = if url.contains(['/', '?', '#']) { "" } else { "/mcp" };
        let url = text::url_without_query(url);
        let failure = Self::usage("url", "invalid --url: a URL starts with http:// or https://");
        Err(if is_plain { failure.with_hint(format!("Did you mean {scheme}://{url}{path}?")) } else { failure })
    }

    /// Creates the failure for a trace file (`--trace FILE`) that cannot be created.
    pub(crate) fn no_trace(path: &Path, error: &io::Error) -> Self {
        Self::usage("trace", format!("could not create the file of --trace, {}: {error}", path.display()))
    }

    /// Creates the failure for a directory in which files cannot be written. `field` is the option or argument that names it.
    pub(crate) fn not_saved(field: &str, directory: &Path, error: &io::Error) -> Self {
        let shown = text::line(&directory.display().to_string());
        let why = if directory.is_file() { "it is a file".to_owned() } else { error.to_string() };
        Self::usage(field, format!("could not save to the directory {shown}: {why}"))
    }

    /// Creates the failure for binary content that `--save` cannot decode, because the server sent invalid base64.
    pub(crate) fn not_base64(name: &str) -> Self {
        let message = format!("could not save {name}: the server sent invalid base64");
        Self::new((CONNECTION_FAILED, Code::ServiceUnavailable, "server"), message)
    }

    /// Creates the failure for a result of the server that cannot be decoded. `what` names the result in the message, and
    /// `reason` is the error of the decoder.
    pub(crate) fn unreadable(what: &str, reason: &str) -> Self {
        let message = format!("{what} cannot be read: {}", text::line(reason));
        Self::new((CONNECTION_FAILED, Code::ServiceUnavailable, "server"), message)
    }

    /// Creates the failure for `--demo` if the path of this executable is unknown. The same executable runs the demo server.
    pub(crate) fn no_demo_server(error: &io::Error) -> Self {
        let message = format!("could not find this program to start it as the demo server: {error}");
        Self::new((NOT_CONNECTED, Code::NotFound, "command"), message)
    }

    /// Creates the failure for a call of an unknown tool, if the server answered with an error result instead of a JSON-RPC
    /// error. `answer` is the text of the error result.
    pub(crate) fn tool_not_found(server: &str, tool: &str, answer: &str) -> Self {
        let failure = Self::no_tool(Some(server), tool);
        Self { message: format!("{} (the server says: {})", failure.message, text::line(answer)), ..failure }
    }

    /// Creates the failure for a program that could not be started or reached. `field` names the part of the command line.
    pub(crate) fn not_connected(field: &str, message: &str) -> Self {
        Self::new((NOT_CONNECTED, Code::ServiceUnavailable, field), message)
    }

    /// Creates the failure for a tool that is not in the list of the tools of `server`, or of any server.
    pub(crate) fn no_tool(server: Option<&str>, tool: &str) -> Self {
        let message = format!("{}tool not found: `{}`", of_server(server), text::line(tool));
        Self::new((CONNECTION_FAILED, Code::NotFound, "tool"), message)
    }

    /// Creates the failure for a tool that has reported an error in its result.
    pub(crate) fn tool_error(server: Option<&str>, tool: &str) -> Self {
        let message = format!("{}the tool `{}` reported an error", of_server(server), text::line(tool));
        Self::new((TOOL_ERROR, Code::ServiceUnavailable, "tool"), message)
    }

    /// Creates the failure of a command that needs a login. The message consists of `reason` and `command`, the command line that
    /// logs in. `scopes` are the OAuth scopes to log in with, or empty if they are not known.
    pub(crate) fn login_required(reason: &str, command: &str, scopes: Vec<String>) -> Self {
        let message = format!("{reason}: {command}");
        Self { scopes, ..Self::new((LOGIN_REQUIRED, Code::LoginRequired, "login"), message) }
    }

    /// Creates the failure of a login that the user has not finished within the time limit `after`.
    pub(crate) fn login_timed_out(after: Duration) -> Self {
        let message = format!(
            "nobody has logged in within {after:?}; the same command goes on with this login, and --timeout allows more time"
        );
        Self::new((TIMED_OUT, Code::NetworkError, "timeout"), message)
    }

    /// Creates the failure of a login. `kind` determines the exit status and the error code.
    pub(crate) fn login(kind: LoginErrorKind, message: String) -> Self {
        use LoginErrorKind as Login;
        let kind = match kind {
            Login::Temporary => (NOT_CONNECTED, Code::NetworkError, "login"),
            Login::Misconfigured | Login::ClientIdRequired | Login::ClientIssuerRequired => {
                (USAGE, Code::ValidationError, "login")
            }
            Login::Store => (NOT_CONNECTED, Code::ServiceUnavailable, "login"),
            _ => (CONNECTION_FAILED, Code::ServiceUnavailable, "login"),
        };
        Self::new(kind, message)
    }

    /// Creates the failure for a command that was interrupted, for example by Ctrl-C.
    pub(crate) fn interrupted() -> Self {
        Self::new((INTERRUPTED, Code::NetworkError, "connection"), "interrupted")
    }

    /// Creates the failure for an error while writing to standard output. If the reader has closed the pipe, the exit status is
    /// 0.
    pub(crate) fn output(error: &io::Error) -> Self {
        let exit = if error.kind() == io::ErrorKind::BrokenPipe { 0 } else { CONNECTION_FAILED };
        Self::new((exit, Code::ServiceUnavailable, "stdout"), format!("could not write the result: {error}"))
    }

    fn new((exit, code, field): Kind<'_>, message: impl Into<String>) -> Self {
        Self { exit, code, field: field.to_owned(), message: message.into(), hint: None, scopes: Vec::new() }
    }

    /// Adds a suggestion for the user, which is printed below the error message, and with `--json` as its member `hint`.
    pub(crate) fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Suggests the command that lists `items`, such as `prompts`, if the server has refused a request for one of them.
    /// `list` is that command.
    pub(crate) fn about(self, items: &str, list: &str) -> Self {
        let is_refused = self.exit == CONNECTION_FAILED && self.code != Code::NetworkError && self.hint.is_none();
        if is_refused { self.with_hint(format!("Its {items}: {list}")) } else { self }
    }

    /// Replaces secrets in the error message and in the suggestion for the user.
    pub(crate) fn redacted(mut self, redactor: &Redactor) -> Self {
        if !redactor.is_empty() {
            self.message = redactor.redact(&self.message);
            self.hint = self.hint.map(|hint| redactor.redact(&hint));
            self.scopes = self.scopes.iter().map(|scope| redactor.redact(scope)).collect();
        }
        self
    }

    /// Returns which part of a tool call is wrong, or `None` if the command failed for another reason.
    pub(crate) fn mistake(&self) -> Option<Mistake> {
        match (self.code, self.field.as_str()) {
            (Code::NotFound, "tool") => Some(Mistake::Tool),
            (Code::ValidationError, "arguments") => Some(Mistake::Arguments),
            _ => None,
        }
    }

    /// Returns the OAuth scopes that the user must log in with, or an empty slice if they are not known.
    pub(crate) fn scopes(&self) -> &[String] {
        &self.scopes
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Returns the message and the suggestion for the user as one line.
    pub(crate) fn in_one_line(&self) -> String {
        let hint = self.hint.as_ref().map(|hint| format!(". {hint}")).unwrap_or_default();
        text::line(&format!("{}{hint}", self.message))
    }

    pub(crate) fn exit(&self) -> u8 {
        self.exit
    }

    /// Writes the failure to standard error: as text for users, or as one JSON object if `json` is true. Writes nothing if the
    /// exit status is 0. Returns the exit status.
    pub(crate) fn report(&self, json: bool) -> u8 {
        if self.exit != 0 {
            // Errors are ignored: standard error may be closed.
            let _ =
                if json { self.write_json(io::stderr().lock()) } else { self.write_text(anstream::stderr().lock()) };
        }
        self.exit
    }

    fn write_json(&self, mut out: impl Write) -> io::Result<()> {
        let json = serde_json::to_string(self)?;
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

/// Returns the beginning of a message about a server.
fn of_server(server: Option<&str>) -> String {
    server.map(|server| format!("server `{}`: ", text::name(server))).unwrap_or_default()
}

/// Creates the failure for a login store that cannot be read or written.
impl From<StoreFailed> for Failure {
    fn from(error: StoreFailed) -> Self {
        Self::login(LoginErrorKind::Store, text::line(&error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_without_its_scheme_gets_a_suggestion_and_shows_no_password() {
        let shown = |url: &str| format!("{:?}", Failure::check_url(url).expect_err(url));
        assert!(shown("localhost:3911").contains("Did you mean http://localhost:3911/mcp?"));
        assert!(shown("example.com/mcp").contains("Did you mean https://example.com/mcp?"));
        assert!(shown("ftp://example.com/mcp").contains("Did you mean https://example.com/mcp?"));
        assert!(Failure::check_url("HTTP://example.com").is_ok());
        assert!(!shown("me:hunter2@example.com").contains("hunter2"));
        let with_key = shown("example.com/mcp?key=hunter2");
        assert!(with_key.contains("Did you mean https://example.com/mcp?...?") && !with_key.contains("hunter2"));
    }
}
