//! [`TokenEndpoint`]: the part of an authorization server's metadata that token requests need, and [`AuthMethod`], how clients
//! authenticate there (RFC 6749, section 2.3, and RFC 7523).

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

/// The token endpoint of an authorization server. It is stored with each token: a refresh token is sent only to the endpoint
/// that has issued it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TokenEndpoint {
    /// The issuer of the authorization server, as its metadata spells it.
    pub issuer: String,
    /// The URL of the token endpoint.
    pub url: String,
    /// `token_endpoint_auth_methods_supported`, if the metadata has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth_methods: Option<Vec<String>>,
}

impl TokenEndpoint {
    /// Creates the description of an endpoint from its issuer and URL.
    pub fn new(issuer: impl Into<String>, url: impl Into<String>) -> Self {
        TokenEndpoint { issuer: issuer.into(), url: url.into(), auth_methods: None }
    }

    /// Sets the methods of client authentication that the endpoint supports. `None` if the metadata does not list them.
    pub fn auth_methods(mut self, methods: Option<Vec<String>>) -> Self {
        self.auth_methods = methods;
        self
    }
}

/// A method by which clients authenticate, as metadata and registrations name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AuthMethod {
    /// The client is public and has no secret.
    None,
    /// HTTP Basic with identifier and secret.
    ClientSecretBasic,
    /// Identifier and secret in the body.
    ClientSecretPost,
    /// A JWT that the client signs.
    PrivateKeyJwt,
}

impl AuthMethod {
    /// Returns the name in OAuth, for example `client_secret_basic`.
    pub const fn name(self) -> &'static str {
        match self {
            AuthMethod::None => "none",
            AuthMethod::ClientSecretBasic => "client_secret_basic",
            AuthMethod::ClientSecretPost => "client_secret_post",
            AuthMethod::PrivateKeyJwt => "private_key_jwt",
        }
    }

    /// Returns the method of this name, or `None` if the crate does not support it.
    pub fn from_name(name: &str) -> Option<Self> {
        [AuthMethod::None, AuthMethod::ClientSecretBasic, AuthMethod::ClientSecretPost, AuthMethod::PrivateKeyJwt]
            .into_iter()
            .find(|method| method.name() == name)
    }

    /// Returns the method by which a client sends its secret: the first in the list of the authorization server. Without a
    /// list, RFC 8414 says `client_secret_basic`.
    pub(crate) fn of_secret(supported: Option<&[String]>) -> Option<Self> {
        let Some(names) = supported else { return Some(AuthMethod::ClientSecretBasic) };
        let mut known = names.iter().filter_map(|name| AuthMethod::from_name(name));
        known.find(|method| matches!(method, AuthMethod::ClientSecretBasic | AuthMethod::ClientSecretPost))
    }
}
