//! [`Error`]: the error of all methods of the clients.
//!
//! | file | content |
//! |---|---|
//! | `cause` | [`Cause`], [`HttpSetupError`]: the underlying error |
//! | `kind` | the [`ErrorKind`] of an error |
//! | `message` | the message of an error |
//! | `spawn` | [`SpawnError`]: why the process of a server could not be started |
//! | `tool_error` | the conversion to the error of `mcpwire-tool-client` (feature `tool-client`) |
//!
//! The message of each error contains the message of its cause. Therefore `source()` does not return the cause: programs that print
//! a chain of sources print each text once. Programs get the cause by a method, such as [`Error::authorization_error`].

mod cause;
mod kind;
mod message;
mod spawn;
#[cfg(test)]
mod tests;
#[cfg(feature = "tool-client")]
mod tool_error;

use std::error::Error as StdError;
use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "http")]
use mcpwire_core::http::HttpError;
use mcpwire_core::{CallError, CloseReason, ConnectError, RpcError, SendError, TaskError};

pub use cause::{Cause, HttpSetupError};
pub(crate) use kind::from_call_error as kind_of_call_error;
pub use mcpwire_core::ErrorKind;
pub use spawn::{SpawnError, SpawnErrorKind};

use crate::ProcessReport;

/// The error of all methods of the clients.
///
/// `{}` shows the server, the method, the tool, the reason, and the exit status and last output of the server's process if the
/// process has ended. `{:?}` shows the same message and the parts of the error by name. Clones are cheap and share the
/// content.
///
/// To act on errors, match [`Error::kind`]. [`Error::cause`] returns the details.
#[derive(Clone)]
pub struct Error(Arc<Content>);

#[derive(Clone)]
struct Content {
    server: Box<str>,
    /// Name of the tool whose call failed. `None` if no tool call failed, or if the cause contains the name.
    tool: Option<Box<str>>,
    /// Shared, so that cloning an error needs no code to clone each kind of cause.
    cause: Arc<Cause>,
    process: Option<Box<ProcessReport>>,
}

impl Error {
    /// Creates an error of the server named `server`.
    ///
    /// Use this function to implement another client, such as a fake for tests.
    #[cold]
    pub fn new(server: &str, cause: impl Into<Cause>) -> Self {
        Error(Arc::new(Content { server: server.into(), tool: None, cause: Arc::new(cause.into()), process: None }))
    }

    /// Sets the name of the tool whose call failed.
    #[cold]
    pub fn with_tool(mut self, tool: &str) -> Self {
        Arc::make_mut(&mut self.0).tool = Some(tool.into());
        self
    }

    /// Sets the exit status and last output of the server's process. `None` changes nothing.
    #[cold]
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
    ///
    /// A client has exactly one server, so the name is always known. Errors of the hub and of `ToolClient` may concern no server,
    /// and return an `Option`.
    pub fn server(&self) -> &str {
        &self.0.server
    }

    /// Returns the method of the request that failed, such as `tools/call`.
    ///
    /// `None` if no request failed, or if the cause does not depend on the request.
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
    /// `None` if the program sent the request without the `call_tool` methods of the clients.
    pub fn tool(&self) -> Option<&str> {
        self.0.tool.as_deref().or(match &*self.0.cause {
            Cause::Call(CallError::ToolNotFound { tool, .. }) | Cause::Send(SendError::TaskRequired { tool }) => {
                Some(tool)
            }
            Cause::Call(CallError::Structured { error }) if !error.tool.is_empty() => Some(&error.tool),
            _ => None,
        })
    }

    /// Returns the underlying error.
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

    /// Returns the JSON-RPC error with which the server answered: its code, message and data. `None` for other causes.
    ///
    /// Also returns the error of a request about a task, and that of a tool that the server says not to have.
    pub fn rpc_error(&self) -> Option<&RpcError> {
        match &*self.0.cause {
            Cause::Call(error) => rpc_error_of_call(error),
            Cause::Connect(ConnectError::Refused { error, .. }) => Some(error),
            _ => None,
        }
    }

    /// Returns the error of the program's authorizer, such as that of a login, for programs that look for its type. `None` if the
    /// authorizer did not fail.
    ///
    /// It is not the [`source`](StdError::source), because its text is part of the message.
    #[cfg(feature = "http")]
    pub fn authorization_error(&self) -> Option<&(dyn StdError + Send + Sync + 'static)> {
        match &*self.0.cause {
            Cause::Call(CallError::Http { error, .. }) | Cause::Connect(ConnectError::Http { error, .. }) => {
                match &**error {
                    HttpError::Failed(failure) => failure.cause.as_ref().map(|cause| cause.get() as _),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Returns the exit status and last output of the server's process, if they are related to the error.
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

    /// Returns how long to wait before the next attempt, from the header `Retry-After` of the HTTP response. At most a week.
    pub fn retry_after(&self) -> Option<Duration> {
        match &*self.0.cause {
            Cause::Call(error) => error.retry_after(),
            Cause::Connect(error) => error.retry_after(),
            _ => None,
        }
    }

    /// Returns whether the call can be repeated: it may succeed, and cannot take effect twice.
    ///
    /// `true` in these cases only:
    /// - The request was not sent because too many requests are in flight or too many bytes wait to be sent:
    ///   [`SendError::TooManyInFlight`], [`SendError::TransmitFull`].
    /// - The server cannot be reached, so it has received no part of the request.
    /// - The server did not process the HTTP request (status 408, 425, 429 or 503), or its response has a `Retry-After` header
    ///   (see [`Error::retry_after`]).
    /// - The request only reads (`*/list`, `resources/read`, `prompts/get`, `completion/complete`, `ping`), and it timed out,
    ///   lost its HTTP connection, or received a status from 500 to 599.
    /// - The connection could not be opened in time, or for one of the above reasons. Then repeat `connect`.
    ///
    /// A tool call that timed out or lost its connection is not retryable, because the server may have executed it.
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
    /// Returns the source of the cause, because the message contains the cause itself.
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &*self.0.cause {
            Cause::Io(error) => error.source(),
            _ => None,
        }
    }
}

fn rpc_error_of_call(error: &CallError) -> Option<&RpcError> {
    match error {
        CallError::Server { error, .. } | CallError::ToolNotFound { error: Some(error), .. } => Some(error),
        CallError::Task { fault: TaskError::Unknown { error } | TaskError::AnswersRefused { error }, .. } => {
            Some(error)
        }
        CallError::Task { fault: TaskError::Lost { error }, .. } => rpc_error_of_call(error),
        CallError::Closed { reason: CloseReason::NotOpened(error), .. } => match &**error {
            ConnectError::Refused { error, .. } => Some(error),
            _ => None,
        },
        _ => None,
    }
}
