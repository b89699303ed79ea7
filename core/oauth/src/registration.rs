//! [`Registration`]: gets a client identifier at an authorization server (basic/authorization/client-registration).

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::mem;

use mcpwire_text::url::{host, split_origin};
use serde::Deserialize;

use crate::client_metadata::{ClientMetadata, DEVICE_CODE, check_metadata_url};
use crate::lenient;
use crate::token_response::fetch_failed;
use crate::url::{is_loopback, is_redirect_uri};
use crate::{
    Action, AuthMethod, AuthorizationServerMetadata, ClientInformation, ClientSource, Discovered, Error, ErrorKind,
    FetchError, Flow, Input, OAuthSettings, Request, Response, Secret, Step, UnixTime,
};

/// The flow that gets a client its identifier at an authorization server.
///
/// It takes the first of these ways that is there: the client of the settings, the metadata document of the client, the
/// stored registration, a new registration (RFC 7591). If there is none, it fails with [`ErrorKind::ClientIdRequired`].
#[derive(Debug)]
pub struct Registration {
    metadata: AuthorizationServerMetadata,
    settings: OAuthSettings,
    stored: Option<ClientInformation>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    New,
    /// The request with the offer of this index was sent.
    Asked(usize),
    Ended,
}

impl Registration {
    /// Creates a flow. `stored` is the [`ClientInformation`] of an earlier registration at the same issuer.
    pub fn new(discovered: &Discovered, settings: &OAuthSettings, stored: Option<ClientInformation>) -> Self {
        Registration { metadata: discovered.metadata.clone(), settings: settings.clone(), stored, state: State::New }
    }

    /// Returns the client if it need not register.
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

    /// Fails if the client of the settings is known to belong to another authorization server.
    fn check_issuer(&self, client_id: &str) -> Result<(), Error> {
        let used_before = self
            .stored
            .as_ref()
            .filter(|stored| stored.source == ClientSource::PreRegistered && stored.client_id == client_id);
        let used_before = used_before.map(|stored| &*stored.issuer);
        self.settings.check_client_issuer(
            client_id,
            self.settings.client_secret.is_some(),
            used_before,
            &self.metadata.issuer,
        )
    }

    /// Sends the offer of this index. Returns `None` if there are fewer offers.
    fn ask(&mut self, offer: usize) -> Result<Option<Action<ClientInformation>>, Error> {
        let Some(endpoint) = &self.metadata.registration_endpoint else {
            let reason = "the authorization server registers no clients";
            return Err(Error::new(ErrorKind::ClientIdRequired, Step::Registration, reason)
                .at(&self.metadata.issuer)
                .with_advice("register a client with its operator, and configure the client's identifier"));
        };
        let Some(document) = self.offers().into_iter().nth(offer) else { return Ok(None) };
        let headers = ["accept", "content-type"].map(|name| (Cow::Borrowed(name), "application/json".to_string()));
        let request = Request {
            step: Step::Registration,
            url: endpoint.clone(),
            headers: headers.into(),
            body: Some(document.to_json().into_bytes()),
        };
        self.state = State::Asked(offer);
        Ok(Some(Action::Fetch(request)))
    }

    /// Returns what the client registers as, the best first. Each next one is for a server that refuses the one before.
    ///
    /// A program of a user cannot keep a secret, so it is a public client (RFC 8252, section 8.4). Many servers accept one
    /// without listing the method `none`. A secret is taken only from a server that refuses public clients.
    fn offers(&self) -> Vec<ClientMetadata<'_>> {
        let supported = self.metadata.token_endpoint_auth_methods_supported.as_deref();
        let is_listed = supported.is_none_or(|names| names.iter().any(|name| name == AuthMethod::None.name()));
        // This crate has no keys to register.
        let (first, second) = match self.settings.auth_method.filter(|method| *method != AuthMethod::PrivateKeyJwt) {
            Some(method) => (method, method),
            None => (AuthMethod::None, AuthMethod::of_secret(supported).unwrap_or(AuthMethod::None)),
        };
        // A refusal does not say whether the method or another member is the cause.
        let order = [(first, false), if is_listed { (first, true) } else { (second, false) }, (second, true)];
        let mut offers: Vec<ClientMetadata<'_>> = Vec::new();
        for (method, is_reduced) in order {
            let offer = self.offer(method, is_reduced);
            if !offers.contains(&offer) {
                offers.push(offer);
            }
        }
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

    fn receive(
        &mut self,
        offer: usize,
        response: &Response,
        now: UnixTime,
    ) -> Result<Action<ClientInformation>, Error> {
        let url = self.metadata.registration_endpoint.clone().unwrap_or_default();
        if response.body.len() > Request::MAX_RESPONSE {
            return Err(fetch_failed(FetchError::TooLarge, Step::Registration, &url));
        }
        if (200..300).contains(&response.status) {
            return self.read(response, &url, now).map(Action::Done);
        }
        let refusal: Refusal = serde_json::from_slice(&response.body).unwrap_or_default();
        if response.status == 400
            && matches!(refusal.error.as_deref(), None | Some("invalid_client_metadata"))
            && let Some(next) = self.ask(offer + 1)?
        {
            return Ok(next);
        }
        Err(refused(&refusal, response.status, &url, &self.settings.redirect_uri))
    }

    fn read(&self, response: &Response, url: &str, now: UnixTime) -> Result<ClientInformation, Error> {
        let error = |kind, reason| Error::new(kind, Step::Registration, reason).at(url).with_status(response.status);
        let Ok(registered) = serde_json::from_slice::<Registered>(&response.body) else {
            return Err(error(ErrorKind::Temporary, "the response cannot be read"));
        };
        let Some(client_id) = registered.client_id.filter(|id| !id.is_empty()) else {
            let refusal: Refusal = serde_json::from_slice(&response.body).unwrap_or_default();
            return Err(match refusal.error {
                Some(_) => refused(&refusal, response.status, url, &self.settings.redirect_uri),
                None => error(ErrorKind::Misconfigured, "the response has no client identifier"),
            });
        };
        let (issuer, redirect_uri) = (&self.metadata.issuer, &self.settings.redirect_uri);
        let registered_uris = registered.redirect_uris.as_deref().unwrap_or_default();
        if !(registered_uris.is_empty() || registered_uris.iter().any(|other| is_same_redirect(other, redirect_uri))) {
            let reason = "the authorization server has registered other redirect URIs than that of the client";
            return Err(error(ErrorKind::Refused, reason)
                .with_advice("register a client with its operator, and configure the client's identifier"));
        }
        let client = ClientInformation::new(ClientSource::Registered, &client_id, issuer, redirect_uri, now);
        Ok(ClientInformation {
            client_secret: registered.client_secret.filter(|secret| !secret.expose().is_empty()),
            // RFC 7591: 0 means never.
            client_secret_expires_at: registered.client_secret_expires_at.filter(|end| *end != UnixTime::default()),
            auth_method: registered.token_endpoint_auth_method.as_deref().and_then(AuthMethod::from_name),
            registration_access_token: registered.registration_access_token,
            registration_client_uri: registered.registration_client_uri,
            ..client
        })
    }
}

impl Flow for Registration {
    type Output = ClientInformation;

    fn start(&mut self, now: UnixTime) -> Result<Action<ClientInformation>, Error> {
        if self.state != State::New {
            return Err(Error::misuse(Step::Registration));
        }
        self.state = State::Ended;
        let redirect_uri = &self.settings.redirect_uri;
        if !is_redirect_uri(redirect_uri) {
            let reason = format!("the redirect URI `{redirect_uri}` is neither https nor an http URL of this machine");
            return Err(Error::new(ErrorKind::Misconfigured, Step::Registration, reason));
        }
        match self.known_client(now)? {
            Some(client) => Ok(Action::Done(client)),
            None => self.ask(0)?.ok_or_else(|| Error::misuse(Step::Registration)),
        }
    }

    fn resume(&mut self, input: Input, now: UnixTime) -> Result<Action<ClientInformation>, Error> {
        match (mem::replace(&mut self.state, State::Ended), input) {
            (State::Asked(offer), Input::Response(response)) => self.receive(offer, &response, now),
            (State::Asked(_), Input::FetchFailed(error)) => {
                let url = self.metadata.registration_endpoint.as_deref().unwrap_or_default();
                Err(fetch_failed(error, Step::Registration, url))
            }
            _ => Err(Error::misuse(Step::Registration)),
        }
    }
}

/// The response to a registration (RFC 7591, section 3.2.1).
#[derive(Deserialize)]
struct Registered {
    #[serde(default, deserialize_with = "lenient::or_default")]
    client_id: Option<String>,
    #[serde(default, deserialize_with = "lenient::strings")]
    redirect_uris: Option<Vec<String>>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    client_secret: Option<Secret>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    client_secret_expires_at: Option<UnixTime>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    token_endpoint_auth_method: Option<String>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    registration_access_token: Option<Secret>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    registration_client_uri: Option<String>,
}

/// Returns whether two redirect URIs are the same, whatever the port of a URI of this machine: authorization servers must not
/// compare it (RFC 8252, section 7.3), so some do not register it.
fn is_same_redirect(one: &str, other: &str) -> bool {
    let parts = |uri| Some((host(uri)?, split_origin(uri)?.1));
    one == other || (is_loopback(one) && is_loopback(other) && parts(one) == parts(other))
}

/// The refusal of a registration (RFC 7591, section 3.2.2).
#[derive(Default, Deserialize)]
struct Refusal {
    #[serde(default, deserialize_with = "lenient::or_default")]
    error: Option<String>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    error_description: Option<String>,
}

fn refused(refusal: &Refusal, status: u16, url: &str, redirect_uri: &str) -> Error {
    let (kind, reason, advice) = match (status, refusal.error.as_deref()) {
        (300..=399, _) => (ErrorKind::Misconfigured, "the authorization server redirects, which is not followed", None),
        (429 | 500.., _) => (ErrorKind::Temporary, "the authorization server cannot answer now", None),
        (401 | 403 | 404 | 405, _) => {
            let advice = "register a client with its operator, and configure the client's identifier";
            (
                ErrorKind::ClientIdRequired,
                "the authorization server does not let this client register",
                Some(advice.to_string()),
            )
        }
        (_, Some("invalid_redirect_uri")) => {
            let advice = format!(
                "the redirect URI is {redirect_uri}; configure another host, port or path, for example `localhost`"
            );
            (ErrorKind::Refused, "the authorization server does not accept the redirect URI", Some(advice))
        }
        _ => {
            let advice = "register a client with its operator, and configure the client's identifier";
            (ErrorKind::Refused, "the authorization server has refused the registration", Some(advice.to_string()))
        }
    };
    let mut error = Error::new(kind, Step::Registration, reason).at(url).with_status(status);
    if let Some(code) = &refusal.error {
        error = error.with_code(code, refusal.error_description.as_deref());
    }
    match advice {
        Some(advice) => error.with_advice(advice),
        None => error,
    }
}

#[cfg(test)]
#[path = "registration_tests.rs"]
mod tests;
