//! [`Error`]: why a method of a client failed.
//!
//! | file | content |
//! |---|---|
//! | `cause` | [`Cause`]: the error of the part of the client that failed |
//! | `kind` | [`ErrorKind`]: what a program can act on |
//! | `message` | the text of an error |
//! | `spawn`, `http_setup` | [`SpawnError`], [`HttpSetupError`]: errors before a connection exists |
//! | `process_report` | [`ProcessReport`]: the exit status and the last output of a server's process |
//! | `tool_error` | the conversion to the error of `mcpwire-tool-client` (feature `tool-client`) |
//!
//! The message of each error contains the message of the error that caused it. `source()` therefore never returns an error
//! whose text is part of the message: programs that print a chain of sources print each text once.

mod cause;
mod http_setup;
mod kind;
mod message;
mod process_report;
mod spawn;
#[cfg(test)]
mod tests;
#[cfg(feature = "tool-client")]
mod tool_error;

use std::error::Error as StdError;
use std::sync::Arc;
use std::time::Duration;

use mcpwire_core::{CallError, ConnectError, SendError};

pub use cause::Cause;
pub use http_setup::HttpSetupError;
pub use kind::ErrorKind;
pub use process_report::ProcessReport;
pub use spawn::{SpawnError, SpawnErrorKind};

/// The error of all methods of the clients.
///
/// `{}` shows everything that a person needs in one sentence: the server, the method and the tool, what happened, and the
/// exit status and last output of the server's process if that has ended. `{:?}` shows the same message and the parts of
/// the error by name. A clone is cheap and shares its content.
///
/// A program that acts on errors matches [`Error::kind`]. [`Error::cause`] has the details.
#[derive(Clone)]
pub struct Error(Arc<Content>);

#[derive(Clone)]
struct Content {
    server: Box<str>,
    /// The tool whose call failed, if a call of a tool failed and the cause does not name the tool.
    tool: Option<Box<str>>,
    /// Behind a pointer, so that the content can be cloned without compiling the clone of each cause.
    cause: Arc<Cause>,
    process: Option<Box<ProcessReport>>,
}

impl Error {
    /// Creates an error of the server named `server`.
    ///
    /// The clients create their errors with this function. A program needs it for a client of its own, such as a fake for
    /// tests.
    pub fn new(server: &str, cause: impl Into<Cause>) -> Self {
        Self::with_cause(server, cause.into())
    }

    #[cold]
    #[inline(never)]
    fn with_cause(server: &str, cause: Cause) -> Self {
        Error(Arc::new(Content { server: server.into(), tool: None, cause: Arc::new(cause), process: None }))
    }

    /// Sets the name of the tool whose call failed.
    #[cold]
    #[inline(never)]
    pub fn with_tool(mut self, tool: &str) -> Self {
        Arc::make_mut(&mut self.0).tool = Some(tool.into());
        self
    }

    /// Sets what is known about the server's process. `None` changes nothing.
    #[cold]
    #[inline(never)]
    pub fn with_process(mut self, process: Option<Box<ProcessReport>>) -> Self {
        if process.is_some() {
            Arc::make_mut(&mut self.0).process = process;
        }
        self
    }

    /// Returns the kind of the error, for programs that act on it.
    pub fn kind(&self) -> ErrorKind {
        self.0.cause.kind()
    }

    /// Returns the name of the server: [`McpServerDef::display_name`](crate::McpServerDef::display_name), or `stream` for a
    /// connection over a pair of streams.
    pub fn server(&self) -> &str {
        &self.0.server
    }

    /// Returns the method of the request that failed, such as `tools/call`. `None` if no request failed, or if the cause
    /// does not depend on the request.
    pub fn method(&self) -> Option<&str> {
        match &*self.0.cause {
            Cause::Call(error) => Some(error.method()),
            Cause::Connect(error) => error.method(),
            Cause::Send(error) => error.method().or(self.0.tool.as_ref().map(|_| "tools/call")),
            Cause::Spawn(_) | Cause::Http(_) | Cause::Io(_) => None,
        }
    }

    /// Returns the name of the tool, if the call of a tool failed.
    ///
    /// `None` for requests that the program sent by other means than the tool calls of the clients.
    pub fn tool(&self) -> Option<&str> {
        self.0.tool.as_deref().or(match &*self.0.cause {
            Cause::Call(CallError::ToolNotFound { tool, .. }) | Cause::Send(SendError::TaskRequired { tool }) => {
                Some(tool)
            }
            Cause::Call(CallError::Structured { error }) if !error.tool.is_empty() => Some(&error.tool),
            _ => None,
        })
    }

    /// Returns the error of the part of the client that failed.
    pub fn cause(&self) -> &Cause {
        &self.0.cause
    }

    /// Returns the error of a request that was sent, or of a tool that does not exist. `None` for other causes.
    pub fn call_error(&self) -> Option<&CallError> {
        if let Cause::Call(error) = &*self.0.cause { Some(error) } else { None }
    }

    /// Returns why a request was not sent. `None` for other causes.
    pub fn send_error(&self) -> Option<&SendError> {
        if let Cause::Send(error) = &*self.0.cause { Some(error) } else { None }
    }

    /// Returns why the connection could not be opened. `None` for other causes.
    pub fn connect_error(&self) -> Option<&ConnectError> {
        if let Cause::Connect(error) = &*self.0.cause { Some(error) } else { None }
    }

    /// Returns why the process of the server could not be started. `None` for other causes.
    pub fn spawn_error(&self) -> Option<&SpawnError> {
        if let Cause::Spawn(error) = &*self.0.cause { Some(error) } else { None }
    }

    /// Returns what is known about the server's process, if the error is related to it.
    pub fn process(&self) -> Option<&ProcessReport> {
        self.0.process.as_deref()
    }

    /// Returns the status of the HTTP response with which the server refused the request, such as 503.
    pub fn http_status(&self) -> Option<u16> {
        match &*self.0.cause {
            Cause::Call(error) => error.http_status(),
            Cause::Connect(error) => error.http_status(),
            _ => None,
        }
    }

    /// Returns how long the server asks the client to wait before the next attempt, from the header `Retry-After` of the
    /// HTTP response. At most a week.
    pub fn retry_after(&self) -> Option<Duration> {
        match &*self.0.cause {
            Cause::Call(error) => error.retry_after(),
            Cause::Connect(error) => error.retry_after(),
            _ => None,
        }
    }

    /// Returns whether the same call may succeed if it is repeated, and cannot take effect twice.
    ///
    /// `true` in these cases only:
    /// - The request was not sent because too many requests or bytes wait: [`SendError::TooManyInFlight`],
    ///   [`SendError::TransmitFull`].
    /// - The server cannot be reached, so it received no part of the request.
    /// - The server refused the HTTP request unprocessed (status 408, 425, 429 or 503), or its response has a `Retry-After`
    ///   header, which [`Error::retry_after`] returns.
    /// - The request only reads (`*/list`, `resources/read`, `prompts/get`, `completion/complete`, `ping`), and it timed out,
    ///   the HTTP connection broke, or the status is from 500 to 599.
    /// - The connection could not be opened in time, or for one of the above reasons. Then the call to repeat is
    ///   `connect`.
    ///
    /// A tool call that timed out or whose connection broke is not retryable: the server may have carried it out.
    pub fn is_retryable(&self) -> bool {
        match &*self.0.cause {
            Cause::Call(error) => error.is_retryable(),
            Cause::Connect(error) => error.is_retryable(),
            Cause::Send(error) => error.is_retryable(),
            Cause::Spawn(_) | Cause::Http(_) | Cause::Io(_) => false,
        }
    }

    /// Returns whether the error occurred while the connection was being opened.
    pub fn is_connecting(&self) -> bool {
        matches!(*self.0.cause, Cause::Spawn(_) | Cause::Http(_) | Cause::Connect(_))
    }
}

impl StdError for Error {
    /// Returns the source of the cause. The cause itself is part of the message.
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        if let Cause::Io(error) = &*self.0.cause { error.source() } else { None }
    }
}
