//! Connections over HTTP. The engine decides which HTTP requests to send. An [`HttpClient`] sends them over network connections
//! that the runtime opens ([`Net`]).

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;

use futures_io::{AsyncRead, AsyncWrite};

pub use mcpwire_client::http::*;

use crate::runtime::Runtime;

/// A runtime that can resolve host names and open network connections. The HTTP client `mcpwire::http::Client` needs this trait.
pub trait Net: Runtime {
    /// Resolves a host name. Returns its addresses in the order of preference (RFC 6724), each with `port`.
    ///
    /// The HTTP client tries the addresses in this order, but alternates between IPv6 and IPv4 (RFC 8305, section 4).
    ///
    /// `host` may also be an IP address. An IPv6 address has no brackets.
    fn resolve(&self, host: String, port: u16) -> ResolveFuture;

    /// Opens a TCP connection to this address. The HTTP client may run several attempts at a time. Dropping the future must close
    /// its socket.
    fn connect_tcp(&self, address: SocketAddr) -> ConnectFuture;

    /// Connects to the Unix socket at this path. The default implementation returns an error.
    fn connect_unix(&self, path: PathBuf) -> ConnectFuture {
        let error = format!("cannot connect to {}: this runtime does not support Unix sockets", path.display());
        Box::pin(async { Err(io::Error::new(io::ErrorKind::Unsupported, error)) })
    }
}

/// A future that resolves to the addresses of a host. Returned by [`Net::resolve`].
pub type ResolveFuture = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send>>;

/// A future that resolves to an open network connection. Returned by [`Net::connect_tcp`] and [`Net::connect_unix`].
pub type ConnectFuture = Pin<Box<dyn Future<Output = io::Result<Socket>> + Send>>;

/// An open network connection of any runtime: a TCP or Unix socket.
pub type Socket = Pin<Box<dyn Stream>>;

/// A byte stream that can be read and written. All types that implement [`AsyncRead`], [`AsyncWrite`] and [`Send`] implement it.
pub trait Stream: AsyncRead + AsyncWrite + Send {}

impl<T: AsyncRead + AsyncWrite + Send> Stream for T {}
