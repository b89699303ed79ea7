//! [`CloseReason`]: why a connection ended. [`ConnectError`]: why a connection could not be opened.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use crate::rpc::RequestFault;
#[cfg(feature = "http")]
use crate::transport_error::HttpError;
use mcpwire_text::{Seconds, excerpt};
use mcpwire_types::printable;
use mcpwire_types::{PeerError, RpcError};

/// The reason why a connection ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CloseReason {
    /// The server closed its output, or its process ended.
    #[error("the server closed the connection")]
    #[doc(alias = "RemoteClosed")]
    ByServer,
    /// The client closed the connection.
    #[error("the connection was closed")]
    ByClient,
    /// The connection could not be opened. Contains the error that says why.
    #[error("{0}")]
    NotOpened(Arc<ConnectError>),
    /// A stream of the program reported an error, or the client cannot continue after a local failure. The text describes
    /// it. For example, the network connection broke, or a stream of the program panicked.
    #[error("the connection failed: {}", printable(.0))]
    Failed(Arc<str>),
}

impl CloseReason {
    /// Converts the reason why a connection ended to a [`ConnectError`]. For connections that ended before they were
    /// open.
    pub fn into_opening_error(self) -> ConnectError {
        match self {
            CloseReason::NotOpened(error) => Arc::unwrap_or_clone(error),
            CloseReason::ByServer | CloseReason::ByClient => ConnectError::Closed,
            CloseReason::Failed(why) => ConnectError::Failed(why),
        }
    }
}

/// The reason why a connection could not be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The client and the server have no protocol version in common.
    #[error(
        "unsupported protocol version: the server speaks {}; the client accepts {}",
        excerpt(server.join(", ").as_bytes()),
        client.join(", ")
    )]
    UnsupportedVersion {
        /// The protocol versions that the server named in its response. The server may support other versions too.
        server: Vec<String>,
        /// The versions that the client accepts.
        client: Vec<String>,
    },
    /// The server responded to `server/discover` or `initialize` with an error.
    #[error("the server refused `{method}`: {error}")]
    Refused {
        /// The request that failed: `initialize` or `server/discover`.
        method: &'static str,
        /// The error in the server's response.
        error: Arc<RpcError>,
    },
    /// The server's response to `server/discover` or `initialize` violates the specification.
    #[error("the answer to `{method}` cannot be read: {error}")]
    Invalid {
        /// The request that failed: `initialize` or `server/discover`.
        method: &'static str,
        /// What is wrong with the response.
        error: Arc<PeerError>,
    },
    /// The connection was not open within the connect timeout.
    #[error("the server did not answer within {}", Seconds(*after))]
    Timeout {
        /// Duration of the timeout, [`Config::connect_timeout`](crate::Config::connect_timeout).
        after: Duration,
    },
    /// The connection ended before the handshake was complete, for example because the server closed its output.
    #[error("the connection ended before the server answered")]
    Closed,
    /// The client closed the connection before the handshake was complete.
    #[error("the opening of the connection was cancelled")]
    Cancelled,
    /// A stream of the program reported an error, or the client cannot continue after a local failure. The text describes
    /// it. For example, the network connection broke, or a stream of the program panicked.
    #[error("the connection failed: {}", printable(.0))]
    Failed(Arc<str>),
    /// The HTTP request that carried `server/discover` or `initialize` failed, or its HTTP response did not contain the
    /// JSON-RPC response.
    #[cfg(feature = "http")]
    #[error("`{method}` failed: {error}")]
    Http {
        /// The request that failed: `initialize` or `server/discover`.
        method: &'static str,
        /// Why there is no JSON-RPC response.
        error: Arc<HttpError>,
    },
}

impl RequestFault {
    /// Converts the failure of the request that opens a connection to a [`ConnectError`]. `method` is `server/discover`
    /// or `initialize`.
    #[cold]
    pub(in crate::session) fn into_connect_error(self, method: &'static str) -> ConnectError {
        match self {
            RequestFault::Server(error) => ConnectError::Refused { method, error: Arc::new(error) },
            RequestFault::Invalid(error) => ConnectError::Invalid { method, error: Arc::new(error) },
            #[cfg(feature = "http")]
            RequestFault::Http(error) => ConnectError::Http { method, error: Arc::new(error) },
        }
    }
}
