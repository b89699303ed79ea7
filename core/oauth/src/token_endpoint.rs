//! [`TokenEndpoint`]: the part of an authorization server's metadata that token requests need.

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
    /// Describes an endpoint by its issuer and URL.
    pub fn new(issuer: impl Into<String>, url: impl Into<String>) -> Self {
        TokenEndpoint { issuer: issuer.into(), url: url.into(), auth_methods: None }
    }

    /// Says which methods of client authentication the endpoint supports.
    pub fn auth_methods(mut self, methods: Option<Vec<String>>) -> Self {
        self.auth_methods = methods;
        self
    }
}
