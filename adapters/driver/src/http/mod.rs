//! Connections over HTTP. The engine decides which requests to make, and an [`HttpClient`] makes them.

mod net;

pub use mcpwire_client::http::*;
pub use net::{ConnectFuture, Net, ResolveFuture, Socket, Stream};
