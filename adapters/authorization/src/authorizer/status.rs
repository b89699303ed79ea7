//! [`LoginStatus`]: what programs can read about a stored login.

use mcpwire_oauth::{ClientSource, Scopes, TokenType, UnixTime};

use crate::documents::Grant;

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
