//! The registration of clients, and their authentication at the endpoints of an authorization server.

use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::client::Client;
use super::deviation::{Deviation, Endpoint};
use super::pages::{Refused, secret_json};
use super::proofs::{Jwt, text};
use super::state::State;
use super::url::{Form, decode, percent_decode};
use crate::http::{HttpAnswer, HttpRequest};

/// The credentials with which a client authenticates a request.
struct Credentials {
    client_id: String,
    /// The authentication method, as the metadata names it, such as `client_secret_basic`.
    method: &'static str,
    /// The client secret or the client assertion. Empty for a public client.
    secret: String,
}

impl State {
    /// Returns a client by its identifier, or `None` if it is unknown.
    pub(super) fn client(&self, id: &str) -> Option<Client> {
        let document = || self.documents.get(id).map(|document| Client::from_metadata(id, document));
        self.clients.get(id).cloned().or_else(document)
    }

    /// Handles a request to register a client (RFC 7591). Returns the response with the new client identifier.
    pub(super) fn register(&mut self, request: &HttpRequest, now: Duration) -> Result<HttpAnswer, Refused> {
        let document = serde_json::from_str::<Value>(&request.body);
        let mut document = document.map_err(|_| ("invalid_client_metadata", "the body is no JSON"))?;
        let grants = document["grant_types"].as_array().into_iter().flatten();
        let has_other_grants = grants.into_iter().any(|grant| grant != "authorization_code");
        if has_other_grants && self.deviates(&Deviation::RefuseOtherGrants) {
            return Err(("invalid_client_metadata", "only authorization_code is supported"));
        }
        let is_public = text(&document, "token_endpoint_auth_method") == "none";
        if is_public && self.deviates(&Deviation::RefusePublicClients) {
            return Err(("invalid_client_metadata", "clients need a secret"));
        }
        let mut client = Client::from_metadata(&format!("client-{}", self.next_number()), &document);
        if client.redirect_uris.is_empty() || self.deviates(&Deviation::RefuseRedirectUris) {
            return Err(("invalid_redirect_uri", "the redirect URI is not allowed"));
        }
        let is_web = text(&document, "application_type") == "web";
        if is_web && client.redirect_uris.iter().any(|uri| uri.starts_with("http:")) {
            return Err(("invalid_redirect_uri", "web clients need https"));
        }
        document["client_id"] = client.id.clone().into();
        document["client_id_issued_at"] = now.as_secs().into();
        let method = client.auth_method.clone().unwrap_or_default();
        if method.starts_with("client_secret") || self.deviates(&Deviation::RegisterWithSecret) {
            if method == "none" {
                client.auth_method = Some("client_secret_basic".into());
            }
            let secret = self.new_secret("client-secret");
            let lifetime = self.deviation(|deviation| match deviation {
                Deviation::SecretLifetime(lifetime) => Some(*lifetime),
                _ => None,
            });
            client.secret_expires_at = lifetime.map(|lifetime| now + lifetime);
            document["client_secret"] = secret.clone().into();
            document["client_secret_expires_at"] = json!(client.secret_expires_at.map_or(0, |end| end.as_secs()));
            client.secret = Some(secret);
        }
        document["token_endpoint_auth_method"] = json!(client.auth_method);
        self.clients.insert(client.id.clone(), client);
        Ok(secret_json(201, &document))
    }

    /// Authenticates the client of a request, and returns the client (RFC 6749, section 2.3, and RFC 7523).
    pub(super) fn authenticate(
        &mut self,
        request: &HttpRequest,
        form: &Form,
        now: Duration,
    ) -> Result<Client, Refused> {
        self.check_credentials(request, form, now).map_err(|reason| ("invalid_client", reason))
    }

    fn check_credentials(&mut self, request: &HttpRequest, form: &Form, now: Duration) -> Result<Client, &'static str> {
        if form.get("client_id").is_none() && self.deviates(&Deviation::WantClientIdInBody) {
            return Err("Missing client_id");
        }
        let Credentials { client_id, method, secret } = self.credentials(request, form)?;
        let client = self.client(&client_id).ok_or("the client is unknown")?;
        if client.auth_method.as_ref().is_some_and(|only| only != method) {
            return Err("the client must authenticate by another method");
        }
        match method {
            "none" if client.secret.is_some() || client.key.is_some() => Err("the client does not authenticate"),
            "none" => Ok(client),
            "private_key_jwt" => self.check_assertion(&secret, client, now),
            _ if client.secret_expires_at.is_some_and(|end| end <= now) => Err("the secret has expired"),
            _ if client.secret.as_ref() == Some(&secret) => Ok(client),
            _ => Err("the secret is wrong"),
        }
    }

    /// Reads the client credentials from the headers and the form of a request.
    fn credentials(&self, request: &HttpRequest, form: &Form) -> Result<Credentials, &'static str> {
        let credentials = |client_id: &str, method, secret: &str| {
            Ok(Credentials { client_id: client_id.to_owned(), method, secret: secret.to_owned() })
        };
        let basic = request.header("Authorization").and_then(|value| value.strip_prefix("Basic "));
        if let Some(basic) = basic {
            let pair = BASE64_STANDARD.decode(basic).ok().and_then(|bytes| String::from_utf8(bytes).ok());
            let pair = pair.ok_or("the header is not Basic")?;
            let (id, secret) = pair.split_once(':').ok_or("the header is not Basic")?;
            if form.get("client_secret").is_some() {
                return Err("the client authenticates by two methods");
            }
            // The identifier and the secret are encoded as in forms (RFC 6749, section 2.3.1).
            let decode = if self.deviates(&Deviation::PercentDecodeBasic) { percent_decode } else { decode };
            return credentials(&decode(id), "client_secret_basic", &decode(secret));
        }
        if let Some(assertion) = form.get("client_assertion") {
            if form.get("client_assertion_type") != Some("urn:ietf:params:oauth:client-assertion-type:jwt-bearer") {
                return Err("the type of the assertion is unknown");
            }
            let jwt = Jwt::parse(assertion).ok_or("the assertion is no JWT")?;
            return credentials(jwt.claim("sub"), "private_key_jwt", assertion);
        }
        let id = form.get("client_id").ok_or("the request names no client")?;
        match form.get("client_secret") {
            Some(secret) => credentials(id, "client_secret_post", secret),
            None => credentials(id, "none", ""),
        }
    }

    /// Checks the signed assertion with which a client authenticates (RFC 7523, section 3).
    fn check_assertion(&mut self, assertion: &str, client: Client, now: Duration) -> Result<Client, &'static str> {
        let jwt = Jwt::parse(assertion).ok_or("the assertion is no JWT")?;
        let token_endpoint = self.endpoint_url(Endpoint::Token);
        let is_own = |audience: &Value| *audience == *self.issuer || *audience == *token_endpoint;
        let audience = &jwt.claims["aud"];
        let is_audience = audience.as_array().map_or_else(|| is_own(audience), |all| all.iter().any(is_own));
        let checks = [
            (jwt.claim("iss") == client.id, "`iss` is not the client"),
            (is_audience, "`aud` is not this server"),
            (jwt.time("exp").is_some_and(|end| end > now.as_secs()), "the assertion has expired"),
            (client.key.as_ref().is_some_and(|key| jwt.is_signed_by(key)), "the signature is wrong"),
            (self.assertions.insert(jwt.claim("jti").to_owned()), "the assertion was used before"),
        ];
        match checks.iter().find(|(holds, _)| !holds) {
            Some((_, reason)) => Err(reason),
            None => Ok(client),
        }
    }
}
