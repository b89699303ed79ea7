//! [`StoredAttempt`]: a login that waits for the user, in the store, so that it survives a restart of the program.

use std::fmt;
use std::time::Duration;

use mcpwire_oauth::{Discovered, LoginAttempt, OAuthSettings, Scopes, UnixTime};
use serde::{Deserialize, Serialize};

use super::login_request::LoginParameters;

/// How long a login can be finished. Codes live for ten minutes at most, but some users must log in at several places first.
const MAX_AGE: Duration = Duration::from_secs(30 * 60);

/// A login that waits for the user. It is stored before the user sees its URL, and deleted when a response to it arrives.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct StoredAttempt {
    pub(super) url: String,
    /// The resource of the token.
    pub(super) resource: String,
    pub(super) attempt: LoginAttempt,
    /// The scopes that the caller chose.
    chosen_scopes: Option<Scopes>,
    /// [`OAuthSettings::fingerprint`] of the settings that the login was begun with. Earlier versions have computed it in another
    /// way: such a login can be finished, but another login does not go on with it.
    settings: String,
}

impl StoredAttempt {
    pub(super) fn new(
        url: String,
        resource: String,
        attempt: LoginAttempt,
        parameters: &LoginParameters,
        settings: &OAuthSettings,
    ) -> Self {
        let chosen_scopes = parameters.chosen_scopes.clone();
        StoredAttempt { url, resource, attempt, chosen_scopes, settings: settings.fingerprint() }
    }

    pub(super) fn expires_at(&self) -> UnixTime {
        self.attempt.made_at + MAX_AGE
    }

    pub(super) fn is_too_old(&self, now: UnixTime) -> bool {
        now >= self.expires_at() || self.attempt.made_at > now + MAX_AGE
    }

    /// Returns whether a login at this authorization server, with these parameters and settings, can go on with this attempt.
    pub(super) fn is_usable_for(
        &self,
        discovered: &Discovered,
        parameters: &LoginParameters,
        settings: &OAuthSettings,
    ) -> bool {
        let has =
            |scopes: &Option<Scopes>| scopes.as_ref().is_none_or(|scopes| self.attempt.scopes.is_superset(scopes));
        !parameters.anew
            && self.resource == discovered.resource
            && self.attempt.is_at(discovered, &self.url)
            && self.chosen_scopes == parameters.chosen_scopes
            && has(&parameters.requested_before)
            && has(&parameters.challenge.as_ref().and_then(|challenge| challenge.scopes.clone()))
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
            .field("url", &self.url.split('?').next().unwrap_or_default())
            .field("redirect_uri", &self.redirect_uri)
            .field("issuer", &self.issuer)
            .field("scopes", &self.scopes)
            .field("expires_at", &self.expires_at)
            .finish()
    }
}
