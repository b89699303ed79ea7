//! The methods of [`Hub`] that log the user in to its HTTP servers, and out of them.

use std::sync::Arc;

use mcpwire_authorization::{LoggedOut, LoginPrompt, LoginRequest, LoginStatus, OAuth};
use mcpwire_supervisor::Command;
use uuid::Uuid;

use super::hub::Hub;
use super::tools::server_id;
use crate::HubError;
use crate::launch::{Instance, Launch};
use crate::logins::{Logins, login_error};

/// Methods for the OAuth logins of HTTP servers.
impl Hub {
    /// Returns the OAuth logins of the hub's HTTP servers, for example to share them with other connections of the program.
    pub fn logins(&self) -> &Logins {
        &self.0.state.settings.logins
    }

    /// Returns the authorizer that the hub's connections to an HTTP server use. Its methods show the stored login, and log in by
    /// other ways than [`login`](Self::login). The hub notices such a login within a second.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Launch::compose`]. Returns [`ErrorKind::InvalidConfiguration`](crate::ErrorKind) if the server
    /// cannot have a login: see [`Launch::login`].
    pub async fn oauth(&self, id: Uuid) -> Result<OAuth, HubError> {
        let (hub, config) = (Arc::clone(&self.0.state), self.0.state.config(server_id(id))?);
        let oauth = self.0.state.settings.tasks.block(move || {
            let settings = &hub.settings;
            let launch = Launch::compose(&config, &*settings.secrets, &Instance::default())?;
            let Some(login) = &launch.login else {
                let message = "this server has no login: it is not reached over HTTP, has an `Authorization` header, or has \
                               `oauth` set to `false`";
                return Err(HubError::validation("oauth", message));
            };
            let client = settings.connect_options(&config, &launch.redactor)?.http_options().own_client();
            settings.logins.oauth(&launch.def, login, settings.tasks.runtime(), client)
        });
        oauth.await?
    }

    /// Logs the user in to an HTTP server. If `request` names no scopes, asks for the scopes of the configuration and the scopes
    /// that the server has asked for. If the server waits for the login, this function starts the server, and waits until it runs
    /// or has failed.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`oauth`](Self::oauth) and [`login_error`].
    pub async fn login(
        &self,
        id: Uuid,
        prompt: &dyn LoginPrompt,
        request: LoginRequest,
    ) -> Result<LoginStatus, HubError> {
        let oauth = self.oauth(id).await?;
        let request = self.with_required_scopes(id, request);
        let status = oauth.login_with(prompt, request).await.map_err(|error| login_error(&error))?;
        self.settle(id).await;
        Ok(status)
    }

    /// Deletes the login of an HTTP server. A running server is restarted without the login. If `revoke` is set, also asks the
    /// authorization server to revoke the token.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`oauth`](Self::oauth), and an error if the login cannot be deleted.
    pub async fn logout(&self, id: Uuid, revoke: bool) -> Result<LoggedOut, HubError> {
        let oauth = self.oauth(id).await?;
        let outcome = oauth.logout(revoke).await.map_err(|error| login_error(&error))?;
        self.settle(id).await;
        Ok(outcome)
    }

    /// Adds the scopes that the server has asked for, and those of the configuration, to a request that names no scopes.
    fn with_required_scopes(&self, id: Uuid, request: LoginRequest) -> LoginRequest {
        let required =
            self.status_detail(id).and_then(|detail| detail.login).map(|login| login.scopes).unwrap_or_default();
        if request.scopes.is_some() || required.is_empty() {
            return request;
        }
        let configured = self.get(id).map(|config| config.oauth.scopes).unwrap_or_default();
        request.scopes(configured.iter().chain(&required).map(String::as_str).collect())
    }

    /// Starts or restarts a server whose login has changed, and waits until the server runs or has failed.
    async fn settle(&self, id: Uuid) {
        let (hub, id) = (&self.0.state, server_id(id));
        if hub.look_at_login(id).await {
            // The server is already being started. The result is ignored: the state of the server shows whether it has started,
            // and the login has succeeded in any case.
            let _ = hub.command(id, Command::Boot).await;
        }
    }
}
