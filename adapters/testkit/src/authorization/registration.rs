//! Dynamic client registration (RFC 7591).

use std::time::Duration;

use serde_json::{Value, json};

use super::answers::{error, secret_json};
use super::client::Client;
use super::deviation::Deviation;
use super::jwt::text;
use super::state::State;
use crate::http::{HttpAnswer, HttpRequest};

impl State {
    pub(super) fn register(&mut self, request: &HttpRequest, now: Duration) -> HttpAnswer {
        let Ok(metadata) = serde_json::from_str::<Value>(&request.body) else {
            return error(400, "invalid_client_metadata", "the body is no JSON");
        };
        let has_other_grants = metadata
            .get("grant_types")
            .and_then(Value::as_array)
            .is_some_and(|grants| grants.iter().any(|grant| grant != "authorization_code"));
        if has_other_grants && self.deviates(&Deviation::RefuseOtherGrants) {
            return error(400, "invalid_client_metadata", "only authorization_code is supported");
        }
        let is_public = text(&metadata, "token_endpoint_auth_method") == "none";
        if is_public && self.deviates(&Deviation::RefusePublicClients) {
            return error(400, "invalid_client_metadata", "clients need a secret");
        }
        let mut client = Client::from_metadata(&format!("client-{}", self.next_number()), &metadata);
        if client.redirect_uris.is_empty() || self.deviates(&Deviation::RefuseRedirectUris) {
            return error(400, "invalid_redirect_uri", "the redirect URI is not allowed");
        }
        if text(&metadata, "application_type") == "web"
            && client.redirect_uris.iter().any(|uri| uri.starts_with("http:"))
        {
            return error(400, "invalid_redirect_uri", "web clients need https");
        }
        let mut document = metadata;
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
        secret_json(201, &document)
    }
}
