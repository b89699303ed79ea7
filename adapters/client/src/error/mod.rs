//! [`Error`]: the error of all methods of the clients.
//!
//! | file | content |
//! |---|---|
//! | `cause` | [`Cause`], [`HttpSetupError`]: the underlying error |
//! | `kind` | determines the [`ErrorKind`] of an error |
//! | `message` | formats the message of an error |
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

use crate::{InvalidMessages, ProcessReport};

/// The error of all methods of the clients.
///
/// `{}` shows the server, the method, the tool and the reason. If the server's process is related to the error, `{}` also shows
/// the exit status and last output of the process. `{:?}` shows the message and each part with its name. Clones are cheap and
/// share the content.
///
/// To act on errors, match [`Error::kind`]. [`Error::cause`] returns the details.
#[derive(Clone)]
pub struct Error(Arc<Content>);

#[derive(Clone)]
struct Content {
    server: Box<str>,
    /// Name of the tool whose call failed. `None` for other errors, or if the cause already contains the name.
    tool: Option<Box<str>>,
    /// Behind an `Arc`, so that `Arc::make_mut` on the content copies a pointer instead of the cause.
    cause: Arc<Cause>,
    process: Option<Box<ProcessReport>>,
    /// The invalid messages that the server has sent while the connection was being opened. `None` for other errors.
    invalid_messages: Option<Box<InvalidMessages>>,
}

impl Error {
    /// Creates an error that concerns the server named `server`.
    ///
    /// Programs need this only to implement a client themselves, such as a fake client for tests.
    #[cold]
    pub fn new(server: &str, cause: impl Into<Cause>) -> Self {
        let cause = Arc::new(cause.into());
        Error(Arc::new(Content { server: server.into(), tool: None, cause, process: None, invalid_messages: None }))
    }

    /// Sets the name of the tool whose call failed.
    #[cold]
    pub fn with_tool(mut self, tool: &str) -> Self {
        Arc::make_mut(&mut self.0).tool = Some(tool.into());
        self
    }

    /// Adds the exit status and last output of the server's process. `None` changes nothing.
    #[cold]
    pub fn with_process(mut self, process: Option<Box<ProcessReport>>) -> Self {
        if process.is_some() {
            Arc::make_mut(&mut self.0).process = process;
        }
        self
    }

    /// Adds the invalid messages that the server has sent while the connection was being opened. A server that sends only such
    /// messages does not speak MCP, or prints its log on standard output.
    #[cold]
    pub fn with_invalid_messages(mut self, invalid: &InvalidMessages) -> Self {
        if invalid.count() > 0 {
            Arc::make_mut(&mut self.0).invalid_messages = Some(Box::new(invalid.clone()));
        }
        self
    }

    /// Returns the kind of the error, such as [`ErrorKind::Timeout`], for programs that react to errors.
    pub fn kind(&self) -> ErrorKind {
        self.0.cause.kind()
    }

    /// Returns the name of the server: [`McpServerDef::display_name`](crate::McpServerDef::display_name), or `stream` for a
    /// connection over a pair of streams.
    ///
    /// A client has exactly one server, so the name is always known. The same method of the errors of the hub and of `ToolClient`
    /// returns an `Option`, because these errors may concern no server.
    pub fn server(&self) -> &str {
        &self.0.server
    }

    /// Returns the method of the request that failed, such as `tools/call`.
    ///
    /// Returns `None` if the error does not concern a request, for example because the server could not be started.
    pub fn method(&self) -> Option<&str> {
        match &*self.0.cause {
            Cause::Call(error) => Some(error.method()),
            Cause::Connect(error) => error.method(),
            Cause::Send(error) => error.method().or(self.0.tool.as_ref().map(|_| "tools/call")),
            Cause::Spawn(_) | Cause::Http(_) | Cause::Io(_) => None,
        }
    }

    /// Returns the name of the tool whose call failed, or `None` if no tool call failed.
    ///
    /// Also returns `None` if the program sent `tools/call` without the `call_tool` methods of the clients.
    pub fn tool(&self) -> Option<&str> {
        self.0.tool.as_deref().or(match &*self.0.cause {
            Cause::Call(CallError::ToolNotFound { tool, .. }) | Cause::Send(SendError::TaskRequired { tool }) => {
                Some(tool)
            }
            Cause::Call(CallError::Structured { error }) if !error.tool.is_empty() => Some(&error.tool),
            _ => None,
        })
    }

    /// Returns the underlying error, which contains the details.
    pub fn cause(&self) -> &Cause {
        &self.0.cause
    }

    /// Returns why a request failed after it was sent, or that the called tool does not exist. `None` for other causes.
    pub fn call_error(&self) -> Option<&CallError> {
        if let Cause::Call(error) = &*self.0.cause { Some(error) } else { None }
    }

    /// Returns why a request was not sent, for example because too many requests are in flight. `None` for other causes.
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
    /// This includes errors that end a task or a connection attempt, and the error with which a server reports an unknown tool.
    pub fn rpc_error(&self) -> Option<&RpcError> {
        match &*self.0.cause {
            Cause::Call(error) => rpc_error_of_call(error),
            Cause::Connect(ConnectError::Refused { error, .. }) => Some(error),
            _ => None,
        }
    }

    /// Returns the error of the program's authorizer, such as a failed login. Programs can downcast it to its type. `None` if the
    /// authorizer did not fail.
    ///
    /// [`source`](StdError::source) does not return this error, because the message already contains its text.
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

    /// Returns the exit status and last output of the server's process, or `None` if they are not related to the error.
    pub fn process(&self) -> Option<&ProcessReport> {
        self.0.process.as_deref()
    }

    /// Returns the invalid messages that the server has sent while the connection was being opened. `None` if there were none, or if
    /// the connection was open before the error.
    pub fn invalid_messages(&self) -> Option<&InvalidMessages> {
        self.0.invalid_messages.as_deref()
    }

    /// Returns the status of the HTTP response with which the server refused the request, such as 503. `None` for other causes.
    pub fn http_status(&self) -> Option<u16> {
        match &*self.0.cause {
            Cause::Call(error) => error.http_status(),
            Cause::Connect(error) => error.http_status(),
            _ => None,
        }
    }

    /// Returns how long to wait before the next attempt, from the header `Retry-After` of the HTTP response. At most a week.
    /// `None` if there is no such header.
    pub fn retry_after(&self) -> Option<Duration> {
        match &*self.0.cause {
            Cause::Call(error) => error.retry_after(),
            Cause::Connect(error) => error.retry_after(),
            _ => None,
        }
    }

    /// Returns whether to repeat the call: it may succeed, and it cannot take effect twice.
    ///
    /// Returns `true` in these cases only:
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

    /// Returns whether the error occurred while the connection was being opened, including the start of the server.
    pub fn is_connecting(&self) -> bool {
        matches!(*self.0.cause, Cause::Spawn(_) | Cause::Http(_) | Cause::Connect(_))
    }
}

impl StdError for Error {
    /// Returns the source of the cause, not the cause itself, because the message already contains the text of the cause.
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
