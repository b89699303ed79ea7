//! [`Deviation`]: a way in which an authorization server differs from the specification.

use std::time::Duration;

use serde_json::Value;

/// An endpoint of an authorization server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Endpoint {
    /// The metadata document of the server, at a well-known path (RFC 8414).
    Metadata,
    /// The authorization endpoint, to which a client sends the user's browser for a login.
    Authorization,
    /// The token endpoint, which issues and refreshes tokens.
    Token,
    /// The endpoint at which clients register themselves (RFC 7591).
    Registration,
    /// The revocation endpoint, at which clients revoke tokens (RFC 7009).
    Revocation,
    /// The device authorization endpoint, which issues device codes (RFC 8628).
    DeviceAuthorization,
    /// The page on which a user enters the code that a device shows.
    DevicePage,
}

impl Endpoint {
    pub(super) const ALL: [Endpoint; 7] = [
        Endpoint::Metadata,
        Endpoint::Authorization,
        Endpoint::Token,
        Endpoint::Registration,
        Endpoint::Revocation,
        Endpoint::DeviceAuthorization,
        Endpoint::DevicePage,
    ];

    /// Returns the path of the endpoint, relative to the path of the issuer. Empty for the metadata, whose path depends on the
    /// [`MetadataPlace`].
    pub(super) fn path(self) -> &'static str {
        match self {
            Endpoint::Metadata => "",
            Endpoint::Authorization => "/authorize",
            Endpoint::Token => "/token",
            Endpoint::Registration => "/register",
            Endpoint::Revocation => "/revoke",
            Endpoint::DeviceAuthorization => "/device_authorization",
            Endpoint::DevicePage => "/device",
        }
    }

    /// Returns the name of the metadata member with the URL of the endpoint, or `None` if the metadata does not contain this URL.
    pub(super) fn member(self) -> Option<&'static str> {
        match self {
            Endpoint::Metadata | Endpoint::DevicePage => None,
            Endpoint::Authorization => Some("authorization_endpoint"),
            Endpoint::Token => Some("token_endpoint"),
            Endpoint::Registration => Some("registration_endpoint"),
            Endpoint::Revocation => Some("revocation_endpoint"),
            Endpoint::DeviceAuthorization => Some("device_authorization_endpoint"),
        }
    }
}

/// The well-known path at which an authorization server publishes its metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MetadataPlace {
    /// The path `/.well-known/oauth-authorization-server`, inserted before the path of the issuer (RFC 8414).
    OAuth,
    /// The path `/.well-known/openid-configuration`, inserted before the path of the issuer (RFC 8414).
    OpenId,
    /// The path `/.well-known/openid-configuration`, appended to the path of the issuer (OpenID Connect Discovery).
    OpenIdAfterPath,
}

/// A way in which an authorization server differs from the specification, or attacks its clients.
///
/// Set with [`AuthorizationServer::deviate`](super::AuthorizationServer::deviate). For faults without a variant, such as broken
/// or endless responses, use [`AuthorizationServer::on_request`](super::AuthorizationServer::on_request).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Deviation {
    /// The metadata has no `code_challenge_methods_supported`, as with Microsoft Entra and Amazon Cognito.
    OmitCodeChallengeMethods,
    /// The metadata has this `issuer` instead of the right one, for example with a slash at its end.
    IssuerInMetadata(String),
    /// The metadata does not list the authentication method `none`, but the server accepts public clients (authentik).
    AdvertiseConfidentialMethodsOnly,
    /// The metadata contains this URL for an endpoint, instead of the right one.
    EndpointUrl(Endpoint, String),
    /// The metadata has this member with this value. The value `null` removes the member.
    MetadataMember(String, Value),

    /// The redirect after a login has no `iss`, and the metadata does not announce it (RFC 9207).
    NoIss,
    /// The redirect after a login has no `iss`, although the metadata announces it (RFC 9207).
    OmitPromisedIss,
    /// The redirect after a login has an `iss`, although the metadata does not announce it (RFC 9207).
    UnpromisedIss,
    /// The redirect after a login has this `iss` instead of the server's issuer.
    Iss(String),
    /// The redirect after a login has this `state` instead of the client's.
    State(String),
    /// All logins fail with this error code, such as `access_denied`.
    RefuseLogins(String),
    /// The redirect URI of a login may have another port than the registered URI, if its host is a loopback address (RFC 8252,
    /// section 7.3).
    AnyLoopbackPort,

    /// All registrations are refused with `invalid_redirect_uri`.
    RefuseRedirectUris,
    /// Registrations that ask for a grant other than `authorization_code` are refused with `invalid_client_metadata`.
    RefuseOtherGrants,
    /// Registrations of public clients, which have no secret, are refused with `invalid_client_metadata`.
    RefusePublicClients,
    /// Each client that registers gets a secret, even if it asks for none.
    RegisterWithSecret,
    /// The secrets of registered clients expire after this time.
    SecretLifetime(Duration),

    /// Requests without `client_id` in the body are refused, even if the header `Authorization` contains it (Python SDK).
    WantClientIdInBody,
    /// Credentials in HTTP Basic are only percent-decoded, so that a `+` does not stand for a space.
    PercentDecodeBasic,
    /// Requests to revoke an access token are refused (RFC 7009, section 2.2.1).
    RevokeNoAccessTokens,
    /// Requests with the parameter `resource` are refused (Microsoft Entra, AADSTS9010010).
    RefuseResource,
    /// Token refreshes with the parameter `resource` are refused.
    RefuseResourceOnRefresh,
    /// Token refreshes with the parameter `scope` are refused.
    RefuseScopeOnRefresh,
    /// Requests without the parameter `resource` are accepted, although MCP requires it.
    AcceptMissingResource,
    /// Error responses of the token endpoint have the status 200 (Slack).
    ErrorsWithStatus200,
    /// The server issues no refresh tokens.
    NoRefreshTokens,
    /// A refresh does not replace the refresh token: it stays valid, and the response contains no new one.
    KeepRefreshTokens,
    /// After a refresh, the server accepts the previous refresh token once more, because the client may have lost the response.
    AcceptLastRefreshToken,
    /// Token responses have no `expires_in`, so clients do not know the lifetime of a token.
    OmitExpiresIn,
    /// Token responses have this `token_type`.
    TokenType(String),
    /// Tokens are not bound to a key, although the client sends DPoP proofs.
    IgnoreProofs,
    /// Tokens have these scopes, separated by spaces, instead of the requested scopes.
    GrantScopes(String),
    /// Token responses do not list the scopes of the token.
    OmitScope,
}
