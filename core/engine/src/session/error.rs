//! What can go wrong, by who is at fault.
//!
//! | type | at fault |
//! |---|---|
//! | [`SendError`] | the caller: the request was not even sent |
//! | [`ConnectError`](super::ConnectError) | the server, the wire or time, while the connection was being opened |
//! | [`CallError`] | the server, the wire or time, after the request was sent |
//! | [`PeerError`] | the server: what is wrong with a message of its |

use alloc::borrow::Cow;
#[cfg(feature = "http")]
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use core::fmt;
use core::time::Duration;

use super::closed::Closed;
use super::task_fault::TaskFault;
use crate::printable;
use crate::revisions::Need;
use crate::rpc::{PeerError, RpcError};
use crate::structured::StructuredError;
use crate::text::excerpt;
#[cfg(feature = "http")]
use crate::transport_error::HttpError;
use crate::types::ProtocolVersion;

/// A method's name, in an error.
type MethodName = Cow<'static, str>;

/// Why a request or notification was not sent. Nothing of it reached the server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SendError {
    /// The connection has not been opened yet: `initialize` comes first.
    NotInitialized,
    /// `initialize` was called a second time.
    AlreadyInitialized,
    /// The connection has ended.
    Closed,
    /// The parameters do not serialise.
    Params {
        /// Of which method.
        method: String,
        /// What the serialiser says.
        reason: String,
    },
    /// The parameters (or `_meta`) are JSON, but no object.
    NotAnObject {
        /// Of which method.
        method: String,
    },
    /// The protocol version that is spoken does not have it; see [`revisions`](crate::revisions).
    NotInRevision {
        /// The method.
        method: &'static str,
        /// The version that is spoken.
        version: ProtocolVersion,
        /// What that version has in its place, in words; empty if there is nothing.
        instead: &'static str,
    },
    /// The server said what it can do, and this is not among it.
    NotOffered {
        /// The method.
        method: &'static str,
        /// The capability that is missing, such as `prompts`.
        needs: Need,
    },
    /// The server's list of tools says that this one can be called as a task only (2025-11-25, basic/utilities/tasks,
    /// "Tool-Level Negotiation"), and neither the call ([`RequestOptions::task`](crate::RequestOptions::task)) nor the
    /// session ([`Config::follow_tasks`](crate::Config::follow_tasks)) is to follow one.
    TaskRequired {
        /// The tool.
        tool: String,
    },
    /// [`Config::max_in_flight`](crate::Config::max_in_flight) requests wait for an answer already.
    TooManyInFlight {
        /// The limit.
        limit: usize,
    },
    /// [`Config::max_transmit`](crate::Config::max_transmit) bytes wait to be sent already: the server does not read.
    TransmitFull {
        /// The limit.
        limit: usize,
    },
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SendError::NotInitialized => {
                f.write_str("not initialized: the connection to the server has not been opened yet")
            }
            SendError::AlreadyInitialized => f.write_str("already initialized"),
            SendError::Closed => f.write_str("the connection has ended"),
            SendError::Params { method, reason } => {
                write!(f, "the parameters of `{method}` cannot be written as JSON: {reason}")
            }
            SendError::NotAnObject { method } => write!(f, "the parameters of `{method}` must be a JSON object"),
            SendError::NotInRevision { method, version, instead } => {
                write!(f, "protocol version {version}, which this server speaks, does not have `{method}`")?;
                if instead.is_empty() { Ok(()) } else { write!(f, "; it has {instead} in its place") }
            }
            SendError::NotOffered { method, needs } => write!(
                f,
                "the server does not offer `{method}`: it does not declare the capability `{needs}` (a raw request is \
                 sent all the same)"
            ),
            SendError::TaskRequired { tool } => write!(
                f,
                "the tool `{}` can be called as a task only: `tools/call` was not sent; let the call follow its task with \
                 `follow_task()`, or all calls with `ConnectOptions::follow_tasks()`",
                printable(tool)
            ),
            SendError::TooManyInFlight { limit } => write!(f, "{limit} requests wait for an answer already"),
            SendError::TransmitFull { limit } => {
                write!(f, "{limit} bytes wait to be sent already: the server does not read")
            }
        }
    }
}

impl core::error::Error for SendError {}

/// Why a request ended without a result.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallError {
    /// The server answered with an error.
    Server {
        /// Which method.
        method: MethodName,
        /// What the server says.
        error: RpcError,
    },
    /// The server has no such tool.
    ToolNotFound {
        /// The name.
        tool: String,
        /// What the server says; `None` where its list of tools was enough to know.
        error: Option<RpcError>,
    },
    /// The server answered, and the answer is not what the specification says.
    Invalid {
        /// Which method.
        method: MethodName,
        /// What is wrong with it.
        error: PeerError,
    },
    /// The structured content of a tool's answer cannot be used as what was asked for.
    Structured {
        /// Of which tool, and why.
        error: Arc<StructuredError>,
    },
    /// No answer came in time. The server was told that the request is cancelled.
    Timeout {
        /// Which method.
        method: MethodName,
        /// The time that passed.
        after: Duration,
        /// Which of the deadlines it was.
        deadline: Deadline,
    },
    /// The caller gave up. The server was told.
    Cancelled {
        /// Which method.
        method: MethodName,
    },
    /// The connection ended first.
    Closed {
        /// Which method.
        method: MethodName,
        /// How it ended.
        reason: Closed,
    },
    /// The server wanted input before it answers (2026-07-28, basic/patterns/mrtr), and did not get it. Nothing waits on its
    /// side.
    Input {
        /// Which method.
        method: MethodName,
        /// Why it did not get it.
        error: Arc<InputError>,
    },
    /// The call had become a task, which ended without a result, or cannot be followed any more.
    Task {
        /// Which method.
        method: MethodName,
        /// The task's name. A handle made of it may still get at the task.
        task: String,
        /// What became of it.
        fault: TaskFault,
    },
    /// A reply was given to the ticket of another request.
    WrongTicket {
        /// The ticket's method.
        method: MethodName,
    },
    /// The HTTP exchange that carried it brought no answer.
    #[cfg(feature = "http")]
    Http {
        /// Which method.
        method: MethodName,
        /// What happened.
        error: Box<HttpError>,
    },
}

/// Why a server did not get the input that it wanted before it answers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InputError {
    /// This side answers no such thing: it is not in [`Config::answers`](crate::Config::answers).
    NotOffered {
        /// The server's name for the input.
        name: String,
        /// What it asked for, such as `elicitation/create`.
        asked: String,
    },
    /// Whoever was asked refused.
    Refused {
        /// The server's name for the input.
        name: String,
        /// What it asked for, such as `elicitation/create`.
        asked: String,
        /// Why it was refused.
        error: RpcError,
    },
    /// The program's handler for it panicked.
    Panicked {
        /// The server's name for the input.
        name: String,
        /// What it asked for, such as `elicitation/create`.
        asked: String,
        /// The message of the panic. No server is told it.
        message: String,
    },
    /// The server asked for more than [`Config::max_asks`](crate::Config::max_asks) things at a time.
    TooManyInputs {
        /// The limit.
        limit: usize,
    },
    /// The server wanted input more than [`Config::max_rounds`](crate::Config::max_rounds) times.
    TooManyRounds {
        /// The limit.
        limit: u32,
    },
    /// Sending the request again would have taken more than [`Config::max_kept`](crate::Config::max_kept) bytes, of all
    /// requests together.
    TooMuchToKeep {
        /// The limit.
        limit: usize,
    },
    /// The request could not be sent again.
    NotSent(SendError),
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InputError::NotOffered { name, asked } => {
                write!(f, "{} is asked for as {}, ", quoted(asked), quoted(name))?;
                f.write_str("which this client does not answer")
            }
            InputError::Refused { name, asked, error } => {
                write!(f, "{} is asked for as {}, which was refused: {error}", quoted(asked), quoted(name))
            }
            InputError::Panicked { name, asked, message } => {
                write!(f, "{} is asked for as {}, and its handler panicked: ", quoted(asked), quoted(name))?;
                write!(f, "{}", printable(message))
            }
            InputError::TooManyInputs { limit } => write!(f, "more is asked for than {limit} things at a time"),
            InputError::TooManyRounds { limit } => {
                write!(f, "the request was sent again {limit} times, which is the limit")
            }
            InputError::TooMuchToKeep { limit } => {
                write!(f, "sending the request again would take more than the limit of {limit} bytes")
            }
            InputError::NotSent(error) => write!(f, "the request was not sent again: {error}"),
        }
    }
}

impl core::error::Error for InputError {}

/// A time as its `{:?}` shows it, to the millisecond, in a fraction of the code.
pub(super) struct Time(pub(super) Duration);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, millis) = (self.0.as_secs(), self.0.subsec_millis());
        match (seconds, millis) {
            (0, 1..) => write!(f, "{millis}ms"),
            (_, 0) => write!(f, "{seconds}s"),
            _ => f
                .write_str(alloc::format!("{seconds}.{millis:03}").trim_end_matches('0'))
                .and_then(|()| f.write_str("s")),
        }
    }
}

/// A name of the server's, bounded and printable.
fn quoted(name: &str) -> String {
    alloc::format!("`{}`", excerpt(name.as_bytes()))
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::Server { method, error } => write!(f, "`{method}` failed: the server says: {error}"),
            CallError::ToolNotFound { tool, error } => {
                write!(f, "tool not found: {}", printable(tool))?;
                match error {
                    Some(error) => write!(f, " (the server says: {error})"),
                    None => f.write_str(" (the server's list of tools does not have it)"),
                }
            }
            CallError::Invalid { method, error } => write!(f, "`{method}` got an answer that cannot be read: {error}"),
            CallError::Structured { error } => error.fmt(f),
            CallError::Timeout { method, after, deadline } => {
                write!(f, "`{method}` got no answer within {}{}", Time(*after), deadline.note())
            }
            CallError::Cancelled { method } => write!(f, "`{method}` was cancelled"),
            CallError::Closed { method, reason } => write!(f, "`{method}` got no answer: {reason}"),
            CallError::Input { method, error } => write!(f, "`{method}` wants input that it did not get: {error}"),
            CallError::Task { method, task, fault } => {
                write!(f, "the task {:?} of `{method}` {fault}", printable(task).to_string())
            }
            CallError::WrongTicket { method } => {
                write!(f, "the reply to another request was given to a ticket of `{method}`")
            }
            #[cfg(feature = "http")]
            CallError::Http { method, error } => write!(f, "`{method}` got no answer: {error}"),
        }
    }
}

impl core::error::Error for CallError {}

/// Which deadline passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deadline {
    /// The time since the request, or since its last progress.
    Idle,
    /// The time since the request, whatever progress there was.
    Total,
}

impl Deadline {
    fn note(self) -> &'static str {
        match self {
            Deadline::Idle => "",
            Deadline::Total => " in all",
        }
    }
}

impl CallError {
    /// Whether the server says that there is no resource of the address that was asked for (2026-07-28, server/resources,
    /// "Error Handling"): with the code -32002, and from 2026-07-28 on with -32602, which in earlier revisions says only
    /// that something is wrong with the parameters. `version` is the one that was negotiated.
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

    /// Whether the network is at fault, for this request alone: its HTTP exchange did not come about, or broke off. Others may
    /// go through.
    pub fn is_of_network(&self) -> bool {
        #[cfg(feature = "http")]
        if let CallError::Http { error, .. } = self {
            return matches!(&**error, HttpError::Failed(_));
        }
        false
    }

    /// The method of the request.
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
