//! [`Net`]: network connections of a runtime.

use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;

use futures_io::{AsyncRead, AsyncWrite};

use crate::runtime::Runtime;

/// A runtime that connects to hosts: what the HTTP client of `mcpwire-http` runs on.
pub trait Net: Runtime {
    /// Looks up a host, which may be an IP address, and connects by TCP to the first of its addresses that answers.
    fn connect_tcp(&self, host: String, port: u16) -> Connecting;

    /// Connects to a Unix socket. By default, this is an error.
    fn connect_unix(&self, path: PathBuf) -> Connecting {
        let error = format!("cannot connect to {}: this runtime has no Unix sockets", path.display());
        Box::pin(async { Err(io::Error::new(io::ErrorKind::Unsupported, error)) })
    }
}

/// A future that ends when a connection is made.
pub type Connecting = Pin<Box<dyn Future<Output = io::Result<Socket>> + Send>>;

/// A network connection of any runtime.
pub type Socket = Pin<Box<dyn Stream>>;

/// A stream that is read and written.
pub trait Stream: AsyncRead + AsyncWrite + Send {}

impl<T: AsyncRead + AsyncWrite + Send> Stream for T {}
