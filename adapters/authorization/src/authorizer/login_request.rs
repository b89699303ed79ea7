//! The data of a login: [`LoginRequest`], its scopes and conditions; [`StoredAttempt`], a login that waits for the user; and
//! [`LoginStatus`], what programs can read about a stored login.

use std::fmt;
use std::time::Duration;

use mcpwire_oauth::{
    BearerChallenge, ClientSource, Discovered, LoginAttempt, OAuthSettings, Scopes, TokenType, UnixTime,
};
use mcpwire_text::url::without_query;
use serde::{Deserialize, Serialize};

use crate::documents::Grant;

/// Maximum time between the start of a login and its end. Authorization codes live for ten minutes at most, but some users must
/// log in at several places first.
const MAX_AGE: Duration = Duration::from_secs(30 * 60);

/// The scopes and the conditions of a login. The default suits most logins. [`OAuth::login_with`](crate::OAuth::login_with) takes
/// this request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[must_use = "a request has no effect until it is sent"]
pub struct LoginRequest {
    /// The scopes to ask for. `None`: the scopes of the settings, or else the scopes that the server names.
    pub scopes: Option<Scopes>,
    /// Whether to register the client again, and to ignore the login that waits for the user. This helps when the login page no
    /// longer knows the client.
    pub anew: bool,
    /// The issuer to which the secret of the configured client may be sent, if no setting names the issuer and the client was not
    /// used before. The store remembers the issuer for later logins.
    pub trusted_issuer: Option<String>,
    /// The `WWW-Authenticate` challenge of the refused request that needs this login. `None` if no request was refused.
    pub(super) challenge: Option<BearerChallenge>,
    /// The scopes of the last login and of the challenge, which this login requests in any case. `None` if the server did not
    /// refuse the token for missing scopes.
    pub(super) requested_before: Option<Scopes>,
}

impl LoginRequest {
    mcpwire_text::setters! {
        /// Sets the scopes to ask for, instead of the scopes of the settings or of the server.
        fn scopes(scopes: Scopes) => scopes = Some(scopes);

        /// Sets whether to register the client again, and to ignore the login that waits for the user. Default: `false`.
        fn anew(anew: bool) => anew = anew;

        /// Lets the secret of the configured client be sent to this issuer, for example because the user has agreed to that after
        /// a [`ClientIssuerRequired`](crate::LoginError::ClientIssuerRequired).
        fn trust_issuer(issuer: impl Into<String>) => trusted_issuer = Some(issuer.into());
    }
}

/// A login that waits for the user. It is stored before the user sees its URL, and deleted when a response to it arrives.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct StoredAttempt {
    pub(super) url: String,
    /// The URL of the resource that the token is for.
    pub(super) resource: String,
    pub(super) attempt: LoginAttempt,
    /// The scopes of the [`LoginRequest`]. A login with other scopes cannot continue this login.
    pub(super) chosen_scopes: Option<Scopes>,
    /// [`OAuthSettings::fingerprint`] of the settings at the start of the login. Earlier versions computed another fingerprint:
    /// such a login can be finished, but a new login does not continue it.
    pub(super) settings: String,
}

impl StoredAttempt {
    pub(super) fn expires_at(&self) -> UnixTime {
        self.attempt.made_at + MAX_AGE
    }

    pub(super) fn is_too_old(&self, now: UnixTime) -> bool {
        now >= self.expires_at() || self.attempt.made_at > now + MAX_AGE
    }

    /// Returns whether a new login can continue this attempt instead of beginning again. The authorization server, the request
    /// and the settings must be the same.
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

/// A login that waits for the user. The program opens its URL in a browser, and passes the address to which the browser is sent
/// to [`OAuth::finish_login`](crate::OAuth::finish_login).
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PendingLogin {
    /// The URL to open in a browser.
    pub url: String,
    /// The URI to which the authorization server sends the browser at the end of the login, with the result in the query.
    pub redirect_uri: String,
    /// The issuer identifier of the authorization server.
    pub issuer: String,
    /// The scopes that the login asks for.
    pub scopes: Scopes,
    /// The time after which the login can no longer be finished: 30 minutes after its start.
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

/// The description of a stored login, without its tokens. [`OAuth::status`](crate::OAuth::status) returns it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoginStatus {
    /// The issuer identifier of the authorization server that has issued the token.
    pub issuer: String,
    /// The URL of the resource that the token is for, usually the MCP server.
    pub resource: String,
    /// The identifier of the client. `None` for grants without a client, such as workload identity federation.
    pub client_id: Option<String>,
    /// How the client got its identifier. `None` for grants without a user.
    pub client_source: Option<ClientSource>,
    /// The granted scopes, or the requested scopes if the authorization server did not name the granted ones.
    pub scopes: Scopes,
    /// When the access token expires. `None` if the authorization server did not say.
    pub expires_at: Option<UnixTime>,
    /// Whether a refresh token is stored, with which the access token is renewed without the user.
    pub can_refresh: bool,
    /// How requests present the access token, for example as a bearer token or with DPoP.
    pub token_type: TokenType,
    /// When the access token was issued.
    pub obtained_at: UnixTime,
    /// The name of the user's account. Empty if the user has one account on the server.
    pub account: String,
}

impl LoginStatus {
    pub(super) fn new(Grant { token, client }: &Grant, account: &str) -> Self {
        LoginStatus {
            issuer: token.endpoint.issuer.clone(),
            resource: token.resource.clone(),
            client_id: token.client_id.clone(),
            client_source: client.as_ref().map(|client| client.source),
            scopes: token.scopes().clone(),
            expires_at: token.expires_at,
            can_refresh: token.refresh_token.is_some(),
            token_type: token.token_type.clone(),
            obtained_at: token.obtained_at,
            account: account.to_owned(),
        }
    }
}
