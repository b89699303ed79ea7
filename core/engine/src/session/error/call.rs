//! [`CallError`]: why a request ended without a result. [`TaskError`]: why a task ended without the result of its call.
//! [`InputError`]: why the server did not receive the input that it required.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;
use core::time::Duration;

use super::connect::CloseReason;
use super::send::SendError;
use crate::rpc::RequestFault;
#[cfg(feature = "http")]
use crate::transport_error::HttpError;
use mcpwire_text::{Seconds, excerpt};
use mcpwire_types::{PeerError, ProtocolVersion, RpcError, StructuredError, printable};

type MethodName = Cow<'static, str>;

/// The reason why a request has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The server responded with an error.
    Server {
        /// The method of the request.
        method: MethodName,
        /// The error in the server's response.
        error: Arc<RpcError>,
    },
    /// The server does not have the tool.
    ToolNotFound {
        /// The name of the tool.
        tool: String,
        /// The error in the server's response to `tools/call`. `None` if the session did not send the request, because
        /// the server's list of tools does not contain the tool.
        error: Option<Arc<RpcError>>,
    },
    /// The server's response violates the specification.
    Invalid {
        /// The method of the request.
        method: MethodName,
        /// What is wrong with the response.
        error: Arc<PeerError>,
    },
    /// The structured content of a tool result cannot be decoded as the requested type, or does not match the output
    /// schema of the tool.
    Structured {
        /// Why the structured content cannot be decoded, or how it violates the output schema of the tool.
        error: Arc<StructuredError>,
    },
    /// No response arrived in time. The session has cancelled the request.
    Timeout {
        /// The method of the request.
        method: MethodName,
        /// Duration of the timeout that expired.
        after: Duration,
        /// The timeout that expired: the idle timeout or the total timeout.
        deadline: Deadline,
    },
    /// The caller cancelled the request.
    Cancelled {
        /// The method of the request.
        method: MethodName,
    },
    /// The connection ended before the response arrived.
    Closed {
        /// The method of the request.
        method: MethodName,
        /// Why the connection ended.
        reason: CloseReason,
    },
    /// Before it could respond, the server required input from the client, such as a user's answer (revision
    /// 2026-07-28, basic/patterns/mrtr). The client did not send the input.
    Input {
        /// The method of the request.
        method: MethodName,
        /// Why the client did not send the input.
        error: Arc<InputError>,
    },
    /// The call became a task, and the session did not receive a result of the task.
    Task {
        /// The method of the request.
        method: MethodName,
        /// The id of the task. While the server still stores the task, the program can poll the task with a
        /// [`TaskHandle`](mcpwire_types::TaskHandle) created from this id.
        task: String,
        /// Why the task has no result.
        fault: TaskError,
    },
    /// The program used the [`Ticket`](crate::Ticket) of one request to decode the reply to another request.
    WrongTicket {
        /// The method of the request to which the ticket belongs.
        method: MethodName,
    },
    /// The HTTP request failed, or its HTTP response did not contain the JSON-RPC response.
    #[cfg(feature = "http")]
    Http {
        /// The method of the request.
        method: MethodName,
        /// Why there is no JSON-RPC response.
        error: Arc<HttpError>,
    },
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.describe(None, f)
    }
}

/// Returns why the client knows that a tool does not exist, as text. `error` is the server's error response, or `None`
/// if only the server's list of tools shows it.
fn evidence(error: Option<&RpcError>) -> String {
    match error {
        Some(error) => alloc::format!("the server says: {error}"),
        None => "the server's list of tools does not have it".into(),
    }
}

impl CallError {
    /// Returns whether the server reported that the requested resource does not exist (revision 2026-07-28,
    /// server/resources, "Error Handling").
    ///
    /// `version` is the negotiated version. The code -32602 means a missing resource from revision 2026-07-28 on, but
    /// any invalid parameter in earlier revisions. The code -32002 means a missing resource in all revisions.
    pub fn is_resource_not_found(&self, version: ProtocolVersion) -> bool {
        let CallError::Server { method, error } = self else { return false };
        let known = matches!(&**method, "resources/read" | "resources/subscribe");
        known
            && match error.code {
                RpcError::RESOURCE_NOT_FOUND => true,
                RpcError::INVALID_PARAMS => version >= ProtocolVersion::V2026_07_28,
                _ => false,
            }
    }

    /// Returns whether the network failed: the HTTP request could not be sent, or the connection broke before the HTTP
    /// response was complete. Always `false` if the transport is not HTTP.
    ///
    /// Other requests of the same session may still succeed.
    pub fn is_network_error(&self) -> bool {
        #[cfg(feature = "http")]
        if let CallError::Http { error, .. } = self {
            return matches!(&**error, HttpError::Failed(_));
        }
        false
    }

    /// Returns the method of the request.
    pub fn method(&self) -> &MethodName {
        static CALL: MethodName = Cow::Borrowed("tools/call");
        match self {
            CallError::Server { method, .. }
            | CallError::Invalid { method, .. }
            | CallError::Timeout { method, .. }
            | CallError::Cancelled { method }
            | CallError::Closed { method, .. }
            | CallError::Input { method, .. }
            | CallError::Task { method, .. }
            | CallError::WrongTicket { method } => method,
            #[cfg(feature = "http")]
            CallError::Http { method, .. } => method,
            CallError::ToolNotFound { .. } | CallError::Structured { .. } => &CALL,
        }
    }

    /// Returns the error message for the call of a tool, which names the tool.
    #[doc(hidden)]
    pub fn of_tool<'a>(&'a self, tool: &'a str) -> impl fmt::Display + 'a {
        OfTool { error: self, tool }
    }

    /// Writes the error message. With `tool`, the message says that the request is a call of this tool.
    ///
    /// The message contains the message of the error that caused this one, so there is no `source()`.
    fn describe(&self, tool: Option<&str>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::ToolNotFound { tool, error } => {
                return write!(f, "tool not found: `{}` ({})", printable(tool), evidence(error.as_deref()));
            }
            CallError::Structured { error } => return fmt::Display::fmt(error, f),
            CallError::WrongTicket { method } => {
                return write!(f, "wrong ticket: a ticket of `{method}` cannot decode the reply to another request");
            }
            CallError::Task { task, .. } => write!(f, "the task \"{}\" of ", printable(task))?,
            _ => {}
        }
        write!(f, "`{}`", self.method())?;
        if let Some(tool) = tool {
            write!(f, " of `{}`", printable(tool))?;
        }
        match self {
            CallError::Server { error, .. } => write!(f, " failed: the server says: {error}"),
            CallError::Invalid { error, .. } => write!(f, " got an answer that cannot be read: {error}"),
            CallError::Timeout { after, deadline, .. } => {
                let note = if *deadline == Deadline::Idle { " without an answer or progress" } else { "" };
                write!(f, " timed out after {}{note}", Seconds(*after))
            }
            CallError::Cancelled { .. } => f.write_str(" was cancelled"),
            CallError::Closed { reason, .. } => write!(f, " got no answer: {reason}"),
            CallError::Input { error, .. } => {
                write!(f, " failed: the server did not get the input that it requested: {error}")
            }
            CallError::Task { fault, .. } => write!(f, " {fault}"),
            #[cfg(feature = "http")]
            CallError::Http { error, .. } => write!(f, " failed: {error}"),
            CallError::ToolNotFound { .. } | CallError::Structured { .. } | CallError::WrongTicket { .. } => Ok(()),
        }
    }
}

impl RequestFault {
    /// Converts why a request of this method got no usable answer to a public error.
    #[cold]
    pub(in crate::session) fn into_call_error(self, method: Cow<'static, str>) -> CallError {
        match self {
            RequestFault::Server(error) => CallError::Server { method, error: Arc::new(error) },
            RequestFault::Invalid(error) => CallError::Invalid { method, error: Arc::new(error) },
            #[cfg(feature = "http")]
            RequestFault::Http(error) => CallError::Http { method, error: Arc::new(error) },
        }
    }
}

struct OfTool<'a> {
    error: &'a CallError,
    tool: &'a str,
}

impl fmt::Display for OfTool<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.describe(Some(self.tool), f)
    }
}

/// The kind of timeout that expired for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deadline {
    /// The idle timeout. It starts when the request is sent, and restarts with each progress notification.
    Idle,
    /// The total timeout. It starts when the request is sent for the first time, and never restarts.
    Total,
}

/// The reason why the session did not receive the result of a task.
///
/// If the task failed with a JSON-RPC error, the call fails with [`CallError::Server`] instead. The `Display` text is
/// the end of a sentence whose subject is the task, such as "was cancelled by the server".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TaskError {
    /// Someone other than this client, such as the server, cancelled the task.
    #[error("was cancelled by the server{}", detail(message.as_deref()))]
    Cancelled {
        /// The status message that the server sent with the task, if any.
        message: Option<String>,
    },
    /// The task failed, and the server did not send an error that says why.
    #[error("failed without an error{}", detail(message.as_deref()))]
    Failed {
        /// The status message that the server sent with the task, if any.
        message: Option<String>,
    },
    /// The task completed, but the server did not return a result.
    #[error("completed without a result{}", detail(message.as_deref()))]
    NoResult {
        /// The status message that the server sent with the task, if any.
        message: Option<String>,
    },
    /// The server does not know the task, for example because it deleted the task after the task's time to live.
    #[error("does not exist any more: the server says: {error}")]
    Unknown {
        /// The error in the server's response.
        error: Arc<RpcError>,
    },
    /// The server rejected the answers to the inputs that the task required.
    #[error("cannot continue: the server rejected the input that it had requested: {error}")]
    AnswersRefused {
        /// The error in the server's response.
        error: Arc<RpcError>,
    },
    /// The session stopped polling, because its requests about the task failed. The task may still be running.
    #[error("is lost: {error}")]
    Lost {
        /// The error of the last failed request about the task, such as `tasks/get`.
        error: Arc<CallError>,
    },
    /// The session already polls the maximum number of tasks, and has cancelled this task.
    #[error("was cancelled at once: {limit} tasks are followed already")]
    TooMany {
        /// The maximum number of tasks that the session polls at the same time,
        /// [`Config::max_tasks`](crate::Config::max_tasks).
        limit: usize,
    },
}

fn detail(message: Option<&str>) -> String {
    message.map(|message| alloc::format!(": {}", printable(message))).unwrap_or_default()
}

/// The reason why the client did not send input that the server required before it could respond to a request (revision
/// 2026-07-28, basic/patterns/mrtr).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// The server required an input whose method, such as `elicitation/create`, the client does not answer:
    /// [`Config::answers`](crate::Config::answers) does not contain the method.
    #[error("this client does not answer {}, which the input {} needs", quoted(asked), quoted(name))]
    NotOffered {
        /// Name of the input, chosen by the server.
        name: String,
        /// The method of the required input, such as `elicitation/create`.
        asked: String,
    },
    /// The program or its user refused to provide the input, or the input needs a capability that the client did not
    /// declare.
    #[error("{} for the input {} was refused: {error}", quoted(asked), quoted(name))]
    Refused {
        /// Name of the input, chosen by the server.
        name: String,
        /// The method of the required input, such as `elicitation/create`.
        asked: String,
        /// Why the program refused to give the input that the server requested, or which client capability the request
        /// lacks.
        error: RpcError,
    },
    /// The program's handler for the input panicked.
    #[error("the handler of {} for the input {} panicked: {}", quoted(asked), quoted(name), printable(message))]
    Panicked {
        /// Name of the input, chosen by the server.
        name: String,
        /// The method of the required input, such as `elicitation/create`.
        asked: String,
        /// The message of the panic. The client never sends it to the server.
        message: String,
    },
    /// The server required more inputs than the client accepts at the same time or for one task.
    #[error("the server requested more than {limit} inputs at the same time")]
    TooManyInputs {
        /// The limit that was exceeded: [`Config::max_server_requests`](crate::Config::max_server_requests) unanswered
        /// inputs and requests of the server, or 1,000 inputs during the life of one task.
        limit: usize,
    },
    /// The server required input for one request more often than
    /// [`Config::max_input_rounds`](crate::Config::max_input_rounds) allows.
    #[error("the server requests input without end: the request was sent again {limit} times")]
    TooManyInputRounds {
        /// The value of [`Config::max_input_rounds`](crate::Config::max_input_rounds): how many times the client sends
        /// one request again with input.
        limit: u32,
    },
    /// The client cannot send the request again with the input: the stored parameters of all such requests, including
    /// the server's `requestState`, would exceed the memory limit.
    #[error(
        "the request cannot be kept for sending it again: all such requests would exceed the limit of {limit} bytes"
    )]
    RetryTooLarge {
        /// Maximum total size of the stored parameters of all requests, in bytes:
        /// [`Config::max_retry_bytes`](crate::Config::max_retry_bytes).
        limit: usize,
    },
    /// Sending the request again with the input failed with this error.
    #[error("the request was not sent again: {0}")]
    NotSent(SendError),
}

/// Returns a name in backquotes. Shortens the name, which the server chose, and removes control characters.
fn quoted(name: &str) -> String {
    alloc::format!("`{}`", excerpt(name.as_bytes()))
}
