//! [`LoginRequest`]: what a login asks for, and [`StoredAttempt`]: a login that waits for the user.

use std::fmt;
use std::time::Duration;

use mcpwire_oauth::{BearerChallenge, Discovered, LoginAttempt, OAuthSettings, Scopes, UnixTime};
use mcpwire_text::url::without_query;
use serde::{Deserialize, Serialize};

/// How long a login can be finished. Codes live for ten minutes at most, but some users must log in at several places first.
const MAX_AGE: Duration = Duration::from_secs(30 * 60);

/// The scopes and the conditions of a login.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[must_use = "a request has no effect until it is sent"]
pub struct LoginRequest {
    /// The scopes to ask for. `None`: those of the settings, or those that the server names.
    pub scopes: Option<Scopes>,
    /// Whether to begin anew: with another registration of the client, and without the login that waits for the user. That helps when
    /// the page of the login does not know the client any more.
    pub anew: bool,
    /// The issuer to which the secret of the configured client may be sent, if no setting names its issuer and the client was not
    /// used before. The issuer is remembered.
    pub trusted_issuer: Option<String>,
    /// The challenge that came with the refusal of a request. `None` if the login is not for a refused request.
    pub(super) challenge: Option<BearerChallenge>,
    /// The scopes of the last login and of the challenge, which are asked for in any case. `None` if the token lacks no scopes.
    pub(super) requested_before: Option<Scopes>,
}

impl LoginRequest {
    /// Asks for these scopes, and no others.
    pub fn scopes(mut self, scopes: Scopes) -> Self {
        self.scopes = Some(scopes);
        self
    }

    /// Sets whether to begin anew.
    pub fn anew(mut self, anew: bool) -> Self {
        self.anew = anew;
        self
    }

    /// Lets the secret of the configured client be sent to this issuer, for example because the user has agreed to that after a
    /// [`ClientIssuerRequired`](crate::LoginError::ClientIssuerRequired).
    pub fn trust_issuer(mut self, issuer: impl Into<String>) -> Self {
        self.trusted_issuer = Some(issuer.into());
        self
    }
}

/// A login that waits for the user. It is stored before the user sees its URL, and deleted when a response to it arrives.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct StoredAttempt {
    pub(super) url: String,
    /// The resource of the token.
    pub(super) resource: String,
    pub(super) attempt: LoginAttempt,
    /// The scopes that the caller chose.
    pub(super) chosen_scopes: Option<Scopes>,
    /// [`OAuthSettings::fingerprint`] of the settings that the login was begun with. Earlier versions have computed it in another
    /// way: such a login can be finished, but another login does not go on with it.
    pub(super) settings: String,
}

impl StoredAttempt {
    pub(super) fn expires_at(&self) -> UnixTime {
        self.attempt.made_at + MAX_AGE
    }

    pub(super) fn is_too_old(&self, now: UnixTime) -> bool {
        now >= self.expires_at() || self.attempt.made_at > now + MAX_AGE
    }

    /// Returns whether a login at this authorization server, for this request and these settings, can go on with this attempt.
    pub(super) fn is_usable_for(
        &self,
        discovered: &Discovered,
        request: &LoginRequest,
        settings: &OAuthSettings,
    ) -> bool {
        let has = |scopes: Option<&Scopes>| scopes.is_none_or(|scopes| self.attempt.scopes.is_superset(scopes));
        !request.anew
            && self.resource == discovered.resource
            && self.attempt.is_at(discovered, &self.url)
            && self.chosen_scopes == request.scopes
            && has(request.requested_before.as_ref())
            && has(request.challenge.as_ref().and_then(|challenge| challenge.scopes.as_ref()))
            && self.settings == settings.fingerprint()
    }
}

/// A login that waits for the user: the URL to open, and what to do with the result.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PendingLogin {
    /// The URL to open in a browser.
    pub url: String,
    /// Where the browser is sent at the end of the login. Pass the whole address to
    /// [`OAuth::finish_login`](crate::OAuth::finish_login).
    pub redirect_uri: String,
    /// The authorization server.
    pub issuer: String,
    /// The scopes that the login asks for.
    pub scopes: Scopes,
    /// When the login can no longer be finished.
    pub expires_at: UnixTime,
}

impl From<StoredAttempt> for PendingLogin {
    fn from(stored: StoredAttempt) -> Self {
        let expires_at = stored.expires_at();
        let LoginAttempt { endpoint, scopes, redirect_uri, .. } = stored.attempt;
        PendingLogin { url: stored.url, redirect_uri, issuer: endpoint.issuer, scopes, expires_at }
    }
}

impl fmt::Debug for PendingLogin {
    /// Omits the query of the URL, which contains the `state` of the login.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingLogin")
            .field("url", &without_query(&self.url))
            .field("redirect_uri", &self.redirect_uri)
            .field("issuer", &self.issuer)
            .field("scopes", &self.scopes)
            .field("expires_at", &self.expires_at)
            .finish()
    }
}
