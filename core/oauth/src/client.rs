//! [`ClientInformation`]: who the client is at an authorization server.

use alloc::string::{String, ToString};

use serde::{Deserialize, Serialize};

use crate::{AuthMethod, ClientAuthentication, ClientKey, Error, Secret, TokenEndpoint, UnixTime};

/// The source of a client's identifier (basic/authorization/client-registration).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ClientSource {
    /// The user or the program has supplied the identifier.
    PreRegistered,
    /// The identifier is the URL of the client's metadata document, and valid at every authorization server.
    MetadataDocument,
    /// The authorization server has issued the identifier (RFC 7591).
    Registered,
}

/// The identifier and credentials of a client at one authorization server.
///
/// Store it with the issuer and the redirect URI as the key, and pass it to the next [`Registration`](crate::Registration) or
/// [`Login`](crate::Login), so that the client does not register at each login. A program that listens on a port of this
/// machine first tries the port of the stored redirect URI: many authorization servers refuse another one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ClientInformation {
    /// The source of the identifier.
    pub source: ClientSource,
    /// The authorization server that knows the client.
    pub issuer: String,
    /// The redirect URI that was registered.
    pub redirect_uri: String,
    /// The identifier of the client.
    pub client_id: String,
    /// The secret, if the client has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<Secret>,
    /// The time at which the secret expires. `None` if it does not expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_secret_expires_at: Option<UnixTime>,
    /// The method by which the client authenticates. `None` if its registration does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth_method: Option<AuthMethod>,
    /// The token for changes of the registration (RFC 7592).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registration_access_token: Option<Secret>,
    /// The URL at which the registration can be changed (RFC 7592).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registration_client_uri: Option<String>,
    /// When the client was registered, or first used.
    pub registered_at: UnixTime,
}

impl ClientInformation {
    /// Creates a client without a secret.
    pub(crate) fn new(
        source: ClientSource,
        client_id: &str,
        issuer: &str,
        redirect_uri: &str,
        registered_at: UnixTime,
    ) -> Self {
        ClientInformation {
            source,
            issuer: issuer.to_string(),
            redirect_uri: redirect_uri.to_string(),
            client_id: client_id.to_string(),
            client_secret: None,
            client_secret_expires_at: None,
            auth_method: None,
            registration_access_token: None,
            registration_client_uri: None,
            registered_at,
        }
    }

    /// Returns whether a registration can be used again: it is one of this issuer, has this redirect URI, and its secret has not
    /// expired.
    pub fn is_registered_for(&self, issuer: &str, redirect_uri: &str, now: UnixTime) -> bool {
        self.source == ClientSource::Registered
            && self.issuer == issuer
            && self.redirect_uri == redirect_uri
            && self.client_secret_expires_at.is_none_or(|end| now < end)
    }

    /// Chooses how the client authenticates at a token endpoint. `key` is that of clients that sign assertions.
    pub fn authentication(
        &self,
        endpoint: &TokenEndpoint,
        key: Option<&ClientKey>,
    ) -> Result<ClientAuthentication, Error> {
        let supported = endpoint.auth_methods.as_deref();
        ClientAuthentication::choose(&self.client_id, self.client_secret.as_ref(), key, self.auth_method, supported)
    }
}
