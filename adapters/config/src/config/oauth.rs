//! [`OAuthConfig`]: how the client logs in to a server over HTTP.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::settings::is_default;
use super::value::EnvVarConfig;

/// The OAuth settings of one server over HTTP. In the configuration file: the member `oauth`, an object or `false`.
///
/// The defaults suit most servers: the client finds the authorization server, and registers itself there. Nothing is sent until
/// the server asks for a login.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "BoolOrObject", into = "BoolOrObject")]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own in the file")]
#[non_exhaustive]
pub struct OAuthConfig {
    /// Whether the client may log in to the server. In the configuration file, `"oauth": false` is short for an object with
    /// `enabled` set to `false`.
    pub enabled: bool,
    /// The identifier of a client that is registered at the authorization server. By default, the client registers itself.
    pub client_id: Option<String>,
    /// The secret of the client with the identifier [`client_id`](Self::client_id).
    pub client_secret: Option<EnvVarConfig>,
    /// The issuer of the authorization server at which the client with the identifier [`client_id`](Self::client_id) is
    /// registered. Its secret is sent to no other authorization server.
    pub issuer: Option<String>,
    /// How the client sends its secret: `client_secret_basic`, `client_secret_post`, or `none`. By default, the first method that
    /// the authorization server lists. Some authorization servers accept only the method that the client is registered for.
    pub auth_method: Option<String>,
    /// The `https` URL of the client's metadata document (Client ID Metadata Document). Authorization servers that support such
    /// documents need no registration of the client.
    pub client_metadata_url: Option<String>,
    /// The scopes to ask for in place of the scopes that the server names. If this list is empty, the server's scopes are used.
    pub scopes: Vec<String>,
    /// The name of the user's account, for users with several accounts on one server. Each account has its own login.
    pub account: Option<String>,
    /// The redirect URI of logins in a browser, such as `http://localhost:3118/callback`: an `http` URL of this machine. By
    /// default, `http://127.0.0.1` with a free port. Some authorization servers require the registered host, port and path.
    pub redirect_uri: Option<String>,
    /// Whether to leave out the parameter `resource` (RFC 8707). Some authorization servers, such as Microsoft Entra, reject it.
    pub omit_resource: bool,
    /// Whether to trust authorization servers whose metadata does not mention PKCE, such as Amazon Cognito. By default, a login
    /// there fails.
    pub assume_pkce: bool,
    /// Whether to accept metadata of an authorization server that lacks the issuer, or whose issuer differs in a slash at its
    /// end.
    pub lenient_issuer: bool,
    /// Whether to accept resource metadata for a parent of the server's URL, such as its origin, wherever it is published. Other
    /// servers below that parent may then accept the tokens of this server.
    pub accept_parent_resource: bool,
    /// Whether tokens are bound to a private key of this machine (DPoP, RFC 9449). An unbound token is then never used.
    pub dpop: bool,
    /// Whether requests of the login may go to private addresses. The server's own host is always allowed.
    pub allow_private_addresses: bool,
    /// Whether the program logs in as itself, with `client_id` and `client_secret` and without a user (`client_credentials`).
    pub client_credentials: bool,
    /// The members of the JSON object that this version of the hub does not know. The hub preserves these members.
    pub other: Map<String, Value>,
}

/// The forms of an [`OAuthConfig`] in JSON: a boolean, or an object.
#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "an object of OAuth settings, or `false`")]
#[expect(clippy::large_enum_variant, reason = "a value exists only while settings are read or written")]
enum BoolOrObject {
    /// Stands for the default settings with this value of [`OAuthConfig::enabled`].
    Bool(bool),
    Object(#[serde(with = "Members")] OAuthConfig),
}

impl From<BoolOrObject> for OAuthConfig {
    fn from(json: BoolOrObject) -> Self {
        match json {
            BoolOrObject::Bool(enabled) => OAuthConfig { enabled, ..OAuthConfig::default() },
            BoolOrObject::Object(config) => config,
        }
    }
}

impl From<OAuthConfig> for BoolOrObject {
    fn from(config: OAuthConfig) -> Self {
        if config == OAuthConfig::disabled() { BoolOrObject::Bool(false) } else { BoolOrObject::Object(config) }
    }
}

/// The members of [`OAuthConfig`] in JSON. The type is private, because settings are read and written as [`BoolOrObject`], which
/// adds the short form `false`.
#[derive(Serialize, Deserialize)]
#[serde(default = "OAuthConfig::default", remote = "OAuthConfig")]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own in the file")]
struct Members {
    #[serde(skip_serializing_if = "is_true")]
    enabled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_secret: Option<EnvVarConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    issuer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    auth_method: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_metadata_url: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    scopes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    account: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    redirect_uri: Option<String>,
    #[serde(skip_serializing_if = "is_default")]
    omit_resource: bool,
    #[serde(skip_serializing_if = "is_default")]
    assume_pkce: bool,
    #[serde(skip_serializing_if = "is_default")]
    lenient_issuer: bool,
    #[serde(skip_serializing_if = "is_default")]
    accept_parent_resource: bool,
    #[serde(skip_serializing_if = "is_default")]
    dpop: bool,
    #[serde(skip_serializing_if = "is_default")]
    allow_private_addresses: bool,
    #[serde(skip_serializing_if = "is_default")]
    client_credentials: bool,
    #[serde(flatten)]
    other: Map<String, Value>,
}

impl Default for OAuthConfig {
    fn default() -> Self {
        OAuthConfig {
            enabled: true,
            client_id: None,
            client_secret: None,
            issuer: None,
            auth_method: None,
            client_metadata_url: None,
            scopes: Vec::new(),
            account: None,
            redirect_uri: None,
            omit_resource: false,
            assume_pkce: false,
            lenient_issuer: false,
            accept_parent_resource: false,
            dpop: false,
            allow_private_addresses: false,
            client_credentials: false,
            other: Map::new(),
        }
    }
}

impl OAuthConfig {
    /// Creates the configuration of a client that never logs in: `"oauth": false`.
    pub fn disabled() -> Self {
        OAuthConfig { enabled: false, ..OAuthConfig::default() }
    }

    /// Returns the settings that differ from the defaults, for the hash and the preview of a configuration. Each has the name of
    /// its field, such as `oauth.issuer`. Omits the client's secret and the redirect URI.
    pub(crate) fn described(&self) -> Vec<(&'static str, Cow<'_, str>)> {
        let texts = [
            ("oauth.client_id", &self.client_id),
            ("oauth.issuer", &self.issuer),
            ("oauth.auth_method", &self.auth_method),
            ("oauth.client_metadata_url", &self.client_metadata_url),
            ("oauth.account", &self.account),
        ];
        let switches = [
            ("oauth.omit_resource", self.omit_resource),
            ("oauth.assume_pkce", self.assume_pkce),
            ("oauth.lenient_issuer", self.lenient_issuer),
            ("oauth.accept_parent_resource", self.accept_parent_resource),
            ("oauth.dpop", self.dpop),
            ("oauth.allow_private_addresses", self.allow_private_addresses),
            ("oauth.client_credentials", self.client_credentials),
        ];
        let mut described = Vec::new();
        if !self.enabled {
            described.push(("oauth.enabled", "false".into()));
        }
        described.extend(texts.into_iter().filter_map(|(name, text)| Some((name, text.as_deref()?.into()))));
        if !self.scopes.is_empty() {
            described.push(("oauth.scopes", self.scopes.join(" ").into()));
        }
        described.extend(switches.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| (name, "true".into())));
        described
    }

    /// Returns the host, the port and the path of [`redirect_uri`](Self::redirect_uri), or `None` if it is not set. The port is 0
    /// if the URI contains no port.
    pub fn redirect(&self) -> Option<Redirect<'_>> {
        Redirect::parse(self.redirect_uri.as_deref()?)
    }
}

/// The parts of the redirect URI of logins in a browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Redirect<'a> {
    /// `127.0.0.1`, `[::1]` or `localhost`.
    pub host: &'a str,
    /// The port, or 0 to use any free port.
    pub port: u16,
    /// The path, which begins with `/`.
    pub path: &'a str,
}

impl<'a> Redirect<'a> {
    /// Returns the parts of a redirect URI of this machine. Returns `None` for any other URI.
    pub(crate) fn parse(uri: &'a str) -> Option<Self> {
        let rest = uri.strip_prefix("http://")?;
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let path = if path.is_empty() { "/" } else { path };
        let hosts = ["127.0.0.1", "[::1]", "localhost"];
        let host = hosts.into_iter().find(|host| authority.starts_with(host))?;
        let (host, port) = authority.split_at(host.len());
        let port = match port.strip_prefix(':') {
            Some(port) => port.parse().ok().filter(|port| *port != 0)?,
            None if port.is_empty() => 0,
            None => return None,
        };
        let is_plain = path.bytes().all(|byte| byte.is_ascii_graphic() && !b"?#".contains(&byte));
        is_plain.then_some(Redirect { host, port, path })
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_true(value: &bool) -> bool {
    *value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirect_uri_is_one_of_this_machine() {
        let parsed = |uri| Redirect::parse(uri).map(|redirect| (redirect.host, redirect.port, redirect.path));
        assert_eq!(parsed("http://localhost:3118/callback"), Some(("localhost", 3118, "/callback")));
        assert_eq!(parsed("http://127.0.0.1/a/b"), Some(("127.0.0.1", 0, "/a/b")));
        assert_eq!(parsed("http://[::1]:1"), Some(("[::1]", 1, "/")));
        for other in [
            "https://localhost/callback",
            "http://localhost.example.com/",
            "http://127.0.0.1.example.com/",
            "http://example.com/",
            "http://localhost:0/",
            "http://localhost:99999/",
            "http://localhost@example.com/",
            "http://localhost/?x",
            "http://localhost/#x",
            "http://localhost/a b",
            "localhost",
            "",
        ] {
            assert_eq!(parsed(other), None, "{other}");
        }
    }

    #[test]
    fn false_is_short_for_disabled_and_unknown_members_are_preserved() {
        let read = |text| serde_json::from_str::<OAuthConfig>(text).unwrap();
        let written = |config: &OAuthConfig| serde_json::to_string(config).unwrap();
        assert_eq!(read("false"), OAuthConfig::disabled());
        assert_eq!(read("true"), OAuthConfig::default());
        assert_eq!(read("{}"), OAuthConfig::default());
        assert_eq!(written(&OAuthConfig::disabled()), "false");
        for text in [r#"{"client_id":"a","later":[1]}"#, r#"{"enabled":false,"client_id":"a"}"#, "{}"] {
            assert_eq!(written(&read(text)), text);
        }
        assert!(serde_json::from_str::<OAuthConfig>("1").is_err());
    }
}
