//! [`Cause`]: the underlying error of an [`Error`](crate::Error), such as [`HttpSetupError`].

use std::io;
use std::sync::Arc;

#[cfg(feature = "http")]
use mcpwire_core::http::SettingsError;
use mcpwire_core::{CallError, ConnectError, SendError, printable};

use super::SpawnError;

/// The underlying error of an [`Error`](crate::Error), with the details. Returned by [`Error::cause`](crate::Error::cause).
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Cause {
    /// The process of the server could not be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The client cannot make HTTP requests, for example because a setting is invalid.
    #[error(transparent)]
    Http(#[from] HttpSetupError),
    /// The connection could not be opened.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// A request could not be sent, for example because the connection has ended.
    #[error(transparent)]
    Send(#[from] SendError),
    /// A request was sent and failed, or its result is invalid.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The operating system reported an I/O error, or a stream that the program has passed to the client did.
    #[error("the connection failed: {}", printable(&.0.to_string()))]
    Io(Arc<io::Error>),
}

impl From<io::Error> for Cause {
    fn from(error: io::Error) -> Self {
        Cause::Io(Arc::new(error))
    }
}

/// The reason why a client cannot make HTTP requests to a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HttpSetupError {
    /// The server has a URL, but the library was built without an HTTP client (feature `http`).
    #[error(
        "the server has a URL, and this client was built without HTTP; enable the feature `http` of \
         `mcpwire`, or set an HTTP client of the program"
    )]
    Missing,
    /// The URL of the server or a header is invalid.
    #[cfg(feature = "http")]
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The HTTP client could not be created. Contains the reason.
    #[error("the HTTP client could not be created: {0}")]
    Client(String),
    /// The HTTP client would ignore a setting of the server's definition, such as `proxy`. Contains the name of the setting.
    #[cfg(feature = "http")]
    #[error(
        "the HTTP client does not apply `{0}` of the server's definition; use the HTTP client of the runtime or one made with \
         `mcpwire::http::ClientOptions::of`, or configure the HTTP client of the program and remove `{0}` from the definition"
    )]
    SettingNotApplied(&'static str),
}
