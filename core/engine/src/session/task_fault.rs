//! Why a task ended without the result of its call.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

use super::error::CallError;
use crate::printable;
use crate::rpc::RpcError;

/// Why a task ended without the result of its call. What the call itself would have answered, an error too, is none of
/// these.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskFault {
    /// It was cancelled, and not by this client.
    Cancelled {
        /// What the server says about it.
        message: Option<String>,
    },
    /// It has failed, and the server does not say with which error.
    Failed {
        /// What it says instead.
        message: Option<String>,
    },
    /// It has ended well, and the server does not say with which result.
    NoResult {
        /// What it says instead.
        message: Option<String>,
    },
    /// The server does not know it, or not any more: tasks are kept for a time only.
    Unknown {
        /// What the server says.
        error: RpcError,
    },
    /// The server did not take the answers to what the task had asked.
    AnswersRefused {
        /// What the server says.
        error: RpcError,
    },
    /// It could not be found out how it stands, however often the server was asked.
    Lost {
        /// What went wrong the last time.
        error: Box<CallError>,
    },
    /// As many tasks as may be are followed already. This one was cancelled.
    TooMany {
        /// The limit, [`Config::max_tasks`](crate::Config::max_tasks).
        limit: usize,
    },
}

impl fmt::Display for TaskFault {
    /// As the end of a sentence about the task.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, message) = match self {
            TaskFault::Cancelled { message } => ("was cancelled by the server", message),
            TaskFault::Failed { message } => ("has failed, without an error", message),
            TaskFault::NoResult { message } => ("has ended, without a result", message),
            TaskFault::Unknown { error } => return write!(f, "is not there (any more): the server says: {error}"),
            TaskFault::AnswersRefused { error } => {
                return write!(f, "got answers that the server does not take: it says: {error}");
            }
            TaskFault::Lost { error } => return write!(f, "is lost: {error}"),
            TaskFault::TooMany { limit } => {
                return write!(f, "was cancelled at once: {limit} tasks are followed already");
            }
        };
        f.write_str(what)?;
        match message {
            Some(message) => write!(f, ": {}", printable(message)),
            None => Ok(()),
        }
    }
}
