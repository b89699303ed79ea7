//! [`ProtectedServer`]: an MCP server that requires tokens, the checks of these tokens, and the challenges for refused requests.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use mcpwire_driver::protocol::Json;
use serde_json::{Value, json};

use super::proofs::Proofs;
use super::server::AuthorizationServer;
use super::state::with_members;
use super::url::{origin, path, split_origin};
use crate::http::{HttpAnswer, HttpRequest, Requests, ScriptedHttp};
use crate::server::ScriptedServer;
use crate::{lock, texts};

/// A way in which a protected MCP server differs from the specification, or attacks its clients.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ResourceDeviation {
    /// Refused requests get no header `WWW-Authenticate`.
    OmitChallenge,
    /// `WWW-Authenticate` does not contain the URL of the metadata, so that clients must try the well-known paths.
    OmitMetadataUrl,
    /// Refused requests get this value of `WWW-Authenticate`.
    Challenge(String),
    /// `WWW-Authenticate` contains this challenge before the right one.
    ChallengeBefore(String),
    /// The metadata is published only at the well-known path without the path of the server.
    MetadataAtRoot,
    /// The server publishes no metadata, as in protocol revision 2025-03-26.
    NoMetadata,
    /// The metadata has this member with this value. The value `null` removes the member.
    MetadataMember(String, Value),
    /// Requests whose token lacks scopes are refused with the status 401 instead of 403.
    MissingScopesAs401,
    /// `WWW-Authenticate` does not list the missing scopes.
    OmitMissingScopes,
    /// Every token is refused as invalid.
    RefuseAllTokens,
    /// Every token is refused because its scopes are insufficient.
    WantMoreScopes,
}

/// An MCP server for tests that answers only requests with a token of its authorization servers. Clones refer to the same server.
///
/// Create it with [`AuthorizationServer::protect`].
#[derive(Clone)]
pub struct ProtectedServer(Arc<Shared>);

struct Shared {
    http: ScriptedHttp,
    /// The resource identifier of the MCP server. The authorization servers share it, so that they see its changes.
    resource: Arc<Mutex<String>>,
    state: Mutex<State>,
    requests: Requests,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) url: String,
    servers: Vec<AuthorizationServer>,
    /// Authorization servers that clients can reach, but that the metadata does not list.
    others: Vec<AuthorizationServer>,
    scopes_supported: Vec<String>,
    /// Pairs of an operation, such as `tools/call echo`, and the scopes that it requires. An empty operation stands for all
    /// operations.
    pub(super) required: Vec<(String, String)>,
    pub(super) wants_proofs: bool,
    pub(super) proofs: Proofs,
    pub(super) deviations: Vec<ResourceDeviation>,
}

impl AuthorizationServer {
    /// Creates an MCP server at `https://mcp.test/mcp` that requires tokens of this authorization server.
    pub fn protect(&self, server: ScriptedServer) -> ProtectedServer {
        self.protect_at("https://mcp.test/mcp", server)
    }

    /// Creates an MCP server at this URL that requires tokens of this authorization server.
    pub fn protect_at(&self, url: impl Into<String>, server: ScriptedServer) -> ProtectedServer {
        let url = url.into();
        let state = Mutex::new(State { url: url.clone(), ..State::default() });
        let (http, resource) = (ScriptedHttp::new(server), Arc::new(Mutex::new(url)));
        ProtectedServer(Arc::new(Shared { http, resource, state, requests: Requests::default() })).trust(self)
    }
}

impl ProtectedServer {
    /// Accepts also the tokens of another authorization server, and lists this server last in the metadata.
    pub fn trust(&self, server: &AuthorizationServer) -> Self {
        server.change(|state| state.resources.push(Arc::clone(&self.0.resource)));
        self.change(|state| state.servers.push(server.clone()))
    }

    /// Accepts only the tokens of this authorization server from now on, as after a migration to it. Clients can still reach the
    /// previous authorization servers.
    pub fn move_to(&self, server: &AuthorizationServer) -> Self {
        let former = std::mem::take(&mut self.lock().servers);
        self.trust(server).change(|state| state.others.extend(former))
    }

    /// Sets the resource identifier, for which clients request tokens. Default: the URL of the server.
    pub fn resource_id(&self, resource: impl Into<String>) -> Self {
        *lock(&self.0.resource) = resource.into();
        self.clone()
    }

    changes! {
        /// Lets clients reach an authorization server without accepting its tokens, for example an attacker's server.
        fn reach(&self, server: &AuthorizationServer) => |state| state.others.push(server.clone());

        /// Sets the `scopes_supported` that the metadata of the server lists. Default: none.
        fn scopes_supported(&self, scopes: impl IntoIterator<Item = impl Into<String>>)
            => |state| state.scopes_supported = texts(scopes);

        /// Requires these scopes, separated by spaces, for an operation such as `tools/list` or `tools/call echo`. An empty
        /// operation stands for all operations.
        fn require(&self, operation: impl Into<String>, scopes: impl Into<String>)
            => |state| state.required.push((operation.into(), scopes.into()));

        /// Accepts only tokens that are bound to a key, so that clients must use DPoP.
        fn require_dpop(&self) => |state| state.wants_proofs = true;

        /// Sets how many seconds the server's clock is ahead of the clients' clock when the server checks DPoP proofs. Negative:
        /// behind. Default: 0.
        fn clock_ahead(&self, seconds: i64) => |state| state.proofs.clock = seconds;

        /// Requires a nonce in DPoP proofs. If a nonce is already required, replaces it, so that clients have to repeat a
        /// request.
        fn renew_dpop_nonce(&self) => |state| state.proofs.renew_nonce();

        /// Adds a deviation from the specification. Earlier deviations stay.
        fn deviate(&self, deviation: ResourceDeviation) => |state| state.deviations.push(deviation);

        /// Removes all deviations, so that the server follows the specification again.
        fn conform(&self) => |state| state.deviations.clear();
    }

    /// Sets a handler that gets each request first, even without a valid token. It returns the response, or `None` to let the
    /// server answer.
    pub fn on_request(&self, script: impl FnMut(&HttpRequest) -> Option<HttpAnswer> + Send + 'static) -> Self {
        self.0.requests.set_handler(script);
        self.clone()
    }

    /// Changes the settings of the HTTP server behind the token check. Its [`ScriptedHttp::on_request`], for example, gets only
    /// requests with a valid token.
    pub fn over_http(&self, script: impl FnOnce(ScriptedHttp) -> ScriptedHttp) -> Self {
        let _same = script(self.0.http.clone());
        self.clone()
    }

    /// Returns the URL at which clients reach the MCP server.
    pub fn url(&self) -> String {
        self.lock().url.clone()
    }

    /// Returns the scripted MCP server, for example to read the messages that it has received.
    pub fn server(&self) -> &ScriptedServer {
        self.0.http.server()
    }

    /// Returns all HTTP requests so far, including requests for the metadata and requests without a valid token.
    pub fn requests(&self) -> Vec<HttpRequest> {
        self.0.requests.all()
    }

    /// Returns the URL of the metadata document of the MCP server (RFC 9728).
    pub fn metadata_url(&self) -> String {
        let state = self.lock();
        format!("{}{}", origin(&state.url), state.metadata_path())
    }

    /// Returns the response to a request for the metadata, or to a refused request. Returns `None` if the request may go to the
    /// MCP server. `now` is the time since the Unix epoch.
    pub fn respond(&self, request: &HttpRequest, now: Duration) -> Option<HttpAnswer> {
        if let Some(scripted) = self.0.requests.receive(request) {
            return Some(scripted);
        }
        let asked = path(&request.url);
        let state = self.lock();
        let (origin, is_server) = (origin(&state.url).to_owned(), asked == path(&state.url));
        let is_published = asked == state.metadata_path() && !state.deviates(&ResourceDeviation::NoMetadata);
        drop(state);
        if asked.starts_with("/.well-known/oauth-protected-resource") && is_published {
            return Some(HttpAnswer::json(200, self.metadata()));
        }
        if !is_server {
            return Some(HttpAnswer::status(404));
        }
        let refusal = self.check(request, now).err()?;
        let answer = self.refuse(&refusal);
        Some(self.lock().proofs.add_nonce(&origin, answer))
    }

    /// Returns a header for the responses of the MCP server: the current DPoP nonce, or else the date if the server's clock
    /// differs from the clients' clock. `None` if neither is needed.
    pub(super) fn nonce_header(&self) -> Option<(String, Vec<u8>)> {
        let state = self.lock();
        state.proofs.add_nonce(origin(&state.url), HttpAnswer::status(200)).headers.pop()
    }

    /// Returns the metadata document of the MCP server, with all deviations applied (RFC 9728).
    fn metadata(&self) -> Value {
        let state = self.lock();
        let mut document = json!({
            "resource": self.resource(),
            "authorization_servers": state.servers.iter().map(AuthorizationServer::issuer).collect::<Vec<_>>(),
            "bearer_methods_supported": ["header"],
        });
        if !state.scopes_supported.is_empty() {
            document["scopes_supported"] = json!(state.scopes_supported);
        }
        if state.wants_proofs {
            document["dpop_bound_access_tokens_required"] = true.into();
        }
        let changed = state.deviations.iter().filter_map(|deviation| match deviation {
            ResourceDeviation::MetadataMember(name, value) => Some((name.as_str(), value.clone())),
            _ => None,
        });
        with_members(document, changed)
    }

    /// Returns the resource identifier, which is the URL of the server by default.
    pub fn resource(&self) -> String {
        lock(&self.0.resource).clone()
    }

    /// Returns the authorization servers whose tokens this server accepts.
    pub(super) fn servers(&self) -> Vec<AuthorizationServer> {
        self.lock().servers.clone()
    }

    /// Returns all authorization servers that clients of this server can reach.
    pub(super) fn reachable(&self) -> Vec<AuthorizationServer> {
        let state = self.lock();
        state.servers.iter().chain(&state.others).cloned().collect()
    }

    pub(super) fn http(&self) -> &ScriptedHttp {
        &self.0.http
    }

    /// Replaces the origin of the server's URL, and keeps its path.
    pub(super) fn move_to_origin(&self, origin: &str) {
        let mut state = self.lock();
        let url = format!("{origin}{}", split_origin(&state.url).1);
        let mut resource = lock(&self.0.resource);
        if *resource == state.url {
            resource.clone_from(&url);
        }
        state.url = url;
    }

    fn change(&self, change: impl FnOnce(&mut State)) -> Self {
        change(&mut self.lock());
        self.clone()
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.0.state)
    }
}

impl State {
    fn metadata_path(&self) -> String {
        let at_root = self.deviates(&ResourceDeviation::MetadataAtRoot);
        format!("/.well-known/oauth-protected-resource{}", if at_root { "" } else { path(&self.url) })
    }

    pub(super) fn deviates(&self, deviation: &ResourceDeviation) -> bool {
        self.deviations.contains(deviation)
    }
}

impl fmt::Debug for ProtectedServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("ProtectedServer")
            .field("url", &state.url)
            .field("deviations", &state.deviations)
            .field("requests", &self.0.requests.count())
            .finish_non_exhaustive()
    }
}

// Checks of tokens, and challenges for refused requests.

/// The reason why a protected MCP server refuses a request.
enum Refusal {
    NoToken,
    InvalidToken,
    /// The DPoP proof is refused with this error code.
    Proof(&'static str),
    MissingScopes(String),
}

impl ProtectedServer {
    /// Checks whether a request has a valid token with the required scopes, and a valid DPoP proof if it needs one.
    fn check(&self, request: &HttpRequest, now: Duration) -> Result<(), Refusal> {
        let (servers, resource) = (self.servers(), self.resource());
        let authorization = request.header("Authorization").ok_or(Refusal::NoToken)?;
        let (scheme, token) = authorization.split_once(' ').ok_or(Refusal::NoToken)?;
        let permission = servers.iter().find_map(|server| server.lock().tokens.permission(token, now).cloned());
        let mut state = self.lock();
        let permission = permission.filter(|_| !state.deviates(&ResourceDeviation::RefuseAllTokens));
        let permission = permission.ok_or(Refusal::InvalidToken)?;
        // A token without a resource comes from an authorization server that does not know resources.
        if permission.resource.as_ref().is_some_and(|audience| *audience != resource) {
            return Err(Refusal::InvalidToken);
        }
        let is_bound = permission.key.is_some();
        if scheme != if is_bound { "DPoP" } else { "Bearer" } || state.wants_proofs && !is_bound {
            return Err(Refusal::InvalidToken);
        }
        if is_bound {
            let State { url, proofs, .. } = &mut *state;
            let key = proofs.check(request, origin(url), Some(token), now).map_err(|(code, _)| Refusal::Proof(code))?;
            if key != permission.key {
                return Err(Refusal::Proof("invalid_dpop_proof"));
            }
        }
        let required = state.required_scopes(request);
        let has = |scope| permission.scopes.iter().any(|granted| granted == scope);
        let lacks_scopes = !required.split_ascii_whitespace().all(has);
        if lacks_scopes || state.deviates(&ResourceDeviation::WantMoreScopes) {
            return Err(Refusal::MissingScopes(required));
        }
        Ok(())
    }

    /// Returns the error response for a refused request, with a `WWW-Authenticate` challenge.
    fn refuse(&self, refusal: &Refusal) -> HttpAnswer {
        let metadata_url = self.metadata_url();
        let state = self.lock();
        let (status, error, scopes) = match refusal {
            Refusal::NoToken => (401, None, state.required_scopes_of("")),
            Refusal::InvalidToken => (401, Some("invalid_token"), state.required_scopes_of("")),
            Refusal::Proof(code) => (401, Some(*code), String::new()),
            Refusal::MissingScopes(scopes) => {
                let status = if state.deviates(&ResourceDeviation::MissingScopesAs401) { 401 } else { 403 };
                let is_named = !state.deviates(&ResourceDeviation::OmitMissingScopes);
                (status, Some("insufficient_scope"), if is_named { scopes.clone() } else { String::new() })
            }
        };
        let hides_metadata = [ResourceDeviation::OmitMetadataUrl, ResourceDeviation::NoMetadata];
        let names_metadata = !hides_metadata.iter().any(|deviation| state.deviates(deviation));
        let mut parameters = Vec::new();
        parameters.extend(names_metadata.then(|| format!("resource_metadata=\"{metadata_url}\"")));
        parameters.extend(error.map(|error| format!("error=\"{error}\"")));
        parameters.extend((!scopes.is_empty()).then(|| format!("scope=\"{scopes}\"")));
        parameters.extend(state.wants_proofs.then(|| "algs=\"ES256 EdDSA\"".to_owned()));
        let scheme = if state.wants_proofs { "DPoP" } else { "Bearer" };
        let mut challenge = Some(format!("{scheme} {}", parameters.join(", ")).trim_end().to_owned());
        for deviation in &state.deviations {
            challenge = match deviation {
                ResourceDeviation::OmitChallenge => None,
                ResourceDeviation::Challenge(other) => Some(other.clone()),
                ResourceDeviation::ChallengeBefore(other) => challenge.map(|challenge| format!("{other}, {challenge}")),
                _ => challenge,
            };
        }
        let answer = HttpAnswer::status(status);
        match challenge {
            Some(challenge) => answer.header("WWW-Authenticate", challenge),
            None => answer,
        }
    }
}

impl State {
    /// Returns the scopes that the token of a request must have, separated by spaces.
    fn required_scopes(&self, request: &HttpRequest) -> String {
        let params = request.message.member::<Json>("params");
        let name = params.and_then(|params| params.member::<String>("name"));
        let method = request.method();
        match name {
            Some(name) => self.required_scopes_of(&format!("{method} {name}")),
            None => self.required_scopes_of(&method),
        }
    }

    fn required_scopes_of(&self, operation: &str) -> String {
        let scopes = self.required.iter().filter(|(of, _)| of.is_empty() || of == operation);
        scopes.map(|(_, scopes)| scopes.as_str()).collect::<Vec<_>>().join(" ")
    }
}
