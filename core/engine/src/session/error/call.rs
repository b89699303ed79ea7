//! [`CallError`]: why a request ended without a result. [`TaskError`]: why a task ended without the result of its call.
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

/// Name of the method of a failed request.
type MethodName = Cow<'static, str>;

/// The error of a request that ended without a result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The server responded with an error.
    #[error("`{method}` failed: the server says: {error}")]
    Server {
        /// The method of the request.
        method: MethodName,
        /// The error in the server's response.
        error: RpcError,
    },
    /// The server does not have the tool.
    #[error("tool not found: {} ({})", printable(tool), evidence(error.as_ref()))]
    ToolNotFound {
        /// The name of the tool.
        tool: String,
        /// The error in the server's response. `None` if nothing was sent, because the server's list of tools does not
        /// contain the tool.
        error: Option<RpcError>,
    },
    /// The server's response violates the specification.
    #[error("`{method}` got an answer that cannot be read: {error}")]
    Invalid {
        /// The method of the request.
        method: MethodName,
        /// What is wrong with the response.
        error: PeerError,
    },
    /// The structured content of a tool result does not have the requested type or does not match the tool's schema.
    #[error("{error}")]
    Structured {
        /// What is wrong with the structured content.
        error: Arc<StructuredError>,
    },
    /// No response arrived in time. The session has cancelled the request.
    #[error("`{method}` timed out after {}{}", Seconds(*after), deadline.note())]
    Timeout {
        /// The method of the request.
        method: MethodName,
        /// Duration of the timeout that expired.
        after: Duration,
        /// Which of the two timeouts of the request expired.
        deadline: Deadline,
    },
    /// The caller cancelled the request.
    #[error("`{method}` was cancelled")]
    Cancelled {
        /// The method of the request.
        method: MethodName,
    },
    /// The connection ended before the response arrived.
    #[error("`{method}` got no answer: {reason}")]
    Closed {
        /// The method of the request.
        method: MethodName,
        /// Why the connection ended.
        reason: CloseReason,
    },
    /// The server required input before responding (revision 2026-07-28, basic/patterns/mrtr), but did not receive the
    /// input. The server does not wait for the input any more.
    #[error("`{method}` failed: the server did not get the input that it requested: {error}")]
    Input {
        /// The method of the request.
        method: MethodName,
        /// Why the server did not receive the input.
        error: Arc<InputError>,
    },
    /// The call became a task, which ended without a result or can no longer be polled.
    #[error("the task {:?} of `{method}` {fault}", alloc::format!("{}", printable(task)))]
    Task {
        /// The method of the request.
        method: MethodName,
        /// Id of the task. The program can still poll the task with a handle created from this id, if the server has
        /// not deleted the task.
        task: String,
        /// Why the task has no result.
        fault: TaskError,
    },
    /// A reply was decoded with the ticket of a different request.
    #[error("wrong ticket: a ticket of `{method}` cannot decode the reply to another request")]
    WrongTicket {
        /// Method of the request to which the ticket belongs.
        method: MethodName,
    },
    /// The HTTP exchange of the request ended without a response to it.
    #[cfg(feature = "http")]
    #[error("`{method}` got no answer: {error}")]
    Http {
        /// The method of the request.
        method: MethodName,
        /// Why the HTTP exchange produced no response.
        error: Box<HttpError>,
    },
}

/// Returns a text that says how the client knows that a tool does not exist. `error` is the server's response, if any.
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

    /// Returns whether the HTTP exchange of the request could not start, or was interrupted. Other requests on the
    /// connection may still succeed.
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

/// Identifies one of the two timeouts of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deadline {
    /// The idle timeout. It runs from the sending of the request, or from the last progress notification if that is
    /// later.
    Idle,
    /// The total timeout. It runs from the first sending of the request, regardless of progress.
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

/// The reason why a task ended with neither a result nor an error of the call that it belongs to.
///
/// If the task reports an error of the call itself, the call fails with that error instead. The `Display` text has no
/// subject and starts with a verb, such as "was cancelled by the server". Write the id of the task before the text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TaskError {
    /// The task was cancelled, but not by this client.
    #[error("was cancelled by the server{}", detail(message.as_deref()))]
    Cancelled {
        /// The status message that the server sent with the task, if any.
        message: Option<String>,
    },
    /// The task failed, and the server did not say with which error.
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
    /// The server does not know the task. Servers may delete a task after its time to live.
    #[error("does not exist any more: the server says: {error}")]
    Unknown {
        /// The error in the server's response.
        error: RpcError,
    },
    /// The server rejected the input that the task had required.
    #[error("cannot continue: the server rejected the input that it had requested: {error}")]
    AnswersRefused {
        /// The error in the server's response.
        error: RpcError,
    },
    /// The state of the task is unknown, because requests about the task failed.
    #[error("is lost: {error}")]
    Lost {
        /// The error of the last request that failed.
        error: Box<CallError>,
    },
    /// The session already polls the maximum number of tasks, and has cancelled this task.
    #[error("was cancelled at once: {limit} tasks are followed already")]
    TooMany {
        /// The maximum number of tasks, [`Config::max_tasks`](crate::Config::max_tasks).
        limit: usize,
    },
}

fn detail(message: Option<&str>) -> String {
    message.map(|message| alloc::format!(": {}", printable(message))).unwrap_or_default()
}
