//! Options for servers over HTTP: tokens ([`TokenProvider`]), logins ([`Authorizer`]), and the program's own HTTP client
//! ([`HttpClient`]).
//!
//! The calling thread drives the protocol and reads the responses. One background thread sends the requests of all clients of the
//! program, renews their tokens, and maintains their connections between calls.
//!
//! ```no_run
//! # mod mcpwire { pub use mcpwire_blocking::{ConnectOptions, McpServerDef}; pub mod http { pub use
//! # mcpwire_blocking::http::{EnvToken, HttpOptions}; } pub mod blocking { pub use mcpwire_blocking::McpClient; } }
//! use mcpwire::{ConnectOptions, McpServerDef};
//! use mcpwire::blocking::McpClient;
//! use mcpwire::http::{EnvToken, HttpOptions};
//!
//! let options = ConnectOptions::default().http(HttpOptions::default().token(EnvToken("MY_TOKEN".into())));
//! let mut client = McpClient::connect_with(&McpServerDef::http("https://example.com/mcp"), options)?;
//! client.initialize()?;
//! # Ok::<(), mcpwire_blocking::Error>(())
//! ```
//!
//! `mcpwire::oauth::OAuth` logs users in. Build it on the runtime that [`runtime`] returns, and wait for its logins with
//! [`block_on`].

use std::sync::Arc;

pub use crate::transport::launched::block_on;
pub use mcpwire_client::http::{
    AfterRefusal, AuthorizationContext, AuthorizeFuture, AuthorizedRequest, Authorizer, AuthorizerError, Credentials,
    DefinitionSetting, EnvToken, HttpClient, HttpOptions, HttpResponse, Refusal, RefusalFuture, ResponseFuture,
    ResponseHead, StaticToken, TokenError, TokenFuture, TokenProvider, disguised_ipv4,
};
pub use mcpwire_smol::Runtime;

/// Returns the runtime of the background thread. Build an `mcpwire::oauth::OAuth` on it, so that tokens are also renewed between
/// calls.
pub fn runtime() -> Arc<dyn Runtime> {
    Arc::new(mcpwire_smol::Smol)
}
