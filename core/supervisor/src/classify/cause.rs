//! [`Cause`]: the cause of a server failure as the client observed it, and [`Stage`]: the operation that failed.

use alloc::borrow::Cow;
use core::time::Duration;

/// The operation during which a server failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// The process was being started, or the connection was being opened.
    Launch,
    /// The protocol version was being negotiated.
    Negotiate,
    /// The tool list was being loaded.
    List,
    /// The server was running. If a tool call failed, the stage is [`Stage::Call`] instead.
    Run,
    /// A tool was being called.
    Call,
}

impl Stage {
    pub(super) const fn is_start(self) -> bool {
        matches!(self, Stage::Launch | Stage::Negotiate | Stage::List)
    }
}

/// The cause of a server failure, as the client observed it.
///
/// Two errors are not server failures: a program that cannot be started, and a tool that reports an error in its
/// result.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause<'a> {
    /// The process of the server exited.
    Exit {
        /// The exit code, or `None` if a signal terminated the process.
        code: Option<i32>,
        /// The number of the signal that terminated the process. `None` if the process was not terminated by a signal.
        signal: Option<i32>,
    },
    /// The connection to the server ended without a known reason.
    Closed,
    /// The operation timed out. Contains the timeout.
    Timeout(Duration),
    /// The server responded with an HTTP error status.
    Http {
        /// The HTTP status code.
        status: u16,
        /// The delay that the server requested in the `Retry-After` header, or `None` without that header.
        retry_after: Option<Duration>,
    },
    /// The connection could not be opened, or was lost. Contains the error message.
    Network(Cow<'a, str>),
    /// The server responded with a JSON-RPC error.
    Rpc {
        /// The JSON-RPC error code.
        code: i64,
        /// The message of the JSON-RPC error.
        message: Cow<'a, str>,
    },
    /// Client and server support no common protocol version. Contains the versions of the server.
    NoCommonVersion(Cow<'a, str>),
    /// The server sent an invalid message. Contains a description of the error.
    Unreadable(Cow<'a, str>),
    /// The client cancelled the operation.
    Cancelled,
}
