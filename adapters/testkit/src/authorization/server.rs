//! [`AuthorizationServer`]: an authorization server as a state machine.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use mcpwire_driver::protocol::http::Verb;
use serde_json::Value;

use super::client::Client;
use super::deviation::{Deviation, Endpoint, MetadataPlace};
use super::pages;
use super::state::{Refused, State};
use super::tokens::Permission;
use super::url::{Form, origin, split_origin};
use crate::http::{HttpAnswer, HttpRequest, Requests};
use crate::lock;

/// An authorization server for tests. Clones share the server, and all settings can change at any time.
///
/// See the [module](super) for an example. It is reached through [`ProtectedServer::client_on`](super::ProtectedServer::client_on),
/// [`SimulatedNetwork`](super::SimulatedNetwork) or [`AuthorizationServer::serve`].
#[derive(Clone)]
pub struct AuthorizationServer(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    requests: Requests,
}

impl AuthorizationServer {
    /// Creates an authorization server with the issuer `https://auth.test`. It agrees to all logins at once.
    pub fn new() -> Self {
        AuthorizationServer::at("https://auth.test")
    }

    /// Creates an authorization server with this issuer, such as `https://auth.test/tenant`.
    pub fn at(issuer: impl Into<String>) -> Self {
        let state = Mutex::new(State::new(issuer.into()));
        AuthorizationServer(Arc::new(Shared { state, requests: Requests::default() }))
    }

    /// Sets where the metadata is published. Default: [`MetadataPlace::OAuth`].
    pub fn metadata_at(&self, place: MetadataPlace) -> Self {
        self.change(|state| state.metadata_place = Some(place))
    }

    /// Publishes no metadata, as authorization servers of protocol revision 2025-03-26 may.
    pub fn without_metadata(&self) -> Self {
        self.change(|state| state.metadata_place = None)
    }

    /// Sets `scopes_supported` of the metadata. Default: none.
    pub fn scopes_supported(&self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.change(|state| state.scopes_supported = scopes.into_iter().map(Into::into).collect())
    }

    /// Sets `token_endpoint_auth_methods_supported` of the metadata. Default: `none`, both methods with a secret, and
    /// `private_key_jwt`.
    pub fn auth_methods(&self, methods: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.change(|state| state.auth_methods = methods.into_iter().map(Into::into).collect())
    }

    /// Turns dynamic client registration off.
    pub fn without_registration(&self) -> Self {
        self.change(|state| state.registers_clients = false)
    }

    /// Turns the device grant off.
    pub fn without_devices(&self) -> Self {
        self.change(|state| state.grants_devices = false)
    }

    /// Adds a client, or replaces the one with its identifier.
    pub fn client(&self, client: Client) -> Self {
        self.change(|state| {
            state.secrets.extend(client.secret.clone());
            state.clients.insert(client.id.clone(), client);
        })
    }

    /// Accepts clients that are identified by metadata documents, and lets the server find this one at its URL.
    pub fn client_document(&self, url: impl Into<String>, document: Value) -> Self {
        self.change(|state| {
            state.takes_documents = true;
            state.documents.insert(url.into(), document);
        })
    }

    /// Sets the lifetime of access tokens. Default: one hour.
    pub fn token_lifetime(&self, lifetime: Duration) -> Self {
        self.change(|state| state.token_lifetime = lifetime)
    }

    /// Delays all responses. Default: no delay.
    pub fn latency(&self, latency: Duration) -> Self {
        self.change(|state| state.latency = latency)
    }

    /// Asks the user on a page with a form, instead of agreeing to each login at once.
    pub fn with_login_page(&self) -> Self {
        self.change(|state| state.asks_users = true)
    }

    /// Agrees to each login at once. The default.
    pub fn without_login_page(&self) -> Self {
        self.change(|state| state.asks_users = false)
    }

    /// Sets by how many seconds the clock that proofs are checked with is ahead of that of the clients. Negative: behind.
    pub fn clock_ahead(&self, seconds: i64) -> Self {
        self.change(|state| state.proofs.clock = seconds)
    }

    /// Wants a nonce in DPoP proofs, and changes it if it wants one already.
    pub fn renew_dpop_nonce(&self) -> Self {
        self.change(|state| state.proofs.renew_nonce())
    }

    /// Deviates from the specification in this way, too.
    pub fn deviate(&self, deviation: Deviation) -> Self {
        self.change(|state| state.deviations.push(deviation))
    }

    /// Ends all deviations.
    pub fn conform(&self) -> Self {
        self.change(|state| state.deviations.clear())
    }

    /// Answers the next request to an endpoint in this way. Several answers are given one after the other.
    pub fn answer_next(&self, endpoint: Endpoint, answer: HttpAnswer) -> Self {
        self.change(|state| state.next_answers.push((endpoint, answer)))
    }

    /// Sets a handler that answers requests in place of the server. If it returns `None`, the server answers.
    pub fn on_request(&self, script: impl FnMut(&HttpRequest) -> Option<HttpAnswer> + Send + 'static) -> Self {
        self.0.requests.set_handler(script);
        self.clone()
    }

    /// Returns the issuer.
    pub fn issuer(&self) -> String {
        self.lock().issuer.clone()
    }

    /// Returns the URL of an endpoint.
    pub fn endpoint(&self, endpoint: Endpoint) -> String {
        self.lock().endpoint_url(endpoint)
    }

    /// Returns all requests so far.
    pub fn requests(&self) -> Vec<HttpRequest> {
        self.0.requests.all()
    }

    /// Returns the requests to an endpoint so far.
    pub fn requests_to(&self, endpoint: Endpoint) -> Vec<HttpRequest> {
        let mut requests = self.requests();
        let state = self.lock();
        requests.retain(|request| state.endpoint_of(&request.url) == Some(endpoint));
        requests
    }

    /// Returns all secrets that the server has issued or knows: codes, tokens, secrets of clients. For tests that look for leaks.
    pub fn secrets(&self) -> Vec<String> {
        self.lock().secrets.clone()
    }

    /// Returns the clients.
    pub fn clients(&self) -> Vec<Client> {
        self.lock().clients.values().cloned().collect()
    }

    /// Forgets a client, or all of them, with their tokens.
    pub fn forget_clients(&self) {
        let mut state = self.lock();
        state.clients.clear();
        state.tokens.revoke_all();
    }

    /// Adds a login that was made elsewhere: its refresh token, client, resource, and the thumbprint of its key, if it has one.
    pub fn remember_login(&self, refresh_token: &str, client_id: &str, resource: &str, key: Option<&str>) -> Self {
        self.change(|state| {
            let permission = Permission {
                client_id: client_id.into(),
                resource: Some(resource.into()),
                scopes: Vec::new(),
                key: key.map(Into::into),
            };
            let login = state.tokens.add_login(permission, None);
            state.tokens.set_refresh_token(refresh_token.into(), login);
        })
    }

    /// Makes all access tokens invalid, although they have not expired. Refresh tokens stay valid.
    pub fn revoke_access_tokens(&self) {
        self.lock().tokens.revoke_access_tokens();
    }

    /// Revokes all logins: access tokens and refresh tokens.
    pub fn revoke_logins(&self) {
        self.lock().tokens.revoke_all();
    }

    /// Returns the number of logins that were revoked because a refresh token was used twice.
    pub fn reused_refresh_tokens(&self) -> usize {
        self.lock().tokens.reused
    }

    /// Returns whether this refresh token is the newest of a login that is not revoked.
    pub fn is_refresh_token_valid(&self, token: &str) -> bool {
        self.lock().tokens.is_refresh_token_valid(token)
    }

    /// Lets the user with this code log in on his device, or refuses. Returns whether there is such a code.
    pub fn answer_device(&self, user_code: &str, allow: bool) -> bool {
        self.lock().answer_device(user_code, allow)
    }

    /// Responds to a request. `now` is the time since the beginning of 1970.
    pub fn respond(&self, request: &HttpRequest, now: Duration) -> HttpAnswer {
        let scripted = self.0.requests.receive(request);
        let mut answer = scripted.unwrap_or_else(|| self.lock().respond(request, now));
        answer.delay += self.lock().latency;
        answer
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut State)) -> Self {
        change(&mut self.lock());
        self.clone()
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.0.state)
    }

    /// Moves the server to another origin, and keeps the path of its issuer.
    pub(super) fn move_to(&self, origin: &str) {
        let mut state = self.lock();
        state.issuer = format!("{origin}{}", split_origin(&state.issuer).1);
    }
}

impl State {
    fn respond(&mut self, request: &HttpRequest, now: Duration) -> HttpAnswer {
        let Some(endpoint) = self.endpoint_of(&request.url) else { return HttpAnswer::status(404) };
        let scripted = self.next_answers.iter().position(|(of, _)| *of == endpoint);
        if let Some(at) = scripted {
            return self.next_answers.remove(at).1;
        }
        let form = &Form::parse(&request.body);
        let answer = match (endpoint, request.verb) {
            (Endpoint::Metadata, Verb::Get) => Ok(HttpAnswer::json(200, self.metadata())),
            (Endpoint::Authorization, Verb::Get) => Ok(self.authorization_page(request, now)),
            (Endpoint::Authorization, Verb::Post) => Ok(self.authorization_answer(request, form, now)),
            (Endpoint::Token, Verb::Post) => {
                let answer = self.token(request, form, now).unwrap_or_else(|refused| self.refuse(endpoint, refused));
                Ok(self.proofs.add_nonce(origin(&self.issuer), answer))
            }
            (Endpoint::Registration, Verb::Post) if self.registers_clients => self.register(request, now),
            (Endpoint::Revocation, Verb::Post) => self.revoke(request, form, now),
            (Endpoint::DeviceAuthorization, Verb::Post) if self.grants_devices => {
                self.authorize_device(request, form, now)
            }
            (Endpoint::DevicePage, Verb::Get) => Ok(pages::device(&request.parameter("user_code").unwrap_or_default())),
            (Endpoint::DevicePage, Verb::Post) => {
                let allow = form.get("decision") == Some("allow");
                let is_known = self.answer_device(form.get("user_code").unwrap_or_default(), allow);
                let (status, text) =
                    if is_known { (200, "Done. You can close this page.") } else { (404, "There is no such code.") };
                Ok(pages::message(status, text))
            }
            _ => Ok(pages::error(404, ("not_found", "there is nothing for this method"))),
        };
        answer.unwrap_or_else(|refused| self.refuse(endpoint, refused))
    }

    /// Returns the response to a request that an endpoint refuses.
    fn refuse(&self, endpoint: Endpoint, refused: Refused) -> HttpAnswer {
        let status = match refused.0 {
            _ if endpoint == Endpoint::Token && self.deviates(&Deviation::ErrorsWithStatus200) => 200,
            "invalid_client" => 401,
            _ => 400,
        };
        pages::error(status, refused)
    }
}

impl Default for AuthorizationServer {
    fn default() -> Self {
        AuthorizationServer::new()
    }
}

impl fmt::Debug for AuthorizationServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("AuthorizationServer")
            .field("issuer", &state.issuer)
            .field("deviations", &state.deviations)
            .field("requests", &self.0.requests.count())
            .finish_non_exhaustive()
    }
}
