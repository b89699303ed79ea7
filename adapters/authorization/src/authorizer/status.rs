//! [`LoginStatus`]: a stored login, as programs see it.

use mcpwire_oauth::{ClientSource, Scopes, TokenType, UnixTime};

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
