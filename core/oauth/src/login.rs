//! [`Login`]: prepares the login of a user in a browser. [`LoginAttempt`]: a pending login. It creates the URL at
//! which the user logs in, and checks the authorization response, with which the browser is redirected back.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use mcpwire_text::url::{without_fragment, without_query};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::encoding::{Form, base64url, decode};
use crate::url::with_query;
use crate::{
    Action, AuthorizationServerMetadata, BearerChallenge, ClientInformation, ClientKey, Discovered, Entropy, Error,
    ErrorKind, Flow, Grant, Input, OAuthSettings, Registration, Scopes, Secret, Setting, Step, StoredToken,
    TokenEndpoint, TokenRequest, TokenResponse, UnixTime,
};

/// The flow that prepares the login of a user: it registers the client if needed, and returns the URL to open in a
/// browser.
///
/// Run [`Discovery`](crate::Discovery) first. The program can then load the stored registration for the issuer, and
/// listen on the port of its redirect URI. When the browser is redirected back, call [`LoginAttempt::finish`].
#[derive(Debug)]
pub struct Login {
    discovered: Discovered,
    settings: OAuthSettings,
    registration: Registration,
    challenged: Option<Scopes>,
    requested_before: Option<Scopes>,
    entropy: Entropy,
}

/// A login that the user must complete in a browser.
///
/// `Debug` shows the URL without its query, because the query contains the secret `state` of the login.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoginStarted {
    /// The URL to open in a browser: `https`, or `http` to this machine. Pass it to the system's URL opener, never to a
    /// shell.
    pub url: String,
    /// The data of the pending login. [`LoginAttempt::finish`] completes the login.
    pub attempt: LoginAttempt,
}

impl fmt::Debug for LoginStarted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoginStarted").field("url", &without_query(&self.url)).field("attempt", &self.attempt).finish()
    }
}

impl Login {
    /// Creates a flow. `stored` is the [`ClientInformation`] of an earlier login at the same issuer with the same
    /// redirect URI, or `None`.
    pub fn new(
        discovered: Discovered,
        settings: OAuthSettings,
        stored: Option<ClientInformation>,
        entropy: Entropy,
    ) -> Self {
        let registration = Registration::new(&discovered, &settings, stored);
        Login { discovered, settings, registration, challenged: None, requested_before: None, entropy }
    }

    mcpwire_text::setters! {
        /// Sets the challenge of the refused request, whose scopes the login requests. `None` if no request was
        /// refused.
        fn challenge(challenge: Option<&BearerChallenge>)
            => challenged = challenge.and_then(|challenge| challenge.scopes.clone());

        /// Sets the scopes that the last login requested, even if they were not granted. The new login requests them,
        /// too.
        fn requested_before(scopes: Option<Scopes>) => requested_before = scopes;
    }

    fn authorization_endpoint(&self) -> Result<&str, Error> {
        self.discovered.metadata.authorization_endpoint.as_deref().ok_or_else(|| {
            let reason = "the authorization server has no login for users";
            Error::new(ErrorKind::Misconfigured, Step::Authorization, reason).at(&self.discovered.metadata.issuer)
        })
    }

    fn begin(&mut self, client: ClientInformation, now: UnixTime) -> Result<Action<LoginStarted>, Error> {
        let attempt = LoginAttempt {
            endpoint: self.discovered.token_endpoint(),
            requires_iss: self.discovered.metadata.authorization_response_iss_parameter_supported,
            verifier: Secret::new(self.entropy.next_text()),
            state: Secret::new(self.entropy.next_text()),
            resource: self.discovered.resource_parameter(&self.settings),
            scopes: self.discovered.scopes_to_request(
                &self.settings,
                self.challenged.as_ref(),
                self.requested_before.as_ref(),
            ),
            redirect_uri: self.settings.redirect_uri.clone(),
            client,
            made_at: now,
        };
        let url = attempt.authorization_url(self.authorization_endpoint()?)?;
        Ok(Action::Done(LoginStarted { url, attempt }))
    }
}

impl Discovered {
    /// Returns the token endpoint of the authorization server, with its authentication methods.
    pub fn token_endpoint(&self) -> TokenEndpoint {
        TokenEndpoint::new(self.metadata.issuer.clone(), self.metadata.token_endpoint.clone())
            .auth_methods(self.metadata.token_endpoint_auth_methods_supported.clone())
    }

    /// Returns the scopes that a login of a user requests. If the set is empty, the request has no `scope` parameter.
    ///
    /// `challenged` are the scopes of a challenge, and `requested_before` are the scopes that the last login requested.
    /// The result always contains both.
    pub fn scopes_to_request(
        &self,
        settings: &OAuthSettings,
        challenged: Option<&Scopes>,
        requested_before: Option<&Scopes>,
    ) -> Scopes {
        // The scopes of the challenge and of the last login are always requested (basic/authorization, "Step-Up
        // Authorization Flow"). A first login requests the scopes of the settings, or else of the challenge, or else
        // all scopes of the server ("Scope Selection Strategy").
        let initial = settings.scopes.as_ref().or(challenged).or(self.resource_scopes());
        let (first, then) = match requested_before {
            Some(before) => (Some(before), challenged.or(initial)),
            None => (initial, challenged),
        };
        let mut scopes: Scopes = [first, then].into_iter().flatten().flat_map(Scopes::iter).collect();
        // A set with only `offline_access` would replace the default scopes of the authorization server.
        let known = self.metadata.scopes_supported.as_ref();
        if !scopes.is_empty() && known.is_some_and(|known| known.contains(Scopes::OFFLINE_ACCESS)) {
            scopes.insert(Scopes::OFFLINE_ACCESS);
        }
        scopes
    }

    /// Returns the scopes that a program without a user requests. These are the configured scopes, or else the scopes
    /// of the challenge, or else all scopes of the server ("Scope Selection Strategy"). If the set is empty, the
    /// request has no `scope` parameter.
    ///
    /// `offline_access` is removed from the scopes of the server, because it concerns only users.
    pub fn scopes_without_user(&self, configured: Option<&Scopes>, challenged: Option<&Scopes>) -> Scopes {
        configured.or(challenged).cloned().unwrap_or_else(|| {
            let scopes = self.resource_scopes().into_iter().flat_map(Scopes::iter);
            scopes.filter(|scope| *scope != Scopes::OFFLINE_ACCESS).collect()
        })
    }

    /// Returns `scopes_supported` of the MCP server, or `None` if its metadata does not list scopes.
    fn resource_scopes(&self) -> Option<&Scopes> {
        self.resource_metadata.as_ref()?.scopes_supported.as_ref()
    }

    /// Returns the value of the parameter `resource` for authorization and token requests. `None` if the settings omit
    /// the parameter.
    pub fn resource_parameter(&self, settings: &OAuthSettings) -> Option<String> {
        (!settings.omit_resource).then(|| self.resource.clone())
    }
}

impl Flow for Login {
    type Output = LoginStarted;

    fn start(&mut self, now: UnixTime) -> Result<Action<LoginStarted>, Error> {
        self.authorization_endpoint()?;
        check_pkce(&self.discovered.metadata, &self.settings)?;
        self.registration.start(now)?.and_then(|client| self.begin(client, now))
    }

    fn resume(&mut self, input: Input, now: UnixTime) -> Result<Action<LoginStarted>, Error> {
        self.registration.resume(input, now)?.and_then(|client| self.begin(client, now))
    }
}

/// Maximum length of the URL of a login, in bytes. Widely used servers, such as nginx and Apache, reject URLs longer
/// than 8 KiB.
const MAX_LOGIN_URL: usize = 8192;

/// The PKCE method that all logins use (RFC 7636). The method `plain` would reveal the verifier in the authorization
/// request.
const PKCE_METHOD: &str = "S256";

/// Maximum length of the URL of an authorization response, in bytes. Longer ones are refused.
const MAX_CALLBACK: usize = 16 * 1024;

/// A pending login, which ends when the browser is redirected back with the authorization response.
///
/// The program can store this value, and finish the login after a restart. The response is checked only against this
/// value, so later changes of the metadata have no effect. The value contains secrets; delete it when the login has
/// ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LoginAttempt {
    /// The token endpoint at which the authorization code is exchanged. If the response names an issuer, it must be the
    /// issuer of this endpoint.
    pub endpoint: TokenEndpoint,
    /// Whether the response must contain `iss`, the issuer (RFC 9207).
    pub requires_iss: bool,
    /// The PKCE verifier, which proves that the token request belongs to this login.
    pub verifier: Secret,
    /// The random value that the response must repeat. It prevents responses to other logins from being accepted.
    pub state: Secret,
    /// The MCP server for which the token is requested. `None` if the settings omit the parameter `resource`.
    pub resource: Option<String>,
    /// The scopes that the login requests. Empty if the request has no `scope` parameter.
    pub scopes: Scopes,
    /// The URI to which the authorization server redirects the browser with the response.
    pub redirect_uri: String,
    /// The client that logs in, which may be newly registered. Store it for the next login.
    pub client: ClientInformation,
    /// When the login began, for example to discard an old login.
    pub made_at: UnixTime,
}

impl LoginAttempt {
    /// Returns whether the authorization server still has the endpoints with which the login began. `url` is the URL of
    /// the login.
    ///
    /// The metadata may have changed since the login began. Resume a stored login only if this function returns `true`.
    pub fn is_at(&self, discovered: &Discovered, url: &str) -> bool {
        let endpoint = discovered.metadata.authorization_endpoint.as_deref();
        self.endpoint == discovered.token_endpoint()
            && self.requires_iss == discovered.metadata.authorization_response_iss_parameter_supported
            && endpoint.is_some_and(|endpoint| self.authorization_url(endpoint).as_deref() == Ok(url))
    }

    /// Returns the URL at which the user logs in.
    ///
    /// Fails if the authorization endpoint already contains one of the parameters, because servers may read either of
    /// the duplicates. Fails if the URL is longer than [`MAX_LOGIN_URL`].
    fn authorization_url(&self, authorization_endpoint: &str) -> Result<String, Error> {
        // OpenID Connect Core, section 11: without `prompt=consent`, authorization servers ignore `offline_access`.
        let (_, query) = without_fragment(authorization_endpoint).split_once('?').unwrap_or_default();
        let has_prompt = decode(query).any(|(name, _)| name == "prompt");
        let prompt = (self.scopes.contains(Scopes::OFFLINE_ACCESS) && !has_prompt).then_some("consent");
        let parameters = Form::new()
            .with("response_type", "code")
            .with("client_id", &self.client.client_id)
            .with("redirect_uri", &self.redirect_uri)
            .with_optional("scope", self.scopes.parameter().as_deref())
            .with("state", self.state.expose())
            .with("code_challenge", &pkce_challenge(self.verifier.expose()))
            .with("code_challenge_method", PKCE_METHOD)
            .with_optional("resource", self.resource.as_deref())
            .with_optional("prompt", prompt)
            .into_string();
        let error = |kind, reason: String| Error::new(kind, Step::Authorization, reason).at(authorization_endpoint);
        let is_own = |name: &str| decode(&parameters).any(|(own, _)| own == name);
        if let Some((name, _)) = decode(query).find(|(name, _)| is_own(name)) {
            let reason = format!("the authorization endpoint of the metadata contains the parameter `{name}` already");
            return Err(error(ErrorKind::Untrusted, reason));
        }
        let url = with_query(authorization_endpoint, &parameters);
        if url.len() > MAX_LOGIN_URL {
            let (length, scopes) = (url.len(), self.scopes.len());
            let reason = format!("the URL of its page has {length} bytes, and the maximum is {MAX_LOGIN_URL}");
            let error = error(ErrorKind::Misconfigured, reason);
            let before = format!("if the {scopes} scopes are the reason, set ");
            return Err(error.with_setting(before, Setting::Scopes, " to fewer"));
        }
        Ok(url)
    }

    /// Checks the authorization response, and returns the flow that exchanges its code for a token.
    ///
    /// `callback` is the URL to which the browser was redirected, or only its path and query. `key` is the signing key
    /// of a client that uses `private_key_jwt`, or `None`. Fails if the response does not belong to this login, or
    /// reports an error.
    pub fn finish(&self, callback: &str, key: Option<&ClientKey>, entropy: Entropy) -> Result<TokenRequest, Error> {
        let code = self.read_callback(callback)?;
        let client = self.client.authentication(&self.endpoint, key)?;
        let grant =
            Grant::AuthorizationCode { code, redirect_uri: self.redirect_uri.clone(), verifier: self.verifier.clone() };
        Ok(TokenRequest::new(self.endpoint.clone(), client, &grant, entropy).resource(self.resource.clone()))
    }

    /// Creates the token document to store after a login, from the response to the token request.
    ///
    /// `resource` is [`Discovered::resource`](crate::Discovered::resource). `previous` is the document that is
    /// currently stored, or `None`.
    pub fn stored_token(
        &self,
        resource: impl Into<String>,
        response: TokenResponse,
        previous: Option<&StoredToken>,
    ) -> StoredToken {
        let (client_id, scopes) = (Some(self.client.client_id.as_str()), self.scopes.clone());
        let mut token = StoredToken::new(self.endpoint.clone(), resource, client_id, scopes, response, previous);
        token.no_resource_on_refresh = self.resource.is_none();
        token
    }

    /// Returns whether a redirect URL is the response to this login, by its `state`. Use it to find the login among
    /// several pending ones.
    pub fn is_response(&self, callback: &str) -> bool {
        Callback::parse(callback).is_ok_and(|callback| callback.get("state") == Ok(Some(self.state.expose())))
    }

    /// Checks an authorization response, and returns its code (basic/authorization, "Authorization Response
    /// Validation").
    ///
    /// `state` and `iss` are checked first, so that an attacker cannot show a text to the user.
    fn read_callback(&self, callback: &str) -> Result<Secret, Error> {
        let callback = Callback::parse(callback)?;
        if callback.get("state")? != Some(self.state.expose()) {
            return Err(untrusted("the response is not one to this login: its `state` differs"));
        }
        match callback.get("iss")? {
            Some(issuer) if issuer != self.endpoint.issuer => {
                return Err(untrusted("the response comes from another authorization server than the login"));
            }
            None if self.requires_iss => {
                return Err(untrusted("the response does not name the authorization server (`iss`), which it must"));
            }
            _ => {}
        }
        if let Some(code) = callback.get("error")? {
            return Err(self.refused(code, callback.get("error_description")?));
        }
        match callback.get("code")? {
            Some(code) if !code.is_empty() => Ok(Secret::new(code)),
            _ => {
                let reason = "the response has neither a code nor an error";
                Err(Error::new(ErrorKind::Misconfigured, Step::Authorization, reason))
            }
        }
    }

    /// Returns the error for an authorization response with the error code `code` (RFC 6749, section 4.1.2.1, and
    /// OpenID Connect Core, section 3.1.2.6).
    fn refused(&self, code: &str, description: Option<&str>) -> Error {
        let error = |kind, reason: &str| {
            Error::new(kind, Step::Authorization, reason).at(&self.endpoint.issuer).with_code(code, description)
        };
        match code {
            "access_denied" => error(ErrorKind::Refused, "the user or the authorization server has refused it"),
            "temporarily_unavailable" | "server_error" => {
                error(ErrorKind::Temporary, "the authorization server cannot answer now")
            }
            "login_required" | "interaction_required" | "consent_required" | "account_selection_required" => {
                error(ErrorKind::LoginRequired, "the user must log in at the authorization server")
            }
            "invalid_target" if self.resource.is_some() => {
                error(ErrorKind::Misconfigured, "the authorization server does not know the server")
                    .with_omit_resource()
            }
            "invalid_scope" => error(ErrorKind::Misconfigured, "the authorization server does not grant the scopes")
                .with_setting("set other scopes with the setting ", Setting::Scopes, ""),
            _ => error(ErrorKind::Misconfigured, "the authorization server has refused the request"),
        }
    }
}

/// Returns the PKCE challenge for a verifier. Only the client that knows the verifier can exchange the authorization
/// code.
fn pkce_challenge(verifier: &str) -> String {
    base64url(Sha256::digest(verifier))
}

/// Fails unless the authorization server supports PKCE with S256 (basic/authorization/security-considerations,
/// "Authorization Code Protection"). If its metadata does not mention PKCE, the settings decide.
fn check_pkce(metadata: &AuthorizationServerMetadata, settings: &OAuthSettings) -> Result<(), Error> {
    let error = |reason: &str| Error::new(ErrorKind::Misconfigured, Step::Authorization, reason).at(&metadata.issuer);
    match &metadata.code_challenge_methods_supported {
        Some(methods) if methods.iter().any(|method| method == PKCE_METHOD) => Ok(()),
        Some(_) => Err(error("the authorization server does not support PKCE with S256")),
        None if settings.assume_pkce => Ok(()),
        None => Err(error("the authorization server does not say that it supports PKCE").with_setting(
            "if its operator says that it does, use the setting ",
            Setting::AssumePkce,
            " for this server",
        )),
    }
}

fn untrusted(reason: &str) -> Error {
    Error::new(ErrorKind::Untrusted, Step::Authorization, reason)
        .with_advice("start the login again, and open only the URL that it shows")
}

/// The parameters of an authorization response, as pairs of name and value.
struct Callback(Vec<(String, String)>);

impl Callback {
    fn parse(address: &str) -> Result<Self, Error> {
        let address = address.trim();
        let query = without_fragment(address).split_once('?').map(|(_, query)| query);
        match query {
            Some(query) if address.len() <= MAX_CALLBACK => Ok(Callback(decode(query).collect())),
            _ => {
                Err(Error::new(ErrorKind::Misconfigured, Step::Authorization, "this is not the address of a response")
                    .with_advice("copy the whole address to which the browser was sent after the login"))
            }
        }
    }

    /// Returns the value of a parameter, or `None` if it is missing. Fails if the parameter occurs twice (RFC 6749,
    /// section 3.1).
    fn get(&self, name: &str) -> Result<Option<&str>, Error> {
        let mut values = self.0.iter().filter(|(other, _)| other == name).map(|(_, value)| value.as_str());
        let value = values.next();
        match values.next() {
            Some(_) => Err(untrusted("the response has a parameter twice")),
            None => Ok(value),
        }
    }
}

#[cfg(test)]
#[path = "login_tests.rs"]
mod tests;
