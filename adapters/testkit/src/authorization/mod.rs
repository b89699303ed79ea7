//! An OAuth authorization server, and MCP servers that require its tokens, for tests of logins (feature `authorization`).
//! Programs that depend on `mcpwire` enable its features `testkit` and `oauth` instead.
//!
//! ```
//! use mcpwire_testkit::authorization::AuthorizationServer;
//! use mcpwire_testkit::{HttpRequest, ScriptedServer, VirtualTime};
//!
//! let authorization = AuthorizationServer::new();
//! let server = authorization.protect(ScriptedServer::new().tool("echo", |_| "hi"));
//!
//! // Both are state machines: a request and the time go in, a response comes out.
//! let metadata = HttpRequest::get("https://auth.test/.well-known/oauth-authorization-server");
//! assert_eq!(authorization.respond(&metadata, VirtualTime::UNIX_START).code(), 200);
//!
//! // Clients reach both through an HTTP client, in virtual time ...
//! let time = VirtualTime::new();
//! let http = server.client_on(time.runtime());
//! // ... or over real HTTP on this machine.
//! let serving = (authorization.serve(0)?, server.serve(0)?);
//! assert!(server.url().starts_with("http://127.0.0.1:"));
//! # drop((http, serving));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! The authorization server supports dynamic registration, metadata documents of clients, registered clients, the authorization
//! code grant with PKCE, rotating refresh tokens, device codes, client credentials, revocation and DPoP. It follows the
//! specification, and refuses requests that violate it. Its secrets are predictable: it is for tests only.
//!
//! [`Deviation`] and [`ResourceDeviation`] make the servers behave like real servers that violate the specification, or like
//! attackers.

mod authorize;
mod client;
mod clients;
mod deviation;
mod grants;
mod pages;
mod proofs;
mod resource;
mod serve;
mod server;
mod state;
mod tokens;
mod url;

pub use client::Client;
pub use deviation::{Deviation, Endpoint, MetadataPlace};
pub use resource::{ProtectedServer, ResourceDeviation};
pub use serve::{Serving, SimulatedNetwork};
pub use server::AuthorizationServer;
