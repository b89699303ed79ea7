//! The authentication of clients at the token endpoint (RFC 6749, section 2.3, and RFC 7523).

use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

use super::Form;
use super::client::Client;
use super::deviation::{Deviation, Endpoint};
use super::jwt::Jwt;
use super::state::State;
use super::url::decode;
use crate::http::HttpRequest;

/// The credentials of a request.
enum Credentials {
    None(String),
    Basic(String, String),
    Post(String, String),
    Assertion(String),
}

impl State {
    /// Returns the client of a request. The error describes why it is refused.
    pub(super) fn authenticate(
        &mut self,
        request: &HttpRequest,
        form: &Form,
        now: Duration,
    ) -> Result<Client, &'static str> {
        if form.get("client_id").is_none() && self.deviates(&Deviation::WantClientIdInBody) {
            return Err("Missing client_id");
        }
        let credentials = credentials(request, form, self.deviates(&Deviation::PercentDecodeBasic))?;
        let (id, method) = match &credentials {
            Credentials::None(id) => (id.clone(), "none"),
            Credentials::Basic(id, _) => (id.clone(), "client_secret_basic"),
            Credentials::Post(id, _) => (id.clone(), "client_secret_post"),
            Credentials::Assertion(assertion) => {
                let jwt = Jwt::parse(assertion).ok_or("the assertion is no JWT")?;
                (jwt.claim("sub").to_owned(), "private_key_jwt")
            }
        };
        let client = self.client(&id).ok_or("the client is unknown")?;
        if client.auth_method.as_ref().is_some_and(|only| only != method) {
            return Err("the client must authenticate by another method");
        }
        match &credentials {
            Credentials::None(_) if client.secret.is_some() || client.key.is_some() => {
                Err("the client does not authenticate")
            }
            Credentials::None(_) => Ok(client),
            Credentials::Basic(_, secret) | Credentials::Post(_, secret) => {
                if client.secret_expires_at.is_some_and(|end| end <= now) {
                    Err("the secret has expired")
                } else if client.secret.as_ref() == Some(secret) {
                    Ok(client)
                } else {
                    Err("the secret is wrong")
                }
            }
            Credentials::Assertion(assertion) => self.check_assertion(assertion, client, now),
        }
    }

    /// Checks an assertion of a client (RFC 7523, section 3).
    fn check_assertion(&mut self, assertion: &str, client: Client, now: Duration) -> Result<Client, &'static str> {
        let jwt = Jwt::parse(assertion).ok_or("the assertion is no JWT")?;
        let audiences = match jwt.claims.get("aud") {
            Some(Value::Array(audiences)) => audiences.iter().filter_map(Value::as_str).collect(),
            _ => vec![jwt.claim("aud")],
        };
        let token_endpoint = self.endpoint_url(Endpoint::Token);
        let checks = [
            (jwt.claim("iss") == client.id, "`iss` is not the client"),
            (
                audiences.iter().any(|audience| *audience == self.issuer || *audience == token_endpoint),
                "`aud` is not this server",
            ),
            (jwt.time("exp").is_some_and(|end| end > now.as_secs()), "the assertion has expired"),
            (client.key.as_ref().is_some_and(|key| jwt.is_signed_by(key)), "the signature is wrong"),
            (self.assertions.insert(jwt.claim("jti").to_owned()), "the assertion was used before"),
        ];
        match checks.iter().find(|(holds, _)| !holds) {
            Some((_, reason)) => Err(reason),
            None => Ok(client),
        }
    }

    /// Returns a client by its identifier.
    pub(super) fn client(&self, id: &str) -> Option<Client> {
        let document = || self.documents.get(id).map(|document| Client::from_metadata(id, document));
        self.clients.get(id).cloned().or_else(document)
    }
}

fn credentials(request: &HttpRequest, form: &Form, is_plus_kept: bool) -> Result<Credentials, &'static str> {
    let basic = request.header("Authorization").and_then(|value| value.strip_prefix("Basic "));
    if let Some(basic) = basic {
        let pair = BASE64_STANDARD.decode(basic).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let pair = pair.ok_or("the header is not Basic")?;
        let (id, secret) = pair.split_once(':').ok_or("the header is not Basic")?;
        if form.get("client_secret").is_some() {
            return Err("the client authenticates by two methods");
        }
        // RFC 6749, section 2.3.1: both are encoded as in forms.
        let decoded = |text: &str| if is_plus_kept { decode(&text.replace('+', "%2B")) } else { decode(text) };
        return Ok(Credentials::Basic(decoded(id), decoded(secret)));
    }
    if let Some(assertion) = form.get("client_assertion") {
        if form.get("client_assertion_type") != Some("urn:ietf:params:oauth:client-assertion-type:jwt-bearer") {
            return Err("the type of the assertion is unknown");
        }
        return Ok(Credentials::Assertion(assertion.to_owned()));
    }
    let id = form.get("client_id").ok_or("the request names no client")?.to_owned();
    Ok(match form.get("client_secret") {
        Some(secret) => Credentials::Post(id, secret.to_owned()),
        None => Credentials::None(id),
    })
}
