//! Options for servers over HTTP: tokens ([`TokenProvider`]), and another HTTP client than the default one ([`HttpClient`]).
//!
//! The calling thread drives the protocol and reads the responses, as with a process. One background thread sends the requests of
//! all clients of the program, and maintains their connections between calls.
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
