//! The token endpoint (RFC 6749, section 3.2), the device authorization endpoint (RFC 8628), and the revocation endpoint (RFC
//! 7009).

use std::time::Duration;

use serde_json::{Value, json};

use super::client::Client;
use super::deviation::{Deviation, Endpoint};
use super::pages::{Refused, secret_json};
use super::proofs::sha256;
use super::state::State;
use super::tokens::{DEVICE_CODE, DeviceCode, Permission};
use super::url::{Form, encode, origin};
use crate::http::{HttpAnswer, HttpRequest};

/// The lifetime of a device code. 10 minutes, because the user has to type the code on another device.
const DEVICE_CODE_LIFETIME: Duration = Duration::from_secs(600);

/// The time for which a device must wait between two token requests (RFC 8628, section 3.2).
const INTERVAL: Duration = Duration::from_secs(5);

const UNKNOWN_RESOURCE: Refused = ("invalid_target", "the resource is missing, or unknown");
const UNREGISTERED_GRANT: Refused = ("unauthorized_client", "the client is not registered for this grant");

impl State {
    /// Answers a request to the token endpoint: issues tokens for a grant.
    pub(super) fn token(&mut self, request: &HttpRequest, form: &Form, now: Duration) -> Result<HttpAnswer, Refused> {
        let client = self.authenticate(request, form, now)?;
        let key = self.proofs.check(request, origin(&self.issuer), None, now)?;
        let key = key.filter(|_| !self.deviates(&Deviation::IgnoreProofs));
        let grant = form.get("grant_type").unwrap_or_default();
        if !client.has_grant(grant) {
            return Err(UNREGISTERED_GRANT);
        }
        let login = match grant {
            "authorization_code" => self.code_grant(&client, form, key, now)?,
            "refresh_token" => return self.refresh(&client, form, key.as_deref(), now),
            "client_credentials" => self.client_credentials(&client, form, key)?,
            DEVICE_CODE if self.grants_devices => self.device_grant(&client, form, key, now)?,
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

    fn refresh(
        &mut self,
        client: &Client,
        form: &Form,
        key: Option<&str>,
        now: Duration,
    ) -> Result<HttpAnswer, Refused> {
        let refuses_resource = self.deviates(&Deviation::RefuseResourceOnRefresh);
        if form.get("resource").is_some() && refuses_resource {
            return Err(("invalid_request", "AADSTS9010010: the resource does not match the scopes"));
        }
        if form.get("scope").is_some() && self.deviates(&Deviation::RefuseScopeOnRefresh) {
            return Err(("invalid_scope", "the scopes of a refresh cannot be named"));
        }
        if !refuses_resource && !self.accepts_resource(form) {
            return Err(UNKNOWN_RESOURCE);
        }
        let text = form.get("refresh_token").ok_or(("invalid_request", "there is no refresh token"))?;
        let accepts_last = self.deviates(&Deviation::AcceptLastRefreshToken);
        let login = self.tokens.use_refresh_token(text, &client.id, accepts_last);
        let login = login.map_err(|reason| ("invalid_grant", reason))?;
        let permission = self.tokens.permission_of(login);
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
            return Err(UNKNOWN_RESOURCE);
        }
        let permission = self.permission(client, form, key);
        Ok(self.tokens.add_login(permission, None))
    }

    /// Returns the permission for a new token, from the parameters of the client's request.
    pub(super) fn permission(&self, client: &Client, parameters: &Form, key: Option<String>) -> Permission {
        let granted = self.deviation(|deviation| match deviation {
            Deviation::GrantScopes(scopes) => Some(scopes.as_str()),
            _ => None,
        });
        let scopes = granted.or_else(|| parameters.get("scope")).unwrap_or_default();
        Permission {
            client_id: client.id.clone(),
            resource: parameters.get("resource").map(Into::into),
            scopes: scopes.split_ascii_whitespace().map(Into::into).collect(),
            key,
        }
    }

    /// Issues an access token and, on request, a refresh token for a login. Returns the token response.
    fn issue(&mut self, login: usize, with_refresh_token: bool, now: Duration) -> HttpAnswer {
        let Permission { scopes, key, .. } = self.tokens.permission_of(login).clone();
        let access_token = self.new_secret("access-token");
        self.tokens.add_access_token(access_token.clone(), login, now + self.token_lifetime);
        let token_type = self.deviation(|deviation| match deviation {
            Deviation::TokenType(token_type) => Some(token_type.as_str()),
            _ => None,
        });
        let token_type = token_type.unwrap_or(if key.is_some() { "DPoP" } else { "Bearer" });
        let mut document = json!({"access_token": access_token, "token_type": token_type});
        if !self.deviates(&Deviation::OmitExpiresIn) {
            document["expires_in"] = self.token_lifetime.as_secs().into();
        }
        if !scopes.is_empty() && !self.deviates(&Deviation::OmitScope) {
            document["scope"] = scopes.join(" ").into();
        }
        if with_refresh_token {
            let refresh_token = self.new_secret("refresh-token");
            self.tokens.set_refresh_token(refresh_token.clone(), login);
            document["refresh_token"] = refresh_token.into();
        }
        secret_json(200, &document)
    }

    /// Answers a request to the device authorization endpoint: issues a device code and a user code.
    pub(super) fn authorize_device(
        &mut self,
        request: &HttpRequest,
        form: &Form,
        now: Duration,
    ) -> Result<HttpAnswer, Refused> {
        let client = self.authenticate(request, form, now)?;
        if !client.has_grant(DEVICE_CODE) {
            return Err(UNREGISTERED_GRANT);
        }
        if !self.accepts_resource(form) {
            return Err(UNKNOWN_RESOURCE);
        }
        let permission = self.permission(&client, form, None);
        let secret = self.new_secret("device-code");
        let user_code = format!("WDJB-{:04}", self.next_number());
        let page = self.endpoint_url(Endpoint::DevicePage);
        let document: Value = json!({
            "device_code": secret,
            "user_code": user_code,
            "verification_uri": page,
            "verification_uri_complete": format!("{page}?user_code={}", encode(&user_code)),
            "expires_in": DEVICE_CODE_LIFETIME.as_secs(),
            "interval": INTERVAL.as_secs(),
        });
        let expires_at = now + DEVICE_CODE_LIFETIME;
        let (interval, last_request, decision) = (INTERVAL, None, None);
        self.devices.push(DeviceCode { secret, user_code, permission, expires_at, interval, last_request, decision });
        Ok(secret_json(200, &document))
    }

    /// Records whether a user allows a device login. Returns whether a device waits for a decision on this user code.
    pub(super) fn answer_device(&mut self, user_code: &str, allow: bool) -> bool {
        let user_code = user_code.trim().to_ascii_uppercase();
        let device = self.devices.iter_mut().find(|device| device.user_code == user_code && device.decision.is_none());
        device.map(|device| device.decision = Some(allow)).is_some()
    }

    /// Returns the login of a device once the user has allowed it. Until then, returns an error that tells the device to wait or
    /// to stop.
    fn device_grant(
        &mut self,
        client: &Client,
        form: &Form,
        key: Option<String>,
        now: Duration,
    ) -> Result<usize, Refused> {
        let at = self.devices.iter().position(|device| Some(&*device.secret) == form.get("device_code"));
        let at = at.ok_or(("invalid_grant", "the device code is unknown or used"))?;
        let refuses = self.deviations.iter().any(|deviation| matches!(deviation, Deviation::RefuseLogins(_)));
        let device = &mut self.devices[at];
        if device.permission.client_id != client.id {
            return Err(("invalid_grant", "the device code belongs to another client"));
        }
        if device.expires_at <= now {
            return Err(("expired_token", "the device code has expired"));
        }
        let is_early = device.last_request.is_some_and(|last| now < last + device.interval);
        device.last_request = Some(now);
        if is_early {
            device.interval += INTERVAL;
            return Err(("slow_down", "the device asks too often"));
        }
        match device.decision {
            None if !refuses => Err(("authorization_pending", "the user has not decided yet")),
            Some(true) if !refuses => {
                let permission = Permission { key, ..self.devices.remove(at).permission };
                Ok(self.tokens.add_login(permission, None))
            }
            _ => Err(("access_denied", "the user has refused")),
        }
    }

    /// Answers a request to the revocation endpoint: revokes a token of the client.
    pub(super) fn revoke(&mut self, request: &HttpRequest, form: &Form, now: Duration) -> Result<HttpAnswer, Refused> {
        let client = self.authenticate(request, form, now)?;
        let token = form.get("token").ok_or(("invalid_request", "there is no token"))?;
        if self.tokens.access.contains_key(token) && self.deviates(&Deviation::RevokeNoAccessTokens) {
            return Err(("unsupported_token_type", "access tokens cannot be revoked"));
        }
        self.tokens.revoke(token, &client.id);
        Ok(HttpAnswer::status(200))
    }
}
