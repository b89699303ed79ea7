//! How a connection ends, and why it could not be opened.

#[cfg(feature = "http")]
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use super::error::Time;
use crate::printable;
use crate::rpc::{PeerError, RpcError};
use crate::text::excerpt;
#[cfg(feature = "http")]
use crate::transport_error::HttpError;

/// How a connection ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Closed {
    /// The server closed its output, or ended.
    ByServer,
    /// This side closed it.
    ByClient,
    /// It could not be opened. Whoever waited for something is told the same.
    NotOpened(Arc<ConnectError>),
    /// This side cannot go on, for this reason.
    Failed(Arc<str>),
}

impl Closed {
    /// Why the connection could not be opened, if it ended before it was.
    pub fn before_open(self) -> ConnectError {
        match self {
            Closed::NotOpened(error) => Arc::unwrap_or_clone(error),
            Closed::ByServer | Closed::ByClient => ConnectError::Closed,
            Closed::Failed(why) => ConnectError::Failed(why),
        }
    }
}

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Closed::ByServer => f.write_str("the server closed the connection"),
            Closed::ByClient => f.write_str("the connection was closed"),
            Closed::NotOpened(error) => error.fmt(f),
            Closed::Failed(why) => write!(f, "this side failed: {}", printable(why)),
        }
    }
}

/// Why a connection could not be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConnectError {
    /// No version is spoken by both sides.
    UnsupportedVersion {
        /// What the server speaks, as far as it told.
        server: Vec<String>,
        /// What was acceptable to this side.
        client: Vec<String>,
    },
    /// The server refused.
    Refused {
        /// `initialize` or `server/discover`.
        method: &'static str,
        /// What it says.
        error: RpcError,
    },
    /// The server's answer cannot be read.
    Invalid {
        /// `initialize` or `server/discover`.
        method: &'static str,
        /// What is wrong with it.
        error: PeerError,
    },
    /// The server did not answer.
    Timeout {
        /// How long it was waited for.
        after: Duration,
    },
    /// The connection ended before the server answered.
    Closed,
    /// The opening was cancelled.
    Cancelled,
    /// This side cannot go on, for this reason.
    Failed(Arc<str>),
    /// The HTTP exchange that carried it brought no answer.
    #[cfg(feature = "http")]
    Http {
        /// `initialize` or `server/discover`.
        method: &'static str,
        /// What happened.
        error: Box<HttpError>,
    },
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConnectError::UnsupportedVersion { server, client } => {
                f.write_str("unsupported protocol version: the server speaks ")?;
                f.write_str(&excerpt(in_a_row(server).as_bytes()))?;
                f.write_str("; this side accepts ")?;
                f.write_str(&in_a_row(client))
            }
            ConnectError::Refused { method, error } => write!(f, "the server refused `{method}`: {error}"),
            ConnectError::Invalid { method, error } => write!(f, "the answer to `{method}` cannot be read: {error}"),
            ConnectError::Timeout { after } => write!(f, "the server did not answer within {}", Time(*after)),
            ConnectError::Closed => f.write_str("the connection ended before the server answered"),
            ConnectError::Cancelled => f.write_str("the opening of the connection was cancelled"),
            ConnectError::Failed(why) => write!(f, "this side failed: {}", printable(why)),
            #[cfg(feature = "http")]
            ConnectError::Http { method, error } => write!(f, "`{method}` got no answer: {error}"),
        }
    }
}

impl core::error::Error for ConnectError {}

/// Versions, with commas between them.
fn in_a_row(versions: &[String]) -> String {
    let mut row = String::new();
    for version in versions {
        if !row.is_empty() {
            row.push_str(", ");
        }
        row.push_str(version);
    }
    row
}
