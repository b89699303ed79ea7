//! [`Client`]: an OAuth client that an authorization server knows.

use std::time::Duration;

use serde_json::Value;

use super::proofs::text;
use super::url::split_origin;

/// An OAuth client that an authorization server knows: a test has added it, it has registered itself, or it has a metadata
/// document.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Client {
    /// The client identifier (`client_id`).
    pub id: String,
    /// The name of the client that the login page shows to users.
    pub name: String,
    /// The client secret. `None` for public clients, and for clients that authenticate with a key.
    pub secret: Option<String>,
    /// The time since the Unix epoch at which the secret expires. `None` if it never expires.
    pub secret_expires_at: Option<Duration>,
    /// The registered redirect URIs. A login may use only one of these.
    pub redirect_uris: Vec<String>,
    /// The method by which the client must authenticate, such as `client_secret_post`. `None` for any method that its credentials
    /// allow.
    pub auth_method: Option<String>,
    /// The grants that the client may use, such as `authorization_code`. `None` if it may use all grants.
    pub grant_types: Option<Vec<String>>,
    /// The public key of `private_key_jwt`, as JSON Web Key. `None` for clients that authenticate by another method.
    pub key: Option<Value>,
}

impl Client {
    /// Creates a public client with this identifier, without a secret and without redirect URIs.
    pub fn new(id: impl Into<String>) -> Self {
        let id = id.into();
        Client {
            name: id.clone(),
            id,
            secret: None,
            secret_expires_at: None,
            redirect_uris: Vec::new(),
            auth_method: None,
            grant_types: None,
            key: None,
        }
    }

    mcpwire_driver::setters! {
        /// Sets the client secret, so that the client must authenticate with it.
        fn secret(secret: impl Into<String>) => secret = Some(secret.into());

        /// Sets the only method by which the client may authenticate, such as `client_secret_post`.
        fn auth_method(method: impl Into<String>) => auth_method = Some(method.into());

        /// Sets the public key by which the client authenticates (`private_key_jwt`), as JSON Web Key.
        fn key(key: Value) => key = Some(key);
    }

    /// Registers a redirect URI for the client.
    pub fn redirect_uri(mut self, redirect_uri: impl Into<String>) -> Self {
        self.redirect_uris.push(redirect_uri.into());
        self
    }

    /// Creates a client with this identifier from its metadata (RFC 7591, section 2).
    pub(super) fn from_metadata(id: &str, metadata: &Value) -> Self {
        let texts = |name: &str| -> Vec<String> {
            let list = metadata[name].as_array().into_iter().flatten();
            list.filter_map(Value::as_str).map(Into::into).collect()
        };
        let or = |text: &str, default: &str| if text.is_empty() { default.to_owned() } else { text.to_owned() };
        let grants = texts("grant_types");
        Client {
            name: or(text(metadata, "client_name"), id),
            redirect_uris: texts("redirect_uris"),
            grant_types: Some(if grants.is_empty() { vec!["authorization_code".into()] } else { grants }),
            auth_method: Some(or(text(metadata, "token_endpoint_auth_method"), "none")),
            key: metadata.pointer("/jwks/keys/0").cloned(),
            ..Client::new(id)
        }
    }

    /// Returns whether the client may use this grant, such as `refresh_token`.
    pub(super) fn has_grant(&self, grant: &str) -> bool {
        self.grant_types.as_ref().is_none_or(|grants| grants.iter().any(|known| known == grant))
    }

    /// Returns whether the client has registered this redirect URI. With `any_port`, the ports of loopback URIs may differ.
    pub(super) fn has_redirect_uri(&self, redirect_uri: &str, any_port: bool) -> bool {
        self.redirect_uris.iter().any(|known| {
            known == redirect_uri
                || any_port && without_port(known).is_some_and(|one| Some(one) == without_port(redirect_uri))
        })
    }
}

/// Splits a loopback redirect URI at its port: returns the host, and the text after the port. `None` if the host is not a
/// loopback host.
fn without_port(redirect_uri: &str) -> Option<(&str, &str)> {
    let (origin, rest) = split_origin(redirect_uri);
    let host = origin.strip_prefix("http://")?;
    let host = match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => name,
        _ => host,
    };
    ["127.0.0.1", "[::1]", "localhost"].contains(&host).then_some((host, rest))
}
