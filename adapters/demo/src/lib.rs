//! A small MCP server to try out and test MCP clients, over stdio and HTTP, in every revision of the protocol.
//!
//! It needs no network and no files, and its data is invented. Its tools answer at once, wait, fail, or ask the user. It has
//! prompts with completion, and resources, one of which changes with each tool call. It shares no code with the mcpwire clients,
//! so that the server and the clients check each other.
//!
//! Run it with the program `mcpwire-demo`, or with the commands `mcpwire demo` and `mcpwire demo-server`. A test can run it over
//! any pair of streams:
//!
//! ```
//! use mcpwire_demo::{Log, serve};
//!
//! let input = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
//! let mut output = Vec::new();
//! serve(&input[..], &mut output, Log::new("demo", std::io::stderr()))?;
//! assert_eq!(String::from_utf8_lossy(&output), "{\"id\":1,\"jsonrpc\":\"2.0\",\"result\":{}}\n");
//! # Ok::<(), std::io::Error>(())
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(not(feature = "http"), allow(dead_code, reason = "the state machine knows more than lines need"))]

mod greet;
#[cfg(feature = "http")]
mod http;
mod output;
mod pending;
mod prompts;
mod requests;
mod resources;
mod revision;
mod rpc;
mod server;
mod stdio;
mod tasks;
#[cfg(test)]
mod tests;
mod tools;

#[cfg(feature = "http")]
pub use http::{HttpServer, HttpServerError};
pub use stdio::{Log, serve, serve_stdio};
