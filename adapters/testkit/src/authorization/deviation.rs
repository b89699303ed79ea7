//! [`Deviation`]: how an authorization server differs from the specification.

use std::time::Duration;

use serde_json::Value;

/// An endpoint of an authorization server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Endpoint {
    /// The metadata document, at a well-known place.
    Metadata,
    /// The authorization endpoint, to which a browser is sent.
    Authorization,
    /// The token endpoint.
    Token,
    /// The endpoint of dynamic client registration (RFC 7591).
    Registration,
    /// The revocation endpoint (RFC 7009).
    Revocation,
    /// The device authorization endpoint (RFC 8628).
    DeviceAuthorization,
    /// The page on which a user enters the code of a device.
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

    /// Returns the path of the endpoint below that of the issuer. The path of the metadata depends on its place, and is empty here.
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

    /// Returns the name of the endpoint's member in the metadata, or `None` if the metadata does not name the endpoint.
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

/// The place at which an authorization server publishes its metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MetadataPlace {
    /// `/.well-known/oauth-authorization-server`, before the path of the issuer (RFC 8414).
    OAuth,
    /// `/.well-known/openid-configuration`, before the path of the issuer.
    OpenId,
    /// `/.well-known/openid-configuration`, after the path of the issuer (OpenID Connect Discovery).
    OpenIdAfterPath,
}

/// A way in which an authorization server differs from the specification, or attacks its clients.
///
/// Set with [`AuthorizationServer::deviate`](super::AuthorizationServer::deviate). What no variant describes, such as broken or endless responses, is
/// scripted with [`AuthorizationServer::on_request`](super::AuthorizationServer::on_request).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Deviation {
    /// The metadata has no `code_challenge_methods_supported`, as that of Microsoft Entra and Amazon Cognito.
    OmitCodeChallengeMethods,
    /// The metadata has another `issuer`, for example with a slash at its end.
    IssuerInMetadata(String),
    /// The metadata names no method for public clients, and accepts them (authentik).
    AdvertiseConfidentialMethodsOnly,
    /// The metadata names this URL for an endpoint.
    EndpointUrl(Endpoint, String),
    /// The metadata has this member. `null` removes it.
    MetadataMember(String, Value),

    /// The redirect after a login has no `iss`, and the metadata does not promise it.
    NoIss,
    /// The redirect after a login has no `iss`, although the metadata promises it.
    OmitPromisedIss,
    /// The redirect after a login has an `iss` that the metadata does not promise.
    UnpromisedIss,
    /// The redirect after a login has this `iss`.
    Iss(String),
    /// The redirect after a login has this `state`.
    State(String),
    /// Logins end with this error, such as `access_denied`.
    RefuseLogins(String),
    /// Redirect URIs of this machine may have another port than the registered one (RFC 8252, section 7.3).
    AnyLoopbackPort,

    /// Registrations are refused because of their redirect URIs.
    RefuseRedirectUris,
    /// Registrations of other grants than `authorization_code` are refused with `invalid_client_metadata`.
    RefuseOtherGrants,
    /// Registrations of public clients are refused with `invalid_client_metadata`.
    RefusePublicClients,
    /// Registered clients get a secret, whatever they ask for.
    RegisterWithSecret,
    /// The secrets of registered clients expire after this time.
    SecretLifetime(Duration),

    /// Requests without `client_id` in the body are refused, whatever their header says (Python SDK).
    WantClientIdInBody,
    /// The credentials in HTTP Basic are only percent-decoded, so that a `+` is no space.
    PercentDecodeBasic,
    /// Access tokens cannot be revoked (RFC 7009, section 2.2.1).
    RevokeNoAccessTokens,
    /// Requests with `resource` are refused (Microsoft Entra, AADSTS9010010).
    RefuseResource,
    /// Refreshes with `resource` are refused.
    RefuseResourceOnRefresh,
    /// Refreshes with `scope` are refused.
    RefuseScopeOnRefresh,
    /// Requests without `resource` are accepted.
    AcceptMissingResource,
    /// Errors of the token endpoint have the status 200 (Slack).
    ErrorsWithStatus200,
    /// There are no refresh tokens.
    NoRefreshTokens,
    /// A refresh token stays valid, and the response to a refresh has none.
    KeepRefreshTokens,
    /// The refresh token before the newest one is accepted once more, for clients whose connection broke.
    AcceptLastRefreshToken,
    /// Responses have no `expires_in`.
    OmitExpiresIn,
    /// Tokens have this `token_type`.
    TokenType(String),
    /// Tokens are bound to no key, although the client sends proofs (DPoP).
    IgnoreProofs,
    /// Tokens have these scopes, whatever was asked for.
    GrantScopes(String),
    /// Responses do not name the scopes of a token.
    OmitScope,
}
