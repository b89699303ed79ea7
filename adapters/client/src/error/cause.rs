//! [`Cause`]: the underlying error of an [`Error`](crate::Error).

use std::io;
use std::sync::Arc;

use mcpwire_core::{CallError, ConnectError, SendError, printable};

use super::{HttpSetupError, SpawnError};

/// The underlying error of an [`Error`](crate::Error).
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Cause {
    /// The process of the server could not be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The client cannot make HTTP requests with its settings.
    #[error(transparent)]
    Http(#[from] HttpSetupError),
    /// The connection could not be opened.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// A request was not sent.
    #[error(transparent)]
    Send(#[from] SendError),
    /// A request was sent and failed, or its result is invalid.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The operating system, or a stream of the program, reported an error.
    #[error("the connection failed: {}", printable(&.0.to_string()))]
    Io(Arc<io::Error>),
}

impl From<io::Error> for Cause {
    fn from(error: io::Error) -> Self {
        Cause::Io(Arc::new(error))
    }
}
