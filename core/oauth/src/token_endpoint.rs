//! [`TokenEndpoint`]: the token endpoint of an authorization server, and [`AuthMethod`], the methods by which clients
//! authenticate there (RFC 6749, section 2.3, and RFC 7523).

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

/// The token endpoint of an authorization server. It is stored with each token, because a refresh token must only be
/// sent to its own authorization server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TokenEndpoint {
    /// The issuer of the authorization server, as its metadata spells it.
    pub issuer: String,
    /// The URL of the token endpoint.
    pub url: String,
    /// The authentication methods that the endpoint supports, `token_endpoint_auth_methods_supported`. `None` if the
    /// metadata does not list them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth_methods: Option<Vec<String>>,
}

impl TokenEndpoint {
    /// Creates the description of an endpoint, without a list of authentication methods.
    pub fn new(issuer: impl Into<String>, url: impl Into<String>) -> Self {
        TokenEndpoint { issuer: issuer.into(), url: url.into(), auth_methods: None }
    }

    /// Sets the authentication methods that the endpoint supports. `None` if the metadata does not list them.
    pub fn auth_methods(mut self, methods: Option<Vec<String>>) -> Self {
        self.auth_methods = methods;
        self
    }
}

/// A method by which clients authenticate at an endpoint, as listed in metadata and registrations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AuthMethod {
    /// The client is public and sends no secret.
    None,
    /// The client sends identifier and secret in the `Authorization` header (HTTP Basic).
    ClientSecretBasic,
    /// The client sends identifier and secret in the body of the request.
    ClientSecretPost,
    /// The client sends a JWT that it signs with its private key.
    PrivateKeyJwt,
}

impl AuthMethod {
    /// Returns the name of the method in metadata, for example `client_secret_basic`.
    pub const fn name(self) -> &'static str {
        match self {
            AuthMethod::None => "none",
            AuthMethod::ClientSecretBasic => "client_secret_basic",
            AuthMethod::ClientSecretPost => "client_secret_post",
            AuthMethod::PrivateKeyJwt => "private_key_jwt",
        }
    }

    /// Returns the method with this name in metadata, or `None` if this crate does not support the method.
    pub fn from_name(name: &str) -> Option<Self> {
        [AuthMethod::None, AuthMethod::ClientSecretBasic, AuthMethod::ClientSecretPost, AuthMethod::PrivateKeyJwt]
            .into_iter()
            .find(|method| method.name() == name)
    }

    /// Returns the method by which a client sends its secret: the first such method in `supported`. Without a list,
    /// this is `client_secret_basic` (RFC 8414). `None` if the list has no such method.
    pub(crate) fn of_secret(supported: Option<&[String]>) -> Option<Self> {
        let Some(names) = supported else { return Some(AuthMethod::ClientSecretBasic) };
        let mut known = names.iter().filter_map(|name| AuthMethod::from_name(name));
        known.find(|method| matches!(method, AuthMethod::ClientSecretBasic | AuthMethod::ClientSecretPost))
    }
}
