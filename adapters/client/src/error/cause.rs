//! [`Cause`]: the error of the part of a client that failed.

use std::io;
use std::sync::Arc;

use mcpwire_core::{CallError, ConnectError, SendError, printable};

use super::{HttpSetupError, SpawnError};

/// The error of the part of a client that failed, with the details of an [`Error`](crate::Error).
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Cause {
    /// The process of the server could not be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The server is reached over HTTP, and the client cannot make HTTP requests with its settings.
    #[error(transparent)]
    Http(#[from] HttpSetupError),
    /// The server was started or reached, and the connection could not be opened.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// A request was not sent.
    #[error(transparent)]
    Send(#[from] SendError),
    /// A request was sent and has no result, or the result is not the expected one.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The operating system reported an error, or a stream of the program did.
    #[error("the connection failed: {}", printable(&.0.to_string()))]
    Io(Arc<io::Error>),
}

impl From<io::Error> for Cause {
    fn from(error: io::Error) -> Self {
        Cause::Io(Arc::new(error))
    }
}
