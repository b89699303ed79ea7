//! [`AuthorizationServerMetadata`]: the endpoints and supported features of an authorization server (RFC 8414).

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::error::quoted;
use crate::lenient;
use crate::url::{has_path, is_secure_for, well_known, well_known_below};
use crate::{Error, ErrorKind, Scopes, Setting, Step};

/// The metadata of an authorization server: its endpoints and supported features (RFC 8414, section 2, and OpenID
/// Connect Discovery, section 3).
///
/// [`Discovery`](crate::Discovery) checks the issuer and the endpoints before it returns the metadata.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(default)]
pub struct AuthorizationServerMetadata {
    /// The issuer, which identifies the authorization server. Compare it byte by byte.
    #[serde(deserialize_with = "lenient::or_default")]
    pub issuer: String,
    /// The URL at which users log in. `None` if the authorization server has no logins in a browser.
    #[serde(deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub authorization_endpoint: Option<String>,
    /// The URL at which tokens are requested.
    #[serde(deserialize_with = "lenient::or_default")]
    pub token_endpoint: String,
    /// The URL at which clients register (RFC 7591). `None` if clients cannot register themselves.
    #[serde(deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub registration_endpoint: Option<String>,
    /// The URL at which device codes are requested (RFC 8628). `None` if there are no device logins.
    #[serde(deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub device_authorization_endpoint: Option<String>,
    /// The URL at which tokens are revoked (RFC 7009). `None` if tokens cannot be revoked.
    #[serde(deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub revocation_endpoint: Option<String>,
    /// The scopes that the authorization server supports. `None` if it does not list them.
    #[serde(deserialize_with = "lenient::scopes", skip_serializing_if = "Option::is_none")]
    pub scopes_supported: Option<Scopes>,
    /// The grant types that the authorization server supports. `None` if it does not list them.
    #[serde(deserialize_with = "lenient::strings", skip_serializing_if = "Option::is_none")]
    pub grant_types_supported: Option<Vec<String>>,
    /// The methods by which clients can authenticate at the token endpoint. `None` if they are not listed.
    #[serde(deserialize_with = "lenient::strings", skip_serializing_if = "Option::is_none")]
    pub token_endpoint_auth_methods_supported: Option<Vec<String>>,
    /// The methods by which clients can authenticate at the revocation endpoint. `None` means the same as at the token
    /// endpoint.
    #[serde(deserialize_with = "lenient::strings", skip_serializing_if = "Option::is_none")]
    pub revocation_endpoint_auth_methods_supported: Option<Vec<String>>,
    /// The signature algorithms that are accepted for client assertions. `None` if they are not listed.
    #[serde(deserialize_with = "lenient::strings", skip_serializing_if = "Option::is_none")]
    pub token_endpoint_auth_signing_alg_values_supported: Option<Vec<String>>,
    /// The PKCE methods that are supported. `None` if the metadata does not mention PKCE: see
    /// [`assume_pkce`](crate::OAuthSettings::assume_pkce).
    #[serde(deserialize_with = "lenient::strings", skip_serializing_if = "Option::is_none")]
    pub code_challenge_methods_supported: Option<Vec<String>>,
    /// The signature algorithms that are accepted for DPoP proofs (RFC 9449, section 5.1). `None` if they are not
    /// listed.
    #[serde(deserialize_with = "lenient::strings", skip_serializing_if = "Option::is_none")]
    pub dpop_signing_alg_values_supported: Option<Vec<String>>,
    /// The supported grant profiles, for example `urn:ietf:params:oauth:grant-profile:id-jag`. `None` if they are not
    /// listed.
    #[serde(deserialize_with = "lenient::strings", skip_serializing_if = "Option::is_none")]
    pub authorization_grant_profiles_supported: Option<Vec<String>>,
    /// Whether a client can use the URL of its metadata document as its identifier.
    #[serde(deserialize_with = "lenient::or_default")]
    pub client_id_metadata_document_supported: bool,
    /// Whether authorization responses contain the parameter `iss`, the issuer (RFC 9207).
    #[serde(deserialize_with = "lenient::or_default")]
    pub authorization_response_iss_parameter_supported: bool,
}

impl AuthorizationServerMetadata {
    /// Returns the default metadata of a server that publishes none, as in protocol revision 2025-03-26: endpoints at
    /// fixed paths of the origin, and PKCE.
    pub(super) fn assumed(origin: &str) -> Self {
        AuthorizationServerMetadata {
            issuer: origin.to_string(),
            authorization_endpoint: Some(format!("{origin}/authorize")),
            token_endpoint: format!("{origin}/token"),
            registration_endpoint: Some(format!("{origin}/register")),
            code_challenge_methods_supported: Some([String::from("S256")].into()),
            ..AuthorizationServerMetadata::default()
        }
    }

    /// Returns whether the metadata lists `grant` among the supported grant types.
    pub(crate) fn lists_grant(&self, grant: &str) -> bool {
        self.grant_types_supported.iter().flatten().any(|other| other == grant)
    }
}

/// Returns the URLs at which to request the metadata of an issuer, in this order
/// (basic/authorization/authorization-server-discovery, "Authorization Server Metadata Discovery").
pub(super) fn places(issuer: &str) -> Vec<String> {
    let oauth = well_known(issuer, "oauth-authorization-server");
    let openid = well_known(issuer, "openid-configuration");
    let below = well_known_below(issuer, "openid-configuration").filter(|_| has_path(issuer));
    [oauth, openid, below].into_iter().flatten().collect()
}

/// Returns whether `issuer` is a valid issuer whose metadata may be requested (RFC 8414, section 2).
pub(super) fn is_issuer(issuer: &str, server_url: &str) -> bool {
    is_secure_for(issuer, server_url) && !issuer.contains(['?', '#'])
}

/// How exactly the issuer in the metadata must equal the issuer whose metadata was requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IssuerCheck {
    /// Both issuers must be the same bytes.
    Identical,
    /// The requested issuer is the origin of the MCP server, which the client assumes as the issuer. The published
    /// issuer may have a slash at its end, because RFC 8414, section 3.1, gives both forms the same metadata URL.
    GuessedOrigin,
    /// The issuers may differ by a slash at the end, and the metadata may contain no issuer.
    Lenient,
}

impl IssuerCheck {
    fn accepts(self, found: &str, asked: &str) -> bool {
        let without_slash = |issuer| str::strip_suffix(issuer, "/").unwrap_or(issuer).to_string();
        match self {
            IssuerCheck::Identical => found == asked,
            IssuerCheck::GuessedOrigin => without_slash(found) == asked,
            IssuerCheck::Lenient => found.is_empty() || without_slash(found) == without_slash(asked),
        }
    }
}

/// Parses and checks the metadata of an authorization server. Returns `None` if the document is not such metadata.
pub(super) fn read(
    body: &[u8],
    url: &str,
    issuer: &str,
    check: IssuerCheck,
    server_url: &str,
) -> Result<Option<AuthorizationServerMetadata>, Error> {
    let Ok(mut document) = serde_json::from_slice::<AuthorizationServerMetadata>(body) else { return Ok(None) };
    if document.issuer.is_empty() && document.token_endpoint.is_empty() {
        return Ok(None);
    }
    let error = |kind, reason: String| Error::new(kind, Step::ServerMetadata, reason).at(url);
    if !check.accepts(&document.issuer, issuer) {
        let reason = format!("its issuer is `{}`, but `{}` was asked", quoted(&document.issuer), quoted(issuer));
        let before = "if only a slash at the end differs, or the issuer is missing, the setting ";
        let error = error(ErrorKind::Untrusted, reason);
        return Err(error.with_setting(before, Setting::LenientIssuer, " accepts it"));
    }
    if document.issuer.is_empty() {
        document.issuer = issuer.to_string();
    }
    if document.token_endpoint.is_empty() {
        return Err(error(ErrorKind::Misconfigured, "it has no token endpoint".to_string()));
    }
    let endpoints = [Some(&document.token_endpoint), document.authorization_endpoint.as_ref()];
    if let Some(endpoint) = endpoints.into_iter().flatten().find(|endpoint| !is_secure_for(endpoint, server_url)) {
        let reason = format!("its endpoint `{}` is not an https URL", quoted(endpoint));
        return Err(error(ErrorKind::Untrusted, reason));
    }
    // A login does not need these endpoints, so an insecure URL is removed without an error.
    for endpoint in [
        &mut document.registration_endpoint,
        &mut document.device_authorization_endpoint,
        &mut document.revocation_endpoint,
    ] {
        endpoint.take_if(|endpoint| !is_secure_for(endpoint, server_url));
    }
    Ok(Some(document))
}
