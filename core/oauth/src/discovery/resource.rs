//! [`ProtectedResourceMetadata`]: what a server says about its authorization (RFC 9728).

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

/// The metadata of a protected resource, here an MCP server (RFC 9728, section 2).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(default)]
pub struct ProtectedResourceMetadata {
    /// The identifier of the resource, which tokens are requested for.
    #[serde(deserialize_with = "lenient::or_default")]
    pub resource: String,
    /// The issuers of the authorization servers. The flows try at most the first 8.
    #[serde(deserialize_with = "lenient::or_default_strings")]
    pub authorization_servers: Vec<String>,
    /// The scopes for the basic functions of the server.
    #[serde(deserialize_with = "lenient::scopes", skip_serializing_if = "Option::is_none")]
    pub scopes_supported: Option<Scopes>,
    /// The name of the server for people.
    #[serde(deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub resource_name: Option<String>,
    /// The algorithms that the server accepts for DPoP proofs.
    #[serde(deserialize_with = "lenient::strings", skip_serializing_if = "Option::is_none")]
    pub dpop_signing_alg_values_supported: Option<Vec<String>>,
    /// Whether the server accepts only tokens with DPoP proofs.
    #[serde(deserialize_with = "lenient::or_default")]
    pub dpop_bound_access_tokens_required: bool,
}

/// Returns where the metadata of a server can be, in the order in which to ask: the URL of the challenge, then the
/// well-known places, first with the path of the server and then without.
pub(super) fn places(server_url: &str, challenged: Option<&str>) -> Vec<String> {
    // A challenged URL that the client must not ask is skipped: behind proxies, servers often name themselves by `http`.
    let challenged = challenged.filter(|url| is_secure_for(url, server_url)).map(String::from);
    // RFC 9728 keeps a slash at the end of the path, and many servers do not expect it.
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

/// Reads the metadata of a server. Returns `None` if the document is no metadata, for example an HTML page.
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
    /// Fails if the document at `url` is about a parent of the server, such as its origin, and not published there.
    ///
    /// RFC 9728, section 3.3, wants the resource to be the server. Only the operator of the parent can publish at the well-known
    /// place of the parent. Elsewhere, one of several servers of an origin could so get tokens that are valid at all of them.
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

/// Returns whether `url` is the well-known place of the metadata of a resource.
fn is_published_at(resource: &str, url: &str) -> bool {
    let Some(place) = well_known(resource, NAME) else { return false };
    let rest = |url| split_origin(url).map(|(_, rest)| rest.to_string());
    same_origin(&place, url) && rest(&*place) == rest(url)
}
