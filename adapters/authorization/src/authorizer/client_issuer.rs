//! Decides which authorization server may get the credentials of a client, and how the client authenticates there.
//!
//! The store remembers the issuer at which a client was used, apart from the token: so a logout, another registration or another
//! account of the user does not let a server name another issuer.

use mcpwire_oauth::{
    ClientAuthentication, ClientInformation, ClientSource, Discovered, ErrorKind, OAuthSettings, StoredToken,
    TokenEndpoint,
};

use super::login_request::LoginRequest;
use super::oauth::OAuth;
use crate::documents::Grant;
use crate::error::{ClientIssuerRequired, LoginError};

impl OAuth {
    /// Returns the settings of a login at this authorization server, with the scopes of the request and the issuer of the client.
    ///
    /// # Errors
    /// If the credentials of the configured client must not be sent there.
    pub(super) async fn login_settings(
        &self,
        discovered: &Discovered,
        request: &LoginRequest,
    ) -> Result<OAuthSettings, LoginError> {
        let mut settings = self.0.settings.clone();
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
    /// If the client belongs to another issuer, or has a secret and nothing says to which issuer it belongs.
    pub(super) async fn check_client(
        &self,
        client_id: &str,
        has_secret: bool,
        issuer: &str,
        trusted: Option<&str>,
    ) -> Result<(), LoginError> {
        let remembered = self.issuer_of_client(client_id).await?;
        let used_before = remembered.as_deref().or(trusted);
        Ok(self.0.settings.check_client_issuer(client_id, has_secret, used_before, issuer)?)
    }

    /// Checks that the client of an earlier login may still be used at `issuer`.
    pub(super) async fn check_stored_client(&self, client: &ClientInformation, issuer: &str) -> Result<(), LoginError> {
        if client.source != ClientSource::PreRegistered {
            return Ok(());
        }
        self.check_client(&client.client_id, client.client_secret.is_some(), issuer, None).await
    }

    /// Remembers the issuer at which a pre-registered client is used.
    ///
    /// # Errors
    /// If the issuer cannot be stored. Settings that name the issuer ignore that: they name the same issuer the next time.
    pub(super) async fn remember_issuer(&self, client_id: &str, issuer: &str) -> Result<(), LoginError> {
        let is_configured = self.0.settings.issuer_of_client().is_some();
        match self.0.documents.save_issuer(client_id, issuer).await {
            Err(error) if !is_configured => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Returns how the client of a token authenticates at this endpoint.
    pub(super) async fn client_of(
        &self,
        grant: &Grant,
        endpoint: &TokenEndpoint,
    ) -> Result<ClientAuthentication, LoginError> {
        Ok(match (&grant.client, &self.0.grant) {
            (Some(client), _) => {
                self.check_stored_client(client, &endpoint.issuer).await?;
                let mut client = client.clone();
                // The setting may have changed since the login.
                if client.source != ClientSource::Registered {
                    client.auth_method = self.0.settings.auth_method_of_client().or(client.auth_method);
                }
                client.authentication(endpoint, self.0.client_key.as_ref())?
            }
            (None, Some(machine)) => self.machine_client(machine, endpoint).await?,
            (None, None) => ClientAuthentication::public(grant.token.client_id.clone().unwrap_or_default()),
        })
    }

    /// Returns the issuer at which a pre-registered client was used before, or `None` if nothing shows an earlier use.
    async fn issuer_of_client(&self, client_id: &str) -> Result<Option<String>, LoginError> {
        if let Some(issuer) = self.0.documents.load_issuer(client_id).await? {
            return Ok(Some(issuer));
        }
        let mut known = self.lock().grant();
        if known.is_none() {
            // A login that cannot be read says nothing.
            known = self.0.documents.load().await.ok().flatten();
        }
        let used = known.as_ref().and_then(used_at).filter(|(used, _)| *used == client_id);
        Ok(used.map(|(_, issuer)| issuer.to_owned()))
    }
}

/// Returns the identifier and the issuer of the pre-registered client of a login, or `None` if the client has registered itself, or has
/// no identifier.
pub(super) fn used_at(Grant { token, client }: &Grant) -> Option<(&str, &str)> {
    let StoredToken { client_id, endpoint, .. } = token;
    match client {
        Some(client) if client.source != ClientSource::PreRegistered => None,
        Some(client) => Some((&client.client_id, &client.issuer)),
        // A grant without a user uses the client of the program.
        None => Some((client_id.as_deref()?, &endpoint.issuer)),
    }
}
