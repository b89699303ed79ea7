//! An authorization server (OAuth), and MCP servers that want its tokens (feature `authorization`). Programs that depend on
//! `mcpwire` enable its features `testkit` and `oauth` instead.
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
//! The authorization server has dynamic registration, metadata documents of clients, registered clients, the authorization code
//! grant with PKCE, rotating refresh tokens, device codes, client credentials, revocation and DPoP. Its secrets are
//! predictable: it is for tests only. It follows the specification, and refuses requests that do not. [`Deviation`] and
//! [`ResourceDeviation`] are the ways in which servers of the world differ, or attack.

mod access;
mod answers;
mod authorize;
mod client;
mod client_authentication;
mod deviation;
mod device;
mod grants;
mod jwt;
mod metadata;
mod network;
mod pages;
mod proofs;
mod registration;
mod resource;
mod serve;
mod server;
mod state;
mod thread_runtime;
mod tokens;
mod url;

pub use client::Client;
pub use deviation::{Deviation, Endpoint, MetadataPlace};
pub use network::SimulatedNetwork;
pub use resource::{ProtectedServer, ResourceDeviation};
pub use serve::Serving;
pub use server::AuthorizationServer;

use crate::http::HttpRequest;

/// The parameters of a query or a form.
#[derive(Clone, Debug, Default)]
pub(crate) struct Form(Vec<(String, String)>);

impl Form {
    fn parse(text: &str) -> Self {
        Form(url::parameters(text))
    }

    /// Returns a parameter that is not empty.
    fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }
}

impl HttpRequest {
    /// Returns a parameter of the query or of the form in the body. `None` if it is missing or empty.
    pub fn parameter(&self, name: &str) -> Option<String> {
        let form = Form::parse(&self.body);
        Form::parse(url::query(&self.url)).get(name).or_else(|| form.get(name)).map(Into::into)
    }
}
