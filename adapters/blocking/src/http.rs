//! Servers that are spoken to by HTTP: who gives tokens ([`TokenProvider`]), and who makes the requests, if that is another than the
//! client that comes with this ([`HttpClient`]).
//!
//! The thread that calls drives the protocol and reads the answers, as it does with a process. The requests are made by a thread
//! in the background, one for all connections of the program; it also keeps the connections to the servers while no call waits.
//!
//! ```no_run
//! use mcpwire_blocking::http::{EnvToken, HttpOptions};
//! use mcpwire_blocking::{ConnectOptions, McpClient, McpServerDef};
//!
//! let options = ConnectOptions::default().http(HttpOptions::default().token(EnvToken("MY_TOKEN".into())));
//! let mut client = McpClient::connect_with(&McpServerDef::http("https://example.com/mcp"), options)?;
//! client.initialize()?;
//! # Ok::<(), mcpwire_blocking::Error>(())
//! ```

pub use mcpwire_client::http::{
    EnvToken, HttpClient, HttpOptions, HttpResponse, ResponseFuture, StaticToken, TokenError, TokenFuture,
    TokenProvider,
};
