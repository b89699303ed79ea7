//! [`CloseReason`]: why a connection ended. [`ConnectError`]: why it could not be opened.

#[cfg(feature = "http")]
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use crate::error::{PeerError, RpcError};
use crate::printable;
use crate::text::{Seconds, excerpt};
#[cfg(feature = "http")]
use crate::transport_error::HttpError;

/// The reason why a connection ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CloseReason {
    /// The server closed its output, or its process ended.
    #[error("the server closed the connection")]
    ByServer,
    /// The client closed the connection.
    #[error("the connection was closed")]
    ByClient,
    /// The connection could not be opened.
    #[error("{0}")]
    NotOpened(Arc<ConnectError>),
    /// The client cannot continue; the text says why.
    #[error("this side failed: {}", printable(.0))]
    Failed(Arc<str>),
}

impl CloseReason {
    /// Converts the reason to the error of a connection that ended before it was open.
    pub fn into_opening_error(self) -> ConnectError {
        match self {
            CloseReason::NotOpened(error) => Arc::unwrap_or_clone(error),
            CloseReason::ByServer | CloseReason::ByClient => ConnectError::Closed,
            CloseReason::Failed(why) => ConnectError::Failed(why),
        }
    }
}

/// Joins versions to a text. `join` would do the same with several times the code.
fn comma_separated(versions: &[String]) -> String {
    let mut text = String::new();
    for (index, version) in versions.iter().enumerate() {
        if index > 0 {
            text.push_str(", ");
        }
        text.push_str(version);
    }
    text
}

/// The error of a connection that could not be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The client and the server have no protocol version in common.
    #[error(
        "unsupported protocol version: the server speaks {}; this side accepts {}",
        excerpt(comma_separated(server).as_bytes()),
        comma_separated(client)
    )]
    UnsupportedVersion {
        /// The versions that the server supports, as far as it named them.
        server: Vec<String>,
        /// The versions that the client accepts.
        client: Vec<String>,
    },
    /// The server answered with an error.
    #[error("the server refused `{method}`: {error}")]
    Refused {
        /// `initialize` or `server/discover`.
        method: &'static str,
        /// The server's error.
        error: RpcError,
    },
    /// The server's answer is invalid.
    #[error("the answer to `{method}` cannot be read: {error}")]
    Invalid {
        /// `initialize` or `server/discover`.
        method: &'static str,
        /// What is wrong with the answer.
        error: PeerError,
    },
    /// The server did not answer in time.
    #[error("the server did not answer within {}", Seconds(*after))]
    Timeout {
        /// The timeout that passed.
        after: Duration,
    },
    /// The connection ended before the server answered.
    #[error("the connection ended before the server answered")]
    Closed,
    /// The program cancelled the opening.
    #[error("the opening of the connection was cancelled")]
    Cancelled,
    /// The client cannot continue; the text says why.
    #[error("this side failed: {}", printable(.0))]
    Failed(Arc<str>),
    /// The HTTP exchange brought no answer.
    #[cfg(feature = "http")]
    #[error("`{method}` got no answer: {error}")]
    Http {
        /// `initialize` or `server/discover`.
        method: &'static str,
        /// Why the exchange brought no answer.
        error: Box<HttpError>,
    },
}
