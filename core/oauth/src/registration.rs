//! [`Registration`]: gets the identifier of the client at an authorization server
//! (basic/authorization/client-registration), with the metadata that the client registers or publishes.

use crate::token_request::DEVICE_CODE;
use crate::token_response::{ResponseObject, fetch_failed};
use crate::url::{has_path, is_https, is_loopback, is_redirect_uri, is_secure};
use crate::{
    Action, AuthMethod, AuthorizationServerMetadata, ClientInformation, ClientSource, Discovered, Error, ErrorKind,
    FetchError, Flow, Input, OAuthSettings, Request, Response, Secret, Step, UnixTime,
};
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::{self, Vec};
use core::mem;
use mcpwire_text::url::{host, split_origin};
use serde::Serialize;
use serde_json::Value;

/// The flow that gets the identifier of the client at an authorization server.
///
/// The flow uses the first available source, in this order: the client in the settings, the client's metadata document,
/// the stored registration, a new registration (RFC 7591). If none is available, it fails with
/// [`ErrorKind::ClientIdRequired`].
#[derive(Debug)]
pub struct Registration {
    metadata: AuthorizationServerMetadata,
    settings: OAuthSettings,
    stored: Option<ClientInformation>,
    /// The documents to send next if the server refuses the one that was sent. Empty until the flow sends a request.
    offers: vec::IntoIter<String>,
    state: State,
}

#[derive(Debug)]
enum State {
    New,
    /// A registration request was sent.
    Asked,
    Ended,
}

/// The advice in errors about a client that cannot register itself.
const REGISTER_BY_HAND: &str = "register a client with its operator, and configure the client's identifier";

impl Registration {
    /// Creates a flow. `stored` is the [`ClientInformation`] of an earlier login or registration, or `None`.
    pub fn new(discovered: &Discovered, settings: &OAuthSettings, stored: Option<ClientInformation>) -> Self {
        let (metadata, settings) = (discovered.metadata.clone(), settings.clone());
        Registration { metadata, settings, stored, offers: Vec::new().into_iter(), state: State::New }
    }

    /// Returns the client from the settings, the metadata document or the stored registration. `None` if the client
    /// must register.
    fn known_client(&self, now: UnixTime) -> Result<Option<ClientInformation>, Error> {
        let (issuer, redirect_uri) = (&self.metadata.issuer, &self.settings.redirect_uri);
        let new = |source, client_id: &str| ClientInformation {
            auth_method: self.settings.auth_method,
            ..ClientInformation::new(source, client_id, issuer, redirect_uri, now)
        };
        if let Some(client_id) = &self.settings.client_id {
            self.check_issuer(client_id)?;
            let mut client = new(ClientSource::PreRegistered, client_id);
            client.client_secret.clone_from(&self.settings.client_secret);
            return Ok(Some(client));
        }
        if let Some(url) = &self.settings.metadata_url
            && self.metadata.client_id_metadata_document_supported
        {
            check_metadata_url(url)?;
            return Ok(Some(new(ClientSource::MetadataDocument, url)));
        }
        Ok(self.stored.clone().filter(|stored| stored.is_registered_for(issuer, redirect_uri, now)))
    }

    /// Fails if the client in the settings belongs to another authorization server, so that its secret is not sent to
    /// this one.
    fn check_issuer(&self, client_id: &str) -> Result<(), Error> {
        let is_this =
            |stored: &&ClientInformation| stored.source == ClientSource::PreRegistered && stored.client_id == client_id;
        let used_before = self.stored.as_ref().filter(is_this).map(|stored| &*stored.issuer);
        let has_secret = self.settings.client_secret.is_some();
        self.settings.check_client_issuer(client_id, has_secret, used_before, &self.metadata.issuer)
    }

    /// Sends the next registration document. Returns `None` if no document is left.
    fn ask(&mut self) -> Option<Action<ClientInformation>> {
        let body = Some(self.offers.next()?.into_bytes());
        let headers = ["accept", "content-type"].map(|name| (Cow::Borrowed(name), "application/json".to_string()));
        self.state = State::Asked;
        let (step, url) = (Step::Registration, self.url().to_string());
        Some(Action::Fetch(Request { step, url, headers: headers.into(), body }))
    }

    /// Returns the URL to which the registrations are sent.
    fn url(&self) -> &str {
        self.metadata.registration_endpoint.as_deref().unwrap_or_default()
    }

    /// Returns the registration documents to try, best first. Each further document is sent only if the server refuses
    /// the previous one.
    ///
    /// A program on the user's machine cannot keep a secret, so it first asks to be a public client (RFC 8252, section
    /// 8.4). Many servers accept public clients without listing the method `none`. The client asks for a secret only if
    /// the server refuses that.
    fn offers(&self) -> Vec<String> {
        let supported = self.metadata.token_endpoint_auth_methods_supported.as_deref();
        let is_listed = supported.is_none_or(|names| names.iter().any(|name| name == AuthMethod::None.name()));
        // This crate holds no keys, so it cannot register one for `private_key_jwt`.
        let (first, second) = match self.settings.auth_method.filter(|method| *method != AuthMethod::PrivateKeyJwt) {
            Some(method) => (method, method),
            None => (AuthMethod::None, AuthMethod::of_secret(supported).unwrap_or(AuthMethod::None)),
        };
        // A refusal does not say whether the method or another member caused it.
        let order = [(first, false), if is_listed { (first, true) } else { (second, false) }, (second, true)];
        let mut offers: Vec<String> =
            order.into_iter().map(|(method, is_reduced)| self.offer(method, is_reduced).to_json()).collect();
        // Some of the three documents may be equal.
        offers.dedup();
        offers
    }

    fn offer(&self, method: AuthMethod, is_reduced: bool) -> ClientMetadata<'_> {
        let mut document = ClientMetadata::new(&self.settings);
        document.token_endpoint_auth_method = method.name();
        let device_grant = self.settings.device_grant && self.metadata.device_authorization_endpoint.is_some();
        if device_grant && !is_reduced {
            document.grant_types.push(DEVICE_CODE);
        }
        if is_reduced {
            document.client_uri = None;
            document.dpop_bound_access_tokens = false;
            let supported = &self.metadata.grant_types_supported;
            document.grant_types.retain(|grant| supported.is_none() || self.metadata.lists_grant(grant));
            if document.grant_types.is_empty() {
                document.grant_types.push("authorization_code");
            }
        }
        document
    }

    fn receive(&mut self, response: &Response, now: UnixTime) -> Result<Action<ClientInformation>, Error> {
        if response.body.len() > Request::MAX_RESPONSE {
            return Err(fetch_failed(FetchError::TooLarge, Step::Registration, self.url()));
        }
        let body = ResponseObject::read(response);
        if (200..300).contains(&response.status) {
            return self.read(body, response.status, now).map(Action::Done);
        }
        let body = body.unwrap_or_default();
        let error = self.refused(&body, response.status);
        if response.status == 400
            && matches!(body.code(), None | Some("invalid_client_metadata"))
            && let Some(next) = self.ask()
        {
            return Ok(next);
        }
        Err(error)
    }

    /// Parses the response to a registration (RFC 7591, section 3.2.1).
    fn read(&self, body: Option<ResponseObject>, status: u16, now: UnixTime) -> Result<ClientInformation, Error> {
        let error = |kind, reason| Error::new(kind, Step::Registration, reason).at(self.url()).with_status(status);
        let Some(body) = body else { return Err(error(ErrorKind::Temporary, "the response cannot be read")) };
        let Some(client_id) = body.text("client_id") else {
            return Err(match body.code() {
                Some(_) => self.refused(&body, status),
                None => error(ErrorKind::Misconfigured, "the response has no client identifier"),
            });
        };
        let redirect_uri = &self.settings.redirect_uri;
        let registered_uris = body.get("redirect_uris").and_then(Value::as_array).into_iter().flatten();
        let mut registered_uris = registered_uris.filter_map(Value::as_str).peekable();
        if registered_uris.peek().is_some() && !registered_uris.any(|other| is_same_redirect(other, redirect_uri)) {
            let reason = "the authorization server has registered other redirect URIs than that of the client";
            return Err(error(ErrorKind::Refused, reason).with_advice(REGISTER_BY_HAND));
        }
        let issuer = &self.metadata.issuer;
        let end = body.get("client_secret_expires_at").and_then(Value::as_u64);
        Ok(ClientInformation {
            client_secret: body.text("client_secret").map(Secret::new),
            // RFC 7591: 0 means that the secret never expires.
            client_secret_expires_at: end.filter(|end| *end != 0).map(UnixTime::from_secs),
            auth_method: body.text("token_endpoint_auth_method").and_then(AuthMethod::from_name),
            registration_access_token: body.text("registration_access_token").map(Secret::new),
            registration_client_uri: body.text("registration_client_uri").map(Into::into),
            ..ClientInformation::new(ClientSource::Registered, client_id, issuer, redirect_uri, now)
        })
    }

    /// Returns the error for a refused registration, by its error code (RFC 7591, section 3.2.2).
    fn refused(&self, body: &ResponseObject, status: u16) -> Error {
        let error = |kind, reason| {
            let error = Error::new(kind, Step::Registration, format!("the authorization server {reason}"));
            let error = error.at(self.url()).with_status(status);
            match body.code() {
                Some(code) => error.with_code(code, body.description()),
                None => error,
            }
        };
        match (status, body.code()) {
            (300..=399, _) => error(ErrorKind::Misconfigured, "redirects, which is not followed"),
            (429 | 500.., _) => error(ErrorKind::Temporary, "cannot answer now"),
            (401 | 403 | 404 | 405, _) => {
                error(ErrorKind::ClientIdRequired, "does not let this client register").with_advice(REGISTER_BY_HAND)
            }
            (_, Some("invalid_redirect_uri")) => {
                let uri = &self.settings.redirect_uri;
                error(ErrorKind::Refused, "does not accept the redirect URI").with_advice(format!(
                    "the redirect URI is {uri}; configure another host, port or path, for example `localhost`"
                ))
            }
            _ => error(ErrorKind::Refused, "has refused the registration").with_advice(REGISTER_BY_HAND),
        }
    }
}

impl Flow for Registration {
    type Output = ClientInformation;

    fn start(&mut self, now: UnixTime) -> Result<Action<ClientInformation>, Error> {
        if !matches!(mem::replace(&mut self.state, State::Ended), State::New) {
            return Err(Error::misuse(Step::Registration));
        }
        let redirect_uri = &self.settings.redirect_uri;
        if !is_redirect_uri(redirect_uri) {
            let reason = format!("the redirect URI `{redirect_uri}` is neither https nor an http URL of this machine");
            return Err(Error::new(ErrorKind::Misconfigured, Step::Registration, reason));
        }
        if let Some(client) = self.known_client(now)? {
            return Ok(Action::Done(client));
        }
        if self.metadata.registration_endpoint.is_none() {
            let reason = "the authorization server registers no clients";
            return Err(Error::new(ErrorKind::ClientIdRequired, Step::Registration, reason)
                .at(&self.metadata.issuer)
                .with_advice(REGISTER_BY_HAND));
        }
        self.offers = self.offers().into_iter();
        self.ask().ok_or_else(|| Error::misuse(Step::Registration))
    }

    fn resume(&mut self, input: Input, now: UnixTime) -> Result<Action<ClientInformation>, Error> {
        match (mem::replace(&mut self.state, State::Ended), input) {
            (State::Asked, Input::Response(response)) => self.receive(&response, now),
            (State::Asked, Input::FetchFailed(error)) => Err(fetch_failed(error, Step::Registration, self.url())),
            _ => Err(Error::misuse(Step::Registration)),
        }
    }
}

/// Returns whether two redirect URIs are equal, ignoring the port of loopback URIs. Authorization servers must not
/// compare that port (RFC 8252, section 7.3), so some do not return it.
fn is_same_redirect(one: &str, other: &str) -> bool {
    let parts = |uri| Some((host(uri)?, split_origin(uri)?.1));
    one == other || (is_loopback(one) && is_loopback(other) && parts(one) == parts(other))
}

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
fn check_metadata_url(url: &str) -> Result<(), Error> {
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
struct ClientMetadata<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    client_id: Option<&'a str>,
    client_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_uri: Option<&'a str>,
    redirect_uris: Vec<&'a str>,
    grant_types: Vec<&'static str>,
    response_types: [&'static str; 1],
    token_endpoint_auth_method: &'static str,
    application_type: &'static str,
    /// Whether the client uses only tokens that are bound to a DPoP key (RFC 9449, section 5.2).
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    dpop_bound_access_tokens: bool,
}

impl<'a> ClientMetadata<'a> {
    fn new(settings: &'a OAuthSettings) -> Self {
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

    fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
#[path = "registration_tests.rs"]
mod tests;
