//! [`AuthorizationServerMetadata`]: the endpoints and abilities of an authorization server (RFC 8414).

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::error::quoted;
use crate::lenient;
use crate::url::{has_path, is_secure_for, well_known, well_known_below};
use crate::{Error, ErrorKind, Scopes, Setting, Step};

/// The metadata of an authorization server (RFC 8414, section 2, and OpenID Connect Discovery, section 3).
///
/// [`Discovery`](crate::Discovery) returns only metadata whose issuer and endpoints it has checked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(default)]
pub struct AuthorizationServerMetadata {
    /// The identifier of the authorization server. Compare it byte by byte.
    #[serde(deserialize_with = "lenient::or_default")]
    pub issuer: String,
    /// The URL at which users log in.
    #[serde(deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub authorization_endpoint: Option<String>,
    /// The URL at which tokens are requested.
    #[serde(deserialize_with = "lenient::or_default")]
    pub token_endpoint: String,
    /// The URL at which clients register (RFC 7591).
    #[serde(deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub registration_endpoint: Option<String>,
    /// The URL at which device codes are requested (RFC 8628).
    #[serde(deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub device_authorization_endpoint: Option<String>,
    /// The URL at which tokens are revoked (RFC 7009).
    #[serde(deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub revocation_endpoint: Option<String>,
    /// The scopes that the authorization server knows.
    #[serde(deserialize_with = "lenient::scopes", skip_serializing_if = "Option::is_none")]
    pub scopes_supported: Option<Scopes>,
    /// The grant types that the authorization server supports.
    #[serde(deserialize_with = "lenient::strings", skip_serializing_if = "Option::is_none")]
    pub grant_types_supported: Option<Vec<String>>,
    /// The methods by which clients authenticate at the token endpoint.
    #[serde(deserialize_with = "lenient::strings", skip_serializing_if = "Option::is_none")]
    pub token_endpoint_auth_methods_supported: Option<Vec<String>>,
    /// The methods by which clients authenticate at the revocation endpoint. Missing if they are those of the token endpoint.
    #[serde(deserialize_with = "lenient::strings", skip_serializing_if = "Option::is_none")]
    pub revocation_endpoint_auth_methods_supported: Option<Vec<String>>,
    /// The algorithms of the assertions by which clients authenticate.
    #[serde(deserialize_with = "lenient::strings", skip_serializing_if = "Option::is_none")]
    pub token_endpoint_auth_signing_alg_values_supported: Option<Vec<String>>,
    /// The PKCE methods. Missing if the authorization server does not say that it supports PKCE.
    #[serde(deserialize_with = "lenient::strings", skip_serializing_if = "Option::is_none")]
    pub code_challenge_methods_supported: Option<Vec<String>>,
    /// The algorithms of DPoP proofs (RFC 9449, section 5.1).
    #[serde(deserialize_with = "lenient::strings", skip_serializing_if = "Option::is_none")]
    pub dpop_signing_alg_values_supported: Option<Vec<String>>,
    /// The profiles of grants, for example `urn:ietf:params:oauth:grant-profile:id-jag`.
    #[serde(deserialize_with = "lenient::strings", skip_serializing_if = "Option::is_none")]
    pub authorization_grant_profiles_supported: Option<Vec<String>>,
    /// Whether the identifier of a client can be the URL of its metadata document.
    #[serde(deserialize_with = "lenient::or_default")]
    pub client_id_metadata_document_supported: bool,
    /// Whether authorization responses contain `iss` (RFC 9207).
    #[serde(deserialize_with = "lenient::or_default")]
    pub authorization_response_iss_parameter_supported: bool,
}

impl AuthorizationServerMetadata {
    /// Returns the metadata that protocol revision 2025-03-26 assumes of servers without any: fixed paths at the root of the
    /// server, and PKCE.
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

    /// Returns whether the metadata lists a grant type as supported.
    pub(crate) fn lists_grant(&self, grant: &str) -> bool {
        self.grant_types_supported.iter().flatten().any(|other| other == grant)
    }
}

/// Returns where the metadata of an issuer can be, in the order in which to ask (basic/authorization/authorization-server-discovery,
/// "Authorization Server Metadata Discovery").
pub(super) fn places(issuer: &str) -> Vec<String> {
    let oauth = well_known(issuer, "oauth-authorization-server");
    let openid = well_known(issuer, "openid-configuration");
    let below = well_known_below(issuer, "openid-configuration").filter(|_| has_path(issuer));
    [oauth, openid, below].into_iter().flatten().collect()
}

/// Returns whether an issuer can be asked for its metadata (RFC 8414, section 2).
pub(super) fn is_issuer(issuer: &str, server_url: &str) -> bool {
    is_secure_for(issuer, server_url) && !issuer.contains(['?', '#'])
}

/// Whether an issuer may differ from the one that was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IssuerCheck {
    /// Both are the same bytes.
    Identical,
    /// The issuer that was asked is the origin of the MCP server, a guess of the client. RFC 8414, section 3.1, gives an origin
    /// with and without a slash the same metadata, so the published issuer may have one.
    GuessedOrigin,
    /// One may have a slash at its end that the other has not, or the document may name no issuer.
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

/// Reads and checks the metadata of an authorization server. Returns `None` if the document is no metadata.
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
    // Logging in works without these endpoints.
    for endpoint in [
        &mut document.registration_endpoint,
        &mut document.device_authorization_endpoint,
        &mut document.revocation_endpoint,
    ] {
        endpoint.take_if(|endpoint| !is_secure_for(endpoint, server_url));
    }
    Ok(Some(document))
}
