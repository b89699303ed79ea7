//! The login with a code that the user enters on another device (RFC 8628).

use std::future::poll_fn;
use std::ops::ControlFlow;
use std::sync::Arc;

use mcpwire_oauth::{
    ClientInformation, DeviceAction, DeviceCode, DeviceInput, DeviceLogin, Discovered, Error, OAuthSettings,
    Registration, Scopes, StoredToken, TokenResponse, UnixTime,
};

use super::inner::{Inner, new_entropy};
use super::login_request::LoginParameters;
use crate::error::LoginError;
use crate::in_flight::OneUseRequest;
use crate::status::LoginStatus;

/// The redirect URI of clients that only use device codes. Authorization servers want one in each registration.
const UNUSED_REDIRECT_URI: &str = "http://127.0.0.1/callback";

impl Inner {
    /// Logs the user in with a device code. `show` shows the code.
    pub(super) async fn login_by_device(
        self: &Arc<Self>,
        parameters: &LoginParameters,
        show: &mut (dyn FnMut(&DeviceCode) + Send),
    ) -> Result<LoginStatus, LoginError> {
        let previous = self.shared.lock().access.token().cloned();
        let discovered = self.discover(previous.as_ref().map(|token| &*token.endpoint.issuer)).await?;
        let Some(url) = discovered.metadata.device_authorization_endpoint.clone() else {
            return Err(LoginError::NoDeviceLogin(discovered.metadata.issuer));
        };
        let settings = self.login_settings(&discovered, parameters).await?;
        let stored = self.stored_client(&discovered, UNUSED_REDIRECT_URI, parameters).await?;
        let client = self.device_client(&discovered, &settings, stored.clone()).await?;
        let scopes = discovered.scopes_to_request(&settings, None, None);
        match self.get_by_device(&url, &discovered, client, &scopes, show).await {
            // A client that has registered for logins in a browser may lack the grant.
            Err(LoginError::Flow(error)) if stored.is_some() && lacks_grant(&error) => {
                let client = self.device_client(&discovered, &settings, None).await?;
                self.get_by_device(&url, &discovered, client, &scopes, show).await
            }
            result => result,
        }
    }

    async fn store_device_token(
        &self,
        client: ClientInformation,
        discovered: Discovered,
        scopes: Scopes,
        response: TokenResponse,
    ) -> Result<LoginStatus, LoginError> {
        let client_id = client.client_id.clone();
        let resource_parameter = discovered.resource_parameter(&self.settings);
        self.store_token(Some(client), |previous| {
            let endpoint = discovered.token_endpoint();
            let mut token =
                StoredToken::new(endpoint, discovered.resource, Some(&client_id), scopes, response, previous);
            token.no_resource_on_refresh = resource_parameter.is_none();
            token
        })
        .await
    }

    /// Returns a client that may use device codes, and keeps a new registration for the next login.
    async fn device_client(
        self: &Arc<Self>,
        discovered: &Discovered,
        settings: &OAuthSettings,
        stored: Option<ClientInformation>,
    ) -> Result<ClientInformation, LoginError> {
        let (inner, discovered, settings) = (Arc::clone(self), discovered.clone(), settings.clone());
        self.to_the_end(OneUseRequest::Registration, async move {
            inner.register_device_client(&discovered, &settings, stored).await
        })
        .await
    }

    async fn register_device_client(
        &self,
        discovered: &Discovered,
        settings: &OAuthSettings,
        stored: Option<ClientInformation>,
    ) -> Result<ClientInformation, LoginError> {
        let redirect_uri = stored.as_ref().map_or(UNUSED_REDIRECT_URI, |stored| &stored.redirect_uri);
        let settings = settings.clone().redirect_uri(redirect_uri).device_grant(true);
        let client = self.run(Registration::new(discovered, &settings, stored.clone())).await?;
        self.store_client(&client, stored.as_ref()).await?;
        self.remember_client(&client).await?;
        Ok(client)
    }

    async fn get_by_device(
        self: &Arc<Self>,
        url: &str,
        discovered: &Discovered,
        client: ClientInformation,
        scopes: &Scopes,
        show: &mut (dyn FnMut(&DeviceCode) + Send),
    ) -> Result<LoginStatus, LoginError> {
        let endpoint = discovered.token_endpoint();
        let key = self.client_key.as_ref().map(|(description, _)| description);
        let authentication = client.authentication(&endpoint, key)?;
        let resource = discovered.resource_parameter(&self.settings);
        let login = DeviceLogin::new(url, endpoint, authentication, resource, scopes.clone(), new_entropy()?);
        let mut login = login.dpop(self.dpop());
        let keys = self.keys();
        let mut action = login.start(self.now())?;
        loop {
            let input = match action {
                // Each answer may be the token, which is then stored even if the caller gives up.
                DeviceAction::Fetch(request) => {
                    let (inner, client) = (Arc::clone(self), client.clone());
                    let (discovered, scopes) = (discovered.clone(), scopes.clone());
                    let step = self.to_the_end(OneUseRequest::DeviceCode, async move {
                        let input = DeviceInput::Network(inner.runner.fetch_input(request).await);
                        Ok(match login.resume(input, inner.now())? {
                            DeviceAction::Done(response) => {
                                ControlFlow::Break(inner.store_device_token(client, discovered, scopes, response).await)
                            }
                            next => ControlFlow::Continue((login, next)),
                        })
                    });
                    match step.await? {
                        ControlFlow::Break(stored) => return stored,
                        ControlFlow::Continue(next) => (login, action) = next,
                    }
                    continue;
                }
                DeviceAction::Sign { key, bytes } => DeviceInput::Network(keys.sign(key, &bytes)?),
                DeviceAction::ShowCode(code) => {
                    show(&code);
                    DeviceInput::Done
                }
                DeviceAction::Wait(until) => {
                    self.wait_until(until).await;
                    DeviceInput::Done
                }
                DeviceAction::Done(response) => {
                    return self.store_device_token(client, discovered.clone(), scopes.clone(), response).await;
                }
                _ => return Err(Error::temporary("this version does not know the next step of the login").into()),
            };
            action = login.resume(input, self.now())?;
        }
    }

    async fn wait_until(&self, until: UnixTime) {
        let mut timer = self.runner.runtime().timer();
        timer.reset(until.duration_since(self.now()));
        poll_fn(|cx| timer.poll(cx)).await;
    }
}

/// Returns whether an authorization server may have refused the device grant to this client. The code for that is
/// `unauthorized_client` (RFC 6749, section 5.2); `oidc-provider` says `invalid_request`.
fn lacks_grant(error: &Error) -> bool {
    matches!(error.code(), Some("unauthorized_client" | "invalid_client" | "invalid_request"))
}
