//! The client metadata, such as name and redirect URIs, for registrations and for the client's metadata document.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::url::{has_path, is_https, is_loopback, is_secure};
use crate::{AuthMethod, Error, ErrorKind, OAuthSettings, Step};

/// Returns the JSON document to publish at the URL of [`OAuthSettings::client_metadata_url`] (Client ID Metadata
/// Document). Authorization servers read the client's name and redirect URIs from it.
///
/// `redirect_uris` must contain all redirect URIs that the program uses. Fails if the settings have no such URL, or if
/// it is not an `https` URL with a path.
pub fn client_metadata_document(settings: &OAuthSettings, redirect_uris: &[&str]) -> Result<String, Error> {
    let url = settings.metadata_url.as_deref().unwrap_or_default();
    check_metadata_url(url)?;
    let mut document = ClientMetadata::new(settings);
    document.client_id = Some(url);
    document.redirect_uris = redirect_uris.to_vec();
    Ok(document.to_json())
}

/// Fails unless the URL is valid as a client's identifier (Client ID Metadata Document, section 3).
pub(crate) fn check_metadata_url(url: &str) -> Result<(), Error> {
    let has_dots = url.split(['/', '?']).any(|part| matches!(part, "." | ".."));
    if is_secure(url) && is_https(url) && has_path(url) && !url.contains('#') && !has_dots {
        return Ok(());
    }
    let reason = format!("the URL `{url}` of the client's metadata document is not an https URL with a path");
    Err(Error::new(ErrorKind::Misconfigured, Step::Registration, reason))
}

/// The metadata that a client publishes or registers: its name, redirect URIs and supported methods (RFC 7591, section
/// 2).
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct ClientMetadata<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) client_id: Option<&'a str>,
    pub(crate) client_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) client_uri: Option<&'a str>,
    pub(crate) redirect_uris: Vec<&'a str>,
    pub(crate) grant_types: Vec<&'static str>,
    pub(crate) response_types: [&'static str; 1],
    pub(crate) token_endpoint_auth_method: &'static str,
    pub(crate) application_type: &'static str,
    /// Whether the client uses only tokens that are bound to a DPoP key (RFC 9449, section 5.2).
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub(crate) dpop_bound_access_tokens: bool,
}

impl<'a> ClientMetadata<'a> {
    pub(crate) fn new(settings: &'a OAuthSettings) -> Self {
        ClientMetadata {
            client_id: None,
            client_name: &settings.client_name,
            client_uri: settings.client_uri.as_deref(),
            redirect_uris: [&*settings.redirect_uri].into(),
            grant_types: ["authorization_code", "refresh_token"].into(),
            response_types: ["code"],
            token_endpoint_auth_method: AuthMethod::None.name(),
            application_type: if is_loopback(&settings.redirect_uri) { "native" } else { "web" },
            dpop_bound_access_tokens: settings.dpop_bound_tokens,
        }
    }

    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
