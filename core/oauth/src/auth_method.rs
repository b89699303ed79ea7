//! [`AuthMethod`]: the methods by which clients authenticate (RFC 6749, section 2.3, and RFC 7523).

use alloc::string::String;

use serde::{Deserialize, Serialize};

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
