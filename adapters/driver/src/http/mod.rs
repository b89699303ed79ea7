//! Connections over HTTP. Which requests are made is the engine's business, how they are made that of an [`HttpClient`].

mod connect;

pub(crate) use connect::assemble;
pub use mcpwire_client::http::*;
