//! Connections over HTTP. The engine decides which requests are made; an [`HttpClient`] makes them.

mod net;

pub use mcpwire_client::http::*;
pub use net::{Connecting, Net, Socket, Stream};
