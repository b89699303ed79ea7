//! [`LoginStatus`]: what is known of a login, without its tokens.

use mcpwire_oauth::{ClientSource, Error, Scopes, TokenType, UnixTime};

use crate::documents::Grant;

/// A stored login, without its tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoginStatus {
    /// The authorization server that has issued the token.
    pub issuer: String,
    /// The resource that the token is for.
    pub resource: String,
    /// The identifier of the client. `None` for grants without a client, such as workload identity federation.
    pub client_id: Option<String>,
    /// How the client got its identifier. `None` for grants without a user.
    pub client_source: Option<ClientSource>,
    /// The scopes that were granted, or those that were requested if the authorization server did not say.
    pub scopes: Scopes,
    /// When the access token expires, if the authorization server said so.
    pub expires_at: Option<UnixTime>,
    /// Whether there is a refresh token, so that the access token is renewed without the user.
    pub can_refresh: bool,
    /// How the access token is presented.
    pub token_type: TokenType,
    /// When the access token was issued.
    pub obtained_at: UnixTime,
    /// The account of the user. Empty for the only one.
    pub account: String,
}

impl LoginStatus {
    pub(crate) fn new(grant: &Grant, account: &str) -> Self {
        let Grant { token, client } = grant;
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

/// What a logout did. The stored token is deleted in any case.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoggedOut {
    /// Whether there was a token.
    pub had_token: bool,
    /// What became of the token at the authorization server.
    pub revocation: RevocationOutcome,
}

/// What became of a token at its authorization server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RevocationOutcome {
    /// The caller did not ask for it, or there was no token.
    NotRequested,
    /// The authorization server has revoked all tokens of the login.
    Revoked,
    /// The authorization server has revoked the refresh token, but not the access token, which may be valid until it expires.
    RefreshTokenOnly(Error),
    /// The authorization server cannot revoke tokens. The token is valid until it expires.
    Unsupported,
    /// The revocation failed. The token may be valid until it expires.
    Failed(Error),
}
