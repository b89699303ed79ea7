//! Device codes (RFC 8628).

use std::time::Duration;

use serde_json::json;

use super::Form;
use super::answers::{error, secret_json};
use super::client::Client;
use super::deviation::{Deviation, Endpoint};
use super::grants::{DEVICE_CODE, Refused};
use super::state::State;
use super::tokens::{DeviceCode, Permission};
use super::url::encode;
use crate::http::{HttpAnswer, HttpRequest};

/// How long a code is valid.
const LIFETIME: Duration = Duration::from_secs(600);

/// The time between two requests of a device.
const INTERVAL: Duration = Duration::from_secs(5);

impl State {
    /// Answers a request to the device authorization endpoint.
    pub(super) fn authorize_device(&mut self, request: &HttpRequest, form: &Form, now: Duration) -> HttpAnswer {
        let client = match self.authenticate(request, form, now) {
            Ok(client) => client,
            Err(reason) => return error(401, "invalid_client", reason),
        };
        if !client.has_grant(DEVICE_CODE) {
            return error(400, "unauthorized_client", "the client is not registered for this grant");
        }
        if !self.accepts_resource(form) {
            return error(400, "invalid_target", "the resource is missing, or unknown");
        }
        let permission = self.permission(&client, form, None);
        let device_code = self.new_secret("device-code");
        let user_code = format!("WDJB-{:04}", self.next_number());
        let page = self.endpoint_url(Endpoint::DevicePage);
        let document = json!({
            "device_code": device_code,
            "user_code": user_code,
            "verification_uri": page,
            "verification_uri_complete": format!("{page}?user_code={}", encode(&user_code)),
            "expires_in": LIFETIME.as_secs(),
            "interval": INTERVAL.as_secs(),
        });
        self.devices.push(DeviceCode {
            device_code,
            user_code,
            permission,
            expires_at: now + LIFETIME,
            interval: INTERVAL,
            last_request: None,
            decision: None,
        });
        secret_json(200, &document)
    }

    /// Records the decision of a user. Returns whether there is such a code.
    pub(super) fn answer_device(&mut self, user_code: &str, allow: bool) -> bool {
        let user_code = user_code.trim().to_ascii_uppercase();
        let device = self.devices.iter_mut().find(|device| device.user_code == user_code && device.decision.is_none());
        if let Some(device) = device {
            device.decision = Some(allow);
            return true;
        }
        false
    }

    /// Returns the login of a device, once the user has agreed.
    pub(super) fn device_grant(
        &mut self,
        client: &Client,
        form: &Form,
        key: Option<String>,
        now: Duration,
    ) -> Result<usize, Refused> {
        let at = self.devices.iter().position(|device| Some(&*device.device_code) == form.get("device_code"));
        let at = at.ok_or(("invalid_grant", "the device code is unknown or used"))?;
        let refusal = self.deviation(|deviation| match deviation {
            Deviation::RefuseLogins(_) => Some(()),
            _ => None,
        });
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
            None if refusal.is_none() => Err(("authorization_pending", "the user has not decided yet")),
            Some(true) if refusal.is_none() => {
                let permission = Permission { key, ..self.devices.remove(at).permission };
                Ok(self.tokens.add_login(permission, None))
            }
            _ => Err(("access_denied", "the user has refused")),
        }
    }
}
