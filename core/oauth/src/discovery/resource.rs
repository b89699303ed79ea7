//! [`ProtectedResourceMetadata`]: the metadata in which an MCP server names its authorization servers (RFC 9728).

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use mcpwire_text::url::{same_origin, split_origin, without_fragment, without_query};
use serde::{Deserialize, Serialize};

use crate::error::quoted;
use crate::lenient;
use crate::url::{covers, has_path, is_resource_of, is_secure_for, origin, well_known};
use crate::{Error, ErrorKind, Scopes, Setting, Step};

const NAME: &str = "oauth-protected-resource";

/// The metadata of a protected resource, here of an MCP server (RFC 9728, section 2). It names the authorization
/// servers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(default)]
pub struct ProtectedResourceMetadata {
    /// The identifier of the resource, for which tokens are requested.
    #[serde(deserialize_with = "lenient::or_default")]
    pub resource: String,
    /// The issuers of the authorization servers that issue tokens for this resource. The flows try at most the first 8.
    #[serde(deserialize_with = "lenient::or_default_strings")]
    pub authorization_servers: Vec<String>,
    /// The scopes that the basic functions of the server need. `None` if the server does not list them.
    #[serde(deserialize_with = "lenient::scopes", skip_serializing_if = "Option::is_none")]
    pub scopes_supported: Option<Scopes>,
    /// The display name of the server. `None` if the server names none. Untrusted text.
    #[serde(deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub resource_name: Option<String>,
    /// The algorithms that the server accepts for DPoP proofs. `None` if the server does not list them.
    #[serde(deserialize_with = "lenient::strings", skip_serializing_if = "Option::is_none")]
    pub dpop_signing_alg_values_supported: Option<Vec<String>>,
    /// Whether the server accepts only tokens that are bound to a DPoP key.
    #[serde(deserialize_with = "lenient::or_default")]
    pub dpop_bound_access_tokens_required: bool,
}

/// Returns the URLs at which to request the metadata of an MCP server, in this order: the URL in the challenge, the
/// well-known URL with the path of the server, and the well-known URL of the origin.
pub(super) fn places(server_url: &str, challenged: Option<&str>) -> Vec<String> {
    // An insecure challenge URL is skipped, because servers behind proxies often name themselves by `http`.
    let challenged = challenged.filter(|url| is_secure_for(url, server_url)).map(String::from);
    // RFC 9728 keeps a slash at the end of the path, but many servers expect the URL without it. Both forms are tried.
    let exact = split_origin(without_fragment(server_url))
        .filter(|(_, rest)| has_path(server_url) && without_query(rest).ends_with('/'))
        .map(|(origin, rest)| format!("{origin}/.well-known/{NAME}{rest}"));
    let with_path = well_known(server_url, NAME).filter(|_| has_path(server_url));
    let root = origin(server_url).and_then(|origin| well_known(origin, NAME));
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
pub(super) fn read(body: &[u8], url: &str, server_url: &str) -> Result<Option<ProtectedResourceMetadata>, Error> {
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
    let Some(place) = well_known(resource, NAME) else { return false };
    let rest = |url| split_origin(url).map(|(_, rest)| rest.to_string());
    same_origin(&place, url) && rest(&*place) == rest(url)
}
