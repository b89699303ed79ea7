//! [`Login`]: begins the login of a user.

use alloc::string::String;
use core::fmt;

use mcpwire_text::url::without_query;

use crate::login_attempt::check_pkce;
use crate::{
    Action, BearerChallenge, ClientInformation, Discovered, Entropy, Error, ErrorKind, Flow, Input, LoginAttempt,
    OAuthSettings, Registration, Scopes, Secret, Step, TokenEndpoint, UnixTime,
};

/// The flow that begins the login of a user: it registers the client if needed, and returns the URL to open.
///
/// [`Discovery`](crate::Discovery) comes before it, so that the program can look for a stored registration of the issuer, and
/// listen on the port of that registration's redirect URI. [`LoginAttempt::finish`] comes after it.
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
/// `Debug` shows the URL without its query, which contains the `state` of the login.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoginStarted {
    /// The URL to open in a browser: `https`, or `http` to this machine. Pass it to the system's opener, never to a shell.
    pub url: String,
    /// The login that waits for the user. [`LoginAttempt::finish`] completes it.
    pub attempt: LoginAttempt,
}

impl fmt::Debug for LoginStarted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoginStarted").field("url", &without_query(&self.url)).field("attempt", &self.attempt).finish()
    }
}

impl Login {
    /// Creates a flow. `stored` is the [`ClientInformation`] of an earlier login at the same issuer, with the same redirect URI.
    pub fn new(
        discovered: Discovered,
        settings: OAuthSettings,
        stored: Option<ClientInformation>,
        entropy: Entropy,
    ) -> Self {
        let registration = Registration::new(&discovered, &settings, stored);
        Login { discovered, settings, registration, challenged: None, requested_before: None, entropy }
    }

    /// Sets the challenge whose scopes to ask for. `None` if there was no challenge.
    pub fn challenge(mut self, challenge: Option<&BearerChallenge>) -> Self {
        self.challenged = challenge.and_then(|challenge| challenge.scopes.clone());
        self
    }

    /// Asks for the scopes of the last login, too: those that were requested, not those that were granted.
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
    /// Returns the token endpoint of the authorization server.
    pub fn token_endpoint(&self) -> TokenEndpoint {
        TokenEndpoint::new(self.metadata.issuer.clone(), self.metadata.token_endpoint.clone())
            .auth_methods(self.metadata.token_endpoint_auth_methods_supported.clone())
    }

    /// Returns the scopes that a login asks for. An empty set sends no `scope` parameter.
    ///
    /// `challenged` are the scopes of a challenge, and `requested_before` those of the last login. Both are always in the result.
    pub fn scopes_to_request(
        &self,
        settings: &OAuthSettings,
        challenged: Option<&Scopes>,
        requested_before: Option<&Scopes>,
    ) -> Scopes {
        // The scopes of the challenge and those that were requested before are always asked for (basic/authorization, "Step-Up
        // Authorization Flow"). Without a challenge, the scopes of the settings or all scopes of the server are asked for
        // ("Scope Selection Strategy").
        let initial = settings.scopes.as_ref().or(challenged).or(self.resource_scopes());
        let (first, then) = match requested_before {
            Some(before) => (Some(before), challenged.or(initial)),
            None => (initial, challenged),
        };
        let mut scopes: Scopes = [first, then].into_iter().flatten().flat_map(Scopes::iter).collect();
        // `offline_access` alone would replace the default scopes of the authorization server.
        let known = self.metadata.scopes_supported.as_ref();
        if !scopes.is_empty() && known.is_some_and(|known| known.contains(Scopes::OFFLINE_ACCESS)) {
            scopes.insert(Scopes::OFFLINE_ACCESS);
        }
        scopes
    }

    /// Returns the scopes that a program without a user asks for: those that are configured, those of the challenge, or all of the
    /// server ("Scope Selection Strategy"). An empty set sends no `scope` parameter.
    ///
    /// Of the server's, `offline_access` is left out: nobody can be offline.
    pub fn scopes_without_user(&self, configured: Option<&Scopes>, challenged: Option<&Scopes>) -> Scopes {
        configured.or(challenged).cloned().unwrap_or_else(|| {
            let scopes = self.resource_scopes().into_iter().flat_map(Scopes::iter);
            scopes.filter(|scope| *scope != Scopes::OFFLINE_ACCESS).collect()
        })
    }

    /// Returns `scopes_supported` of the server, or `None` if its metadata has none.
    fn resource_scopes(&self) -> Option<&Scopes> {
        self.resource_metadata.as_ref()?.scopes_supported.as_ref()
    }

    /// Returns the value of the parameter `resource`, or `None` if the settings leave it out.
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
