//! [`CallError`]: why a request ended without a result. [`TaskError`]: why its task did.
//!
//! The two are in one file because each contains the other.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use core::time::Duration;

use super::connect::CloseReason;
use super::input::InputError;
use crate::error::{PeerError, RpcError};
use crate::printable;
use crate::structured::StructuredError;
use crate::text::Seconds;
#[cfg(feature = "http")]
use crate::transport_error::HttpError;
use crate::types::ProtocolVersion;

/// The name of a method, in an error.
type MethodName = Cow<'static, str>;

/// The error of a request that ended without a result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The server answered with an error.
    #[error("`{method}` failed: the server says: {error}")]
    Server {
        /// The method of the request.
        method: MethodName,
        /// The server's error.
        error: RpcError,
    },
    /// The server does not have the tool.
    #[error("tool not found: {} ({})", printable(tool), evidence(error.as_ref()))]
    ToolNotFound {
        /// The name of the tool.
        tool: String,
        /// The server's error; `None` if the server's list of tools showed that the tool does not exist.
        error: Option<RpcError>,
    },
    /// The server's answer does not follow the specification.
    #[error("`{method}` got an answer that cannot be read: {error}")]
    Invalid {
        /// The method of the request.
        method: MethodName,
        /// What is wrong with the answer.
        error: PeerError,
    },
    /// The structured content of a tool result does not have the requested type or does not match the tool's schema.
    #[error("{error}")]
    Structured {
        /// What is wrong with the structured content.
        error: Arc<StructuredError>,
    },
    /// No answer came in time. The server was notified that the request is cancelled.
    #[error("`{method}` timed out after {}{}", Seconds(*after), deadline.note())]
    Timeout {
        /// The method of the request.
        method: MethodName,
        /// The length of the timeout.
        after: Duration,
        /// Which of the two timeouts passed.
        deadline: Deadline,
    },
    /// The caller cancelled the request. The server was notified.
    #[error("`{method}` was cancelled")]
    Cancelled {
        /// The method of the request.
        method: MethodName,
    },
    /// The connection ended before the answer came.
    #[error("`{method}` got no answer: {reason}")]
    Closed {
        /// The method of the request.
        method: MethodName,
        /// Why the connection ended.
        reason: CloseReason,
    },
    /// The server requested input before it answers (2026-07-28, basic/patterns/mrtr), and did not get it. The server
    /// waits for nothing any more.
    #[error("`{method}` failed: the server did not get the input that it requested: {error}")]
    Input {
        /// The method of the request.
        method: MethodName,
        /// Why the server did not get the input.
        error: Arc<InputError>,
    },
    /// The call ran as a task, which ended without a result or can no longer be followed.
    #[error("the task {:?} of `{method}` {fault}", alloc::format!("{}", printable(task)))]
    Task {
        /// The method of the request.
        method: MethodName,
        /// The id of the task. A handle made from it may still reach the task.
        task: String,
        /// Why there is no result.
        fault: TaskError,
    },
    /// A reply was decoded with the ticket of another request.
    #[error("wrong ticket: a ticket of `{method}` cannot decode the reply to another request")]
    WrongTicket {
        /// The method of the ticket.
        method: MethodName,
    },
    /// The HTTP exchange of the request brought no answer.
    #[cfg(feature = "http")]
    #[error("`{method}` got no answer: {error}")]
    Http {
        /// The method of the request.
        method: MethodName,
        /// Why the exchange brought no answer.
        error: Box<HttpError>,
    },
}

/// Says how it is known that a tool does not exist.
fn evidence(error: Option<&RpcError>) -> String {
    match error {
        Some(error) => alloc::format!("the server says: {error}"),
        None => "the server's list of tools does not have it".into(),
    }
}

impl CallError {
    /// Returns whether the server says that the requested resource does not exist (2026-07-28, server/resources, "Error
    /// Handling").
    ///
    /// `version` is the negotiated version: the code -32602 means a missing resource from 2026-07-28 on, and any invalid
    /// parameter before. The code -32002 means a missing resource in all versions.
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

    /// Returns whether the network failed, for this request alone: its HTTP exchange could not start, or broke off. Other
    /// requests may succeed.
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
}

/// One of the two timeouts of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deadline {
    /// The time since the request was sent, or since its last progress notification.
    Idle,
    /// The time since the request was sent, regardless of progress.
    Total,
}

impl Deadline {
    fn note(self) -> &'static str {
        match self {
            Deadline::Idle => " without an answer or progress",
            Deadline::Total => "",
        }
    }
}

/// The reason why a task ended without the result of its call.
///
/// An error that the call itself would have answered with is not a fault of the task. Its `Display` is the end of a
/// sentence about the task.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TaskError {
    /// The task was cancelled, but not by this client.
    #[error("was cancelled by the server{}", detail(message.as_deref()))]
    Cancelled {
        /// The server's status message.
        message: Option<String>,
    },
    /// The task failed, and the server does not report an error for it.
    #[error("failed without an error{}", detail(message.as_deref()))]
    Failed {
        /// The server's status message.
        message: Option<String>,
    },
    /// The task completed, and the server does not report a result for it.
    #[error("completed without a result{}", detail(message.as_deref()))]
    NoResult {
        /// The server's status message.
        message: Option<String>,
    },
    /// The server does not know the task. Servers may delete a task after its time to live.
    #[error("does not exist any more: the server says: {error}")]
    Unknown {
        /// The server's error.
        error: RpcError,
    },
    /// The server rejected the input that the task had requested.
    #[error("cannot continue: the server rejected the input that it had requested: {error}")]
    AnswersRefused {
        /// The server's error.
        error: RpcError,
    },
    /// The state of the task is unknown, because repeated requests for it failed.
    #[error("is lost: {error}")]
    Lost {
        /// The error of the last request.
        error: Box<CallError>,
    },
    /// Too many tasks are followed already. This task was cancelled.
    #[error("was cancelled at once: {limit} tasks are followed already")]
    TooMany {
        /// The limit, [`Config::max_tasks`](crate::Config::max_tasks).
        limit: usize,
    },
}

fn detail(message: Option<&str>) -> String {
    message.map(|message| alloc::format!(": {}", printable(message))).unwrap_or_default()
}
