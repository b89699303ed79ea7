//! Decides which authorization server may get the credentials of a client, and how the client authenticates there.
//!
//! The store remembers the issuer at which a client was used, in a document apart from the token. After a logout, a new
//! registration or a login with another account, an MCP server can therefore not name another issuer to get the client's secret.

use mcpwire_oauth::{
    ClientAuthentication, ClientInformation, ClientSource, Discovered, ErrorKind, OAuthSettings, StoredToken,
    TokenEndpoint,
};

use super::login_request::LoginRequest;
use super::oauth::OAuth;
use crate::documents::Grant;
use crate::error::{ClientIssuerRequired, LoginError};

impl OAuth {
    /// Returns the settings of the builder for a login at this authorization server, with the scopes of `request` and the issuer
    /// of the configured client.
    ///
    /// # Errors
    /// If the credentials of the configured client must not be sent to this authorization server.
    pub(super) async fn login_settings(
        &self,
        discovered: &Discovered,
        request: &LoginRequest,
    ) -> Result<OAuthSettings, LoginError> {
        let mut settings = self.0.options.settings.clone();
        if let Some(scopes) = &request.scopes {
            settings = settings.scopes(scopes.clone());
        }
        let Some((client_id, has_secret)) = settings.configured_client() else { return Ok(settings) };
        let (client_id, issuer) = (client_id.to_owned(), &discovered.metadata.issuer);
        let trusted = request.trusted_issuer.as_deref();
        match self.check_client(&client_id, has_secret, issuer, trusted).await {
            Err(LoginError::Flow(error)) if error.kind() == ErrorKind::ClientIssuerRequired => {
                let (server_url, issuer) = (self.0.server_url.clone(), issuer.clone());
                Err(ClientIssuerRequired { server_url, client_id, issuer }.into())
            }
            result => result.map(|()| settings.client_issuer(issuer)),
        }
    }

    /// Checks that the credentials of a pre-registered client may be sent to `issuer`. `trusted` is the issuer that the user has
    /// named for this login.
    ///
    /// # Errors
    /// If the client belongs to another issuer, or if the client has a secret and its issuer is unknown.
    pub(super) async fn check_client(
        &self,
        client_id: &str,
        has_secret: bool,
        issuer: &str,
        trusted: Option<&str>,
    ) -> Result<(), LoginError> {
        let remembered = self.issuer_of_client(client_id).await?;
        let used_before = remembered.as_deref().or(trusted);
        Ok(self.0.options.settings.check_client_issuer(client_id, has_secret, used_before, issuer)?)
    }

    /// Checks that the credentials of the client from an earlier login may be sent to `issuer`. The check matters only for
    /// pre-registered clients.
    pub(super) async fn check_stored_client(&self, client: &ClientInformation, issuer: &str) -> Result<(), LoginError> {
        if client.source != ClientSource::PreRegistered {
            return Ok(());
        }
        self.check_client(&client.client_id, client.client_secret.is_some(), issuer, None).await
    }

    /// Remembers the issuer at which a pre-registered client is used.
    ///
    /// # Errors
    /// If the issuer cannot be stored. This is ignored if the settings name the issuer, because they name it the next time, too.
    pub(super) async fn remember_issuer(&self, client_id: &str, issuer: &str) -> Result<(), LoginError> {
        let is_configured = self.0.options.settings.issuer_of_client().is_some();
        match self.0.documents.save_issuer(client_id, issuer).await {
            Err(error) if !is_configured => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Returns how the client that requested the token of `grant` authenticates at `endpoint`, for a refresh or a revocation of
    /// the token.
    pub(super) async fn client_of(
        &self,
        grant: &Grant,
        endpoint: &TokenEndpoint,
    ) -> Result<ClientAuthentication, LoginError> {
        Ok(match (&grant.client, &self.0.options.grant) {
            (Some(client), _) => {
                self.check_stored_client(client, &endpoint.issuer).await?;
                let mut client = client.clone();
                // The authentication method in the settings may have changed since the login.
                if client.source != ClientSource::Registered {
                    client.auth_method = self.0.options.settings.auth_method_of_client().or(client.auth_method);
                }
                client.authentication(endpoint, self.0.options.client_key())?
            }
            (None, Some(machine)) => self.machine_client(machine, endpoint).await?,
            (None, None) => ClientAuthentication::public(grant.token.client_id.clone().unwrap_or_default()),
        })
    }

    /// Returns the issuer at which a pre-registered client was used before, or `None` if no earlier use is known.
    async fn issuer_of_client(&self, client_id: &str) -> Result<Option<String>, LoginError> {
        if let Some(issuer) = self.0.documents.load_issuer(client_id).await? {
            return Ok(Some(issuer));
        }
        let mut known = self.lock().grant();
        if known.is_none() {
            // A login that cannot be read is treated as missing.
            known = self.0.documents.load().await.ok().flatten();
        }
        let used = known.as_ref().and_then(used_at).filter(|(used, _)| *used == client_id);
        Ok(used.map(|(_, issuer)| issuer.to_owned()))
    }
}

/// Returns the identifier and the issuer of the pre-registered client of a login, or `None` if the client has registered itself,
/// or has no identifier.
pub(super) fn used_at(Grant { token, client }: &Grant) -> Option<(&str, &str)> {
    let StoredToken { client_id, endpoint, .. } = token;
    match client {
        Some(client) if client.source != ClientSource::PreRegistered => None,
        Some(client) => Some((&client.client_id, &client.issuer)),
        // A token without a user was requested by the client that the program configures.
        None => Some((client_id.as_deref()?, &endpoint.issuer)),
    }
}
