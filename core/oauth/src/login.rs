//! [`Login`]: prepares the login of a user in a browser.

use alloc::string::String;
use core::fmt;

use mcpwire_text::url::without_query;

use crate::login_attempt::check_pkce;
use crate::{
    Action, BearerChallenge, ClientInformation, Discovered, Entropy, Error, ErrorKind, Flow, Input, LoginAttempt,
    OAuthSettings, Registration, Scopes, Secret, Step, TokenEndpoint, UnixTime,
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

    /// Sets the challenge of the refused request, whose scopes the login requests. `None` if no request was refused.
    pub fn challenge(mut self, challenge: Option<&BearerChallenge>) -> Self {
        self.challenged = challenge.and_then(|challenge| challenge.scopes.clone());
        self
    }

    /// Sets the scopes that the last login requested, even if they were not granted. The new login requests them, too.
    pub fn requested_before(mut self, scopes: Option<Scopes>) -> Self {
        self.requested_before = scopes;
        self
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

#[cfg(test)]
#[path = "login_tests.rs"]
mod tests;
