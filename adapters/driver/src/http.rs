//! Connections over HTTP. The engine decides which requests to make, and an [`HttpClient`] makes them over the [`Net`] of a runtime.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;

use futures_io::{AsyncRead, AsyncWrite};

pub use mcpwire_client::http::*;

use crate::runtime::Runtime;

/// A runtime that can open network connections. The HTTP client `mcpwire::http::Client` needs it.
pub trait Net: Runtime {
    /// Resolves a host name. Returns the addresses in the order of preference (RFC 6724), each with `port`.
    ///
    /// The HTTP client tries them in this order, but alternates between IPv6 and IPv4 (RFC 8305, section 4).
    ///
    /// The host may also be an IP address. IPv6 addresses have no brackets.
    fn resolve(&self, host: String, port: u16) -> ResolveFuture;

    /// Connects to this address by TCP. Several attempts may run at a time. Dropping the future closes its socket.
    fn connect_tcp(&self, address: SocketAddr) -> ConnectFuture;

    /// Connects to a Unix socket. The default implementation returns an error.
    fn connect_unix(&self, path: PathBuf) -> ConnectFuture {
        let error = format!("cannot connect to {}: this runtime does not support Unix sockets", path.display());
        Box::pin(async { Err(io::Error::new(io::ErrorKind::Unsupported, error)) })
    }
}

/// The future of the addresses of a host. Returned by [`Net::resolve`].
pub type ResolveFuture = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send>>;

/// The future of a network connection. Returned by the methods of [`Net`].
pub type ConnectFuture = Pin<Box<dyn Future<Output = io::Result<Socket>> + Send>>;

/// A network connection of any runtime.
pub type Socket = Pin<Box<dyn Stream>>;

/// A stream that can be read and written.
pub trait Stream: AsyncRead + AsyncWrite + Send {}

impl<T: AsyncRead + AsyncWrite + Send> Stream for T {}
