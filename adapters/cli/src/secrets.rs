//! [`secrets_of`]: the secrets that a connection over HTTP sends, which a server or proxy may repeat.

use mcpwire_blocking::McpServerDef;
use mcpwire_hub::import::is_secret;
use mcpwire_hub::secrets::{Secret, proxy_secrets};
use url::Url;

/// Minimum length of the value of a header or of a query that is hidden as a secret, in bytes. Hiding shorter values would hide
/// ordinary words. Values that are known to be secrets are hidden at any length.
const SHORTEST_SECRET: usize = 8;

/// Returns the secrets that the connection to the server of `def` sends: in headers, in the query of the URL, and to the proxy.
pub(crate) fn secrets_of(def: &McpServerDef) -> Vec<Secret> {
    let url = def.url.as_ref().and_then(|url| Url::parse(url).ok());
    let query = url.iter().flat_map(Url::query_pairs).map(|(name, value)| (name.into_owned(), value.into_owned()));
    let headers = def.headers.iter().map(|(name, value)| (name.clone(), value.clone()));
    let is_hidden = |(name, value): &(String, String)| value.len() >= SHORTEST_SECRET || is_secret(name, value);
    let sent = query.chain(headers).filter(is_hidden).map(|(_, value)| Secret::new(value));
    sent.chain(proxy_secrets(def.proxy.as_deref())).collect()
}
