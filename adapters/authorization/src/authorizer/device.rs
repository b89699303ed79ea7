//! Logs users in with a code that they enter on another device (RFC 8628).

use std::future::pending;
use std::ops::ControlFlow;

use mcpwire_oauth::{
    ClientInformation, DeviceAction, DeviceCode, DeviceInput, DeviceLogin, Discovered, Error, OAuthSettings,
    Registration, Scopes, StoredToken,
};

use super::login_request::{LoginRequest, LoginStatus};
use super::oauth::OAuth;
use crate::documents::Grant;
use crate::error::LoginError;
use crate::flow_runner::within;
use crate::in_flight::OneUseRequest;
use crate::signing_key::new_entropy;

/// The redirect URI of clients that only use device codes. It is never used, but authorization servers require a redirect URI in
/// each registration.
const UNUSED_REDIRECT_URI: &str = "http://127.0.0.1/callback";

impl OAuth {
    /// Logs the user in with a code that the user enters in a browser on any device (RFC 8628).
    ///
    /// `show` is called with the code and the address at which to enter it, and shows both to the user. The future resolves when
    /// the user has entered the code.
    ///
    /// # Errors
    /// If the authorization server does not support device codes, or the login fails.
    pub async fn login_by_device(
        &self,
        request: LoginRequest,
        mut show: impl FnMut(&DeviceCode) + Send,
    ) -> Result<LoginStatus, LoginError> {
        self.load_for_login().await?;
        let discovered = self.discover(self.token().as_ref()).await?;
        let Some(url) = discovered.metadata.device_authorization_endpoint.clone() else {
            return Err(LoginError::NoDeviceLogin(discovered.metadata.issuer));
        };
        let settings = self.login_settings(&discovered, &request).await?;
        let stored = self.0.documents.load_client(&discovered.metadata.issuer, Some(UNUSED_REDIRECT_URI)).await?;
        let stored = stored.filter(|_| !request.anew);
        let client = self.device_client(&discovered, &settings, stored.clone()).await?;
        let scopes = discovered.scopes_to_request(&settings, None, None);
        match self.get_by_device(&url, &discovered, client, &scopes, &mut show).await {
            // The stored client may be registered for logins in a browser only. A new registration includes the device grant.
            Err(LoginError::Flow(error)) if stored.is_some() && lacks_grant(&error) => {
                let client = self.device_client(&discovered, &settings, None).await?;
                self.get_by_device(&url, &discovered, client, &scopes, &mut show).await
            }
            result => result,
        }
    }

    /// Returns the client for a login by device code: the stored or configured client, or a newly registered client. Stores a new
    /// registration for the next login.
    async fn device_client(
        &self,
        discovered: &Discovered,
        settings: &OAuthSettings,
        stored: Option<ClientInformation>,
    ) -> Result<ClientInformation, LoginError> {
        let redirect_uri = stored.as_ref().map_or(UNUSED_REDIRECT_URI, |stored| &stored.redirect_uri);
        let settings = settings.clone().redirect_uri(redirect_uri).device_grant(true);
        let registration = Registration::new(discovered, &settings, stored.clone());
        self.to_the_end(OneUseRequest::Registration, |oauth| async move {
            let client = oauth.run(registration).await?;
            oauth.keep_client(&client, stored.as_ref()).await?;
            Ok(client)
        })
        .await
    }

    async fn get_by_device(
        &self,
        url: &str,
        discovered: &Discovered,
        client: ClientInformation,
        scopes: &Scopes,
        show: &mut (dyn FnMut(&DeviceCode) + Send),
    ) -> Result<LoginStatus, LoginError> {
        let endpoint = discovered.token_endpoint();
        let authentication = client.authentication(&endpoint, self.0.options.client_key())?;
        let resource = discovered.resource_parameter(&self.0.options.settings);
        let no_resource = resource.is_none();
        let login = DeviceLogin::new(url, endpoint, authentication, resource, scopes.clone(), new_entropy()?);
        let mut login = login.dpop(self.dpop());
        let mut action = login.start(self.now())?;
        loop {
            let input = match action {
                DeviceAction::ShowCode(code) => {
                    show(&code);
                    DeviceInput::Done
                }
                DeviceAction::Wait(until) => {
                    within(&*self.0.process_runtime, until.duration_since(self.now()), pending::<()>()).await;
                    DeviceInput::Done
                }
                DeviceAction::Sign { key, bytes } => DeviceInput::Network(self.keys().sign(key, &bytes)?),
                // Any response may contain the token. `to_the_end` stores the token even if the caller drops its future.
                DeviceAction::Fetch(request) => {
                    let (client, discovered, scopes) = (client.clone(), discovered.clone(), scopes.clone());
                    let step = self.to_the_end(OneUseRequest::DeviceCode, |oauth| async move {
                        let input = oauth.0.runner.fetch_input(request).await;
                        let response = match login.resume(DeviceInput::Network(input), oauth.now())? {
                            DeviceAction::Done(response) => response,
                            next => return Ok(ControlFlow::Continue((login, next))),
                        };
                        let (endpoint, resource) = (discovered.token_endpoint(), discovered.resource);
                        let (client_id, previous) = (Some(&*client.client_id), oauth.token());
                        let mut token =
                            StoredToken::new(endpoint, resource, client_id, scopes, response, previous.as_ref());
                        token.no_resource_on_refresh = no_resource;
                        Ok(ControlFlow::Break(oauth.store_grant(Grant { token, client: Some(client) }).await?))
                    });
                    match step.await? {
                        ControlFlow::Break(status) => return Ok(status),
                        ControlFlow::Continue(next) => (login, action) = next,
                    }
                    continue;
                }
                _ => return Err(Error::temporary("this version does not know the next step of the login").into()),
            };
            action = login.resume(input, self.now())?;
        }
    }
}

/// Returns whether the error may mean that the client is not registered for the device grant. The code for that is
/// `unauthorized_client` (RFC 6749, section 5.2), but `oidc-provider` sends `invalid_request`.
fn lacks_grant(error: &Error) -> bool {
    matches!(error.code(), Some("unauthorized_client" | "invalid_client" | "invalid_request"))
}
