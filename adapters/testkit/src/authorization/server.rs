//! [`AuthorizationServer`]: an authorization server as a state machine.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use mcpwire_driver::protocol::http::Verb;
use serde_json::Value;

use super::client::Client;
use super::deviation::{Deviation, Endpoint, MetadataPlace};
use super::pages::{self, Refused};
use super::state::State;
use super::tokens::Permission;
use super::url::{Form, origin, split_origin};
use crate::http::{HttpAnswer, HttpRequest, Requests};
use crate::{lock, texts};

/// An OAuth authorization server for tests. Clones refer to the same server, and all settings can change at any time.
///
/// See the [module](super) for an example. Clients reach the server through
/// [`ProtectedServer::client_on`](super::ProtectedServer::client_on), [`SimulatedNetwork`](super::SimulatedNetwork) or
/// [`AuthorizationServer::serve`].
#[derive(Clone)]
pub struct AuthorizationServer(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    requests: Requests,
}

impl AuthorizationServer {
    /// Creates an authorization server with the issuer `https://auth.test`. It accepts each login at once, without asking a user.
    pub fn new() -> Self {
        AuthorizationServer::at("https://auth.test")
    }

    /// Creates an authorization server with this issuer, such as `https://auth.test/tenant`. It accepts each login at once,
    /// without asking a user.
    pub fn at(issuer: impl Into<String>) -> Self {
        let state = Mutex::new(State::new(issuer.into()));
        AuthorizationServer(Arc::new(Shared { state, requests: Requests::default() }))
    }

    changes! {
        /// Sets the well-known path at which the server publishes its metadata. Default: [`MetadataPlace::OAuth`].
        fn metadata_at(&self, place: MetadataPlace) => |state| state.metadata_place = Some(place);

        /// Publishes no metadata, as authorization servers of protocol revision 2025-03-26 may.
        fn without_metadata(&self) => |state| state.metadata_place = None;

        /// Sets the `scopes_supported` that the metadata of the server lists. Default: none.
        fn scopes_supported(&self, scopes: impl IntoIterator<Item = impl Into<String>>)
            => |state| state.scopes_supported = texts(scopes);

        /// Sets the `token_endpoint_auth_methods_supported` that the metadata lists. Default: `none`, `client_secret_basic`,
        /// `client_secret_post` and `private_key_jwt`.
        fn auth_methods(&self, methods: impl IntoIterator<Item = impl Into<String>>)
            => |state| state.auth_methods = texts(methods);

        /// Turns dynamic client registration off (RFC 7591). Clients must then be added by the test, or have a metadata document.
        fn without_registration(&self) => |state| state.registers_clients = false;

        /// Turns the device grant off (RFC 8628), by which a user logs in on another device.
        fn without_devices(&self) => |state| state.grants_devices = false;

        /// Adds a registered client. Replaces a client with the same identifier.
        fn client(&self, client: Client) => |state| {
                state.secrets.extend(client.secret.clone());
                state.clients.insert(client.id.clone(), client);
            };

        /// Adds the metadata document of a client, and accepts the URL of the document as client identifier. The server does not
        /// fetch the document from a network.
        fn client_document(&self, url: impl Into<String>, document: Value) => |state| {
                state.takes_documents = true;
                state.documents.insert(url.into(), document);
            };

        /// Sets the time after which access tokens expire. Default: one hour.
        fn token_lifetime(&self, lifetime: Duration) => |state| state.token_lifetime = lifetime;

        /// Sets the delay of all responses. Default: no delay.
        fn latency(&self, latency: Duration) => |state| state.latency = latency;

        /// Shows the user a page with a form at each login, instead of accepting the login at once.
        fn with_login_page(&self) => |state| state.asks_users = true;

        /// Accepts each login at once, without showing a page. This is the default.
        fn without_login_page(&self) => |state| state.asks_users = false;

        /// Sets how many seconds the server's clock is ahead of the clients' clock when the server checks DPoP proofs. Negative:
        /// behind. Default: 0.
        fn clock_ahead(&self, seconds: i64) => |state| state.proofs.clock = seconds;

        /// Requires a nonce in DPoP proofs. If a nonce is already required, replaces it, so that clients have to repeat a
        /// request.
        fn renew_dpop_nonce(&self) => |state| state.proofs.renew_nonce();

        /// Adds a deviation from the specification. Earlier deviations stay.
        fn deviate(&self, deviation: Deviation) => |state| state.deviations.push(deviation);

        /// Removes all deviations, so that the server follows the specification again.
        fn conform(&self) => |state| state.deviations.clear();

        /// Sends this response to the next request to an endpoint, instead of the server's own. Several responses are sent in the
        /// order in which they were added.
        fn answer_next(&self, endpoint: Endpoint, answer: HttpAnswer)
            => |state| state.next_answers.push((endpoint, answer));
    }

    /// Sets a handler that gets each request first. It returns the response, or `None` to let the server answer.
    pub fn on_request(&self, script: impl FnMut(&HttpRequest) -> Option<HttpAnswer> + Send + 'static) -> Self {
        self.0.requests.set_handler(script);
        self.clone()
    }

    /// Returns the issuer, which is the URL that identifies the server, such as `https://auth.test`.
    pub fn issuer(&self) -> String {
        self.lock().issuer.clone()
    }

    /// Returns the URL at which clients reach an endpoint of this server.
    pub fn endpoint(&self, endpoint: Endpoint) -> String {
        self.lock().endpoint_url(endpoint)
    }

    /// Returns all HTTP requests that the server has received so far, in order of arrival.
    pub fn requests(&self) -> Vec<HttpRequest> {
        self.0.requests.all()
    }

    /// Returns the HTTP requests that this endpoint has received so far, in order of arrival.
    pub fn requests_to(&self, endpoint: Endpoint) -> Vec<HttpRequest> {
        let mut requests = self.requests();
        let state = self.lock();
        requests.retain(|request| state.endpoint_of(&request.url) == Some(endpoint));
        requests
    }

    /// Returns all secrets that the server has issued or knows, such as codes, tokens and client secrets. Use them to test that a
    /// program does not leak secrets.
    pub fn secrets(&self) -> Vec<String> {
        self.lock().secrets.clone()
    }

    /// Returns the clients that a test has added or that have registered.
    pub fn clients(&self) -> Vec<Client> {
        self.lock().clients.values().cloned().collect()
    }

    /// Removes all clients and revokes all tokens, as if the server had lost its data.
    pub fn forget_clients(&self) {
        let mut state = self.lock();
        state.clients.clear();
        state.tokens.revoke_all();
    }

    /// Adds a login that the client has made before the test, with its refresh token. `key` is the thumbprint of the login's DPoP
    /// key, or `None` for bearer tokens.
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

    /// Revokes all access tokens before they expire. Refresh tokens stay valid.
    pub fn revoke_access_tokens(&self) {
        self.lock().tokens.revoke_access_tokens();
    }

    /// Revokes all logins, with their access tokens and refresh tokens. Users must log in again.
    pub fn revoke_logins(&self) {
        self.lock().tokens.revoke_all();
    }

    /// Returns the number of logins that were revoked because a refresh token was used twice.
    pub fn reused_refresh_tokens(&self) -> usize {
        self.lock().tokens.reused
    }

    /// Returns whether this refresh token can still be used: it is the newest token of a login that is not revoked.
    pub fn is_refresh_token_valid(&self, token: &str) -> bool {
        self.lock().tokens.is_refresh_token_valid(token)
    }

    /// Allows or refuses a pending device login, as its user would on the device page. Returns whether a device waits for a
    /// decision on this user code.
    pub fn answer_device(&self, user_code: &str, allow: bool) -> bool {
        self.lock().answer_device(user_code, allow)
    }

    /// Returns the response to an HTTP request, without a network. `now` is the time since the Unix epoch.
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

    /// Replaces the origin of the issuer URL, and keeps its path.
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

    /// Returns the error response of an endpoint that refuses a request.
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
