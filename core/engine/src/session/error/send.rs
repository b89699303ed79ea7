//! [`SendError`]: why nothing was sent.

use alloc::string::String;

use crate::printable;
use crate::revisions::Requirement;
use crate::types::ProtocolVersion;

/// The error of a request or notification that was not sent. Nothing of it reached the server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The connection is not open yet: call `initialize` first.
    #[error("not initialized: the connection is not open yet; call `initialize` first")]
    NotInitialized,
    /// `initialize` was called a second time.
    #[error("already initialized: a connection is opened only once")]
    AlreadyInitialized,
    /// The connection has ended.
    #[error("the connection has ended")]
    Closed,
    /// The parameters cannot be serialized.
    #[error("the parameters of `{method}` cannot be written as JSON: {reason}")]
    Params {
        /// The method of the request or notification.
        method: String,
        /// The message of the serializer.
        reason: String,
    },
    /// The parameters, or their `_meta`, are JSON but not an object.
    #[error("the parameters of `{method}` must be a JSON object")]
    NotAnObject {
        /// The method of the request or notification.
        method: String,
    },
    /// The negotiated protocol version does not have the method; see [`revisions`](crate::revisions).
    #[error("protocol version {version}, which this server speaks, does not have `{method}`{}", replacement(instead))]
    NotInRevision {
        /// The method.
        method: &'static str,
        /// The negotiated version.
        version: ProtocolVersion,
        /// What replaces the method in that version, in words; empty if nothing does.
        instead: &'static str,
    },
    /// The server declared its capabilities, and the method needs one that is not among them.
    #[error(
        "the server does not offer `{method}`: it does not declare the capability `{requires}`; a raw request can still be \
         sent"
    )]
    NotOffered {
        /// The method.
        method: &'static str,
        /// The missing capability, such as `prompts`.
        requires: Requirement,
    },
    /// The tool can be called only as a task, as the server's list of tools says (2025-11-25, basic/utilities/tasks,
    /// "Tool-Level Negotiation"), and neither [`RequestOptions::task`](crate::RequestOptions::task) nor
    /// [`Config::follow_tasks`](crate::Config::follow_tasks) allows a task.
    #[error(
        "the tool `{}` can be called as a task only: `tools/call` was not sent; allow a task with `follow_task()`, or for \
         all calls with `ConnectOptions::follow_tasks()`",
        printable(tool)
    )]
    TaskRequired {
        /// The name of the tool.
        tool: String,
    },
    /// Too many requests wait for an answer.
    #[error("too many requests: {limit} already wait for an answer; send this one again when another has ended")]
    TooManyInFlight {
        /// The limit, [`Config::max_in_flight`](crate::Config::max_in_flight).
        limit: usize,
    },
    /// Too many bytes wait to be sent, because the server does not read.
    #[error("too much to send: {limit} bytes already wait, because the server does not read; try again later")]
    TransmitFull {
        /// The limit in bytes, [`Config::max_transmit`](crate::Config::max_transmit).
        limit: usize,
    },
}

fn replacement(instead: &str) -> String {
    if instead.is_empty() { String::new() } else { alloc::format!("; it has {instead} in its place") }
}
