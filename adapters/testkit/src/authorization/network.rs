//! [`SimulatedNetwork`]: an HTTP client that reaches the servers of a test instead of a network.

use std::fmt;
use std::sync::Arc;

use mcpwire_driver::Runtime;
use mcpwire_driver::http::{HttpClient, ResponseFuture};
use mcpwire_driver::protocol::http::{Exchange, FailureKind};

use super::resource::ProtectedServer;
use super::server::AuthorizationServer;
use super::url::origin;
use crate::http::{HttpAnswer, HttpRequest, respond};

/// An HTTP client that reaches the authorization servers and protected servers of a test instead of a network.
///
/// The origin of a URL selects the server. Requests to other origins fail as unreachable. Delays use the time of the runtime.
#[derive(Clone)]
pub struct SimulatedNetwork {
    runtime: Arc<dyn Runtime>,
    protected: Vec<ProtectedServer>,
    authorization: Vec<AuthorizationServer>,
}

impl SimulatedNetwork {
    /// Creates a network without servers. The current date and all delays are those of `runtime`.
    pub fn new(runtime: Arc<dyn Runtime>) -> Self {
        SimulatedNetwork { runtime, protected: Vec::new(), authorization: Vec::new() }
    }

    /// Adds a protected MCP server to the network, so that clients reach it and the authorization servers that it knows.
    pub fn protected_server(mut self, server: &ProtectedServer) -> Self {
        self.protected.push(server.clone());
        self
    }

    /// Adds an authorization server, for example a server that no protected server of the network names.
    pub fn authorization_server(mut self, server: &AuthorizationServer) -> Self {
        self.authorization.push(server.clone());
        self
    }

    /// Returns the authorization server whose issuer has this origin, or `None` if there is none.
    fn authorization_at(&self, origin: &str) -> Option<AuthorizationServer> {
        let reachable = self.protected.iter().flat_map(ProtectedServer::reachable);
        let mut all = self.authorization.iter().cloned().chain(reachable);
        all.find(|server| self::origin(&server.issuer()) == origin)
    }
}

impl ProtectedServer {
    /// Returns an HTTP client that reaches this MCP server and its authorization servers. Delays use the time of `runtime`.
    pub fn client_on(&self, runtime: Arc<dyn Runtime>) -> SimulatedNetwork {
        SimulatedNetwork::new(runtime).protected_server(self)
    }
}

impl HttpClient for SimulatedNetwork {
    fn send(&self, exchange: Exchange) -> ResponseFuture {
        let now = self.runtime.unix_time();
        let request = HttpRequest::new(self.runtime.clock().now().since_origin(), &exchange);
        let origin = origin(&exchange.uri);
        let authorization = self.authorization_at(origin);
        let protected = self.protected.iter().find(|server| self::origin(&server.url()) == origin);
        let answer = match (protected, &authorization) {
            // Both servers may have the same origin, as in protocol revision 2025-03-26.
            (Some(_), Some(server)) if server.has_endpoint(&exchange.uri) => server.respond(&request, now),
            (Some(server), _) => match server.respond(&request, now) {
                Some(answer) => answer,
                None => return pass_on(server, exchange, &self.runtime),
            },
            (None, Some(server)) => server.respond(&request, now),
            (None, None) => HttpAnswer::failure(FailureKind::Unreachable, format!("there is no server at {origin}")),
        };
        respond(answer, None, request, &*self.runtime, Arc::default())
    }
}

/// Forwards a request with a valid token to the MCP server, and adds the current DPoP nonce to the response.
fn pass_on(server: &ProtectedServer, exchange: Exchange, runtime: &Arc<dyn Runtime>) -> ResponseFuture {
    let nonce = server.nonce_header();
    let response = server.http().client_on(Arc::clone(runtime)).send(exchange);
    Box::pin(async move {
        let mut response = response.await?;
        response.headers.extend(nonce);
        Ok(response)
    })
}

impl AuthorizationServer {
    /// Returns whether the server has an endpoint at this URL.
    fn has_endpoint(&self, url: &str) -> bool {
        self.lock().endpoint_of(url).is_some()
    }
}

impl fmt::Debug for SimulatedNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimulatedNetwork")
            .field("protected", &self.protected)
            .field("authorization", &self.authorization)
            .finish_non_exhaustive()
    }
}
