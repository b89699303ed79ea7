//! [`SendError`]: why nothing was sent.

use alloc::string::String;

use mcpwire_types::ProtocolVersion;
use mcpwire_types::Requirement;
use mcpwire_types::printable;
use mcpwire_types::{CallTool, Method};

/// The reason why a request or notification was not sent. The server received no part of the message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The connection is not open yet. Call `initialize`, and wait until the connection is open.
    #[error("not initialized: the connection is not open yet; call `initialize` first")]
    NotInitialized,
    /// `initialize` was called before on this session.
    #[error("already initialized: a connection is opened only once")]
    AlreadyInitialized,
    /// The connection has ended.
    #[error("the connection has ended")]
    Closed,
    /// The parameters cannot be written as JSON.
    #[error("the parameters of `{method}` cannot be written as JSON: {reason}")]
    Params {
        /// The method of the request or notification.
        method: String,
        /// Why the parameters cannot be written as JSON.
        reason: String,
    },
    /// The parameters of the request or notification, or their member `_meta`, are not a JSON object. Or the arguments
    /// of a tool are neither an object nor pairs of a name and a value.
    #[error("the parameters of `{method}` must be a JSON object{}", accepted_arguments(method))]
    NotAnObject {
        /// The method of the request or notification.
        method: String,
    },
    /// The negotiated protocol version does not have the method.
    #[error("protocol version {version}, which this server speaks, does not have `{method}`{}", replacement(instead))]
    NotInRevision {
        /// The method of the request or notification.
        method: &'static str,
        /// The negotiated protocol version.
        version: ProtocolVersion,
        /// What to use instead of the method in this protocol version, such as "`server/discover`". Empty if nothing
        /// replaces the method.
        instead: &'static str,
    },
    /// The method of the request or notification requires a capability that the server did not declare.
    #[error(
        "the server does not offer `{method}`: it does not declare the capability `{requires}`; a raw request can still be \
         sent"
    )]
    NotOffered {
        /// The method of the request or notification.
        method: &'static str,
        /// The capability that the server did not declare, such as `prompts`.
        requires: Requirement,
    },
    /// The log level of a modern server (from revision 2026-07-28) was not set, because the server did not declare the capability
    /// `logging`, so it sends no log messages. That revision has no method to set the level: each request contains it.
    ///
    /// For a legacy server without this capability, the error is [`SendError::NotOffered`].
    #[error("the server sends no log messages: it does not declare the capability `logging`")]
    NoLogging,
    /// The specification has no such log level. A modern server would refuse every request that contains it.
    #[error(
        "there is no log level `{}`; the levels are those of `LoggingLevel`, from `debug` to `emergency`",
        printable(level)
    )]
    UnknownLogLevel {
        /// The name of the level.
        level: String,
    },
    /// The tool can only be called as a task, according to the server's list of tools (revision 2025-11-25,
    /// basic/utilities/tasks, "Tool-Level Negotiation"), but the client does not allow a task for this call.
    ///
    /// Set [`RequestOptions::task`](crate::RequestOptions::task) for this call or call
    /// [`Config::follow_tasks`](crate::Config::follow_tasks) to allow a task.
    #[error(
        "the tool `{}` can be called as a task only: `tools/call` was not sent; allow a task with `follow_task()`, or for \
         all calls with `ConnectOptions::follow_tasks()`",
        printable(tool)
    )]
    TaskRequired {
        /// The name of the tool.
        tool: String,
    },
    /// The maximum number of pending requests, tasks or subscriptions is reached.
    #[error("too many requests: {limit} already wait for an answer; send this one again when another has ended")]
    TooManyInFlight {
        /// The limit that was reached: [`Config::max_in_flight`](crate::Config::max_in_flight),
        /// [`Config::max_tasks`](crate::Config::max_tasks) or
        /// [`Config::max_subscriptions`](crate::Config::max_subscriptions).
        limit: usize,
    },
    /// Too many bytes are queued for sending, for example because the server does not read.
    #[error("too much to send: {limit} bytes already wait, because the server does not read; try again later")]
    TransmitFull {
        /// Maximum number of queued bytes, [`Config::max_transmit`](crate::Config::max_transmit).
        limit: usize,
    },
}

impl SendError {
    /// Returns the method of the request or notification. `None` if the error does not depend on the method.
    pub fn method(&self) -> Option<&str> {
        match self {
            SendError::Params { method, .. } | SendError::NotAnObject { method } => Some(method),
            SendError::NotInRevision { method, .. } | SendError::NotOffered { method, .. } => Some(method),
            SendError::TaskRequired { .. } => Some("tools/call"),
            _ => None,
        }
    }
}

fn accepted_arguments(method: &str) -> &'static str {
    if method == CallTool::NAME {
        "; pass arguments as a struct, a map, pairs such as `[(\"name\", 1)]`, or `()` for none"
    } else {
        ""
    }
}

fn replacement(instead: &str) -> String {
    if instead.is_empty() { String::new() } else { alloc::format!("; it has {instead} in its place") }
}
