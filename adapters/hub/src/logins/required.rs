//! [`RequiredLogin`]: the login that a server waits for.

use serde::{Deserialize, Serialize};

/// The login that a server in the state `needs-login` waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RequiredLogin {
    /// The URL of the server, without its query.
    pub server_url: String,
    /// The account of the user. Empty for the only one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub account: String,
    /// The scopes that the server wants. Empty if it named none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
}
