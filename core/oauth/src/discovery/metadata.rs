//! The metadata documents: [`ProtectedResourceMetadata`], in which an MCP server names its authorization servers (RFC
//! 9728), and [`AuthorizationServerMetadata`], the endpoints and supported features of an authorization server (RFC
//! 8414).
//!
//! They are read leniently: an optional member with a value of the wrong type counts as absent.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use mcpwire_text::url::{same_origin, split_origin, without_fragment, without_query};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::error::quoted;
use crate::url::{covers, has_path, is_resource_of, is_secure_for, origin, well_known, well_known_below};
use crate::{Error, ErrorKind, Scopes, Setting, Step};

/// The name of the well-known URL of the metadata of an MCP server.
const RESOURCE_METADATA: &str = "oauth-protected-resource";

/// The metadata of a protected resource, here of an MCP server (RFC 9728, section 2). It names the authorization
/// servers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(default)]
pub struct ProtectedResourceMetadata {
    /// The identifier of the resource, for which tokens are requested.
    #[serde(deserialize_with = "or_default")]
    pub resource: String,
    /// The issuers of the authorization servers that issue tokens for this resource. The flows try at most the first 8.
    #[serde(deserialize_with = "or_default_strings")]
    pub authorization_servers: Vec<String>,
    /// The scopes that the basic functions of the server need. `None` if the server does not list them.
    #[serde(deserialize_with = "scopes", skip_serializing_if = "Option::is_none")]
    pub scopes_supported: Option<Scopes>,
    /// The display name of the server. `None` if the server names none. Untrusted text.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "Option::is_none")]
    pub resource_name: Option<String>,
    /// The algorithms that the server accepts for DPoP proofs. `None` if the server does not list them.
    #[serde(deserialize_with = "strings", skip_serializing_if = "Option::is_none")]
    pub dpop_signing_alg_values_supported: Option<Vec<String>>,
    /// Whether the server accepts only tokens that are bound to a DPoP key.
    #[serde(deserialize_with = "or_default")]
    pub dpop_bound_access_tokens_required: bool,
}

/// Returns the URLs at which to request the metadata of an MCP server, in this order: the URL in the challenge, the
/// well-known URL with the path of the server, and the well-known URL of the origin.
pub(super) fn resource_places(server_url: &str, challenged: Option<&str>) -> Vec<String> {
    // An insecure challenge URL is skipped, because servers behind proxies often name themselves by `http`.
    let challenged = challenged.filter(|url| is_secure_for(url, server_url)).map(String::from);
    // RFC 9728 keeps a slash at the end of the path, but many servers expect the URL without it. Both forms are tried.
    let exact = split_origin(without_fragment(server_url))
        .filter(|(_, rest)| has_path(server_url) && without_query(rest).ends_with('/'))
        .map(|(origin, rest)| format!("{origin}/.well-known/{RESOURCE_METADATA}{rest}"));
    let with_path = well_known(server_url, RESOURCE_METADATA).filter(|_| has_path(server_url));
    let root = origin(server_url).and_then(|origin| well_known(origin, RESOURCE_METADATA));
    let mut places: Vec<String> = Vec::new();
    for place in [challenged, exact, with_path, root].into_iter().flatten() {
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

/// Parses the metadata of an MCP server. Returns `None` if the document is not such metadata, for example an HTML page.
///
/// Fails if the metadata is about a resource that does not include the server at `server_url`.
pub(super) fn read_resource(
    body: &[u8],
    url: &str,
    server_url: &str,
) -> Result<Option<ProtectedResourceMetadata>, Error> {
    let Ok(document) = serde_json::from_slice::<ProtectedResourceMetadata>(body) else { return Ok(None) };
    if document.resource.is_empty() {
        return Ok(None);
    }
    if !covers(&document.resource, server_url) {
        let resource = quoted(&document.resource);
        let reason = format!("it is about `{resource}`, which does not include the server that was asked");
        return Err(Error::new(ErrorKind::Untrusted, Step::ResourceMetadata, reason)
            .at(url)
            .with_advice("use the server's URL as its operator publishes it"));
    }
    Ok(Some(document))
}

impl ProtectedResourceMetadata {
    /// Fails if the metadata is about a parent of the server, such as its origin, and `url` is not the well-known URL
    /// of that parent.
    ///
    /// RFC 9728, section 3.3, requires metadata about the server itself. Only the operator of the parent can publish at
    /// the parent's well-known URL. At other URLs, one server of an origin could obtain tokens that are valid at all
    /// servers of that origin.
    pub(super) fn check_parent(&self, url: &str, server_url: &str) -> Result<(), Error> {
        if is_resource_of(&self.resource, server_url) || is_published_at(&self.resource, url) {
            return Ok(());
        }
        let resource = quoted(&self.resource);
        let reason =
            format!("it is about `{resource}`, a parent of the server that was asked, and not published there");
        let before = "if you trust all servers below that URL, the setting ";
        Err(Error::new(ErrorKind::Untrusted, Step::ResourceMetadata, reason).at(url).with_setting(
            before,
            Setting::AcceptParentResource,
            " accepts it",
        ))
    }
}

/// Returns whether `url` is the well-known URL at which the metadata of `resource` must be published.
fn is_published_at(resource: &str, url: &str) -> bool {
    let Some(place) = well_known(resource, RESOURCE_METADATA) else { return false };
    let rest = |url| split_origin(url).map(|(_, rest)| rest.to_string());
    same_origin(&place, url) && rest(&*place) == rest(url)
}

/// The metadata of an authorization server: its endpoints and supported features (RFC 8414, section 2, and OpenID
/// Connect Discovery, section 3).
///
/// [`Discovery`](crate::Discovery) checks the issuer and the endpoints before it returns the metadata.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(default)]
pub struct AuthorizationServerMetadata {
    /// The issuer, which identifies the authorization server. Compare it byte by byte.
    #[serde(deserialize_with = "or_default")]
    pub issuer: String,
    /// The URL at which users log in. `None` if the authorization server has no logins in a browser.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "Option::is_none")]
    pub authorization_endpoint: Option<String>,
    /// The URL at which tokens are requested.
    #[serde(deserialize_with = "or_default")]
    pub token_endpoint: String,
    /// The URL at which clients register (RFC 7591). `None` if clients cannot register themselves.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "Option::is_none")]
    pub registration_endpoint: Option<String>,
    /// The URL at which device codes are requested (RFC 8628). `None` if there are no device logins.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "Option::is_none")]
    pub device_authorization_endpoint: Option<String>,
    /// The URL at which tokens are revoked (RFC 7009). `None` if tokens cannot be revoked.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "Option::is_none")]
    pub revocation_endpoint: Option<String>,
    /// The scopes that the authorization server supports. `None` if it does not list them.
    #[serde(deserialize_with = "scopes", skip_serializing_if = "Option::is_none")]
    pub scopes_supported: Option<Scopes>,
    /// The grant types that the authorization server supports. `None` if it does not list them.
    #[serde(deserialize_with = "strings", skip_serializing_if = "Option::is_none")]
    pub grant_types_supported: Option<Vec<String>>,
    /// The methods by which clients can authenticate at the token endpoint. `None` if they are not listed.
    #[serde(deserialize_with = "strings", skip_serializing_if = "Option::is_none")]
    pub token_endpoint_auth_methods_supported: Option<Vec<String>>,
    /// The methods by which clients can authenticate at the revocation endpoint. `None` means the same as at the token
    /// endpoint.
    #[serde(deserialize_with = "strings", skip_serializing_if = "Option::is_none")]
    pub revocation_endpoint_auth_methods_supported: Option<Vec<String>>,
    /// The signature algorithms that are accepted for client assertions. `None` if they are not listed.
    #[serde(deserialize_with = "strings", skip_serializing_if = "Option::is_none")]
    pub token_endpoint_auth_signing_alg_values_supported: Option<Vec<String>>,
    /// The PKCE methods that are supported. `None` if the metadata does not mention PKCE: see
    /// [`assume_pkce`](crate::OAuthSettings::assume_pkce).
    #[serde(deserialize_with = "strings", skip_serializing_if = "Option::is_none")]
    pub code_challenge_methods_supported: Option<Vec<String>>,
    /// The signature algorithms that are accepted for DPoP proofs (RFC 9449, section 5.1). `None` if they are not
    /// listed.
    #[serde(deserialize_with = "strings", skip_serializing_if = "Option::is_none")]
    pub dpop_signing_alg_values_supported: Option<Vec<String>>,
    /// The supported grant profiles, for example `urn:ietf:params:oauth:grant-profile:id-jag`. `None` if they are not
    /// listed.
    #[serde(deserialize_with = "strings", skip_serializing_if = "Option::is_none")]
    pub authorization_grant_profiles_supported: Option<Vec<String>>,
    /// Whether a client can use the URL of its metadata document as its identifier.
    #[serde(deserialize_with = "or_default")]
    pub client_id_metadata_document_supported: bool,
    /// Whether authorization responses contain the parameter `iss`, the issuer (RFC 9207).
    #[serde(deserialize_with = "or_default")]
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
pub(super) fn server_places(issuer: &str) -> Vec<String> {
    let oauth = well_known(issuer, "oauth-authorization-server");
    let openid = well_known(issuer, "openid-configuration");
    let below = well_known_below(issuer, "openid-configuration").filter(|_| has_path(issuer));
    [oauth, openid, below].into_iter().flatten().collect()
}

/// Returns whether `issuer` is a valid issuer whose metadata may be requested (RFC 8414, section 2).
pub(super) fn is_issuer(issuer: &str, server_url: &str) -> bool {
    is_secure_for(issuer, server_url) && !issuer.contains(['?', '#'])
}

/// Returns whether the issuer `found` in the metadata is the issuer `asked`, whose metadata was requested. Both must
/// be the same bytes, with two exceptions.
///
/// If `is_guessed`, `asked` is the origin of the MCP server, which the client assumes as the issuer. The published
/// issuer may then have a slash at its end, because RFC 8414, section 3.1, gives both forms the same metadata URL. If
/// `is_lenient`, the issuers may differ by a slash at the end, and the metadata may contain no issuer.
fn is_same_issuer(found: &str, asked: &str, is_guessed: bool, is_lenient: bool) -> bool {
    let without_slash = |issuer| str::strip_suffix(issuer, "/").unwrap_or(issuer).to_string();
    found == asked
        || (is_guessed && without_slash(found) == asked)
        || (is_lenient && (found.is_empty() || without_slash(found) == without_slash(asked)))
}

/// Parses and checks the metadata of an authorization server. Returns `None` if the document is not such metadata.
pub(super) fn read_server(
    body: &[u8],
    url: &str,
    issuer: &str,
    is_guessed: bool,
    is_lenient: bool,
    server_url: &str,
) -> Result<Option<AuthorizationServerMetadata>, Error> {
    let Ok(mut document) = serde_json::from_slice::<AuthorizationServerMetadata>(body) else { return Ok(None) };
    if document.issuer.is_empty() && document.token_endpoint.is_empty() {
        return Ok(None);
    }
    let error = |kind, reason: String| Error::new(kind, Step::ServerMetadata, reason).at(url);
    if !is_same_issuer(&document.issuer, issuer, is_guessed, is_lenient) {
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

/// Maximum number of strings that are read from a list. Further strings are ignored.
const MAX_STRINGS: usize = 256;

/// Deserializes a member, or returns the default value if the member has the wrong type.
fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned + Default,
{
    let value = Value::deserialize(deserializer)?;
    Ok(T::deserialize(value).unwrap_or_default())
}

/// Deserializes a list of strings, and skips other elements. `None` if the value is not a list.
fn strings<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    let Value::Array(elements) = Value::deserialize(deserializer)? else { return Ok(None) };
    let strings = elements.into_iter().filter_map(|element| match element {
        Value::String(text) => Some(text),
        _ => None,
    });
    Ok(Some(strings.take(MAX_STRINGS).collect()))
}

/// Deserializes a list of strings, and skips other elements. Returns an empty list if the value is not a list.
fn or_default_strings<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    strings(deserializer).map(Option::unwrap_or_default)
}

/// Deserializes scopes: a list of strings, or one string with spaces between the scopes. `None` if the value is
/// neither.
fn scopes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Scopes>, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::Array(elements) => Some(elements.iter().filter_map(Value::as_str).collect()),
        Value::String(text) => Some(Scopes::parse(&text)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;
    use std::vec;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    struct Document {
        #[serde(default, deserialize_with = "or_default")]
        text: Option<String>,
        #[serde(default, deserialize_with = "or_default")]
        flag: bool,
        #[serde(default, deserialize_with = "strings")]
        list: Option<Vec<String>>,
        #[serde(default, deserialize_with = "scopes")]
        scopes: Option<Scopes>,
    }

    fn read(json: &str) -> Document {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn members_of_the_right_type_are_read() {
        let expected = Document {
            text: Some("a".to_string()),
            flag: true,
            list: Some(vec!["b".to_string(), "c".to_string()]),
            scopes: Some(Scopes::parse("d e")),
        };
        assert_eq!(
            read(r#"{"text":"a","flag":true,"list":["b",1,"c",null],"scopes":["d",{},"e"],"more":[]}"#),
            expected
        );
        assert_eq!(read(r#"{"text":"a","flag":true,"list":["b","c"],"scopes":"d e"}"#), expected);
    }

    #[test]
    fn members_of_another_type_count_as_absent() {
        assert_eq!(read(r#"{"text":1,"flag":"true","list":"b","scopes":{}}"#), Document::default());
        assert_eq!(read(r#"{"text":null,"flag":null,"list":null,"scopes":null}"#), Document::default());
        assert_eq!(read("{}"), Document::default());
    }
}
