//! [`ClientInformation`]: the identifier and credentials of the client at an authorization server.

use alloc::string::{String, ToString};

use serde::{Deserialize, Serialize};

use crate::{AuthMethod, ClientAuthentication, ClientKey, Error, Secret, TokenEndpoint, UnixTime};

/// How a client got its identifier (basic/authorization/client-registration).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ClientSource {
    /// The user or the program has configured the identifier.
    PreRegistered,
    /// The identifier is the URL of the client's metadata document. It is valid at every authorization server that
    /// supports such documents.
    MetadataDocument,
    /// The authorization server issued the identifier when the client registered (RFC 7591).
    Registered,
}

/// The identifier and credentials of a client at one authorization server.
///
/// Store this value under the issuer and the redirect URI. Pass it to the next [`Registration`](crate::Registration) or
/// [`Login`](crate::Login), so that the client does not register at each login. A program that listens on a local port
/// first tries the port of the stored redirect URI, because many authorization servers refuse another one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ClientInformation {
    /// How the client got its identifier.
    pub source: ClientSource,
    /// The issuer of the authorization server at which the client is known.
    pub issuer: String,
    /// The redirect URI with which the client was registered.
    pub redirect_uri: String,
    /// The client's identifier, `client_id`.
    pub client_id: String,
    /// The client's secret, or `None` for a client without a secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<Secret>,
    /// When the client's secret expires. `None` if the secret does not expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_secret_expires_at: Option<UnixTime>,
    /// The method by which the client authenticates at the token endpoint. `None` if the registration does not name a
    /// method.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth_method: Option<AuthMethod>,
    /// The access token with which the client can change its registration (RFC 7592). `None` if the server issued none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registration_access_token: Option<Secret>,
    /// The URL at which the client can change its registration (RFC 7592). `None` if the server named none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registration_client_uri: Option<String>,
    /// When the client was registered. For a client that need not register, when it was first used.
    pub registered_at: UnixTime,
}

impl ClientInformation {
    /// Creates the information of a client without a secret.
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

    /// Returns whether the client can use this registration again. It must be a registration at `issuer` for
    /// `redirect_uri`, with a secret that has not expired.
    pub fn is_registered_for(&self, issuer: &str, redirect_uri: &str, now: UnixTime) -> bool {
        self.source == ClientSource::Registered
            && self.issuer == issuer
            && self.redirect_uri == redirect_uri
            && self.client_secret_expires_at.is_none_or(|end| now < end)
    }

    /// Chooses how the client authenticates at a token endpoint. `key` is the signing key of a client that uses
    /// `private_key_jwt`, or `None`.
    pub fn authentication(
        &self,
        endpoint: &TokenEndpoint,
        key: Option<&ClientKey>,
    ) -> Result<ClientAuthentication, Error> {
        let supported = endpoint.auth_methods.as_deref();
        ClientAuthentication::choose(&self.client_id, self.client_secret.as_ref(), key, self.auth_method, supported)
    }
}
