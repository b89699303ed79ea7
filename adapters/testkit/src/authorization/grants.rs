//! The token endpoint (RFC 6749, section 3.2), and the revocation endpoint (RFC 7009).

use std::time::Duration;

use serde_json::{Value, json};

use super::Form;
use super::answers::{error, secret_json};
use super::client::Client;
use super::deviation::Deviation;
use super::jwt::sha256;
use super::proofs::ProofError;
use super::state::State;
use super::tokens::Permission;
use super::url::split_origin;
use crate::http::{HttpAnswer, HttpRequest};

/// The name of the device grant (RFC 8628).
pub(super) const DEVICE_CODE: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// An error of the token endpoint: its code and its description.
pub(super) type Refused = (&'static str, &'static str);

impl State {
    pub(super) fn token_response(&mut self, request: &HttpRequest, form: &Form, now: Duration) -> HttpAnswer {
        let answer = match self.token(request, form, now) {
            Ok(document) => secret_json(200, &document),
            Err((code, description)) => {
                let status = match code {
                    _ if self.deviates(&Deviation::ErrorsWithStatus200) => 200,
                    "invalid_client" => 401,
                    _ => 400,
                };
                error(status, code, description)
            }
        };
        self.proofs.add_nonce(split_origin(&self.issuer).0, answer)
    }

    fn token(&mut self, request: &HttpRequest, form: &Form, now: Duration) -> Result<Value, Refused> {
        let client = self.authenticate(request, form, now).map_err(|reason| ("invalid_client", reason))?;
        let origin = split_origin(&self.issuer).0.to_owned();
        let key = self.proofs.check(request, &origin, None, now).map_err(|refused| match refused {
            ProofError::Invalid(reason) => ("invalid_dpop_proof", reason),
            ProofError::NonceWanted => ("use_dpop_nonce", "the proof needs the nonce of this server"),
        })?;
        let key = key.filter(|_| !self.deviates(&Deviation::IgnoreProofs));
        let grant = form.get("grant_type").unwrap_or_default();
        if !client.has_grant(grant) {
            return Err(("unauthorized_client", "the client is not registered for this grant"));
        }
        let login = match form.get("grant_type") {
            Some("authorization_code") => self.code_grant(&client, form, key, now)?,
            Some("refresh_token") => return self.refresh(&client, form, key.as_deref(), now),
            Some("client_credentials") => self.client_credentials(&client, form, key)?,
            Some(DEVICE_CODE) if self.grants_devices => self.device_grant(&client, form, key, now)?,
            _ => return Err(("unsupported_grant_type", "this grant is not supported")),
        };
        let is_refreshable = grant != "client_credentials"
            && client.has_grant("refresh_token")
            && !self.deviates(&Deviation::NoRefreshTokens);
        Ok(self.issue(login, is_refreshable, now))
    }

    fn code_grant(
        &mut self,
        client: &Client,
        form: &Form,
        key: Option<String>,
        now: Duration,
    ) -> Result<usize, Refused> {
        let text = form.get("code").ok_or(("invalid_request", "there is no code"))?;
        let code = self.tokens.take_code(text).ok_or(("invalid_grant", "the code is unknown or used"))?;
        let verifier = form.get("code_verifier").unwrap_or_default();
        let checks = [
            (code.permission.client_id == client.id, "the code belongs to another client"),
            (now < code.expires_at, "the code has expired"),
            (form.get("redirect_uri") == Some(&*code.redirect_uri), "the redirect URI is another"),
            ((43..=128).contains(&verifier.len()) && sha256(verifier) == code.challenge, "the verifier is wrong"),
        ];
        if let Some((_, reason)) = checks.iter().find(|(holds, _)| !holds) {
            return Err(("invalid_grant", reason));
        }
        if !self.accepts_resource(form) || form.get("resource") != code.permission.resource.as_deref() {
            return Err(("invalid_target", "the resource is another than that of the login"));
        }
        Ok(self.tokens.add_login(Permission { key, ..code.permission }, Some(text)))
    }

    fn refresh(&mut self, client: &Client, form: &Form, key: Option<&str>, now: Duration) -> Result<Value, Refused> {
        if form.get("resource").is_some() && self.deviates(&Deviation::RefuseResourceOnRefresh) {
            return Err(("invalid_request", "AADSTS9010010: the resource does not match the scopes"));
        }
        if form.get("scope").is_some() && self.deviates(&Deviation::RefuseScopeOnRefresh) {
            return Err(("invalid_scope", "the scopes of a refresh cannot be named"));
        }
        let is_resource_free = self.deviates(&Deviation::RefuseResourceOnRefresh);
        if !is_resource_free && !self.accepts_resource(form) {
            return Err(("invalid_target", "the resource is missing, or unknown"));
        }
        let text = form.get("refresh_token").ok_or(("invalid_request", "there is no refresh token"))?;
        let accepts_last = self.deviates(&Deviation::AcceptLastRefreshToken);
        let login = self.tokens.use_refresh_token(text, &client.id, accepts_last);
        let login = login.map_err(|refused| ("invalid_grant", refused.0))?;
        let permission = self.tokens.login(login).map(|login| login.permission.clone()).unwrap_or_default();
        if permission.key.as_deref() != key {
            return Err(("invalid_dpop_proof", "the token is bound to another key"));
        }
        let mut scopes = form.get("scope").unwrap_or_default().split_ascii_whitespace();
        if !scopes.all(|scope| permission.scopes.iter().any(|granted| granted == scope)) {
            return Err(("invalid_scope", "a refresh cannot widen the scopes"));
        }
        Ok(self.issue(login, !self.deviates(&Deviation::KeepRefreshTokens), now))
    }

    fn client_credentials(&mut self, client: &Client, form: &Form, key: Option<String>) -> Result<usize, Refused> {
        if client.secret.is_none() && client.key.is_none() {
            return Err(("unauthorized_client", "the client is public"));
        }
        if !self.accepts_resource(form) {
            return Err(("invalid_target", "the resource is missing, or unknown"));
        }
        let permission = self.permission(client, form, key);
        Ok(self.tokens.add_login(permission, None))
    }

    /// Returns the permission that a request without an authorization code asks for.
    pub(super) fn permission(&self, client: &Client, form: &Form, key: Option<String>) -> Permission {
        Permission {
            client_id: client.id.clone(),
            resource: form.get("resource").map(Into::into),
            scopes: self.granted_scopes(form),
            key,
        }
    }

    /// Issues the tokens of a login.
    fn issue(&mut self, login: usize, with_refresh_token: bool, now: Duration) -> Value {
        let permission = self.tokens.login(login).map(|login| login.permission.clone()).unwrap_or_default();
        let access_token = self.new_secret("access-token");
        self.tokens.add_access_token(access_token.clone(), login, now + self.token_lifetime);
        let token_type = self.deviation(|deviation| match deviation {
            Deviation::TokenType(token_type) => Some(token_type.as_str()),
            _ => None,
        });
        let token_type = token_type.unwrap_or(if permission.key.is_some() { "DPoP" } else { "Bearer" });
        let mut document = json!({"access_token": access_token, "token_type": token_type});
        if !self.deviates(&Deviation::OmitExpiresIn) {
            document["expires_in"] = self.token_lifetime.as_secs().into();
        }
        if !permission.scopes.is_empty() && !self.deviates(&Deviation::OmitScope) {
            document["scope"] = permission.scopes.join(" ").into();
        }
        if with_refresh_token {
            let refresh_token = self.new_secret("refresh-token");
            self.tokens.set_refresh_token(refresh_token.clone(), login);
            document["refresh_token"] = refresh_token.into();
        }
        document
    }

    /// Answers a request to the revocation endpoint.
    pub(super) fn revoke(&mut self, request: &HttpRequest, form: &Form, now: Duration) -> HttpAnswer {
        match (self.authenticate(request, form, now), form.get("token")) {
            (Err(reason), _) => error(401, "invalid_client", reason),
            (_, None) => error(400, "invalid_request", "there is no token"),
            (Ok(_), Some(token))
                if self.tokens.is_access_token(token) && self.deviates(&Deviation::RevokeNoAccessTokens) =>
            {
                error(400, "unsupported_token_type", "access tokens cannot be revoked")
            }
            (Ok(client), Some(token)) => {
                self.tokens.revoke(token, &client.id);
                HttpAnswer::status(200)
            }
        }
    }
}
